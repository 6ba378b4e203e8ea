package engine

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// layout is how the rows of one version of a table are encoded. It is derived from the descriptor and never changed.
type layout struct {
	desc    *catalog.Table
	schema  sql.PrimaryKeySchema // without sources of defaults resolved; copied where the engine may write to it
	columns []rowcodec.Column    // as schema
	decode  []func(rowcodec.Datum) (any, error)
	byID    map[uint32]int // column id to its place in the schema
	places  []int          // the same for small ids, by id; -1: none
	primary *indexLayout
	indexes []*indexLayout // secondary, in the descriptor's order
	autoInc int            // place of the AUTO_INCREMENT column, or -1
	virtual []bool
	fixed   []bool // CHAR: stored without spaces at the end
	stored  []bool // in the row's value: all but virtual columns that no index contains
	query   atomic.Pointer[queryLayout]
	rules   atomic.Pointer[bind.TableRules] // see tableRules
	// virtualIndex: an index contains a virtual column. The engine does not always know the value that it had.
	virtualIndex bool
	hasParts     bool // it has columns that hold expressions of functional indexes
}

// indexLayout is how the entries of one index are encoded.
//
// An entry of a secondary index has the primary key behind its own columns; of a unique one only if one of them is NULL
// (NULLs do not collide). What its key does not give back is in its value: the originals of lossy columns, and for a
// unique index the primary key.
type indexLayout struct {
	table    *layout
	desc     *catalog.Index
	prefix   kv.Key
	parts    []part
	suffix   []part // of the primary key, where not among parts; empty for the primary index
	covering []int  // places of the columns that an entry gives back
	prefixes []uint16
	isPK     bool
}

// part is a column of a key.
type part struct {
	at  int // place in the schema
	col rowcodec.Column
}

func newLayout(database string, t *catalog.Table) (*layout, error) {
	l := &layout{desc: t, byID: map[uint32]int{}, autoInc: -1}
	for i := range t.Columns {
		c := &t.Columns[i]
		typ, err := columnType(c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %s of table %s: %w", c.Name, t.Name, err)
		}
		col := &sql.Column{Name: c.Name, Type: typ, Nullable: c.Nullable, AutoIncrement: c.AutoIncrement, Virtual: c.Virtual,
			Hidden: c.Hidden, HiddenSystem: c.HiddenSystem, Comment: c.Comment, Source: t.Name, DatabaseSource: database,
			Default: unresolved(c.Default), Generated: unresolved(c.Generated), OnUpdate: unresolved(c.OnUpdate)}
		col.Extra = extraText(c)
		if isPart(c) { // calculated by the editor
			col.Generated, col.Nullable, l.hasParts = unresolved("(NULL)"), true, true
		}
		if c.AutoIncrement {
			l.autoInc = i
		}
		kind, err := kindOf(typ)
		if err != nil {
			return nil, err
		}
		rc := rowcodec.Column{ID: c.ID, Kind: kind}
		if kind == rowcodec.Text {
			if rc.SortKey, err = sortKey(typ); err != nil {
				return nil, fmt.Errorf("column %s of table %s: %w", c.Name, t.Name, err)
			}
		}
		if d, ok := typ.(sql.DecimalType); ok {
			rc.Scale = int(d.Scale())
		}
		if len(c.Fill) > 0 {
			if rc.Fill, err = readFill(&rc, c.Fill); err != nil {
				return nil, fmt.Errorf("column %s of table %s: %w", c.Name, t.Name, err)
			}
		}
		l.byID[c.ID] = i
		l.schema.Schema = append(l.schema.Schema, col)
		l.columns = append(l.columns, rc)
		l.decode = append(l.decode, fromDatum(typ))
		l.virtual = append(l.virtual, c.Virtual)
		l.fixed = append(l.fixed, typ.Type() == sqltypes.Char)
		l.stored = append(l.stored, !c.Virtual)
	}
	l.places = make([]int, min(2*len(t.Columns)+16, int(t.NextColumnID)+1))
	for id := range l.places {
		at, ok := l.byID[uint32(id)]
		if !ok {
			at = -1
		}
		l.places[id] = at
	}
	var err error
	if l.primary, err = l.index(&t.Primary, true); err != nil {
		return nil, err
	}
	for _, p := range l.primary.parts {
		l.schema.Schema[p.at].PrimaryKey = true
		l.schema.PkOrdinals = append(l.schema.PkOrdinals, p.at)
	}
	for i := range t.Indexes {
		x, err := l.index(&t.Indexes[i], false)
		if err != nil {
			return nil, err
		}
		l.indexes = append(l.indexes, x)
		for _, p := range x.parts {
			if l.virtual[p.at] {
				l.stored[p.at], l.virtualIndex = true, true
			}
		}
	}
	return l, nil
}

