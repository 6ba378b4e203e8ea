package bind

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// grouping is what GROUP BY, or an aggregate without it, makes of a query's rows.
type grouping struct {
	explicit bool // there is a GROUP BY
	rollup   bool
	keys     []groupKey
	aggs     []rel.Agg
	// any are the columns that are no keys, as ANY_VALUE() of the group.
	any       map[rel.ColID]rel.ColID
	groupings []rel.Grouping
	called    bool // the query calls an aggregate
	calls     bool // a key is neither a column nor a literal
	literals  bool // a key is a literal
}

// groupKey is an expression of GROUP BY.
type groupKey struct {
	node expr.Node // below the grouping
	ast  sqlparser.Expr
	name string // if it was written as a name
	src  *source
	item *item // if it is one of the select list
	id   rel.ColID
	out  rel.ColID // above the grouping; the same as id but for ROLLUP
	col  bool      // node is a column of the query's tables
}

// rollupMark is the function whose call, as the last expression of GROUP BY, stands for WITH ROLLUP, which the parser does not know.
const rollupMark = "with rollup"

// groupBy binds GROUP BY; without one, all rows are one group.
func (b *binder) groupBy(list sqlparser.GroupBy, s *scope) error {
	g := s.group
	g.explicit = len(list) > 0
	s.allowAggregates = false
	for i, e := range list {
		e = inParens(e)
		if f, ok := e.(*sqlparser.FuncExpr); ok && strings.EqualFold(f.Name.String(), rollupMark) && i == len(list)-1 && i > 0 {
			g.rollup = true
			continue
		}
		s.number = i + 1
		k, err := b.groupKey(e, s)
		if err != nil {
			return err
		}
		k.ast, k.node = e, asValue(k.node)
		if col, ok := k.node.(*rel.Col); ok && !b.outer[col] && k.isName() {
			k.col, k.id = true, col.ID
		} else {
			k.node = asValue(k.node)
			k.id = b.add(rel.Column{Name: sqlparser.String(e), Type: k.node.Type(), Nullable: b.nullable(k.node)})
			_, literal := k.node.(*expr.Lit)
			g.literals = g.literals || literal
			if _, val := k.keyExpr().(*sqlparser.SQLVal); !literal || !val {
				g.calls = true
			}
		}
		k.out = k.id
		g.keys = append(g.keys, k)
	}
	if g.rollup {
		for i := range g.keys {
			k := &g.keys[i]
			c := b.meta.Columns[k.id]
			c.Nullable = true
			if n, ok := b.names[k.id]; ok {
				k.out = b.add(c)
				b.names[k.out] = n
			} else {
				k.out = b.add(c)
			}
		}
		return nil
	}
	g.dedupe()
	return nil
}

// dedupe drops keys that are there already.
func (g *grouping) dedupe() {
	out := g.keys[:0]
	for _, k := range g.keys {
		known := false
		for _, o := range out {
			known = known || o.col && k.col && o.id == k.id
		}
		if !known {
			out = append(out, k)
		}
	}
	g.keys = out
}

// position is the item that a number in GROUP BY or ORDER BY means; nil: the expression is no number. Error 1054: there is no such.
func position(e sqlparser.Expr, s *scope) (*item, error) {
	v, ok := e.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.IntVal || len(v.Val) > 0 && v.Val[0] == '-' {
		return nil, nil
	}
	n, err := strconv.ParseUint(string(v.Val), 10, 32)
	if err != nil || n == 0 || n > uint64(len(s.items)) {
		return nil, expr.Errorf(1054, "42S22", "Unknown column '%s' in '%s'", v.Val, s.clause.text())
	}
	return s.items[n-1], nil
}

