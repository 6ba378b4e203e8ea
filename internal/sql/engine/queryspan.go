package engine

import (
	"slices"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// keyReaches turns spans of values into spans of keys, in order, none of which overlap. What they hold may be more than was asked for:
// of a column of which the key has only the beginning, and of columns behind those of a unique index.
func (x *indexLayout) keyReaches(spans []exec.KeySpan) ([]reach, error) {
	out := make([]reach, 0, len(spans))
	for i := range spans {
		r, empty, err := x.keyReach(&spans[i])
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

// keyParts are the columns that all keys of the index have, in order.
func (x *indexLayout) keyParts() []part {
	if x.isPK || x.desc.Unique {
		return x.parts
	}
	return x.allParts()
}

func (x *indexLayout) keyReach(s *exec.KeySpan) (r reach, empty bool, err error) {
	key := slices.Clone(x.prefix)
	parts := x.keyParts()
	n := min(len(s.Equal), len(parts))
	null := false
	for i := range n {
		var how fit
		if key, how, err = appendKeyValue(key, &parts[i].col, s.Equal[i]); err != nil {
			return r, false, err
		}
		if how != exactly {
			return r, true, nil
		}
		null = null || s.Equal[i].IsNull()
	}
	r.span = kv.Span{Start: key, End: keys.PrefixEnd(key)}
	r.point = n == len(x.parts) && (x.isPK || x.desc.Unique && !null) && x.noPrefix()
	if n == len(parts) || s.Low == nil && s.High == nil && s.Prefix == nil {
		return r, false, nil
	}
	col := &parts[n].col
	if s.Prefix != nil {
		err := x.beginsWithText(&r, key, &parts[n], *s.Prefix)
		return r, false, err
	}
	switch {
	case s.Low != nil:
		low, how, err := appendKeyValue(slices.Clone(key), col, *s.Low)
		if err != nil {
			return r, false, err
		}
		if s.LowOpen && how == exactly && col.Prefix == 0 {
			low = keys.PrefixEnd(low)
		}
		r.span.Start = low
	case !s.IncludeNull:
		r.span.Start = append(slices.Clone(key), rowcodec.AfterNull)
	}
	if s.High != nil {
		high, how, err := appendKeyValue(slices.Clone(key), col, *s.High)
		if err != nil {
			return r, false, err
		}
		if how == exactly && (!s.HighOpen || col.Prefix > 0) {
			high = keys.PrefixEnd(high)
		}
		r.span.End = high
	}
	return r, r.span.Empty(), nil
}

func appendKeyValue(key kv.Key, c *rowcodec.Column, v expr.Value) (kv.Key, fit, error) {
	d, how, err := keyDatum(v, c)
	if err != nil {
		return nil, how, err
	}
	out, err := rowcodec.AppendKey(key, c, d)
	return out, how, err
}

// beginsWithText makes the span that of the keys of texts that begin with one; where only a beginning of the column is kept, it stays as it
// is.
func (x *indexLayout) beginsWithText(r *reach, key kv.Key, p *part, v expr.Value) error {
	if p.col.Prefix > 0 || v.Kind() != expr.KindText && v.Kind() != expr.KindBytes {
		return nil
	}
	begin := []byte(v.RawText())
	if p.col.Kind == rowcodec.Text && p.col.SortKey != nil {
		order, err := orderOf(x.table.schema.Schema[p.at].Type)
		if err != nil || order == nil {
			return err
		}
		begin = order.AppendPrefix(nil, v.RawText())
	}
	r.span = prefixSpan(rowcodec.AppendKeyBeginning(key, &p.col, begin))
	return nil
}
