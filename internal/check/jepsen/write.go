package jepsen

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strconv"

	"github.com/longitude-db/longitude/internal/check"
)

// event is one beginning or end.
type event struct {
	rank int64
	op   *check.Op
	typ  string
	f    string
	body func(b []byte, done bool) []byte // appends the value, with results if it is done
}

// Write writes a history, one map a line. times gives the moment of each rank in nanoseconds; nil: ranks are written for
// times. Keys that look like integers are written as such.
func Write(w io.Writer, h *History, times func(rank int64) int64) error {
	var es []event
	add := func(o *check.Op, f string, body func(b []byte, done bool) []byte) {
		es = append(es, event{o.Invoke, o, "invoke", f, body})
		switch o.Outcome {
		case check.OK:
			es = append(es, event{o.Return, o, "ok", f, body})
		case check.Failed:
			es = append(es, event{o.Return, o, "fail", f, body})
		}
	}
	for i := range h.Txns {
		x := &h.Txns[i]
		add(&x.Op, "txn", func(b []byte, done bool) []byte { return appendTxn(b, x, done) })
	}
	for i := range h.Registers {
		o := &h.Registers[i]
		add(&o.Op, [...]string{"read", "write", "cas"}[o.Kind], func(b []byte, done bool) []byte { return appendRegister(b, o, done) })
	}
	slices.SortStableFunc(es, func(a, b event) int { return cmp.Compare(a.rank, b.rank) })
	// What is not known ends after everything else: from then on it counts as concurrent with all that began before.
	for _, e := range es {
		if e.typ == "invoke" && e.op.Outcome == check.Unknown {
			es = append(es, event{es[len(es)-1].rank, e.op, "info", e.f, e.body})
		}
	}
	if times == nil {
		times = func(rank int64) int64 { return rank }
	}
	out := bufio.NewWriter(w)
	process, next := map[string]int64{}, int64(0)
	of := map[*check.Op]int64{}
	var line []byte
	for i, e := range es {
		if e.typ == "invoke" {
			p, ok := process[e.op.Client]
			if !ok {
				p, next = next, next+1
				process[e.op.Client] = p
			}
			of[e.op] = p
			if e.op.Outcome == check.Unknown {
				delete(process, e.op.Client) // J2
			}
		}
		line = append(line[:0], `{"index":`...)
		line = strconv.AppendInt(line, int64(i), 10)
		line = append(line, `,"time":`...)
		line = strconv.AppendInt(line, times(e.rank), 10)
		line = append(line, `,"type":"`+e.typ+`","process":`...)
		line = strconv.AppendInt(line, of[e.op], 10)
		line = append(line, `,"f":"`+e.f+`","value":`...)
		line = append(e.body(line, e.typ == "ok" || e.typ == "info"), "}\n"...)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func appendTxn(b []byte, x *check.Txn, done bool) []byte {
	b = append(b, '[')
	first := true
	for i := range x.Mops {
		m := &x.Mops[i]
		read := m.Kind == check.MopRead || m.Kind == check.MopReadList
		if x.Outcome == check.OK && read && !m.Known {
			continue // null would say that it read nothing
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		switch m.Kind {
		case check.MopAppend:
			b = append(b, `["append",`...)
		case check.MopWrite:
			b = append(b, `["w",`...)
		default:
			b = append(b, `["r",`...)
		}
		b = append(appendKey(b, m.Key), ',')
		switch {
		case !read, m.Kind == check.MopRead && done && m.Known && !m.Nil:
			b = strconv.AppendInt(b, m.Value, 10)
		case m.Kind == check.MopReadList && done && m.Known:
			b = append(b, '[')
			for j, v := range m.List {
				if j > 0 {
					b = append(b, ',')
				}
				b = strconv.AppendInt(b, v, 10)
			}
			b = append(b, ']')
		default:
			b = append(b, "null"...)
		}
		b = append(b, ']')
	}
	return append(b, ']')
}

func appendRegister(b []byte, o *check.RegisterOp, done bool) []byte {
	b = append(appendKey(append(b, '['), o.Key), ',')
	switch {
	case o.Kind == check.Read && (!done || o.Outcome != check.OK || o.Old == 0):
		b = append(b, "null"...)
	case o.Kind == check.Read:
		b = appendValue(b, o.Old)
	case o.Kind == check.Write:
		b = appendValue(b, o.New)
	default:
		b = append(appendValue(append(b, '['), o.Old), ',')
		b = append(appendValue(b, o.New), ']')
	}
	return append(b, ']')
}

func appendValue(b []byte, v int64) []byte {
	switch v {
	case 0:
		return append(b, "null"...)
	case Zero:
		return append(b, '0')
	}
	return strconv.AppendInt(b, v, 10)
}

// appendKey writes a key as an integer, if it is one that reads back as the same text.
func appendKey(b []byte, key string) []byte {
	if n, err := strconv.ParseInt(key, 10, 64); err == nil && strconv.FormatInt(n, 10) == key {
		return append(b, key...)
	}
	text, err := json.Marshal(key)
	if err != nil {
		panic(err) // of a string: impossible
	}
	return append(b, text...)
}