func (b *binder) groupKey(e sqlparser.Expr, s *scope) (k groupKey, err error) {
	it, err := position(e, s)
	if err != nil {
		return k, err
	}
	if it != nil {
		return b.itemKey(it, s)
	}
	name, ok := e.(*sqlparser.ColName)
	if !ok || name.StoredProcVal != nil || isVariable(name) {
		k.node, err = b.scalar(e, s)
		return k, err
	}
	k.name = name.Name.String()
	it, _, err = b.findItem(name, s)
	if err != nil {
		return k, err
	}
	src, c, found, err := s.from.find(name, s.place())
	if it != nil {
		if err != nil || !found {
			n := k.name
			k, err = b.itemKey(it, s)
			k.name = n
			return k, err
		}
		if b.ofMerged(it, s) { // MySQL takes the alias there
			n := k.name
			k, err = b.itemKey(it, s)
			k.name = n
			return k, err
		}
		if id, is := b.itemColumn(it, s); !is || id != c.id {
			b.warn(1052, "Column '%s' in %s is ambiguous", name.String(), s.clause.text())
			it = nil
		}
	}
	if err != nil {
		return k, err
	}
	if found {
		k.src, k.item = src, it
		k.node = b.read(place{s: s, src: src, column: c}, s)
		return k, nil
	}
	k.node, err = b.columnRef(name, s)
	return k, err
}

// ofMerged reports whether an item is a column of a table in a derived table or view that MySQL merges into the query.
func (b *binder) ofMerged(it *item, s *scope) bool {
	if it.star {
		return it.of.src.merged && b.meta.Columns[it.of.id].Origin != nil
	}
	col, ok := inParens(it.ast).(*sqlparser.ColName)
	if !ok {
		return false
	}
	src, c, found, err := s.from.find(col, s.place())
	return err == nil && found && src.merged && b.meta.Columns[c.id].Origin != nil
}

// itemKey groups by an expression of the select list.
func (b *binder) itemKey(it *item, s *scope) (k groupKey, err error) {
	k.item = it
	if it.star {
		k.name, k.src = it.of.name, it.of.src
		k.node = b.read(place{s: s, src: it.of.src, column: it.of.column}, s)
		return k, nil
	}
	if aggregates(it.ast) {
		return k, expr.Errorf(1056, "42000", "Can't group on '%s'", it.name)
	}
	if c, ok := it.columnName(); ok {
		k.name = c
	}
	k.node, err = b.itemBelow(it, s)
	return k, err
}

func isVariable(e *sqlparser.ColName) bool {
	n := e.Name.String()
	if n != "" && n[0] == '@' {
		return true
	}
	return !e.Qualifier.IsEmpty() && e.Qualifier.Name.String()[0] == '@'
}

// named is the key that a name in HAVING means; nil: there is none.
func (g *grouping) named(e *sqlparser.ColName, s *scope) *groupKey {
	for i := range g.keys {
		k := &g.keys[i]
		if !sameName(k.name, e.Name.String()) {
			continue
		}
		if e.Qualifier.IsEmpty() || k.src != nil && k.src.is(e.Qualifier) {
			return k
		}
	}
	return nil
}

// groupedColumn is what a column of the query's tables is above the grouping: a key, or any value of the group.
func (b *binder) groupedColumn(p place) rel.ColID {
	s, id := p.s, p.id
	g := s.group
	for i := range g.keys {
		if g.keys[i].id == id {
			return g.keys[i].out
		}
	}
	b.noteLoose(p)
	if out, ok := g.any[id]; ok {
		return out
	}
	for _, a := range g.aggs {
		if a.Col == id {
			return id // it stands above the grouping already
		}
	}
	if g.any == nil {
		g.any = map[rel.ColID]rel.ColID{}
	}
	c := b.meta.Columns[id]
	c.Nullable = b.mayBeNull(id) || !g.explicit
	out := b.add(c)
	if n, ok := b.names[id]; ok {
		b.names[out] = n
	}
	g.any[id] = out
	g.aggs = append(g.aggs, rel.Agg{Name: "any_value", Args: []expr.Node{b.ref(id)}, Col: out, T: c.Type, Text: "any_value(" + c.Name + ")"})
	return out
}

