package jepsen

import (
	"bytes"
	"io"
	"math"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/check"
)

// History is what a file holds: transactions, operations on single registers, or both. Ranks are numbers of maps in the
// file, from 1.
type History struct {
	Txns      []check.Txn
	Registers []check.RegisterOp
	// Ignored counts maps of operations that are neither, like those of a nemesis.
	Ignored int
}

// Zero stands for the 0 that was written to a register, because in check.RegisterOp 0 is the absent value.
const Zero = math.MinInt64

// Read reads a history to its end. Errors are of the type *Error, or those of the reader.
func Read(r io.Reader) (*History, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	rd := &reader{open: map[string]*begun{}}
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	p := &parser{b: b, line: 1}
	for {
		v, ok, err := p.next(0)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		ops := []value{v}
		if v.kind == kindList {
			ops = v.list
		}
		for i := range ops {
			if err := rd.op(&ops[i]); err != nil {
				return nil, err
			}
		}
	}
	if rd.rank == 0 {
		return nil, errorAt(1, "there is no operation\nwanted: maps like {\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"append\",3,5]]}")
	}
	return rd.finish()
}

// begun is an operation, as far as it has been read. Its end is nil if it has none.
type begun struct {
	invoke, end      *value
	line             int
	invoked, ended   int64
	process, f, done string
}

type reader struct {
	ops  []*begun
	open map[string]*begun // of each process
	rank int64
	h    History
}

// op takes the next map.
func (r *reader) op(v *value) error {
	if v.kind != kindMap {
		return errorAt(v.line, "here is %s where an operation should be\nwanted: a map like {\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[...]}", v.kind)
	}
	r.rank++
	process, err := field(v, "process")
	if err != nil {
		return err
	}
	if process.String() == "nemesis" {
		r.h.Ignored++
		return nil
	}
	typ, err := field(v, "type")
	if err != nil {
		return err
	}
	f := v.get("f")
	if f == nil || f.kind == kindNil { // some leave it out, where all are transactions
		f = &value{kind: kindText, line: v.line, s: "txn"}
	}
	switch f.String() {
	case "txn", "read", "write", "cas":
	default:
		return errorAt(f.line, "there is no way to judge \"f\":%q\nwanted: \"txn\", or \"read\", \"write\", \"cas\" of registers", f)
	}
	val := v.get("value")
	if val == nil {
		val = &value{line: v.line}
	}
	key := process.String()
	b := r.open[key]
	if typ.String() == "invoke" {
		if b != nil {
			return errorAt(v.line, "process %s begins an operation, although that of line %d has not ended", key, b.line)
		}
		b = &begun{invoke: val, line: v.line, invoked: r.rank, process: key, f: f.String()}
		r.open[key] = b
		r.ops = append(r.ops, b)
		return nil
	}
	switch t := typ.String(); t {
	case "ok", "fail", "info":
		if b == nil {
			return errorAt(v.line, "process %s ends an operation (%s) that it has not begun\nwanted: a map with \"type\":\"invoke\" of this process before it", key, t)
		}
		if b.f != f.String() {
			return errorAt(v.line, "process %s ends %q, but what it began in line %d is %q", key, f, b.line, b.f)
		}
		b.end, b.ended, b.done = val, r.rank, t
		delete(r.open, key)
		return nil
	default:
		return errorAt(typ.line, "there is no \"type\":%q\nwanted: \"invoke\", \"ok\", \"fail\" or \"info\"", t)
	}
}

// field is what an operation must have.
func field(v *value, name string) (*value, error) {
	f := v.get(name)
	if f == nil || (f.kind != kindText && f.kind != kindInt) {
		return nil, errorAt(v.line, "the operation has no %q\nwanted: {\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[...]}", name)
	}
	return f, nil
}

// header is what all operations have in common.
func (b *begun) header() check.Op {
	o := check.Op{Client: b.process, Invoke: b.invoked}
	switch b.done {
	case "ok":
		o.Outcome, o.Return = check.OK, b.ended
	case "fail":
		o.Outcome, o.Return = check.Failed, b.ended
	}
	return o
}

// finish makes operations of what was read. Whether a key is a list or a register is told by all of them together.
func (r *reader) finish() (*History, error) {
	lists := map[string]bool{}
	for _, b := range r.ops {
		if b.f == "txn" {
			noteLists(lists, b.invoke)
			noteLists(lists, b.end)
		}
	}
	for _, b := range r.ops {
		if b.f == "txn" {
			x, err := b.txn(lists)
			if err != nil {
				return nil, err
			}
			r.h.Txns = append(r.h.Txns, x)
			continue
		}
		o, err := b.register()
		if err != nil {
			return nil, err
		}
		r.h.Registers = append(r.h.Registers, o)
	}
	return &r.h, nil
}

// noteLists finds the keys that are lists: those appended to, and those that were read as one.
func noteLists(lists map[string]bool, v *value) {
	if v == nil {
		return
	}
	for i := range v.list {
		if m := v.list[i].list; len(m) == 3 && (m[0].s == "append" || m[2].kind == kindList) {
			lists[m[1].String()] = true
		}
	}
}

