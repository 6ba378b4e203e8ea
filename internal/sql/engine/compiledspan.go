package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// spanForm is SELECT of the rows whose first columns of an index are equal to values, and the one behind them is within
// bounds; in the order of the index.
type spanForm struct {
	*selectForm
	x     *indexLayout
	equal []spanOperand
	// low and high bound the column behind those. Nil: not.
	low, high *spanBound
	places    []int // of the columns that are wanted
}

type spanOperand struct {
	assign  assign
	operand operand
}

type spanBound struct {
	spanOperand
	open bool // the bound itself is not within
}

// key appends a value to the beginning of a key. False: leave it to the ordinary path.
func (o *spanOperand) key(sc *sql.Context, key kv.Key, p *part, given []literal) (kv.Key, bool) {
	v, ok := o.operand.literal(given)
	if !ok {
		return nil, false
	}
	d, ok := o.assign(sc, v)
	if !ok {
		return nil, false
	}
	out, err := rowcodec.AppendKey(key, &p.col, d)
	return out, err == nil
}

// reach is the span of keys.
func (f *spanForm) reach(sc *sql.Context, given []literal) (r reach, ok bool) {
	key := slices.Clone(f.x.prefix)
	for i := range f.equal {
		if key, ok = f.equal[i].key(sc, key, &f.x.parts[i], given); !ok {
			return r, false
		}
	}
	n := len(f.equal)
	r.span = kv.Span{Start: key, End: keys.PrefixEnd(key)}
	r.point = n == len(f.x.parts) && (f.x.isPK || f.x.desc.Unique)
	if f.low == nil && f.high == nil {
		return r, true
	}
	p := &f.x.parts[n]
	if f.low == nil { // NULLs are not below anything
		r.span.Start = append(slices.Clone(key), rowcodec.AfterNull)
	} else if r.span.Start, ok = f.low.key(sc, slices.Clone(key), p, given); !ok {
		return r, false
	} else if f.low.open {
		r.span.Start = keys.PrefixEnd(r.span.Start)
	}
	if f.high == nil {
		return r, true
	}
	if r.span.End, ok = f.high.key(sc, slices.Clone(key), p, given); ok && !f.high.open {
		r.span.End = keys.PrefixEnd(r.span.End)
	}
	return r, ok
}

func (f *spanForm) perform(x *execution, sc *sql.Context, given []literal) error {
	most, ok := f.most(given)
	if !ok {
		return errOrdinary
	}
	r, ok := f.reach(sc, given)
	if !ok {
		return errOrdinary
	}
	out := f.open(x, sc)
	var err error
	switch {
	case r.span.Empty():
	case most > 0 && f.x.isPK:
		err = f.first(x, sc, r.span, most, out)
	default:
		err = f.read(x, sc, r, most, out)
	}
	if err == nil {
		out.close()
	}
	return err
}

// first reads as many rows as LIMIT says, and no more.
func (f *spanForm) first(x *execution, sc *sql.Context, span kv.Span, most int, out *opened) error {
	t := x.s.transaction()
	scan := t.attempt().Scan(sc, span, txn.ScanOptions{Limit: most})
	for {
		rows, err := scan.Next(sc)
		if err != nil {
			return t.note(err)
		}
		if len(rows) == 0 {
			return nil
		}
		for _, r := range rows {
			if err := out.add(r.Key, r.Value); err != nil {
				return err
			}
		}
	}
}

// read reads as the ordinary path does.
func (f *spanForm) read(x *execution, sc *sql.Context, r reach, most int, out *opened) error {
	tbl := f.table(x.h.e)
	tbl.columns = f.places
	it, err := newRowReader(sc, tbl, f.x, []reach{r}, false)
	if err != nil {
		return err
	}
	for most < 0 || out.rows < most {
		d, err := it.next(sc)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := out.row(d); err != nil {
			return err
		}
	}
	return nil
}
