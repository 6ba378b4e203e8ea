package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// joinExpr binds a join that is written as one.
func (b *binder) joinExpr(t *sqlparser.JoinTableExpr, s *scope, before []*source) (joined, error) {
	left, err := b.tableExpr(t.LeftExpr, s, before)
	if err != nil {
		return left, err
	}
	right, err := b.tableExpr(t.RightExpr, s, append(before[:len(before):len(before)], left.sources...))
	if err != nil {
		return right, err
	}
	j := &rel.Join{Kind: rel.Inner, Straight: s.straight()}
	natural, exchanged := false, false
	switch t.Join {
	case sqlparser.JoinStr:
	case sqlparser.StraightJoinStr:
		j.Straight = true
	case sqlparser.LeftJoinStr:
		j.Kind = rel.Left
	case sqlparser.RightJoinStr:
		j.Kind, exchanged = rel.Left, true
	case sqlparser.NaturalJoinStr:
		natural = true
	case sqlparser.NaturalLeftJoinStr:
		j.Kind, natural = rel.Left, true
	case sqlparser.NaturalRightJoinStr:
		j.Kind, natural, exchanged = rel.Left, true, true
	default:
		return left, unsupported("%s", t.Join)
	}
	if natural || t.Condition.Using != nil {
		// the columns of a RIGHT JOIN with USING come in the order of its right side
		if exchanged {
			left, right = right, left
		}
		return b.joinUsing(left, right, j, t.Condition.Using, natural)
	}
	var out joined
	if exchanged {
		out, err = b.join(right, left, j)
		out.cols = append(left.cols[:len(left.cols):len(left.cols)], right.cols...)
		out.sources = append(left.sources[:len(left.sources):len(left.sources)], right.sources...)
	} else {
		out, err = b.join(left, right, j)
	}
	if err != nil || t.Condition.On == nil {
		return out, err
	}
	s.ons = append(s.ons, pendingOn{join: j, e: t.Condition.On, from: out})
	return out, nil
}

// pendingOn is the condition of a join, which is bound when the select list and WHERE are: their errors come first.
type pendingOn struct {
	join *rel.Join
	e    sqlparser.Expr
	from joined
}

// bindOns binds the conditions of joins. They see the tables of their join alone.
func (b *binder) bindOns(s *scope) (err error) {
	from := s.from
	s.clause = onClause
	for _, on := range s.ons {
		s.from = on.from
		if on.join.On, err = b.conditions(on.e, s, on.join.On); err != nil {
			break
		}
	}
	s.from = from
	return err
}

// join puts two parts of FROM side by side.
func (b *binder) join(left, right joined, j *rel.Join) (joined, error) {
	j.Left, j.Right = left.plan, right.plan
	if j.Kind == rel.Left {
		for _, src := range right.sources {
			for _, c := range src.cols {
				b.setNull(c.id, true)
			}
		}
	}
	return joined{
		plan:    j,
		sources: append(left.sources[:len(left.sources):len(left.sources)], right.sources...),
		cols:    append(left.cols[:len(left.cols):len(left.cols)], right.cols...),
	}, nil
}

// joinUsing joins on equal columns: those that USING names, or all that both sides have. They come first, once, and are those of the
// left side.
func (b *binder) joinUsing(left, right joined, j *rel.Join, using sqlparser.Columns, natural bool) (joined, error) {
	type pair struct{ l, r int }
	var pairs []pair
	match := func(name string) (found bool, err error) {
		l, err := left.only(name)
		if err != nil {
			return false, err
		}
		r, err := right.only(name)
		if err != nil {
			return false, err
		}
		if l < 0 || r < 0 {
			return false, nil
		}
		pairs = append(pairs, pair{l, r})
		return true, nil
	}
	if natural {
		for i := range left.cols {
			if r := right.has(left.cols[i].name); r {
				if _, err := match(left.cols[i].name); err != nil {
					return left, err
				}
			}
		}
	}
	for _, c := range using {
		for _, side := range []*joined{&left, &right} {
			if err := side.show(c.String()); err != nil {
				return left, err
			}
		}
		found, err := match(c.String())
		if err != nil {
			return left, err
		}
		if !found {
			return left, expr.Errorf(1054, "42S22", "Unknown column '%s' in 'from clause'", c.String())
		}
	}
	out, err := b.join(left, right, j)
	if err != nil {
		return out, err
	}
	commonLeft, commonRight := map[int]bool{}, map[int]bool{}
	for _, p := range pairs {
		if commonLeft[p.l] {
			continue // USING (a, a)
		}
		commonLeft[p.l], commonRight[p.r] = true, true
		eq, err := b.call("=", nil, b.ref(left.cols[p.l].id), b.ref(right.cols[p.r].id))
		if err != nil {
			return out, err
		}
		j.On = append(j.On, eq)
	}
	out.cols = out.cols[:0:0]
	for i, c := range left.cols {
		if commonLeft[i] {
			out.cols = append(out.cols, c)
		}
	}
	for i, c := range left.cols {
		if !commonLeft[i] {
			out.cols = append(out.cols, c)
		}
	}
	for i, c := range right.cols {
		if !commonRight[i] {
			out.cols = append(out.cols, c)
		}
	}
	return out, nil
}

func (f *joined) has(name string) bool {
	for i := range f.cols {
		if sameName(f.cols[i].name, name) {
			return true
		}
	}
	return false
}

// show makes the invisible column of a name visible, if no visible one has the name: USING means it too, and then * does. Error 1052: there
// are several.
func (f *joined) show(name string) error {
	if f.has(name) {
		return nil
	}
	var found *visible
	for _, src := range f.sources {
		for _, c := range src.cols {
			if !c.hidden || !sameName(c.name, name) {
				continue
			}
			if found != nil {
				return expr.Errorf(1052, "23000", "Column '%s' in from clause is ambiguous", name)
			}
			c.hidden = false
			found = &visible{src, c}
		}
	}
	if found != nil {
		f.cols = append(f.cols[:len(f.cols):len(f.cols)], *found)
	}
	return nil
}

// only finds the one visible column of a name; -1: there is none. Error 1052: there are several.
func (f *joined) only(name string) (int, error) {
	at := -1
	for i := range f.cols {
		if !sameName(f.cols[i].name, name) {
			continue
		}
		if at >= 0 {
			return 0, expr.Errorf(1052, "23000", "Column '%s' in from clause is ambiguous", name)
		}
		at = i
	}
	return at, nil
}

// conditions binds a condition and appends the parts that AND connects.
func (b *binder) conditions(e sqlparser.Expr, s *scope, out []expr.Node) ([]expr.Node, error) {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		out, err := b.conditions(e.Left, s, out)
		if err != nil {
			return nil, err
		}
		return b.conditions(e.Right, s, out)
	case *sqlparser.ParenExpr:
		return b.conditions(e.Expr, s, out)
	}
	n, err := b.scalar(e, s)
	if err != nil {
		return nil, err
	}
	b.warnOfCondition(n)
	return append(out, n), nil
}
