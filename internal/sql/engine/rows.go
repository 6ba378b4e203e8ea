package engine

import (
	"bytes"
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// datums is a row in encoded form: as the schema, and behind it the row id (NULL unless the table is keyless).
type datums []rowcodec.Datum

// encodeRow turns a row of the engine into datums. Virtual columns are kept, because indexes may contain them.
func (l *layout) encodeRow(ctx context.Context, row sql.Row, rowID uint64) (datums, error) {
	if len(row) != len(l.columns) {
		return nil, fmt.Errorf("table %s has %d columns and was given a row of %d", l.desc.Name, len(l.columns), len(row))
	}
	d := make(datums, len(row)+1)
	for i, v := range row {
		var err error
		if d[i], err = toDatum(ctx, l.columns[i].Kind, v); err != nil {
			return nil, fmt.Errorf("column %s: %w", l.desc.Columns[i].Name, err)
		}
		if l.fixed[i] {
			d[i].B = withoutPadding(d[i].B)
		}
	}
	if l.desc.Keyless() {
		d[len(row)] = rowcodec.Datum{Kind: rowcodec.Uint, U: rowID}
	}
	return d, nil
}

// withoutPadding is a text of a CHAR column as it is stored: MySQL fills such texts with spaces up to the column's length and takes
// all spaces off their end when it reads them, so those that were written are not told from the filling.
func withoutPadding(text []byte) []byte { return bytes.TrimRight(text, " ") }

// primaryKey is the key of the row.
func (l *layout) primaryKey(d datums) (kv.Key, error) {
	return l.primary.appendParts(append(kv.Key{}, l.primary.prefix...), l.primaryParts(), d)
}

func (x *indexLayout) appendParts(key kv.Key, parts []part, d datums) (kv.Key, error) {
	var err error
	for i := range parts {
		if key, err = rowcodec.AppendKey(key, &parts[i].col, d[parts[i].at]); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// rowValue is the value of the row: every stored column that its key does not give back.
func (l *layout) rowValue(d datums) []byte {
	v := rowcodec.BeginValue(make([]byte, 0, 64))
	for i := range l.columns {
		if l.stored[i] && !l.keyed(i) {
			v = rowcodec.AppendValue(v, &l.columns[i], d[i])
		}
	}
	return v
}

// keyed reports whether the primary key gives the column back.
func (l *layout) keyed(at int) bool {
	for i := range l.primary.parts {
		if p := &l.primary.parts[i]; p.at == at && !p.col.Lossy() {
			return true
		}
	}
	return false
}

// entry is the row's entry in a secondary index. unique: no other row may have this key.
func (x *indexLayout) entry(d datums) (key kv.Key, value []byte, unique bool, err error) {
	unique = x.desc.Unique
	for _, p := range x.parts {
		unique = unique && !d[p.at].IsNull()
	}
	if key, err = x.appendParts(append(kv.Key{}, x.prefix...), x.parts, d); err != nil {
		return nil, nil, false, err
	}
	value = rowcodec.BeginValue(nil)
	for i := range x.parts {
		if p := &x.parts[i]; p.col.Lossy() && p.col.Prefix == 0 {
			value = rowcodec.AppendValue(value, &p.col, d[p.at])
		}
	}
	if !unique {
		if key, err = x.appendParts(key, x.suffix, d); err != nil {
			return nil, nil, false, err
		}
	}
	for i := range x.suffix {
		if p := &x.suffix[i]; unique || p.col.Lossy() {
			value = rowcodec.AppendValue(value, &p.col, d[p.at])
		}
	}
	return key, value, unique, nil
}

// decodeRow reads a row of the primary index.
func (l *layout) decodeRow(key kv.Key, value []byte) (datums, error) {
	d := make(datums, len(l.columns)+1)
	return d, l.decodeInto(d, key, value)
}

// decodeInto is decodeRow into a row that was another one before.
func (l *layout) decodeInto(d datums, key kv.Key, value []byte) error {
	for i := range l.columns {
		d[i] = l.columns[i].Fill
	}
	if err := decodeParts(key, l.primary.prefix, l.primaryParts(), nil, d); err != nil {
		return l.corrupt(key, err)
	}
	if err := l.readValue(value, d); err != nil {
		return l.corrupt(key, err)
	}
	return nil
}

// decodeEntry reads an entry of a secondary index. Only the columns in x.covering, and the row id, are then set.
func (x *indexLayout) decodeEntry(key kv.Key, value []byte) (datums, error) {
	d := make(datums, len(x.table.columns)+1)
	return d, x.decodeEntryInto(d, key, value)
}

// decodeEntryInto is decodeEntry into what was another entry before.
func (x *indexLayout) decodeEntryInto(d datums, key kv.Key, value []byte) error {
	clear(d)
	if err := decodeParts(key, x.prefix, x.parts, x.suffix, d); err != nil {
		return x.table.corrupt(key, err)
	}
	if err := x.table.readValue(value, d); err != nil {
		return x.table.corrupt(key, err)
	}
	return nil
}

// decodeParts takes the columns off a key. The suffix may be missing (unique indexes).
func decodeParts(key, prefix kv.Key, parts, suffix []part, d datums) error {
	if len(key) < len(prefix) {
		return fmt.Errorf("key is shorter than its index's prefix")
	}
	rest := []byte(key[len(prefix):])
	for which, ps := range [][]part{parts, suffix} {
		if which == 1 && len(rest) == 0 {
			return nil
		}
		for i := range ps {
			v, r, err := rowcodec.DecodeKey(rest, &ps[i].col)
			if err != nil {
				return err
			}
			rest = r
			if !ps[i].col.Lossy() {
				d[ps[i].at] = v
			}
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%d bytes are left over in the key", len(rest))
	}
	return nil
}

func (l *layout) readValue(value []byte, d datums) error {
	r, err := rowcodec.ReadValue(value)
	for err == nil {
		id, wire, ok, e := r.Field()
		if !ok {
			return e
		}
		if id == 0 {
			err = r.Take(wire, &rowIDColumn, &d[l.rowIDAt()])
		} else if at := l.place(id); at >= 0 {
			err = r.Take(wire, &l.columns[at], &d[at])
		} else {
			err = r.Skip(id, wire)
		}
	}
	return err
}

func (l *layout) corrupt(key kv.Key, err error) error {
	return fmt.Errorf("table %s: the entry at %s cannot be read: %w", l.desc.Name, key, err)
}

// row turns datums into a row of the engine: the columns at places, or the whole row for nil. Virtual columns are NULL:
// the engine computes them.
func (l *layout) row(d datums, places []int) (sql.Row, error) {
	n := len(places)
	if places == nil {
		n = len(l.columns)
	}
	row := make(sql.Row, n)
	for i := range row {
		at := i
		if places != nil {
			at = places[i]
		}
		if d[at].IsNull() || l.virtual[at] {
			continue
		}
		v, err := l.decode[at](d[at])
		if err != nil {
			return nil, fmt.Errorf("table %s, column %s: %w", l.desc.Name, l.desc.Columns[at].Name, err)
		}
		row[i] = v
	}
	return row, nil
}
