package engine

import (
	"errors"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// rowExpressions calculates the columns of a row that hold the expressions of functional indexes, for one statement.
type rowExpressions struct {
	l    *layout
	ctx  *sql.Context
	env  *expr.Env
	regs []expr.Value // by place
	read []int        // places of the columns that are read as they are stored
	list []rowExpression
	rows int
	now  string // the index whose expression is being calculated; "": none
}

// rowExpression is one of them, or a virtual column that one reads.
type rowExpression struct {
	at     int
	node   expr.Node
	target expr.Target
	index  string // "": a virtual column
	kept   bool   // the row has the value
}

// newRowExpressions makes those of a table; nil: it has no functional index. virtual: those of its virtual columns that an index has, instead.
func newRowExpressions(ctx *sql.Context, s *Session, db *database, l *layout, virtual bool) (*rowExpressions, error) {
	if !l.hasParts && !virtual {
		return nil, nil
	}
	r := &rowExpressions{l: l, ctx: ctx, env: environment(ctx), regs: make([]expr.Value, len(l.columns))}
	r.env.Host, r.env.Change, r.env.Ignore = &rel.Frame{Regs: r.regs}, true, s.stmt.ignores
	warn := r.env.Warn
	r.env.Warn = func(code uint16, message string) {
		if e := r.partFailure(int(code)); e != nil {
			code, message = uint16(e.Num), e.Message
		}
		if warn != nil {
			warn(code, message)
		}
	}
	host, t := &queryHost{ctx: ctx, s: s}, newQueryTable(newTable(db, l))
	var add func(at int) error
	add = func(at int) error {
		if slices.Contains(r.read, at) || slices.ContainsFunc(r.list, func(e rowExpression) bool { return e.at == at }) {
			return nil
		}
		if !l.virtual[at] {
			r.read = append(r.read, at)
			return nil
		}
		e, ok := t.q.exprs[at]
		if !ok {
			return errors.New("the expression of column " + l.desc.Columns[at].Name + " cannot be read")
		}
		node, _, err := bind.TableExpr(host, t, e, "generated column function")
		if err != nil {
			return err
		}
		reads := rel.Cols{}
		rel.CollectCols(reads, node)
		for id := range reads {
			if err := add(int(id)); err != nil {
				return err
			}
		}
		c := &l.desc.Columns[at]
		target, _ := targetType(l.schema.Schema[at].Type)
		x := rowExpression{at: at, node: node, target: expr.Target{Type: declaredType(target, c.Type.Declared), Name: c.Name},
			kept: isPart(c) || virtual && l.stored[at]}
		if isPart(c) {
			x.index = l.desc.IndexOf(c.ID)
		}
		r.list = append(r.list, x)
		return nil
	}
	for at := range l.desc.Columns {
		if c := &l.desc.Columns[at]; !virtual && isPart(c) || virtual && !isPart(c) && l.virtual[at] && l.stored[at] {
			if err := add(at); err != nil {
				return nil, clientSide(err)
			}
		}
	}
	return r, nil
}

// partFailure is how MySQL calls it that the value of an expression does not fit its type; nil: it is something else.
func (r *rowExpressions) partFailure(code int) *mysql.SQLError {
	if r.now == "" {
		return nil
	}
	switch code {
	case 1264:
		return mysql.NewSQLError(3752, "22003", "Value is out of range for functional index '%s' at row %d", r.now, r.rows)
	case 1265, 1292, 1366, 1406, 1411, 1441:
		return mysql.NewSQLError(3751, "01000", "Data truncated for functional index '%s' at row %d", r.now, r.rows)
	case 3156:
		return mysql.NewSQLError(3903, "22018", "Invalid JSON value for CAST for functional index '%s'.", r.now)
	}
	return nil
}

// fill puts the values into a row.
func (r *rowExpressions) fill(d datums) error {
	if r == nil {
		return nil
	}
	r.rows++
	q := r.l.queries()
	for _, at := range r.read {
		r.regs[at] = expr.Null
		if !d[at].IsNull() {
			v, err := q.read[at](d[at])
			if err != nil {
				return err
			}
			r.regs[at] = v
		}
	}
	defer func() { r.now = "" }()
	for i := range r.list {
		x := &r.list[i]
		r.now, x.target.Row = x.index, r.rows
		v, err := r.value(x)
		if err != nil {
			var own *expr.Error
			if errors.As(err, &own) {
				if e := r.partFailure(int(own.Code)); e != nil {
					return e
				}
			}
			return clientSide(err)
		}
		r.regs[x.at] = v
		if !x.kept {
			continue
		}
		host, err := toHost(v, x.target.Type)
		if err != nil {
			return clientSide(err)
		}
		if d[x.at], err = toDatum(r.ctx, r.l.columns[x.at].Kind, host); err != nil {
			return err
		}
	}
	return nil
}

func (r *rowExpressions) value(x *rowExpression) (expr.Value, error) {
	v, err := x.node.Eval(r.env)
	if err == nil {
		err = r.env.Failed()
	}
	if err == nil {
		v, err = expr.Assign(r.env, v, &x.target)
	}
	if failed := r.env.Failed(); err == nil {
		err = failed
	}
	return v, err
}
