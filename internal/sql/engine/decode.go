package engine

import (
	"fmt"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// rowDecoder decodes rows of one table for a reader, which wants some of the columns. Rows are taken from slabs, so that
// a hundred of them cost an allocation or two.
type rowDecoder struct {
	l    *layout
	want []bool // by place in the schema; nil: all
	slab []rowcodec.Datum
}

// slabRows is how many rows share an allocation: who keeps one of them keeps that many.
const slabRows = 64

// decoder makes a decoder for what a reader needs: the columns that the statement wants, and those that decide whether a
// row is within its bounds.
func (r *rowReader) decoder() *rowDecoder {
	l := r.t.l
	d := &rowDecoder{l: l}
	if r.t.columns == nil || l.desc.Keyless() || r.stmt.kind != reading {
		return d
	}
	d.want = make([]bool, len(l.columns)+1)
	for _, at := range r.t.columns {
		d.want[at] = true
	}
	for i := range r.reaches {
		for _, b := range r.reaches[i].bounds() {
			d.want[b.at] = true
		}
	}
	return d
}

// row decodes a row of the primary index. Columns that are not wanted are left NULL. n is how many rows are to come,
// this one included.
func (r *rowDecoder) row(key kv.Key, value []byte, n int) (datums, error) {
	l := r.l
	width := len(l.columns) + 1
	if len(r.slab) < width {
		r.slab = make([]rowcodec.Datum, width*max(1, min(n, slabRows)))
	}
	d := datums(r.slab[:width:width])
	r.slab = r.slab[width:]
	return d, r.into(d, key, value)
}

// into is row into a row that was another one before.
func (r *rowDecoder) into(d datums, key kv.Key, value []byte) error {
	l := r.l
	for i := range l.columns {
		if r.want == nil || r.want[i] {
			d[i] = l.columns[i].Fill
		}
	}
	if err := r.key(key, d); err != nil {
		return l.corrupt(key, err)
	}
	if err := r.value(value, d); err != nil {
		return l.corrupt(key, err)
	}
	return nil
}

func (r *rowDecoder) key(key kv.Key, d datums) error {
	parts := r.l.primaryParts()
	if r.want == nil {
		return decodeParts(key, r.l.primary.prefix, parts, nil, d)
	}
	if len(key) < len(r.l.primary.prefix) {
		return fmt.Errorf("key is shorter than its index's prefix")
	}
	rest := []byte(key[len(r.l.primary.prefix):])
	for i := range parts {
		p := &parts[i]
		if !r.want[p.at] || p.col.Lossy() {
			n, err := keys.ColumnEnd(rest, p.col.Shape())
			if err != nil {
				return err
			}
			rest = rest[n:]
			continue
		}
		var err error
		if d[p.at], rest, err = rowcodec.DecodeKey(rest, &p.col); err != nil {
			return err
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes are left over in the key", len(rest))
	}
	return nil
}

func (r *rowDecoder) value(value []byte, d datums) error {
	if r.want == nil {
		return r.l.readValue(value, d)
	}
	v, err := rowcodec.ReadValue(value)
	for err == nil {
		id, wire, ok, e := v.Field()
		if !ok {
			return e
		}
		if at := r.l.place(id); at >= 0 && id != 0 && r.want[at] {
			err = v.Take(wire, &r.l.columns[at], &d[at])
		} else {
			err = v.Skip(id, wire)
		}
	}
	return err
}
