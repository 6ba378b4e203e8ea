package engine

import (
	"context"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
)

// reach is one range of a lookup as a span of keys.
type reach struct {
	span  kv.Span
	point bool // the span is one key, or nothing
	// rest filters what the span holds too much of: bounds on columns behind the first one that is not fixed.
	// They include bounds on columns of which the key has only the beginning.
	rest []bound
	// or are other bounds that a row of the span may satisfy in place of rest.
	or [][]bound
}

// bounds are all bounds on columns that the span does not express.
func (r *reach) bounds() []bound { return slices.Concat(append([][]bound{r.rest}, r.or...)...) }

// bound limits one column.
type bound struct {
	at   int // place in the schema
	expr sql.MySQLRangeColumnExpr
	typ  sql.Type
}

// reaches turns a lookup into spans, in key order, none of which overlap.
func (x *indexLayout) reaches(ctx *sql.Context, lookup sql.IndexLookup) ([]reach, error) {
	ranges, ok := lookup.Ranges.(sql.MySQLRangeCollection)
	if !ok {
		return nil, sql.ErrInvalidRangeType.New()
	}
	var out []reach
	for _, rg := range ranges {
		r, empty, err := x.reach(ctx, rg)
		if err != nil {
			return nil, err
		}
		if !empty {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b reach) int { return a.span.Start.Compare(b.span.Start) })
	return joined(out), nil
}

// joined makes one of spans, in order, that overlap. The planner takes IN ('ß', 'ss') for two values whatever the collation says.
func joined(rs []reach) []reach {
	out := rs[:0]
	for _, r := range rs {
		if n := len(out); n > 0 && r.span.Start.Equal(out[n-1].span.Start) && r.span.End.Equal(out[n-1].span.End) &&
			len(r.rest)+len(out[n-1].rest) > 0 {
			switch last := &out[n-1]; {
			case len(r.rest) == 0:
				last.rest, last.or = nil, nil
			case len(last.rest) > 0:
				last.or = append(last.or, r.rest)
			}
			continue
		}
		if n := len(out); n > 0 && len(r.rest) == 0 && len(out[n-1].rest) == 0 && r.span.Start.Less(out[n-1].span.End) {
			last := &out[n-1]
			last.point = last.point && r.point
			if last.span.End.Less(r.span.End) {
				last.span.End = r.span.End
			}
			continue
		}
		out = append(out, r)
	}
	return out
}

// allParts is the columns that a key of this index is made of, as the planner knows them.
func (x *indexLayout) allParts() []part {
	if x.table.desc.Keyless() {
		return x.parts
	}
	return append(slices.Clip(x.parts), x.suffix...)
}

// reach turns one range into a span: fixed values make the prefix of both ends, the first column that is not fixed bounds
// them, and what is said of the columns behind it becomes a filter.
func (x *indexLayout) reach(ctx *sql.Context, rg sql.MySQLRange) (r reach, empty bool, err error) {
	key := slices.Clone(x.prefix)
	parts := x.allParts()
	i := 0
	fixed := 0
	filter := func(j int) {
		r.rest = append(r.rest, bound{at: parts[j].at, expr: rg[j], typ: x.table.schema.Schema[parts[j].at].Type})
	}
	for ; i < len(rg) && i < len(parts); i++ {
		ends, e, err := x.ends(ctx, parts[i], rg[i])
		if err != nil || e {
			return r, e, err
		}
		if !ends.fixed {
			break
		}
		key = append(key, ends.low...)
		fixed++
		if parts[i].col.Prefix > 0 {
			filter(i)
		}
	}
	r.span = kv.Span{Start: key, End: keys.PrefixEnd(key)}
	// A unique index without NULLs, and the primary one, have nothing behind the fixed columns.
	r.point = fixed >= len(x.parts) && (x.isPK || x.desc.Unique && !hasNull(rg[:len(x.parts)])) && fixed == len(x.parts) && x.noPrefix()
	if i < len(rg) && i < len(parts) {
		ends, _, err := x.ends(ctx, parts[i], rg[i])
		if err != nil {
			return r, false, err
		}
		r.span.Start = append(slices.Clone(key), ends.low...)
		if ends.high != nil {
			r.span.End = append(slices.Clone(key), ends.high...)
		}
		if r.span.Empty() {
			return r, true, nil
		}
		if parts[i].col.Prefix > 0 && !unbounded(rg[i]) {
			filter(i)
		}
		for j := i + 1; j < len(rg) && j < len(parts); j++ {
			if unbounded(rg[j]) {
				continue
			}
			if _, e, err := x.ends(ctx, parts[j], rg[j]); err != nil || e {
				return r, e, err
			}
			filter(j)
		}
	}
	return r, false, nil
}

func (x *indexLayout) noPrefix() bool { return x.prefixes == nil }

func hasNull(rg sql.MySQLRange) bool {
	for _, c := range rg {
		if _, ok := c.LowerBound.(sql.BelowNull); ok {
			return true
		}
	}
	return false
}

// holds reports whether a decoded row satisfies the bounds that the span does not express.
func (r *reach) holds(ctx context.Context, l *layout, d datums) (bool, error) {
	ok, err := holdAll(ctx, l, d, r.rest)
	for i := 0; i < len(r.or) && !ok && err == nil; i++ {
		ok, err = holdAll(ctx, l, d, r.or[i])
	}
	return ok, err
}

func holdAll(ctx context.Context, l *layout, d datums, bounds []bound) (bool, error) {
	for i := range bounds {
		b := &bounds[i]
		var v any
		if !d[b.at].IsNull() {
			var err error
			if v, err = l.decode[b.at](d[b.at]); err != nil {
				return false, err
			}
		}
		ok, err := within(ctx, v, b.expr, b.typ)
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
