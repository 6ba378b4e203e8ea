package engine

import (
	"bytes"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// keyCondition fixes the primary key of the rows that are wanted.
type keyCondition struct {
	l      *layout
	assign []assign // of each column of the key
	keys   [][]operand
}

// find encodes the keys, in order and each once. False: leave it to the ordinary path.
func (k *keyCondition) find(sc *sql.Context, given []literal) ([]kv.Key, bool) {
	out := make([]kv.Key, len(k.keys))
	for i, key := range k.keys {
		b := append(make(kv.Key, 0, len(k.l.primary.prefix)+32), k.l.primary.prefix...)
		for j := range key {
			v, ok := key[j].literal(given)
			if !ok {
				return nil, false
			}
			d, ok := k.assign[j](sc, v)
			if !ok {
				return nil, false
			}
			var err error
			if b, err = rowcodec.AppendKey(b, &k.l.primary.parts[j].col, d); err != nil {
				return nil, false
			}
		}
		out[i] = b
	}
	if len(out) > 1 {
		slices.SortFunc(out, kv.Key.Compare)
		out = slices.CompactFunc(out, func(a, b kv.Key) bool { return bytes.Equal(a, b) })
	}
	return out, true
}

// selectForm is SELECT of rows by their primary keys.
type selectForm struct {
	target
	where   *keyCondition
	limit   *operand
	lock    kv.LockMode
	columns []resultColumn
	want    []bool // by place in the schema: the statement selects it
	schema  sql.Schema
	// described is how the result is described, if not by schema.
	described *rel.Query
	fields    atomic.Pointer[fieldsFor]
}

// fieldsFor are the descriptions of the result's columns, for a character set of results.
type fieldsFor struct {
	results sql.CharacterSetID
	fields  []*querypb.Field
}

func (f *selectForm) describe(sc *sql.Context, results sql.CharacterSetID) []*querypb.Field {
	if known := f.fields.Load(); known != nil && known.results == results {
		return known.fields
	}
	made := &fieldsFor{results: results}
	if f.described != nil {
		made.fields = queryFields(sc, f.described)
	} else {
		made.fields = resultFields(sc, f.schema)
	}
	f.fields.Store(made)
	return made.fields
}

// most is what LIMIT says; -1: nothing. False: leave it to the ordinary path.
func (f *selectForm) most(given []literal) (int, bool) {
	if f.limit == nil {
		return -1, true
	}
	v, ok := f.limit.literal(given)
	if !ok || v.kind != intLiteral {
		return 0, false
	}
	n, err := strconv.ParseUint(string(v.text), 10, 31)
	return int(n), err == nil && n > 0
}

func (f *selectForm) perform(x *execution, sc *sql.Context, given []literal) error {
	most, ok := f.most(given)
	if !ok {
		return errOrdinary
	}
	ks, ok := f.where.find(sc, given)
	if !ok {
		return errOrdinary
	}
	t := x.s.transaction()
	values, _, err := t.getLocked(sc, ks, txn.Lock{Mode: f.lock, Wait: x.s.settings(sc).lockWait})
	if err != nil {
		return err
	}
	out := f.open(x, sc)
	for i, v := range values {
		if len(v) == 0 {
			continue
		}
		if most == out.rows {
			break
		}
		if err := out.add(ks[i], v); err != nil {
			return err
		}
	}
	out.close()
	return nil
}

// opened is a result being filled.
type opened struct {
	f     *selectForm
	x     *execution
	sc    *sql.Context
	plain bool
	rows  int
	from  rowDecoder
	d     datums // the row at hand
	// values and buf are cut into the rows' values, where rows are not packets.
	values []sqltypes.Value
	buf    []byte
}

// digitsAtOnce is how much is taken for the digits of a result's numbers at once.
const digitsAtOnce = 512

func (f *selectForm) open(x *execution, sc *sql.Context) *opened {
	results := x.s.settings(sc).results
	x.out.begin(f.describe(sc, results))
	return &opened{f: f, x: x, sc: sc, plain: plainResults(results)}
}

// add adds a row as it is kept.
func (o *opened) add(key kv.Key, value []byte) error {
	if o.d == nil {
		o.from = rowDecoder{l: o.f.l, want: o.f.want}
		o.d = make(datums, len(o.f.l.columns)+1)
	}
	if err := o.from.into(o.d, key, value); err != nil {
		return err
	}
	return o.row(o.d)
}

func (o *opened) row(d datums) (err error) {
	if o.x.out.form != valueRows {
		o.rows++
		return o.packed(d)
	}
	n := len(o.f.columns)
	if len(o.values) < n {
		o.values = make([]sqltypes.Value, n*min(1+o.rows, 32))
	}
	row := o.values[:n:n]
	o.values = o.values[n:]
	for i := range o.f.columns {
		if cap(o.buf)-len(o.buf) < 24 {
			o.buf = make([]byte, 0, min(digitsAtOnce, 24*n*(1+o.rows)))
		}
		c := &o.f.columns[i]
		if row[i], o.buf, err = c.value(o.sc, o.f.l, d[c.at], o.plain, o.buf); err != nil {
			return err
		}
	}
	o.rows++
	return o.x.out.row(o.sc, row, false)
}

func (o *opened) close() {
	i := o.x.s.GetLastQueryInfo()
	i.RowCount.Store(-1)
	i.FoundRows.Store(int64(o.rows))
}
