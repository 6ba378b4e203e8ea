package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// defaultOf is DEFAULT(column): what the column holds if nothing is assigned to it. Error 1364: it has none and takes no NULL; 3773: it is an
// expression.
func (b *binder) defaultOf(e *sqlparser.Default, s *scope) (expr.Node, error) {
	h, ok := b.h.(ChangeHost)
	if !ok || e.ColName == "" {
		return nil, unsupported("DEFAULT")
	}
	name := &sqlparser.ColName{Name: sqlparser.NewColIdent(e.ColName)}
	n, err := b.columnRef(name, s)
	if err != nil {
		return nil, err
	}
	c, ok := n.(*rel.Col)
	if !ok {
		return nil, unsupported("DEFAULT(%s)", e.ColName)
	}
	o := b.meta.Columns[c.ID].Origin
	if o == nil || o.Source == nil {
		return nil, expr.Errorf(1364, "HY000", "Field '%s' doesn't have a default value", e.ColName)
	}
	rules, err := h.Rules(o.Source)
	if err != nil {
		return nil, err
	}
	col := o.Source.Columns()[o.Place]
	def := rules.Defaults[o.Place]
	switch {
	case def == nil && !col.Nullable, rules.Generated[o.Place] != nil:
		return nil, expr.Errorf(1364, "HY000", "Field '%s' doesn't have a default value", col.Name)
	case def == nil:
		return &expr.Lit{T: col.Type}, nil
	}
	d, err := b.ruled(def, newScope(nil), o.Source)
	if err != nil {
		return nil, err
	}
	l, ok := d.(*expr.Lit)
	if !ok {
		if f, is := def.(*sqlparser.FuncExpr); is && isNow(f.Name.Lowered()) {
			return &expr.Lit{V: expr.ImplicitDefault(col.Type), T: col.Type}, nil
		}
		return nil, expr.Errorf(3773, "HY000", "DEFAULT function cannot be used with default value expressions")
	}
	env := *b.set.Env
	env.Change, env.Warn = false, nil
	v, err := expr.Assign(&env, l.V, &expr.Target{Type: col.Type, Name: col.Name, Row: 1})
	return &expr.Lit{V: v, T: col.Type}, err
}

func isNow(name string) bool {
	switch name {
	case "current_timestamp", "now", "localtime", "localtimestamp":
		return true
	}
	return false
}
