package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

func number(n int) string { return strconv.Itoa(n) }

// accessType is how a table is read, in the words of EXPLAIN's column type.
func accessType(s *rel.Scan) string {
	a := s.Access
	if a == nil {
		return "ALL"
	}
	parts := len(a.Index.Parts())
	equal, ranged, nullSafe, bare, outer := true, false, false, false, false
	for i := range a.Spans {
		p := &a.Spans[i]
		ranged = ranged || p.Low != nil || p.High != nil || p.Prefix != nil
		bare = bare || len(p.Equal) == 0 && p.Low == nil && p.High == nil && p.Prefix == nil
		nullSafe = nullSafe || slices.Contains(p.NullSafe, true)
		equal = equal && len(p.Equal) > 0
		outer = outer || len(readsOf(p)) > 0
	}
	unique := a.Index.Unique() && !ranged && !nullSafe
	for _, p := range a.Spans {
		unique = unique && len(p.Equal) >= parts
	}
	switch {
	case bare:
		return "index"
	case ranged || len(a.Spans) > 1 || !equal:
		return "range"
	case unique && outer:
		return "eq_ref"
	case unique:
		return "const"
	}
	return "ref"
}

// readsOf are the columns that a span reads: of tables before it, or of queries around it.
func readsOf(p *rel.Span) rel.Cols {
	out := rel.Cols{}
	rel.CollectCols(out, p.Equal...)
	for _, b := range []*rel.Bound{p.Low, p.High} {
		if b != nil {
			rel.CollectCols(out, b.Value)
		}
	}
	if p.Prefix != nil {
		rel.CollectCols(out, p.Prefix)
	}
	return out
}

// usedParts are the columns of the index that the access restricts, by name; of a whole index all.
func usedParts(s *rel.Scan) []string {
	all := append(append([]rel.IndexPart{}, s.Access.Index.Parts()...), s.Access.Index.Suffix()...)
	n := 0
	for _, p := range s.Access.Spans {
		at := len(p.Equal)
		if p.Low != nil || p.High != nil || p.Prefix != nil {
			at++
		}
		n = max(n, at)
	}
	if n == 0 {
		n = len(s.Access.Index.Parts())
	}
	var out []string
	for _, p := range all[:min(n, len(all))] {
		out = append(out, s.Table.Columns()[p.Place].Name)
	}
	return out
}

// keyLength is EXPLAIN's key_len: how many bytes MySQL's key of these columns takes.
func keyLength(s *rel.Scan) int {
	all := append(append([]rel.IndexPart{}, s.Access.Index.Parts()...), s.Access.Index.Suffix()...)
	sum := 0
	for i := range usedParts(s) {
		c := s.Table.Columns()[all[i].Place]
		sum += columnBytes(c.Type, all[i].Prefix)
		if c.Nullable {
			sum++
		}
	}
	return sum
}

func columnBytes(t expr.Type, prefix int) int {
	fraction := (t.Scale + 1) / 2
	switch t.Name {
	case expr.TinyInt, expr.YearType:
		return 1
	case expr.SmallInt:
		return 2
	case expr.MediumInt, expr.DateType:
		return 3
	case expr.IntType, expr.FloatType:
		return 4
	case expr.BigInt, expr.DoubleType:
		return 8
	case expr.DatetimeType:
		return 5 + fraction
	case expr.TimestampType:
		return 4 + fraction
	case expr.TimeType:
		return 3 + fraction
	case expr.DecimalType:
		digits := func(n int) int { return n/9*4 + []int{0, 1, 1, 2, 2, 3, 3, 4, 4}[n%9] }
		return digits(t.Length-t.Scale) + digits(t.Scale)
	case expr.EnumType:
		if len(t.Elements) > 255 {
			return 2
		}
		return 1
	case expr.BitType:
		return (t.Length + 7) / 8
	}
	n := t.Length
	if prefix > 0 {
		n = prefix
	}
	if t.Kind() == expr.KindText {
		n *= 4
	}
	switch t.Name {
	case expr.Char, expr.Binary:
		return n
	}
	return n + 2
}

// refs is EXPLAIN's ref: what the columns of the index are equal to.
func (x *namer) refs(s *rel.Scan) []string {
	var out []string
	for _, e := range s.Access.Spans[0].Equal {
		switch e := e.(type) {
		case *rel.Col:
			if o := x.meta.Columns[e.ID].Origin; o != nil && o.Alias != "" {
				out = append(out, o.Database+"."+o.Alias+"."+o.Column)
				continue
			}
			out = append(out, x.column(e.ID))
		default:
			cols := rel.Cols{}
			rel.CollectCols(cols, e)
			if len(cols) > 0 {
				out = append(out, "func")
			} else {
				out = append(out, "const")
			}
		}
	}
	return out
}

// possibleKeys are the indexes whose first column the conditions about the table read.
func possibleKeys(s *rel.Scan, on []expr.Node) []string {
	var out []string
	cols := rel.Cols{}
	rel.CollectCols(cols, s.Filter...)
	rel.CollectCols(cols, on...)
	for _, i := range s.Table.Indexes() {
		at := slices.Index(s.Places, i.Parts()[0].Place)
		if at >= 0 && cols[s.Cols[at]] || s.Access != nil && s.Access.Index.Name() == i.Name() && accessType(s) != "index" {
			out = append(out, i.Name())
		}
	}
	return out
}

// checks reports whether conditions are checked that the access does not apply by itself.
func checks(s *rel.Scan) bool {
	if s.Access == nil {
		return len(s.Filter) > 0
	}
	fixed := rel.Cols{}
	for i, p := range s.Access.Index.Parts() {
		if i < len(s.Access.Spans[0].Equal) && len(s.Access.Spans) == 1 {
			if at := slices.Index(s.Places, p.Place); at >= 0 {
				fixed[s.Cols[at]] = true
			}
		}
	}
	for _, c := range s.Filter {
		call, ok := c.(*expr.Call)
		if !ok || call.Name != "=" && call.Name != "<=>" && call.Name != "is null" {
			return true
		}
		own := false
		for _, a := range call.Args {
			if col, isCol := a.(*rel.Col); isCol && fixed[col.ID] {
				own = true
			}
		}
		if !own {
			return true
		}
	}
	return false
}

// covering reports whether only the index is read.
func covering(s *rel.Scan) bool {
	return s.Access != nil && !s.Access.Index.Primary() && s.Access.Index.Covers(s.Places)
}

// scanText is how a table is read, in a line of FORMAT=TREE.
func (x *namer) scanText(s *rel.Scan) string {
	if s.Access == nil {
		return "Table scan on " + s.Alias
	}
	word := "Index"
	if covering(s) {
		word = "Covering index"
	}
	reverse := ""
	if s.Access.Reverse {
		reverse = " (reverse)"
	}
	var spans []string
	for i := range s.Access.Spans {
		spans = append(spans, "("+x.span(s, &s.Access.Spans[i])+")")
	}
	name := s.Access.Index.Name()
	switch accessType(s) {
	case "index":
		return fmt.Sprintf("%s scan on %s using %s%s", word, s.Alias, name, reverse)
	case "range":
		return fmt.Sprintf("%s range scan on %s using %s over %s%s", word, s.Alias, name, strings.Join(spans, " OR "), reverse)
	case "const", "eq_ref":
		if covering(s) {
			word = "Single-row covering index"
		} else {
			word = "Single-row index"
		}
	}
	return fmt.Sprintf("%s lookup on %s using %s %s%s", word, s.Alias, name, spans[0], reverse)
}
