package bind

import (
	"errors"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/aggregate"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// windowFunc is a window function of a query, with the window that it is calculated over.
type windowFunc struct {
	fn   rel.WindowFunc
	over *windowOrder
}

// windowOrder is what windows have in common that can be calculated together: the partition and the order of rows.
type windowOrder struct {
	partition []expr.Node
	order     []rel.SortKey
}

// window is a window as OVER or the WINDOW clause define it, with what it takes from the one that it names.
type window struct {
	name      string // as errors call it
	partition sqlparser.Exprs
	order     sqlparser.OrderBy
	frame     *sqlparser.Frame
}

// windowArgs are the functions that exist only with OVER, and how many arguments each takes.
var windowArgs = map[string][2]int{
	"row_number": {0, 0}, "rank": {0, 0}, "dense_rank": {0, 0}, "percent_rank": {0, 0}, "cume_dist": {0, 0}, "ntile": {1, 1},
	"lag": {1, 3}, "lead": {1, 3}, "first_value": {1, 1}, "last_value": {1, 1}, "nth_value": {2, 2},
}

const unnamedWindow = "<unnamed window>"

// windowCall binds a function with OVER: it gives an expression that reads the column which windows will add.
func (b *binder) windowCall(e *sqlparser.FuncExpr, s *scope) (expr.Node, error) {
	name := e.Name.Lowered()
	counts, own := windowArgs[name]
	switch {
	case !own && !isAggregate(name):
		return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near 'OVER': %s is no window function", name)
	case s.inWindow != "" && s.inWindow != windowArgument:
		return nil, expr.Errorf(3595, "HY000", "You cannot nest a window function in the specification of window '%s'.", s.inWindow)
	case s.clause != fieldList && s.clause != orderClause, s.inWindow != "", b.inAggregateOf(s):
		return nil, errNoWindow(name)
	case e.Distinct:
		return nil, notYet("<window function>(DISTINCT ..)")
	}
	f := rel.WindowFunc{Name: name, Text: sqlparser.String(e)}
	over, err := b.window(e.Over, &f, s)
	if errors.Is(err, ErrUnsupported) {
		return nil, err
	}
	switch { // MySQL looks at windows when all else has been resolved, at their frames last
	case err == nil:
	case over == nil && s.windowError == nil:
		s.windowError = err
	case over != nil && s.frameError == nil:
		s.frameError = err
	}
	in := s.inWindow
	s.inWindow = windowArgument
	args, star, err := b.windowArgs(name, e.Exprs, s)
	s.inWindow = in
	if err != nil {
		return nil, err
	}
	nullable := false
	if own {
		if len(args) < counts[0] || len(args) > counts[1] || star {
			return nil, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '%s'", f.Text)
		}
		if f.Args, f.T, nullable, err = b.windowType(name, args); err != nil {
			return nil, err
		}
	} else {
		agg := &rel.Agg{Name: name, Args: args, Star: star, Text: f.Text}
		if err := b.aggregateType(agg); err != nil {
			return nil, err
		}
		agg.T = windowValue(agg.T)
		f.Agg, f.T, nullable = agg, agg.T, aggregate.Nullable(name)
	}
	f.Col = b.add(rel.Column{Name: f.Text, Type: f.T, Nullable: nullable})
	if f.Agg != nil {
		f.Agg.Col = f.Col
	}
	s.windows = append(s.windows, &windowFunc{fn: f, over: over})
	if name == "avg" && f.T.Name == expr.DecimalType {
		return expr.Build("as", f.Text, f.T, b.ref(f.Col))
	}
	return b.ref(f.Col), nil
}

// window binds the window of a function.
func (b *binder) window(over *sqlparser.Over, f *rel.WindowFunc, s *scope) (*windowOrder, error) {
	w, err := windowOf(over, s)
	if err != nil {
		return nil, err
	}
	out, err := b.windowOrder(w, s)
	if err != nil {
		return nil, err
	}
	f.Frame, err = b.frame(w, out, s)
	return out, err
}

// windowArgument is scope.inWindow while the arguments of a window function are bound.
const windowArgument = "argument"

func errNoWindow(name string) error {
	return expr.Errorf(3593, "HY000", "You cannot use the window function '%s' in this context.'", name)
}

// windowOf finds the window of an OVER.
func windowOf(over *sqlparser.Over, s *scope) (*window, error) {
	def := (*sqlparser.WindowDef)(over)
	if !def.NameRef.IsEmpty() && len(def.PartitionBy) == 0 && len(def.OrderBy) == 0 && def.Frame == nil { // OVER w, not OVER (w ...)
		return namedWindow(def.NameRef.String(), s, nil)
	}
	return definedWindow(def, unnamedWindow, s, nil)
}

// namedWindow finds a window of the WINDOW clause. path are the windows that are on the way to it.
func namedWindow(name string, s *scope, path []string) (*window, error) {
	for _, p := range path {
		if sameName(p, name) {
			return nil, expr.Errorf(3580, "HY000", "There is a circularity in the window dependency graph.")
		}
	}
	if s.sel != nil {
		for _, def := range s.sel.Window {
			if sameName(def.Name.String(), name) {
				return definedWindow(def, def.Name.String(), s, append(path, name))
			}
		}
	}
	return nil, expr.Errorf(3579, "HY000", "Window name '%s' is not defined.", name)
}

// definedWindow is a window with what it takes from the one that it names.
func definedWindow(def *sqlparser.WindowDef, name string, s *scope, path []string) (*window, error) {
	w := &window{name: name, partition: def.PartitionBy, order: def.OrderBy, frame: def.Frame}
	if def.NameRef.IsEmpty() {
		return w, nil
	}
	base, err := namedWindow(def.NameRef.String(), s, path)
	switch {
	case err != nil:
		return nil, err
	case len(w.partition) > 0:
		return nil, expr.Errorf(3581, "HY000", "A window which depends on another cannot define partitioning.")
	case base.frame != nil:
		return nil, expr.Errorf(3582, "HY000", "Window '%s' has a frame definition, so cannot be referenced by another window.", base.name)
	case len(w.order) > 0 && len(base.order) > 0:
		return nil, expr.Errorf(3583, "HY000", "Window '%s' cannot inherit '%s' since both contain an ORDER BY clause.", name, base.name)
	}
	w.partition = base.partition
	if len(w.order) == 0 {
		w.order = base.order
	}
	return w, nil
}

// checkWindows checks the WINDOW clause, what no function uses included.
func (b *binder) checkWindows(s *scope) error {
	if s.sel == nil {
		return nil
	}
	for i, def := range s.sel.Window {
		for _, other := range s.sel.Window[:i] {
			if sameName(def.Name.String(), other.Name.String()) {
				return expr.Errorf(3591, "HY000", "Window '%s' is defined twice.", def.Name.String())
			}
		}
	}
	for _, def := range s.sel.Window {
		w, err := namedWindow(def.Name.String(), s, nil)
		if err != nil {
			return err
		}
		over, err := b.windowOrder(w, s)
		if err != nil {
			return err
		}
		if _, err := b.frame(w, over, s); err != nil {
			return err
		}
	}
	return nil
}

// windowOrder binds PARTITION BY and ORDER BY of a window. Names in them are columns, not aliases of the select list.
func (b *binder) windowOrder(w *window, s *scope) (*windowOrder, error) {
	clause, allow, in, number, loose := s.clause, s.allowAggregates, s.inWindow, s.number, len(s.loose)
	s.clause, s.allowAggregates, s.inWindow = fieldList, true, w.name
	defer func() {
		s.clause, s.allowAggregates, s.inWindow, s.number = clause, allow, in, number
		for i := loose; i < len(s.loose); i++ {
			s.loose[i].window = w.name
		}
	}()
	bound := func(e sqlparser.Expr, what string) (expr.Node, error) {
		e = inParens(e)
		if v, ok := e.(*sqlparser.SQLVal); ok && v.Type == sqlparser.IntVal && !strings.HasPrefix(string(v.Val), "-") {
			return nil, expr.Errorf(3592, "HY000",
				"Window '%s': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use expression.", w.name)
		}
		n, err := b.scalar(e, s)
		if failed, ok := err.(*expr.Error); ok && failed.Code == 1054 {
			err = expr.Errorf(1054, "42S22", "%s", strings.Replace(failed.Message, "'field list'", "'"+what+"'", 1))
		}
		return n, err
	}
	out := &windowOrder{}
	for i, e := range w.partition {
		s.number = i + 1
		n, err := bound(e, "window partition by")
		if err != nil {
			return nil, err
		}
		if _, call := withoutOnce(n).(*expr.Call); call || !expr.IsConst(n) { // a call of constants may fail
			out.partition = append(out.partition, n)
		}
	}
	for i, o := range w.order {
		s.number = i + 1
		n, err := bound(o.Expr, "window order by")
		if err != nil {
			return nil, err
		}
		out.order = append(out.order, rel.SortKey{Expr: n, Desc: o.Direction == sqlparser.DescScr})
	}
	for _, f := range s.windows { // the same partition and order are bound once
		if f.over != nil && rel.AllSame(f.over.partition, out.partition) && b.sameOrder(f.over.order, out.order) {
			return f.over, nil
		}
	}
	return out, nil
}

// windowArgs binds the arguments of a window function.
func (b *binder) windowArgs(name string, list sqlparser.SelectExprs, s *scope) (args []expr.Node, star bool, err error) {
	for _, a := range list {
		switch a := a.(type) {
		case *sqlparser.StarExpr:
			if name != "count" || len(list) != 1 || !a.TableName.IsEmpty() {
				return nil, false, expr.Errorf(1064, "42000", "You have an error in your SQL syntax near '*'")
			}
			return nil, true, nil
		case *sqlparser.AliasedExpr:
			n, err := b.scalar(a.Expr, s)
			if err != nil {
				return nil, false, err
			}
			if t := n.Type(); t.Name == expr.DecimalType && !exactColumn(n, b.meta) { // the rows are kept before windows are calculated
				if n, err = expr.Build("as", name, t, n); err != nil {
					return nil, false, err
				}
			}
			args = append(args, n)
		default:
			return nil, false, unsupported("%T", a)
		}
	}
	return args, false, nil
}

// exactColumn reports whether an expression is a decimal without more digits than its type has: a literal, or a column of a table.
func exactColumn(n expr.Node, meta *rel.Metadata) bool {
	if c, ok := n.(*rel.Col); ok {
		return meta.Columns[c.ID].Origin != nil
	}
	return isLiteral(n)
}

// windowValue is the type that a value has when a window has passed it on: texts are VARCHAR, integers BIGINT or INT (MySQL keeps them in a
// temporary table whose columns are made by the kind of the result).
func windowValue(t expr.Type) expr.Type {
	switch t.Name {
	case expr.NullType:
		return storedType(t)
	case expr.EnumType, expr.SetType, expr.Char:
		return expr.Type{Name: expr.Varchar, Length: t.Length, Collation: t.Collation, Coerc: t.Coerc}
	case expr.Binary:
		t.Name = expr.Varbinary
	case expr.YearType:
		t.Name, t.Zerofill = expr.IntType, false
	case expr.TinyInt, expr.SmallInt, expr.MediumInt, expr.IntType, expr.BigInt:
		t.Name, t.Zerofill = expr.BigInt, false
		if t.Length > 0 && t.Length < 10 {
			t.Name = expr.IntType
		}
	}
	return t
}

// windowType finds the type of a function that exists only with OVER, and brings its arguments to it.
func (b *binder) windowType(name string, args []expr.Node) (out []expr.Node, t expr.Type, nullable bool, err error) {
	switch name {
	case "row_number", "rank", "dense_rank", "ntile":
		t = expr.TUint
		t.Length = 21
		if len(args) > 0 {
			return args, t, !isLiteral(args[0]), checkCount(name, args[0], 1, false, b.set.Env)
		}
		return args, t, false, nil
	case "percent_rank", "cume_dist":
		return args, expr.TFloat, false, nil
	case "nth_value":
		err = checkCount(name, args[1], 1, false, b.set.Env)
	case "lag", "lead":
		if len(args) > 1 {
			err = checkCount(name, args[1], 0, false, b.set.Env)
		}
	}
	if err != nil {
		return nil, t, false, err
	}
	t, nullable = args[0].Type(), true
	if len(args) > 2 {
		if t, err = expr.Union(name, t, args[2].Type()); err != nil {
			return nil, t, false, err
		}
		nullable = b.nullable(args[0]) || b.nullable(args[2])
	}
	t = windowValue(t)
	for _, i := range []int{0, 2} {
		if i >= len(args) || args[i].Type().Kind() == t.Kind() && args[i].Type().Scale == t.Scale || args[i].Type().Name == expr.NullType {
			continue
		}
		if args[i], err = expr.Build("as", name, t, args[i]); err != nil {
			return nil, t, false, err
		}
	}
	return args, t, nullable, nil
}

func isLiteral(n expr.Node) bool {
	_, ok := withoutOnce(n).(*expr.Lit)
	return ok
}

// checkCount reports error 1210 if a constant argument is no whole number from least on. An argument whose value is not known yet is
// checked by package exec.
func checkCount(name string, n expr.Node, least int64, null bool, env *expr.Env) error {
	if !expr.IsConst(n) {
		return nil
	}
	v, err := n.Eval(env)
	switch {
	case err != nil:
		return err
	case v.IsNull() && null, v.Kind() == expr.KindInt && v.RawInt() >= least, v.Kind() == expr.KindUint && v.RawUint() >= uint64(least):
		return nil
	}
	return expr.Errorf(1210, "HY000", "Incorrect arguments to %s", name)
}

// windows puts the window functions that windowCall has found above plan: one operator for those that can be calculated together.
func (b *binder) windows(s *scope, plan rel.Node) (rel.Node, error) {
	if s.windowError != nil {
		return nil, s.windowError
	}
	if err := b.checkWindows(s); err != nil {
		return nil, err
	}
	if s.frameError != nil {
		return nil, s.frameError
	}
	made := map[*windowOrder]*rel.Window{}
	for _, f := range s.windows {
		w := made[f.over]
		if w == nil {
			w = &rel.Window{Child: plan, Partition: f.over.partition, Order: f.over.order}
			made[f.over], plan = w, w
		}
		w.Funcs = append(w.Funcs, f.fn)
	}
	return plan, nil
}