// txn makes a transaction. What it did is what its end says, if it was acknowledged; else what it wanted to do, with the
// reads that its end tells of, if any.
func (b *begun) txn(lists map[string]bool) (x check.Txn, err error) {
	x.Op = b.header()
	from := b.invoke
	if b.end != nil && b.end.kind == kindList {
		from = b.end
	} else if x.Outcome == check.OK {
		return x, errorAt(b.line, "the transaction that begins here ended with ok, but without micro-operations\nwanted: \"value\":[[\"append\",3,5],[\"r\",3,[5]]]")
	}
	if from.kind != kindList {
		return x, errorAt(from.line, "the value of a transaction is %s\nwanted: micro-operations, like [[\"append\",3,5],[\"r\",3,null]]", from.kind)
	}
	for i := range from.list {
		m, err := mop(&from.list[i], lists, x.Outcome)
		if err != nil {
			return x, err
		}
		x.Mops = append(x.Mops, m)
	}
	return x, nil
}

func mop(v *value, lists map[string]bool, outcome check.Outcome) (m check.Mop, err error) {
	if v.kind != kindList || len(v.list) != 3 || v.list[0].kind != kindText || (v.list[1].kind != kindText && v.list[1].kind != kindInt) {
		return m, errorAt(v.line, "this is not a micro-operation\nwanted: [\"append\",key,integer], [\"w\",key,integer] or [\"r\",key,result], with a key that is an integer or a text")
	}
	name, arg := v.list[0].s, &v.list[2]
	m.Key = v.list[1].String()
	switch name {
	case "append", "w":
		m.Kind = check.MopAppend
		if name == "w" {
			m.Kind = check.MopWrite
		}
		if arg.kind != kindInt {
			return m, errorAt(v.line, "%q of %s to key %s\nwanted: an integer", name, arg.kind, m.Key)
		}
		m.Value = arg.n
		return m, nil
	case "r", "read":
	default:
		return m, errorAt(v.line, "there is no micro-operation %q\nwanted: append, w or r", name)
	}
	m.Kind = check.MopRead
	if lists[m.Key] {
		m.Kind = check.MopReadList
	}
	// That an acknowledged transaction read nothing is a result; else null says that the result is not known.
	m.Known = outcome == check.OK || arg.kind != kindNil
	switch {
	case arg.kind == kindNil:
		m.Nil = m.Known && m.Kind == check.MopRead
	case arg.kind == kindInt && m.Kind == check.MopRead:
		m.Value = arg.n
	case arg.kind == kindList:
		for i := range arg.list {
			if arg.list[i].kind != kindInt {
				return m, errorAt(arg.list[i].line, "a list holds %s\nwanted: integers", arg.list[i].kind)
			}
			m.List = append(m.List, arg.list[i].n)
		}
	default:
		return m, errorAt(v.line, "a read of key %s saw %s\nwanted: an integer or null for a register, integers for a list", m.Key, arg.kind)
	}
	return m, nil
}

// register makes an operation on a single register.
func (b *begun) register() (o check.RegisterOp, err error) {
	o.Op = b.header()
	v := b.invoke
	if b.f == "read" {
		if o.Outcome != check.OK {
			v = &value{line: b.line}
		} else {
			v = b.end
		}
	}
	if b.f != "cas" && v.kind == kindList || b.f == "cas" && len(v.list) == 2 && v.list[1].kind == kindList {
		if len(v.list) != 2 {
			return o, errorAt(v.line, "the value of %q has %d elements\nwanted: a value, or [key, value]", b.f, len(v.list))
		}
		o.Key, v = v.list[0].String(), &v.list[1]
	} else if b.invoke.kind == kindList && b.f == "read" && len(b.invoke.list) == 2 {
		o.Key = b.invoke.list[0].String()
	}
	switch b.f {
	case "read":
		o.Kind = check.Read
		if v.kind == kindNil {
			return o, nil
		}
		o.Old, err = integer(v, "a read")
	case "write":
		o.Kind = check.Write
		o.New, err = integer(v, "a write")
	case "cas":
		o.Kind = check.Change
		if v.kind != kindList || len(v.list) != 2 {
			return o, errorAt(v.line, "the value of \"cas\" is %s\nwanted: [old, new], or [key, [old, new]]", v.kind)
		}
		if v.list[0].kind != kindNil { // from the initial state
			o.Old, err = integer(&v.list[0], "a cas")
		}
		if err == nil {
			o.New, err = integer(&v.list[1], "a cas")
		}
	}
	return o, err
}

func integer(v *value, what string) (int64, error) {
	if v.kind != kindInt {
		return 0, errorAt(v.line, "%s has %s for a value\nwanted: an integer", what, v.kind)
	}
	if v.n == 0 {
		return Zero, nil
	}
	return v.n, nil
}
