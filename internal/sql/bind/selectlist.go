package bind

import (
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// item is an expression of the select list.
type item struct {
	name string
	ast  sqlparser.Expr // nil: a column of *
	of   visible        // the column of *
	node expr.Node      // nil until it is bound
	id   rel.ColID      // of its value
	star bool
	// plain: the value is a column that the rows have anyway. given: id is known. early, sorted: HAVING, or ORDER BY, read it. done: it
	// stands in a Project.
	plain, given, early, sorted, done bool
	windows                           bool // it contains a window function
	busy                              bool // it is being bound for a place where its alias is named
}

// inParens is an expression without the parentheses around it.
func inParens(e sqlparser.Expr) sqlparser.Expr {
	for {
		p, ok := e.(*sqlparser.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// columnName is the name of the column that an item is; false: it is none.
func (it *item) columnName() (string, bool) {
	if it.star {
		return it.of.name, true
	}
	c, ok := inParens(it.ast).(*sqlparser.ColName)
	if !ok {
		return "", false
	}
	return c.Name.String(), true
}

// expandItems makes the select list: * becomes the columns that it means, and each expression gets its name.
func (b *binder) expandItems(sel *sqlparser.Select, s *scope) ([]*item, error) {
	out := make([]*item, 0, len(sel.SelectExprs))
	for _, e := range sel.SelectExprs {
		switch e := e.(type) {
		case *sqlparser.AliasedExpr:
			out = append(out, &item{name: itemName(e), ast: e.Expr})
		case *sqlparser.StarExpr:
			cols, err := starColumns(e, s, isDual(sel.From))
			if err != nil {
				return nil, err
			}
			for _, c := range cols {
				out = append(out, &item{name: c.name, of: c, star: true})
			}
		default:
			return nil, unsupported("%T", e)
		}
	}
	return out, nil
}

func starColumns(e *sqlparser.StarExpr, s *scope, noTables bool) ([]visible, error) {
	if e.TableName.IsEmpty() {
		if noTables {
			return nil, expr.Errorf(1096, "HY000", "No tables used")
		}
		return s.from.cols, nil
	}
	for _, src := range s.from.sources {
		if src.is(e.TableName) {
			return sideBySide([]*source{src}).cols, nil
		}
	}
	return nil, expr.Errorf(1051, "42S02", "Unknown table '%s'", e.TableName.String())
}

// maxName is how long the name of a column of a result may be, in characters: MySQL cuts the texts of expressions there.
const maxName = 255

// itemName is how MySQL calls the column of an expression: by its alias; a column as it is written, without its table; a literal by its
// value; another expression by its text.
func itemName(e *sqlparser.AliasedExpr) string {
	if !e.As.IsEmpty() {
		return e.As.String()
	}
	switch in := inParens(e.Expr).(type) {
	case *sqlparser.ColName:
		if in.StoredProcVal == nil || e.InputExpression == "" {
			if in.Qualifier.IsEmpty() || in.Qualifier.Name.String() == "" || in.Qualifier.Name.String()[0] != '@' {
				return in.Name.String()
			}
			return in.String()
		}
	case *sqlparser.NullVal:
		return "NULL"
	case *sqlparser.SQLVal:
		if in.Type == sqlparser.StrVal {
			return string(in.Val)
		}
	}
	if u, ok := inParens(e.Expr).(*sqlparser.UnaryExpr); ok && strings.HasPrefix(u.Operator, "_") {
		if v, ok := u.Expr.(*sqlparser.SQLVal); ok && v.Type == sqlparser.StrVal {
			return string(v.Val)
		}
	}
	text := e.InputExpression
	if text == "" {
		text = sqlparser.String(e.Expr)
	}
	if _, ok := e.Expr.(*sqlparser.ParenExpr); ok {
		switch inParens(e.Expr).(type) {
		case *sqlparser.SQLVal, *sqlparser.NullVal, sqlparser.BoolVal:
			text = withoutParens(text)
		}
	}
	if len(text) > maxName {
		chars := []rune(text)
		text = string(chars[:min(len(chars), maxName)])
	}
	return text
}

func withoutParens(s string) string {
	for len(s) > 1 && s[0] == '(' && s[len(s)-1] == ')' {
		s = trimSpace(s[1 : len(s)-1])
	}
	return s
}

func trimSpace(s string) string {
	for s != "" && (s[0] == ' ' || s[0] >= '\t' && s[0] <= '\r') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] >= '\t' && s[len(s)-1] <= '\r') {
		s = s[:len(s)-1]
	}
	return s
}

// bindItems binds the select list.
func (b *binder) bindItems(s *scope) error {
	s.clause, s.allowAggregates = fieldList, true
	for i, it := range s.items {
		s.number = i + 1
		if err := b.bindItem(it, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *binder) bindItem(it *item, s *scope) error {
	if it.star {
		it.node = b.read(place{s: s, src: it.of.src, column: it.of.column}, s)
	} else {
		windows := len(s.windows)
		n, err := b.itemNode(it, s)
		if err != nil {
			return err
		}
		it.node, it.windows = asValue(n), len(s.windows) > windows
	}
	if col, ok := it.node.(*rel.Col); ok && !b.outer[col] {
		it.plain, it.given, it.id = true, true, col.ID
	}
	return nil
}

// dropStars forgets that columns of * are not decided by the groups.
func (s *scope) dropStars() {
	s.loose = slices.DeleteFunc(s.loose, func(l looseColumn) bool {
		return l.clause == fieldList && l.window == "" && s.items[l.number-1].star
	})
}

// itemNode is the value of an item: one that GROUP BY names is the key.
func (b *binder) itemNode(it *item, s *scope) (expr.Node, error) {
	if s.grouped {
		for i := range s.group.keys {
			if k := &s.group.keys[i]; k.item == it && !k.col {
				return b.ref(k.out), nil
			}
		}
	}
	if k := b.matchKey(inParens(it.ast), s, true); k != nil {
		return b.ref(k.out), nil
	}
	return b.scalar(it.ast, s)
}

// itemBelow binds the expression of an item below the grouping, where its alias is named. An item that names its own alias names a
// column that does not exist.
func (b *binder) itemBelow(it *item, s *scope) (expr.Node, error) {
	if it.busy {
		return nil, expr.Errorf(1054, "42S22", "Unknown column '%s' in '%s'", it.name, fieldList.text())
	}
	it.busy = true
	n, err := b.scalar(it.ast, s)
	it.busy = false
	return n, err
}

// asValue is an expression as a value of its own: a hexadecimal or bit literal, which is a number beside numbers, is a binary string then.
func asValue(n expr.Node) expr.Node {
	if l, ok := n.(*expr.Lit); ok && l.V.Kind() == expr.KindBit && l.T.Kind() == expr.KindBytes {
		return &expr.Lit{V: expr.Bytes(l.V.RawText()), T: l.T}
	}
	return n
}

// columnOf is the column that the value of an item gets.
func (b *binder) columnOf(it *item) rel.ColID {
	if !it.given {
		it.given = true
		it.id = b.add(rel.Column{Name: it.name, Type: it.node.Type(), Nullable: b.nullable(it.node)})
	}
	return it.id
}

func (b *binder) columnsOfItems(s *scope) {
	for _, it := range s.items {
		b.columnOf(it)
	}
}

// itemRef is an expression of the select list of the query at, where the query s names it.
func (b *binder) itemRef(it *item, at, s *scope, name *sqlparser.ColName) (expr.Node, error) {
	if b.agg != nil && at.level <= b.agg.s.level || !at.grouped && at == s && s.clause == groupClause {
		// below the grouping the value is calculated there
		if it.star {
			return b.read(place{s: at, src: it.of.src, column: it.of.column}, s), nil
		}
		if b.agg == nil && aggregates(it.ast) {
			return nil, expr.Errorf(1247, "42S22", "Reference '%s' not supported (reference to group function)", name.String())
		}
		return b.itemBelow(it, at)
	}
	if it.node == nil {
		return nil, expr.Errorf(1247, "42S22", "Reference '%s' not supported (forward reference in item list)", name.String())
	}
	if it.windows && (at != s || s.clause != orderClause) {
		return nil, expr.Errorf(3594, "HY000", "You cannot use the alias '%s' of an expression containing a window function in this context.'",
			name.String())
	}
	if s != at || at.clause != orderClause {
		it.early = true
	} else {
		it.sorted = true
	}
	col := b.ref(b.columnOf(it))
	if at != s {
		if b.outer == nil {
			b.outer = map[*rel.Col]bool{}
		}
		b.outer[col] = true
	}
	return col, nil
}
