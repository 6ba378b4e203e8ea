package optimize

import (
	"math"
	"slices"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A table is read by the index that costs least: one whose first columns the conditions fix to values, and whose next one they bound.
// The conditions are checked of the rows all the same (O6), so the rows are those of the whole table that pass.

// Costs, in rows of a scan of a whole table.
const (
	costSeek  = 50  // to begin to read at another place
	costAhead = 15  // to look up the partners of one row of a join, when those of many rows are asked for together
	costSpan  = 0.5 // to read one more place in the same request
	costFetch = 2   // to find the row of an index entry that does not hold all columns
	costHash  = 1   // to look a row up in a hash table
	costBuild = 4   // to put one into it, which also takes memory
	mostSpans = 4096
)

// path is a way to read the rows of a scan.
type path struct {
	index   rel.Index
	spans   []rel.Span
	fixed   int     // how many columns of the index have one value each in all that is read
	equal   int     // how many columns are equal to something in each span
	one     bool    // each span has one row at most
	read    float64 // rows that are read
	result  float64 // rows that pass the conditions
	cost    float64
	covers  bool
	never   bool // no row satisfies the conditions
	reverse bool
}

// bestPath is the cheapest way to read the rows of a scan that satisfy the conditions by an index; nil: the whole table is cheaper, or
// no index helps. more are conditions that are not in the scan's filter but hold as well (of a join: they read columns of its left side).
func (z *optimizer) bestPath(s *rel.Scan, conds, more []expr.Node) *path {
	if z.o.NoAccess || s.Limit > 0 {
		return nil
	}
	rs := z.restrictions(s, slices.Concat(conds, more))
	if len(rs) == 0 {
		return nil
	}
	rows := max(fewest, s.Table.Rows())
	sel := 1.0
	for _, c := range slices.Concat(conds, more) {
		sel *= selectivity(c)
	}
	best := &path{cost: rows + costSeek, result: max(fewest, rows*sel)}
	forced := false
	for _, x := range usable(s, "join") {
		p := z.pathOf(s, x, rs, rows)
		if p == nil {
			continue
		}
		if p.never {
			return p
		}
		p.result = max(fewest, min(p.read, p.read*restSelectivity(rs, conds, more, p)))
		force := isForced(s, x)
		switch {
		case force && !forced, force == forced && better(p, best):
			best, forced = p, force
		}
	}
	if best.index == nil {
		return nil
	}
	return best
}

// better prefers what is cheaper; a unique key before others, and more columns before fewer.
func better(a, b *path) bool {
	switch {
	case b.index == nil:
		return a.cost <= b.cost || a.one && len(a.spans) == 1
	case a.one != b.one && len(a.spans) == len(b.spans):
		return a.one
	case a.cost != b.cost:
		return a.cost < b.cost
	}
	return a.equal > b.equal
}

// restSelectivity is what the conditions let through that the index did not apply.
func restSelectivity(rs []*restriction, conds, more []expr.Node, p *path) float64 {
	used := map[expr.Node]bool{}
	parts := p.index.Parts()
	for i := range min(p.equal+1, len(parts)) {
		for _, r := range rs {
			if r.place == parts[i].Place {
				used[r.cond] = true
			}
		}
	}
	s := 1.0
	for _, c := range slices.Concat(conds, more) {
		if !used[c] {
			s *= selectivity(c)
		}
	}
	return s
}

// restrictions are what conditions say about columns, at most one for each column, in the order of the conditions.
func (z *optimizer) restrictions(s *rel.Scan, conds []expr.Node) []*restriction {
	var out []*restriction
	for _, c := range conds {
		if volatile(c) {
			continue
		}
		r := z.restrict(s, c)
		if r == nil {
			continue
		}
		at := slices.IndexFunc(out, func(o *restriction) bool { return o.place == r.place })
		if at < 0 {
			out = append(out, r)
			continue
		}
		if len(r.parts) == 0 {
			out[at] = r
			continue
		}
		b := both(out[at], r)
		out[at] = b
	}
	return out
}

// usable are the indexes that the hints allow for a purpose.
func usable(s *rel.Scan, purpose string) []rel.Index {
	all := s.Table.Indexes()
	var use, out []rel.Index
	limited := false
	named := func(h rel.IndexHint, x rel.Index) bool {
		return slices.ContainsFunc(h.Names, func(n string) bool { return equalFold(n, x.Name()) })
	}
	for _, h := range s.Hints {
		if (h.Kind == "use" || h.Kind == "force") && (h.For == "" || h.For == purpose) {
			limited = true
			for _, x := range all {
				if named(h, x) && !slices.Contains(use, x) {
					use = append(use, x)
				}
			}
		}
	}
	if !limited {
		use = all
	}
	for _, x := range use {
		ignored := slices.ContainsFunc(s.Hints, func(h rel.IndexHint) bool {
			return h.Kind == "ignore" && (h.For == "" || h.For == purpose) && named(h, x)
		})
		if !ignored {
			out = append(out, x)
		}
	}
	return out
}

func isForced(s *rel.Scan, x rel.Index) bool {
	return slices.ContainsFunc(s.Hints, func(h rel.IndexHint) bool {
		return h.Kind == "force" && (h.For == "" || h.For == "join") &&
			slices.ContainsFunc(h.Names, func(n string) bool { return equalFold(n, x.Name()) })
	})
}

// indexColumns are the columns that the entries of an index are ordered by.
func indexColumns(s *rel.Scan, x rel.Index) []rel.IndexPart {
	parts := slices.Clone(x.Parts())
	if x.Primary() {
		return parts
	}
	if x.Unique() { // entries of a unique index without NULLs have no two of the same columns: what follows orders nothing
		return parts
	}
	return append(parts, x.Suffix()...)
}

// pathOf is how an index is read for the restrictions; nil: it does not help.
func (z *optimizer) pathOf(s *rel.Scan, x rel.Index, rs []*restriction, rows float64) *path {
	p := &path{index: x, spans: []rel.Span{{}}, covers: x.Covers(s.Places)}
	sel, ranged := 1.0, false
	parts := indexColumns(s, x)
	allFixed := true
	for _, ip := range parts {
		at := slices.IndexFunc(rs, func(r *restriction) bool { return r.place == ip.Place })
		if at < 0 {
			break
		}
		r := rs[at]
		if len(r.parts) == 0 {
			return &path{index: x, never: true}
		}
		if ip.Prefix > 0 && !cutsSafely(s.Table.Columns()[ip.Place].Type) {
			break
		}
		if !r.points() || len(p.spans)*len(r.parts) > mostSpans {
			if ip.Prefix > 0 || len(p.spans)*len(r.parts) > mostSpans {
				break
			}
			p.spans = withRanges(p.spans, r.parts)
			sel *= r.sel
			ranged = true
			break
		}
		p.spans = withPoints(p.spans, r.parts)
		p.equal++
		allFixed = allFixed && len(r.parts) == 1
		if allFixed && ip.Prefix == 0 {
			p.fixed++
		}
		if ip.Prefix > 0 {
			break
		}
	}
	if p.equal == 0 && !ranged {
		return nil
	}
	p.one = x.Unique() && p.equal >= len(x.Parts()) && !ranged && !anySafe(p.spans) && noPrefix(x)
	each := rows
	switch {
	case p.one:
		each = 1
	case p.equal > 0:
		for i := range p.equal {
			each = matching(each, s.Table.Columns()[parts[i].Place].Type)
		}
	}
	p.read = each * sel
	if !ranged || p.equal > 0 {
		p.read *= float64(len(p.spans))
	}
	if x.Unique() && ranged && len(p.spans) == 1 && p.equal == len(x.Parts())-1 {
		p.read = min(p.read, spread(&p.spans[0]))
	}
	p.read = max(fewest, min(rows, p.read))
	p.cost = p.read + spansCost(len(p.spans))
	if !p.covers {
		p.cost += costFetch * p.read
	}
	p.result = p.read
	return p
}

// spread is how many whole numbers are between the bounds of a span. Keys without a lower bound are thought to begin at zero.
func spread(s *rel.Span) float64 {
	number := func(b *rel.Bound) (float64, bool) {
		l, ok := b.Value.(*expr.Lit)
		if !ok || l.V.Kind() != expr.KindInt && l.V.Kind() != expr.KindUint {
			return 0, false
		}
		if l.V.Kind() == expr.KindUint {
			return float64(l.V.RawUint()), true
		}
		return float64(l.V.RawInt()), true
	}
	low := 0.0
	if s.Low != nil {
		n, ok := number(s.Low)
		if !ok {
			return all
		}
		low = n
	}
	if s.High == nil {
		return all
	}
	high, ok := number(s.High)
	if !ok || high < low {
		return all
	}
	return high - low + 1
}

func spansCost(n int) float64 { return costSeek + costSpan*float64(n-1) }

// lookupCost is what one row of a join's left side costs whose partners are read by the path.
func (p *path) lookupCost() float64 { return p.cost - costSeek + costAhead }

func anySafe(spans []rel.Span) bool {
	return slices.ContainsFunc(spans, func(s rel.Span) bool { return slices.Contains(s.NullSafe, true) })
}

func noPrefix(x rel.Index) bool {
	return !slices.ContainsFunc(x.Parts(), func(p rel.IndexPart) bool { return p.Prefix > 0 })
}

// cutsSafely reports whether texts that are equal have equal beginnings of so many characters.
func cutsSafely(t expr.Type) bool { return distinguished(t) }

// withPoints multiplies spans by values of the next column.
func withPoints(spans []rel.Span, parts []part) []rel.Span {
	out := make([]rel.Span, 0, len(spans)*len(parts))
	for i, s := range spans {
		for j, p := range parts {
			next := rel.Span{Equal: fresh(s.Equal, j > 0)}
			next.Equal = append(next.Equal, freshOne(p.equal, i > 0))
			if s.NullSafe != nil || p.nullSafe {
				next.NullSafe = make([]bool, len(next.Equal))
				copy(next.NullSafe, s.NullSafe)
				next.NullSafe[len(next.Equal)-1] = p.nullSafe
			}
			out = append(out, next)
		}
	}
	return out
}

// withRanges multiplies spans by ranges of the next column, or by values of it.
func withRanges(spans []rel.Span, parts []part) []rel.Span {
	var out []rel.Span
	for i, s := range spans {
		for j, p := range parts {
			if p.equal != nil {
				point := part{equal: freshOne(p.equal, i > 0), nullSafe: p.nullSafe}
				out = append(out, withPoints([]rel.Span{{Equal: fresh(s.Equal, j > 0), NullSafe: s.NullSafe}}, []part{point})...)
				continue
			}
			next := rel.Span{Equal: fresh(s.Equal, j > 0), NullSafe: slices.Clone(s.NullSafe)}
			next.Low, next.High = freshBound(p.low, i > 0), freshBound(p.high, i > 0)
			if p.prefix != nil {
				next.Prefix = freshOne(p.prefix, i > 0)
			}
			out = append(out, next)
		}
	}
	return out
}

// fresh copies values so that each stands once in the tree.
func fresh(es []expr.Node, copies bool) []expr.Node {
	out := slices.Clone(es)
	for i := range out {
		out[i] = freshOne(out[i], copies)
	}
	return out
}

func freshOne(e expr.Node, copies bool) expr.Node {
	if !copies {
		return e
	}
	if c, ok := clone(e, nil); ok {
		return c
	}
	return e // a subquery that is executed once (O5)
}

func freshBound(b *rel.Bound, copies bool) *rel.Bound {
	if b == nil {
		return nil
	}
	return &rel.Bound{Value: freshOne(b.Value, copies), Open: b.Open}
}

// access puts a path into a scan.
func (p *path) access(s *rel.Scan) {
	s.Access = &rel.Access{Index: p.index, Spans: p.spans, Reverse: p.reverse}
	s.Rows = math.Ceil(p.result)
}