// noteLoose notes that an expression above a grouping reads a column that is no key.
func (b *binder) noteLoose(p place) {
	if b.set.OnlyFullGroupBy && !b.anyValue {
		p.s.loose = append(p.s.loose, looseColumn{clause: p.s.clause, number: p.s.number, id: p.id, name: p.fullName()})
	}
}

// isAggregate reports whether a column is an aggregate that the query calls.
func (g *grouping) isAggregate(id rel.ColID) bool {
	for i := range g.aggs {
		if g.aggs[i].Col == id {
			return g.aggs[i].Name != "any_value"
		}
	}
	return false
}

// plan puts the grouping on the plan of FROM and WHERE.
func (g *grouping) plan(child rel.Node) rel.Node {
	var p *rel.Project
	group := &rel.Group{Aggs: g.aggs, Rollup: g.rollup, Grouping: g.groupings, Scalar: !g.explicit}
	for _, k := range g.keys {
		if !k.col {
			if p == nil {
				p = &rel.Project{Child: child}
				child = p
			}
			p.Exprs, p.Cols = append(p.Exprs, k.node), append(p.Cols, k.id)
		}
		group.Keys, group.Out = append(group.Keys, k.id), append(group.Out, k.out)
	}
	group.Child = child
	return group
}

// hasKey reports whether a column of the query's tables is a key.
func (g *grouping) hasKey(id rel.ColID) bool {
	for i := range g.keys {
		if g.keys[i].col && g.keys[i].id == id {
			return true
		}
	}
	return false
}

// matchKey finds the key of GROUP BY that an expression above the grouping is; nil: none. whole: it is an expression of the select list or
// of ORDER BY, not a part of one.
func (b *binder) matchKey(e sqlparser.Expr, s *scope, whole bool) *groupKey {
	if s.group == nil || !s.group.calls || !s.grouped || s.clause == havingClause || b.agg != nil && b.agg.s.level >= s.level {
		return nil
	}
	for i := range s.group.keys {
		k := &s.group.keys[i]
		if k.col || !sameShape(k.keyExpr(), e) {
			continue
		}
		refs := s.read
		s.read = nil
		n, err := b.below(e, s)
		read := s.read
		s.read = refs
		if err != nil || !rel.Same(n, k.node) {
			continue
		}
		if !whole { // ONLY_FULL_GROUP_BY does not see keys within expressions
			for _, p := range read {
				if !s.group.hasKey(p.id) {
					b.noteLoose(p)
				}
			}
		}
		return k
	}
	return nil
}

// rolledUp is a literal above a grouping WITH ROLLUP: one that equals a key is the key, which is NULL in the rows of fewer keys.
func (b *binder) rolledUp(n expr.Node, s *scope) expr.Node {
	g := s.group
	if g == nil || !g.rollup || !g.literals || !s.grouped || b.agg != nil && b.agg.s.level >= s.level {
		return n
	}
	for i := range g.keys {
		k := &g.keys[i]
		if !b.sameLiteral(asValue(n), k.node) {
			continue
		}
		if t := n.Type(); t.Length == k.node.Type().Length && t.Scale == k.node.Type().Scale && rel.Same(asValue(n), k.node) {
			return b.ref(k.out)
		}
		if null, err := expr.Build("is null", "", nil, b.ref(k.out)); err == nil { // 'a' where 'A' is the key
			if out, err := expr.Build("if", "", nil, null, &expr.Lit{T: expr.TNull}, n); err == nil {
				return out
			}
		}
	}
	return n
}

// sameLiteral reports whether two literals are of one kind and equal: texts as their collation says.
func (b *binder) sameLiteral(x, y expr.Node) bool {
	l, ok := x.(*expr.Lit)
	if !ok {
		return false
	}
	r, ok := y.(*expr.Lit)
	if !ok || l.V.Kind() != r.V.Kind() {
		return false
	}
	if l.V.Kind() != expr.KindText || l.T.Collation != r.T.Collation {
		return rel.SameValue(l.V, r.V)
	}
	eq, err := expr.Build("=", "", nil, l, r)
	if err != nil {
		return false
	}
	v, err := eq.Eval(&expr.Env{})
	return err == nil && !v.IsNull() && v.RawInt() == 1
}

