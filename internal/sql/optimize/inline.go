package optimize

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// A common table expression that is read in one place stands there itself, so that conditions and limits reach it. It is not moved into
// a subquery, nor into the step of a recursive query: there it would be executed again and again, and what is volatile in it would give
// other values. Its rows are read once where it was kept before, so they are the same.

func (z *optimizer) inline(n rel.Node) rel.Node {
	var walk func(n rel.Node) rel.Node
	walk = func(n rel.Node) rel.Node {
		switch n := n.(type) {
		case *rel.SharedScan:
			if z.scans[n.From] != 1 {
				return n
			}
			p := &rel.Project{Child: walk(z.simplified(n.From.Plan)), Cols: n.Cols}
			for _, id := range n.From.Cols {
				p.Exprs = append(p.Exprs, expr.Node(z.meta.Ref(id)))
			}
			return p
		case *rel.Recursive:
			n.Seed = walk(n.Seed)
			return n
		}
		for i, c := range n.Children() {
			if j, ok := n.(*rel.Join); ok && i == 1 && j.Lateral {
				continue
			}
			if d := walk(c); d != c {
				n.SetChild(i, d)
			}
		}
		return n
	}
	return walk(n)
}

func (z *optimizer) simplified(n rel.Node) rel.Node {
	if z.o.NoSimplify {
		return n
	}
	return z.simplify(n)
}
