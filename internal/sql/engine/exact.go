package engine

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// go-mysql-server compares the rows of DISTINCT, UNION and GROUP BY by a 64-bit hash alone, in which NULL is the text <nil>,
// and DISTINCT without regard to collations. The operators here compare the values.

// rowKey is a string that is the same for two rows iff SQL takes their values for equal.
type rowKey struct {
	weights []func(dst, text []byte) []byte // by column; nil: bytes
	err     error                           // the order of a column's texts is not known
	buf     []byte
}

func newRowKey(ts []sql.Type) *rowKey {
	k := &rowKey{weights: make([]func(dst, text []byte) []byte, len(ts))}
	for i, t := range ts {
		var err error
		if k.weights[i], err = sortKey(t); err != nil {
			k.err = err
		}
	}
	return k
}

func schemaTypes(s sql.Schema) (out []sql.Type) {
	for _, c := range s {
		out = append(out, c.Type)
	}
	return out
}

func expressionTypes(ctx *sql.Context, es []sql.Expression) (out []sql.Type) {
	for _, e := range es {
		out = append(out, e.Type(ctx))
	}
	return out
}

// of returns the key of a row.
func (k *rowKey) of(ctx *sql.Context, row sql.Row) (string, error) {
	if k.err != nil {
		return "", k.err
	}
	k.buf = k.buf[:0]
	for i, v := range row {
		v, err := sql.UnwrapAny(ctx, v)
		if err != nil {
			return "", err
		}
		var weigh func(dst, text []byte) []byte
		if i < len(k.weights) {
			weigh = k.weights[i]
		}
		if err := k.add(ctx, v, weigh); err != nil {
			return "", err
		}
	}
	return string(k.buf), nil
}

func (k *rowKey) add(ctx *sql.Context, v any, weigh func(dst, text []byte) []byte) (err error) {
	text := func(kind byte, b []byte) {
		k.buf = binary.AppendUvarint(append(k.buf, kind), uint64(len(b)))
		k.buf = append(k.buf, b...)
	}
	switch v := v.(type) {
	case nil:
		k.buf = append(k.buf, 0)
	case string:
		if weigh == nil {
			text('s', []byte(v))
			return nil
		}
		k.buf = append(weigh(append(k.buf, 'w'), []byte(v)), 0)
	case []byte:
		text('s', v)
	case bool:
		if text('n', []byte{'0'}); v {
			k.buf[len(k.buf)-1] = '1'
		}
	case float32:
		k.number(float64(v))
	case float64:
		k.number(v)
	case *apd.Decimal:
		var r apd.Decimal
		r.Reduce(v)
		text('n', []byte(r.Text('f')))
	case time.Time:
		k.buf = binary.BigEndian.AppendUint64(append(k.buf, 't'), uint64(v.UnixMicro()))
	case sql.JSONWrapper:
		b, jerr := types.MarshallJson(ctx, v)
		text('j', b)
		err = jerr
	default: // integers of all widths, so that they equal each other
		text('n', fmt.Append(nil, v))
	}
	return err
}

// number writes a float as the decimal that equals it.
func (k *rowKey) number(f float64) {
	if f == 0 {
		f = 0
	}
	s := strconv.AppendFloat(nil, f, 'f', -1, 64)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		s = fmt.Append(nil, f)
	}
	k.buf = binary.AppendUvarint(append(k.buf, 'n'), uint64(len(s)))
	k.buf = append(k.buf, s...)
}

// distinctIter drops rows that came before.
type distinctIter struct {
	sql.RowIter
	key  *rowKey
	on   []sql.Expression // what makes a row distinct; nil: all of it
	seen map[string]struct{}
}

func newDistinct(it sql.RowIter, ts []sql.Type, on []sql.Expression) *distinctIter {
	return &distinctIter{RowIter: it, key: newRowKey(ts), on: on, seen: map[string]struct{}{}}
}

// Next implements sql.RowIter.
func (d *distinctIter) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := d.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		vs := row
		if d.on != nil {
			vs = make(sql.Row, len(d.on))
			for i, e := range d.on {
				if vs[i], err = e.Eval(ctx, row); err != nil {
					return nil, err
				}
			}
		} else if n := len(row) - len(d.key.weights); n > 0 {
			vs = row[n:]
		}
		k, err := d.key.of(ctx, vs)
		if err != nil {
			return nil, err
		}
		if _, ok := d.seen[k]; !ok {
			d.seen[k] = struct{}{}
			return row, nil
		}
	}
}

// Close implements sql.RowIter.
func (d *distinctIter) Close(ctx *sql.Context) error {
	d.seen = nil
	return d.RowIter.Close(ctx)
}

func (b *builder) distinct(ctx *sql.Context, n *plan.Distinct, row sql.Row) (sql.RowIter, error) {
	it, err := b.e.gms.Analyzer.ExecBuilder.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	if on := n.DistinctOn(); len(on) > 0 {
		return newDistinct(it, expressionTypes(ctx, on), on), nil
	}
	return newDistinct(it, schemaTypes(n.Child.Schema(ctx)), nil), nil
}

type skipIter struct {
	sql.RowIter
	skip int64
}

// Next implements sql.RowIter.
func (s *skipIter) Next(ctx *sql.Context) (sql.Row, error) {
	for ; s.skip > 0; s.skip-- {
		if _, err := s.RowIter.Next(ctx); err != nil {
			return nil, err
		}
	}
	return s.RowIter.Next(ctx)
}