// isName reports whether the key is written as a column: ANY_VALUE(column) decides no other column.
func (k *groupKey) isName() bool {
	switch k.keyExpr().(type) {
	case *sqlparser.ColName, *sqlparser.SQLVal: // a number means one of *
		return true
	}
	return false
}

func (k *groupKey) keyExpr() sqlparser.Expr {
	if k.item != nil && k.item.ast != nil {
		return inParens(k.item.ast)
	}
	return k.ast
}

// below binds an expression as it would be below the grouping.
func (b *binder) below(e sqlparser.Expr, s *scope) (expr.Node, error) {
	grouped, in, allow := s.grouped, s.clause, s.allowAggregates
	s.grouped, s.clause, s.allowAggregates = false, groupClause, false
	defer func() { s.grouped, s.clause, s.allowAggregates = grouped, in, allow }()
	return b.scalar(e, s)
}

// sameShape reports whether two expressions are calls of the same function or operator: only then they may be the same.
func sameShape(x, y sqlparser.Expr) bool {
	x, y = inParens(x), inParens(y)
	switch x := x.(type) {
	case *sqlparser.FuncExpr:
		y, ok := y.(*sqlparser.FuncExpr)
		return ok && len(x.Exprs) == len(y.Exprs) && strings.EqualFold(x.Name.String(), y.Name.String())
	case *sqlparser.BinaryExpr:
		y, ok := y.(*sqlparser.BinaryExpr)
		return ok && x.Operator == y.Operator
	case *sqlparser.UnaryExpr:
		y, ok := y.(*sqlparser.UnaryExpr)
		return ok && x.Operator == y.Operator
	case *sqlparser.ComparisonExpr:
		y, ok := y.(*sqlparser.ComparisonExpr)
		return ok && x.Operator == y.Operator
	case *sqlparser.CaseExpr:
		y, ok := y.(*sqlparser.CaseExpr)
		return ok && len(x.Whens) == len(y.Whens)
	case *sqlparser.ColName, *sqlparser.SQLVal, *sqlparser.Subquery:
		return false
	}
	return reflect.TypeOf(x) == reflect.TypeOf(y)
}

// groupingCall is GROUPING(): which of its arguments a row of ROLLUP was made without.
func (b *binder) groupingCall(e *sqlparser.FuncExpr, s *scope) (expr.Node, error) {
	if !s.grouped || !s.group.explicit || b.agg != nil {
		return nil, expr.Errorf(1111, "HY000", "Invalid use of group function")
	}
	g := s.group
	var places []int
	for i, a := range e.Exprs {
		ae, ok := a.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, unsupported("GROUPING(*)")
		}
		at := b.keyOf(ae.Expr, s)
		if at < 0 {
			return nil, expr.Errorf(3602, "HY000", "Argument #%d of GROUPING function is not in GROUP BY", i+1)
		}
		places = append(places, at)
	}
	if !g.rollup {
		return &expr.Lit{V: expr.Int(0), T: expr.TBool}, nil
	}
	id := b.add(rel.Column{Name: "grouping", Type: expr.TBool, Nullable: true})
	g.groupings = append(g.groupings, rel.Grouping{Keys: places, Col: id})
	return b.ref(id), nil
}

// keyOf is the place of the key that an expression is, -1: none.
func (b *binder) keyOf(e sqlparser.Expr, s *scope) int {
	e = inParens(e)
	if c, ok := e.(*sqlparser.ColName); ok {
		if k := s.group.named(c, s); k != nil {
			for i := range s.group.keys {
				if &s.group.keys[i] == k {
					return i
				}
			}
		}
	}
	n, err := b.below(e, s)
	if err != nil {
		return -1
	}
	for i := range s.group.keys {
		k := &s.group.keys[i]
		if rel.Same(n, k.node) {
			return i
		}
	}
	return -1
}
