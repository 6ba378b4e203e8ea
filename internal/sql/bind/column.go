package bind

import (
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// columnRef binds a name: a column, an alias of the select list, or a variable.
func (b *binder) columnRef(e *sqlparser.ColName, s *scope) (expr.Node, error) {
	if e.StoredProcVal != nil {
		return b.expression(e.StoredProcVal, s)
	}
	if n, err := b.variable(e); n != nil || err != nil {
		return n, err
	}
	p, it, at, err := b.resolve(e, s)
	if err != nil {
		return nil, err
	}
	if it != nil {
		return b.itemRef(it, at, s, e)
	}
	return b.read(p, s), nil
}

// variable is @name or @@name; nil: the name is none.
func (b *binder) variable(e *sqlparser.ColName) (expr.Node, error) {
	name := e.Name.String()
	if (name == "" || name[0] != '@') && (e.Qualifier.IsEmpty() || e.Qualifier.Name.String()[0] != '@') {
		return nil, nil
	}
	v, scope, specified, err := sqlparser.VarScopeForColName(e)
	if err != nil {
		return nil, expr.Errorf(1064, "42000", "%s", err)
	}
	switch scope {
	case sqlparser.SetScope_None:
		return nil, nil
	case sqlparser.SetScope_User:
		return b.h.UserVariable(v.Name.String())
	}
	return b.h.SystemVariable(specified, v.Name.String())
}

// resolve finds what a name means: a column, or an expression of the select list of the query at.
func (b *binder) resolve(e *sqlparser.ColName, s *scope) (p place, it *item, at *scope, err error) {
	for sc := s; sc != nil; sc = sc.outer {
		if sc == s && sc.clause == havingClause && !b.inAggregateOf(sc) {
			p, it, found, err := b.resolveHaving(e, sc)
			if err != nil || found {
				return p, it, sc, err
			}
			continue
		}
		aliases := sc.items != nil && (sc != s || sc.clause != fieldList) && sc.clause != whereClause && sc.clause != onClause &&
			sc.clause != fromClause
		if aliases && s.clause == havingClause && !b.inAggregateOf(s) { // names in HAVING mean aliases first, in the queries around too
			if it, _, err := b.findItem(e, sc); err != nil || it != nil {
				return p, it, sc, err
			}
		}
		src, c, found, err := sc.from.find(e, s.place())
		if err != nil {
			return p, nil, sc, err
		}
		if found {
			return place{s: sc, src: src, column: c}, nil, sc, nil
		}
		if !aliases {
			continue
		}
		if it, _, err := b.findItem(e, sc); err != nil || it != nil {
			return p, it, sc, err
		}
	}
	return p, nil, nil, unknownColumn(e, s.place())
}

// inAggregateOf reports whether the arguments of an aggregate that is written in the query are being bound.
func (b *binder) inAggregateOf(s *scope) bool {
	for a := b.agg; a != nil; a = a.around {
		if a.s == s {
			return true
		}
	}
	return false
}

// read is an expression that reads a column for an expression of the query s.
func (b *binder) read(p place, s *scope) *rel.Col {
	col := b.ref(p.id)
	if p.s != s {
		if b.outer == nil {
			b.outer = map[*rel.Col]bool{}
		}
		b.outer[col] = true
	}
	b.settle(col, p)
	if p.s != s && p.s.clause == orderClause {
		p.s.below = append(p.s.below, col.ID)
	}
	return col
}

// settle makes a column of a query's tables the one that an expression reads: in the arguments of an aggregate that is not decided
// before it is known whose aggregate it is; above a grouping it is that of the groups.
func (b *binder) settle(col *rel.Col, p place) {
	s := p.s
	if a := b.agg; a != nil && s.level <= a.s.level {
		a.refs = append(a.refs, aggregateRef{col, p})
		a.level = max(a.level, s.level)
		return
	}
	if s.grouped {
		col.ID = b.groupedColumn(p)
	} else if s.group != nil {
		s.read = append(s.read, p)
	}
}

// findItem looks for a name in the select list, as MySQL does: aliases come before the columns that are hidden by them. alias reports
// whether it was found by an alias that is not the column's name. Error 1052: several different expressions are called so.
func (b *binder) findItem(e *sqlparser.ColName, s *scope) (found *item, alias bool, err error) {
	var unaliased *item
	several := false
	name := e.Name.String()
	for _, it := range s.items {
		if it.busy {
			continue // it does not mean itself
		}
		col, isColumn := it.columnName()
		switch {
		case !e.Qualifier.IsEmpty():
			if isColumn && sameName(col, name) && b.sameColumn(e, it, s) {
				return it, false, nil
			}
		case sameName(it.name, name):
			if !isColumn { // MySQL looks no further
				return it, true, nil
			}
			if found != nil {
				if b.sameItem(found, it, s) {
					continue
				}
				return nil, false, ambiguous(e, s.place())
			}
			found, alias = it, !sameName(col, name)
		case isColumn && sameName(col, name):
			if unaliased != nil && !b.sameItem(unaliased, it, s) {
				several = true
			} else if unaliased == nil {
				unaliased = it
			}
		}
	}
	if found == nil && several {
		return nil, false, ambiguous(e, s.place())
	}
	if found == nil {
		found = unaliased
	}
	return found, alias, nil
}

// sameColumn reports whether a qualified name means the column that an item is.
func (b *binder) sameColumn(e *sqlparser.ColName, it *item, s *scope) bool {
	_, c, found, err := s.from.find(e, s.place())
	if err != nil || !found {
		return false
	}
	id, ok := b.itemColumn(it, s)
	return ok && id == c.id
}

// sameItem reports whether two items are the same column.
func (b *binder) sameItem(x, y *item, s *scope) bool {
	i, okX := b.itemColumn(x, s)
	j, okY := b.itemColumn(y, s)
	return okX && okY && i == j
}

// itemColumn is the column of a table that an item is.
func (b *binder) itemColumn(it *item, s *scope) (rel.ColID, bool) {
	if it.star {
		return it.of.id, true
	}
	col, ok := inParens(it.ast).(*sqlparser.ColName)
	if !ok {
		return 0, false
	}
	_, c, found, err := s.from.find(col, s.place())
	return c.id, found && err == nil
}

// resolveHaving finds what a name in HAVING means: an expression of the select list or of GROUP BY, but no other column of FROM.
func (b *binder) resolveHaving(e *sqlparser.ColName, s *scope) (p place, it *item, found bool, err error) {
	it, _, err = b.findItem(e, s)
	if err != nil {
		return p, nil, false, err
	}
	var key *groupKey
	if s.group != nil {
		key = s.group.named(e, s)
	}
	if key == nil || it != nil {
		if it == nil {
			return p, nil, false, nil
		}
		if id, ok := b.itemColumn(it, s); key == nil || ok && id == key.id || it == key.item {
			return p, it, true, nil
		}
		b.warn(1052, "Column '%s' in %s is ambiguous", e.String(), s.clause.text())
	}
	return place{s: s, src: key.src, column: column{name: e.Name.String(), id: key.id}}, nil, true, nil
}

func (b *binder) warn(code uint16, format string, args ...any) {
	if b.set.Env != nil {
		b.set.Env.Warning(code, format, args...)
	}
}
