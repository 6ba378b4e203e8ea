package engine

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
)

// selection reads SELECT of columns of one table by its primary key.
func (c *compiler) selection(s *sqlparser.Select, database string) form {
	o := s.QueryOpts
	if s.Into != nil || s.With != nil || s.Having != nil || len(s.Comments) > 0 || len(s.GroupBy) > 0 || len(s.Window) > 0 ||
		len(o.DistinctOn) > 0 || o.StraightJoinHint || o.SQLCalcFoundRows || !c.table(s.From, database) {
		return nil
	}
	f := &selectForm{target: c.target(), schema: c.result, described: c.described}
	if folds, ok := c.folds(s); ok {
		return c.folded(f, folds, s)
	}
	for _, e := range s.SelectExprs {
		switch e := e.(type) {
		case *sqlparser.StarExpr:
			if !e.TableName.IsEmpty() && !strings.EqualFold(e.TableName.Name.String(), c.alias) || !e.TableName.DbQualifier.IsEmpty() {
				return nil
			}
			for i := range c.l.columns {
				f.columns = append(f.columns, c.l.resultColumn(i))
			}
		case *sqlparser.AliasedExpr:
			at := c.column(e.Expr)
			if at < 0 {
				return nil
			}
			if as := c.columnNamed(e.As.String()); as >= 0 && as != at && len(s.OrderBy) > 0 {
				return nil // the name in ORDER BY may be this one
			}
			f.columns = append(f.columns, c.l.resultColumn(at))
		default:
			return nil
		}
	}
	if !c.answers(f) {
		return nil
	}
	f.want = make([]bool, len(c.l.columns)+1)
	for _, col := range f.columns {
		f.want[col.at] = true
	}
	if o.Distinct {
		return c.spanned(f, s)
	}
	if s.Lock != nil && s.Lock.Type != "" {
		return c.locking(f, s)
	}
	if f.where = c.where(s.Where); f.where != nil {
		return c.ordered(f, s)
	}
	return c.spanned(f, s)
}

// locking reads SELECT ... FOR UPDATE of one row.
func (c *compiler) locking(f *selectForm, s *sqlparser.Select) form {
	switch {
	case len(s.Lock.Tables) > 0:
		return nil
	case s.Lock.Type == sqlparser.ForUpdateStr:
		f.lock = kv.LockExclusive
	case s.Lock.Type == sqlparser.ShareModeStr:
		f.lock = kv.LockShared
	default:
		return nil
	}
	if f.where = c.where(s.Where); f.where == nil || len(f.where.keys) != 1 {
		return nil
	}
	return c.ordered(f, s)
}

// answers reports whether the result that the ordinary path gave is of the columns that were found.
func (c *compiler) answers(f *selectForm) bool {
	if len(c.result) != len(f.columns) {
		return false
	}
	for i, col := range c.result {
		if !col.Type.Equals(f.columns[i].typ) {
			return false
		}
	}
	return true
}

// ordered reads ORDER BY and LIMIT of a SELECT by the whole key: of one row any order is the same.
func (c *compiler) ordered(f *selectForm, s *sqlparser.Select) form {
	for _, o := range s.OrderBy {
		if len(f.where.keys) > 1 || c.column(o.Expr) < 0 {
			return nil
		}
	}
	if s.Limit != nil && !c.limit(f, s.Limit) {
		return nil
	}
	return f
}

func (c *compiler) limit(f *selectForm, l *sqlparser.Limit) bool {
	o, ok := c.operand(l.Rowcount)
	f.limit = &o
	return ok && l.Offset == nil && !o.negative
}