func unresolved(expr string) *sql.ColumnDefaultValue {
	if expr == "" {
		return nil
	}
	return sql.NewUnresolvedColumnDefaultValue(expr)
}

func readFill(c *rowcodec.Column, value []byte) (rowcodec.Datum, error) {
	r, err := rowcodec.ReadValue(value)
	if err != nil {
		return rowcodec.Datum{}, err
	}
	_, d, ok, err := r.Next()
	if err != nil || !ok {
		return rowcodec.Datum{}, errors.Join(errors.New("the value for older rows cannot be read"), err)
	}
	return d.As(c)
}

func (l *layout) index(d *catalog.Index, primary bool) (*indexLayout, error) {
	x := &indexLayout{table: l, desc: d, prefix: catalog.IndexPrefix(l.desc.ID, d.ID), isPK: primary}
	in := map[int]bool{}
	hasPrefix := false
	for _, c := range d.Columns {
		at, ok := l.byID[c.Column]
		if !ok {
			return nil, fmt.Errorf("index %s of table %s names column %d, which is not there", d.Name, l.desc.Name, c.Column)
		}
		p := part{at: at, col: l.columns[at]}
		p.col.Prefix = c.Length
		if c.Length > 0 && p.col.SortKey != nil && !d.Unique && !primary { // a unique key is one of characters, as MySQL's
			order, err := orderOf(l.schema.Schema[at].Type)
			if err != nil {
				return nil, err
			}
			p.col.Cuts = true
			p.col.SortKey = func(dst, text []byte) []byte { return order.AppendFirst(dst, string(text), c.Length) }
		}
		x.parts = append(x.parts, p)
		x.prefixes = append(x.prefixes, uint16(c.Length))
		in[at] = c.Length == 0
		hasPrefix = hasPrefix || c.Length > 0
		if c.Length == 0 {
			x.covering = append(x.covering, at)
		}
	}
	if !hasPrefix {
		x.prefixes = nil
	}
	if !primary {
		for _, p := range l.primaryParts() {
			if !in[p.at] {
				x.suffix = append(x.suffix, p)
				x.covering = append(x.covering, p.at)
			}
		}
	}
	return x, nil
}

// all are the indexes, the primary one first.
func (l *layout) all() []*indexLayout { return append([]*indexLayout{l.primary}, l.indexes...) }

// place is where the column with an id is, or -1.
func (l *layout) place(id uint32) int {
	if int(id) < len(l.places) {
		return l.places[id]
	}
	if at, ok := l.byID[id]; ok {
		return at
	}
	return -1
}

// rowIDColumn is the key of tables without a primary key.
var rowIDColumn = rowcodec.Column{ID: 0, Kind: rowcodec.Uint}

// rowIDAt is the place of the row id, behind the columns of the schema.
func (l *layout) rowIDAt() int { return len(l.columns) }

func (l *layout) primaryParts() []part {
	if l.desc.Keyless() {
		return []part{{at: l.rowIDAt(), col: rowIDColumn}}
	}
	if l.primary != nil {
		return l.primary.parts
	}
	return nil
}

// indexByName returns the index of that name in any case; PRIMARY is the primary one.
func (l *layout) indexByName(name string) *indexLayout {
	if strings.EqualFold(name, "PRIMARY") && !l.desc.Keyless() {
		return l.primary
	}
	for _, x := range l.indexes {
		if strings.EqualFold(x.desc.Name, name) {
			return x
		}
	}
	return nil
}
