package engine

import (
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// spanForm is SELECT of the rows whose first columns of an index are equal to values, and the one behind them is within
// bounds; in the order of the index or its reverse.
type spanForm struct {
	*selectForm
	x     *indexLayout
	equal []spanOperand
	// low and high bound the column behind those. Nil: not.
	low, high *spanBound
	places    []int // of the columns that are wanted
	reverse   bool  // from the end of the span to its beginning
	sort      *sorting
	folds     []fold // not empty: the result is one row that is made of all
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
	case len(f.folds) > 0:
		err = f.fold(x, sc, r, out)
	case r.span.Empty():
	case f.sort != nil:
		err = f.sorted(x, sc, r, most, out)
	default:
		err = f.read(x, sc, r, most, out)
	}
	if err == nil {
		out.close()
	}
	return err
}

// read gives the rows of the span on, as many as LIMIT says.
func (f *spanForm) read(x *execution, sc *sql.Context, r reach, most int, out *opened) error {
	it, err := f.reader(x, sc, r)
	if err != nil {
		return err
	}
	it.sink, it.limit = out, max(most, 0)
	if _, err = it.next(sc); err == io.EOF {
		return nil
	}
	return err
}

func (f *spanForm) reader(x *execution, sc *sql.Context, r reach) (*rowReader, error) {
	tbl := f.table(x.h.e)
	tbl.columns = f.places
	return newRowReader(sc, tbl, f.x, []reach{r}, f.reverse)
}
