package kv

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/tinylib/msgp/msgp"
)

type coded interface {
	msgp.Marshaler
	msgp.Unmarshaler
}

// everything that crosses the wire or reaches disk.
func everything() []coded {
	return []coded{&Message{}, &Request{}, &Response{}, &Error{}, &RangeDescriptor{}, &Record{}, &Intent{}, &NodeInfo{},
		&WriteRequest{}, &ReadResponse{}, &SnapshotChunk{}, &Liveness{}, &Join{}}
}

// fill sets every field to something random; slices and strings are empty (and then nil) or not.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i), depth)
		}
	case reflect.Slice:
		n := r.IntN(4)
		if depth <= 0 || n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(r, v.Index(i), depth-1)
			if e := v.Index(i); e.Kind() == reflect.Slice && e.IsNil() {
				e.Set(reflect.MakeSlice(e.Type(), 0, 0)) // inside of a slice nil and empty are not told apart
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(r, v.Index(i), depth)
		}
	case reflect.String:
		v.SetString([]string{"", "a", "ü\x00\xff", string(make([]byte, 300))}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, -129, 1 << 40, -1 << 63, 1<<63 - 1}[r.IntN(7)] >> (64 - v.Type().Bits()))
	default:
		v.SetUint([]uint64{0, 1, 127, 255, 1 << 40, 1<<64 - 1}[r.IntN(6)] >> (64 - v.Type().Bits()))
	}
}

// normal removes the difference between nil and empty slices, which is none to us.
func normal(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			normal(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			normal(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			normal(v.Index(i))
		}
		if v.Len() == 0 {
			v.SetZero()
		}
	}
}

// What goes in comes out, whatever the receiver held before; and nothing that comes out points into the buffer, which
// belongs to a pool.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		for _, in := range everything() {
			fill(r, reflect.ValueOf(in).Elem(), 5)
			b, err := in.MarshalMsg(nil)
			if err != nil {
				t.Fatal(err)
			}
			out := reflect.New(reflect.TypeOf(in).Elem()).Interface().(coded)
			fill(r, reflect.ValueOf(out).Elem(), 3)
			rest, err := out.UnmarshalMsg(b)
			if err != nil || len(rest) > 0 {
				t.Fatalf("%T: %v, %d bytes left", in, err, len(rest))
			}
			for i := range b {
				b[i] = 0xAA
			}
			normal(reflect.ValueOf(in))
			normal(reflect.ValueOf(out))
			if !reflect.DeepEqual(in, out) {
				t.Fatalf("%T:\n in %+v\nout %+v", in, in, out)
			}
		}
	}
}

// A field that a newer version knows is skipped by an older one.
func TestUnknownFieldIsSkipped(t *testing.T) {
	b := msgp.AppendMapHeader(nil, 2)
	b = msgp.AppendString(b, "from the future")
	b = msgp.AppendArrayHeader(b, 2)
	b = msgp.AppendInt(b, 1)
	b = msgp.AppendString(b, "x")
	b = msgp.AppendString(b, "f")
	b = msgp.AppendUint32(b, 7)
	m, err := DecodeMessage(b)
	if err != nil || m.From != 7 {
		t.Fatalf("%+v, %v", m, err)
	}
}

// message makes the encoding of {name: value}.
func message(name string, value []byte) []byte {
	return append(msgp.AppendString(msgp.AppendMapHeader(nil, 1), name), value...)
}

// Headers that announce more than there is must not make us allocate it.
func TestHostileLengths(t *testing.T) {
	array32 := func(n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{0xdd}, n) }
	bin32 := func(n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{0xc6}, n) }
	inBatch := func(v []byte) []byte { return message("b", message("q", v)) }
	for name, b := range map[string][]byte{
		"array of 4 G requests":    inBatch(array32(1<<32 - 1)),
		"array of 16 M requests":   inBatch(array32(1 << 24)),
		"bytes of 4 GB":            message("ct", message("r", bin32(1<<32-1))),
		"string of 4 GB":           message("ct", message("k", []byte{0xdb, 0xff, 0xff, 0xff, 0xff})),
		"map of 4 G fields":        {0xdf, 0xff, 0xff, 0xff, 0xff},
		"a million empty requests": inBatch(append(array32(1<<20), bytes.Repeat([]byte{0x80}, 1<<20)...)),
		"deep nesting":             bytes.Repeat([]byte{0x91}, 1<<20),
		"left over":                {0x80, 0x80},
		"nothing":                  {},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := DecodeMessage(b)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatalf("accepted as %+v", m)
			}
			if d := after.TotalAlloc - before.TotalAlloc; d > 1<<20 {
				t.Fatalf("%d bytes were allocated for it", d)
			}
		})
	}
}

// The largest honest messages pass: many small keys, many small rows.
func TestManySmallStructures(t *testing.T) {
	m := &Message{}
	m.Batch = &Batch{}
	for range 20_000 {
		m.Batch.Requests = append(m.Batch.Requests, Request{Range: 1, Read: &ReadRequest{Keys: []Key{{1}}}})
	}
	b, err := m.MarshalMsg(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeMessage(b); err != nil {
		t.Fatal(err)
	}
	reply := &Message{BatchReply: &BatchReply{Responses: []Response{{Read: &ReadResponse{Values: make([][]byte, 1<<20)}}}}}
	if b, err = reply.MarshalMsg(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeMessage(b); err != nil {
		t.Fatal(err)
	}
}

// Our own walk over a message agrees with the library's: on honest messages, cut off anywhere, and with any byte changed.
func TestShapeAgreesWithSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	agree := func(b []byte) {
		rest, err := msgp.Skip(b)
		want := err == nil && len(rest) == 0
		if got := checkShape(b); (got == nil) != want {
			t.Fatalf("%x: %v; the library leaves %d bytes: %v", b, got, len(rest), err)
		}
	}
	for i := range 1000 {
		var m Message
		fill(r, reflect.ValueOf(&m).Elem(), 4)
		b, err := m.MarshalMsg(nil)
		if err != nil {
			t.Fatal(err)
		}
		agree(b)
		agree(b[:r.IntN(len(b))])
		for range 20 {
			c := bytes.Clone(b)
			c[r.IntN(len(c))] = byte(r.Uint32())
			agree(c)
		}
		for lead := range 256 { // each kind of token, with what follows long enough or not
			b := []byte{0x92, byte(lead)}
			for range i % 24 {
				b = append(b, byte(r.IntN(8)))
			}
			agree(b)
		}
	}
}

func FuzzDecodeMessage(f *testing.F) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		var m Message
		fill(r, reflect.ValueOf(&m).Elem(), 4)
		b, err := m.MarshalMsg(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMessage(b)
		if err != nil {
			return
		}
		again, err := m.MarshalMsg(nil)
		if err != nil {
			t.Fatal(err)
		}
		m2, err := DecodeMessage(again)
		if err != nil {
			t.Fatal(err)
		}
		normal(reflect.ValueOf(m))
		normal(reflect.ValueOf(m2))
		if !reflect.DeepEqual(m, m2) {
			t.Fatalf("%+v\nbecame\n%+v", m, m2)
		}
	})
}
