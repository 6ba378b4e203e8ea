package engine

import (
	"bytes"
	"context"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

func unbounded(c sql.MySQLRangeColumnExpr) bool {
	_, low := c.LowerBound.(sql.BelowNull)
	_, high := c.UpperBound.(sql.AboveAll)
	return low && high
}

// columnEnds is a column's bounds as the bytes that follow the fixed part. high nil: no bound. fixed: both are one value,
// low is its encoding.
type columnEnds struct {
	low, high []byte
	fixed     bool
}

// ends encodes a column's bounds.
func (x *indexLayout) ends(ctx *sql.Context, p part, c sql.MySQLRangeColumnExpr) (e columnEnds, empty bool, err error) {
	col := &p.col
	typ := x.table.schema.Schema[p.at].Type
	cutsPrefix := col.Prefix > 0
	var lowKey, highKey []byte
	lowIn, highIn := false, false
	for _, cut := range []sql.MySQLRangeCut{c.LowerBound, c.UpperBound} {
		if sql.MySQLRangeCutIsBinding(cut) && sql.GetMySQLRangeCutKey(cut) == nil {
			return e, true, nil // nothing is equal to NULL, or above it
		}
	}
	switch b := c.LowerBound.(type) {
	case sql.BelowNull:
	case sql.AboveNull:
		e.low = []byte{rowcodec.AfterNull}
	case sql.Below, sql.Above:
		_, lowIn = b.(sql.Below)
		v, place, err := encodeBound(ctx, typ, col, sql.GetMySQLRangeCutKey(b))
		if err != nil {
			return e, false, err
		}
		switch place {
		case beyond:
			return e, true, nil
		case before:
			e.low = []byte{rowcodec.AfterNull}
		case between:
			e.low = keys.PrefixEnd(v)
		default:
			lowKey = v
			e.low = v
			if !lowIn && !cutsPrefix {
				e.low = keys.PrefixEnd(v)
			}
		}
	case sql.AboveAll:
		return e, true, nil
	}
	switch b := c.UpperBound.(type) {
	case sql.AboveAll:
	case sql.BelowNull:
		return e, true, nil
	case sql.AboveNull:
		e.high = []byte{rowcodec.AfterNull}
		if _, ok := c.LowerBound.(sql.BelowNull); ok { // IS NULL
			nul, _ := rowcodec.AppendKey(nil, col, rowcodec.Datum{})
			return columnEnds{low: nul, fixed: true}, false, nil
		}
	case sql.Below, sql.Above:
		_, highIn = b.(sql.Above)
		v, place, err := encodeBound(ctx, typ, col, sql.GetMySQLRangeCutKey(b))
		if err != nil {
			return e, false, err
		}
		switch place {
		case before:
			return e, true, nil
		case beyond:
		case between:
			e.high = keys.PrefixEnd(v)
		default:
			highKey = v
			e.high = v
			if highIn || cutsPrefix {
				e.high = keys.PrefixEnd(v)
			}
		}
	}
	if lowKey != nil && highKey != nil && lowIn && highIn && bytes.Equal(lowKey, highKey) {
		return columnEnds{low: lowKey, fixed: true}, false, nil
	}
	if e.high != nil && bytes.Compare(e.low, e.high) >= 0 {
		return e, true, nil
	}
	return e, false, nil
}

// place says where a bound lies relative to the values that a column can have.
type place uint8

// encodeBound encodes a bound that need not be of the column's type.
func encodeBound(ctx *sql.Context, typ sql.Type, col *rowcodec.Column, v any) ([]byte, place, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, exact, err
	}
	where := exact
	if n, ok := typ.(sql.NumberType); ok && !n.IsFloat() {
		v, where = wholeNumber(v)
	}
	c, in, err := typ.Convert(ctx, v)
	if err != nil && !sql.ErrTruncatedIncorrect.Is(err) {
		return nil, exact, err
	}
	switch in {
	case sql.Overflow:
		return nil, beyond, nil
	case sql.Underflow:
		return nil, before, nil
	}
	d, err := toDatum(ctx, col.Kind, c)
	if err != nil {
		return nil, exact, err
	}
	key, err := rowcodec.AppendKey(nil, col, d)
	return key, where, err
}

// wholeNumber rounds down what an integer column is compared with, and says whether something was cut off.
func wholeNumber(v any) (any, place) {
	dec := new(apd.Decimal)
	switch v := v.(type) {
	case float32:
		if _, err := dec.SetFloat64(float64(v)); err != nil {
			return v, exact
		}
	case float64:
		if _, err := dec.SetFloat64(v); err != nil {
			return v, exact
		}
	case *apd.Decimal:
		dec.Set(v)
	default:
		return v, exact
	}
	var whole apd.Decimal
	if _, err := sql.DecimalCtx.Floor(&whole, dec); err != nil || whole.Cmp(dec) == 0 {
		return v, exact
	}
	return &whole, between
}

func within(ctx context.Context, v any, c sql.MySQLRangeColumnExpr, typ sql.Type) (bool, error) {
	if v == nil {
		_, ok := c.LowerBound.(sql.BelowNull)
		if _, none := c.UpperBound.(sql.BelowNull); none {
			ok = false
		}
		return ok, nil
	}
	switch b := c.LowerBound.(type) {
	case sql.AboveAll:
		return false, nil
	case sql.Below, sql.Above:
		_, in := b.(sql.Below)
		n, err := compareBound(ctx, typ, v, sql.GetMySQLRangeCutKey(b))
		if err != nil || n < 0 || n == 0 && !in {
			return false, err
		}
	}
	switch b := c.UpperBound.(type) {
	case sql.BelowNull, sql.AboveNull:
		return false, nil
	case sql.Below, sql.Above:
		_, in := b.(sql.Above)
		n, err := compareBound(ctx, typ, v, sql.GetMySQLRangeCutKey(b))
		if err != nil || n > 0 || n == 0 && !in {
			return false, err
		}
	}
	return true, nil
}

func compareBound(ctx context.Context, typ sql.Type, v, bound any) (int, error) {
	if n, ok := typ.(sql.NumberType); ok && !n.IsFloat() {
		switch bound.(type) {
		case float32, float64, *apd.Decimal:
			return types.InternalDecimalType.Compare(ctx, v, bound)
		}
	}
	if order, err := orderOf(typ); err == nil && order != nil {
		a, isText := v.(string)
		if b, ok := bound.(string); ok && isText {
			return order.Compare(a, b), nil
		}
	}
	return typ.Compare(ctx, v, bound)
}

const (
	exact   place = iota
	before        // below all of them
	beyond        // above all of them
	between       // just above the value that was encoded
)

// asksNothing reports whether a lookup is of no value at all. The planner says so of each that has a NULL among its keys, also
// where the condition is <=>, which NULLs satisfy.
func asksNothing(lookup sql.IndexLookup) bool {
	if !lookup.IsEmptyRange {
		return false
	}
	rs, ok := lookup.Ranges.(sql.MySQLRangeCollection)
	if !ok || len(rs) != 1 {
		return true
	}
	for _, c := range rs[0] {
		_, low := c.LowerBound.(sql.BelowNull)
		if _, high := c.UpperBound.(sql.AboveNull); low && high { // = NULL; what the other columns say is encoded as always
			return false
		}
	}
	return true
}
