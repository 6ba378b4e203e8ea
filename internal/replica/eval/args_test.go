package eval

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// args reads a script's commands.
type args struct{ *datadriven.TestData }

func (d args) first() string { return d.CmdArgs[0].Key }

func (d args) list(name string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return a.Vals
		}
	}
	return nil
}

func (d args) str(name string) string {
	if l := d.list(name); len(l) > 0 {
		return l[0]
	}
	return ""
}

func (d args) ts(name string) clock.Timestamp { return parseTS(d.str(name)) }

func (d args) num(name string) int {
	n, _ := strconv.Atoi(d.str(name))
	return n
}

// keysAndSpans are the arguments without a value, k or a..m, but for flags.
func (d args) keysAndSpans() (ks []kv.Key, spans []kv.Span) {
	for _, a := range d.CmdArgs {
		switch {
		case len(a.Vals) > 0, a.Key == "canbump", a.Key == "reverse", a.Key == "abort", a.Key == "first":
		case strings.Contains(a.Key, ".."):
			spans = append(spans, parseSpan(a.Key))
		default:
			ks = append(ks, parseKey(a.Key))
		}
	}
	return ks, spans
}

var notPuts = map[string]bool{"txn": true, "r": true, "c": true, "laid": true, "refresh": true, "until": true,
	"seq": true, "ignored": true, "marks": true, "since": true, "notafter": true}

// puts are the arguments key=value: k=v sets, k=deleted deletes, k=v! sets what must not exist.
func (d args) puts() (list []kv.Put) {
	for _, a := range d.CmdArgs {
		if len(a.Vals) != 1 || notPuts[a.Key] {
			continue
		}
		value, isNew := strings.CutSuffix(a.Vals[0], "!")
		p := kv.Put{Key: parseKey(a.Key), Value: []byte(value), MustNotExist: isNew}
		if value == "deleted" {
			p.Value, p.Delete = nil, true
		}
		list = append(list, p)
	}
	return list
}

// ranges are the numbers of writes, 2-3 for the second and third.
func (d args) ranges(name string) (out []kv.SeqRange) {
	for _, s := range d.list(name) {
		var r kv.SeqRange
		if _, err := fmt.Sscanf(s, "%d-%d", &r.After, &r.To); err != nil {
			panic(err)
		}
		r.After--
		out = append(out, r)
	}
	return out
}

func parseSpan(s string) kv.Span {
	start, end, _ := strings.Cut(s, "..")
	return kv.Span{Start: parseKey(start), End: parseKey(end)}
}

// parseKey takes \x03 for a byte.
func parseKey(s string) kv.Key {
	k, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		panic(err)
	}
	return kv.Key(k)
}

const second = 1_000_000_000

func parseTS(s string) (ts clock.Timestamp) {
	if s == "" {
		return ts
	}
	wall, logical, _ := strings.Cut(s, "+")
	w, err := strconv.ParseFloat(wall, 64)
	if err != nil {
		panic(err)
	}
	l, _ := strconv.ParseUint(logical, 10, 32)
	return clock.Timestamp{Wall: int64(w * second), Logical: uint32(l)}
}

func short(ts clock.Timestamp) string {
	s := strconv.FormatFloat(float64(ts.Wall)/second, 'f', -1, 64)
	if ts.Logical > 0 {
		s += fmt.Sprintf("+%d", ts.Logical)
	}
	return s
}

func name(k kv.Key) string { return strings.Trim(k.String(), `"`) }

func txnID(s string) (id kv.TxnID) {
	copy(id[:], s)
	return id
}

func letter(id kv.TxnID) string { return strings.TrimRight(string(id[:]), "\x00") }
