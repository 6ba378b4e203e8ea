package bind

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// source is a table, a derived table, a view or a common table expression in FROM.
type source struct {
	database string // "": a derived table
	alias    string
	cols     []column
	// merged: it is a derived table or a view that MySQL merges into the query, because it neither groups nor limits its rows.
	merged bool
}

// visible is a column that names without a table, and *, mean. A column of USING is there once, though both sides have it.
type visible struct {
	src *source
	column
}

// joined is what a part of FROM gives: its tables, and its columns in the order of *.
type joined struct {
	plan    rel.Node
	sources []*source
	cols    []visible
}

// clause is the part of a query that is being bound.
type clause uint8

const (
	fieldList clause = iota
	fromClause
	onClause
	whereClause
	groupClause
	havingClause
	orderClause
	limitClause
)

// text is how errors name the clause.
func (c clause) text() string {
	return [...]string{"field list", "from clause", "on clause", "where clause", "group statement", "having clause", "order clause",
		"limit clause"}[c]
}

// scope is what names mean in one query block.
type scope struct {
	outer  *scope // of the query around; nil: there is none
	level  int    // how many are around it
	clause clause
	from   joined
	// items is the select list; nil until it is known. ORDER BY and HAVING, and subqueries in them, may name its aliases.
	items []*item
	// group is what GROUP BY makes of the rows; nil: the rows are not grouped, as far as is known.
	group *grouping
	// grouped: the expressions that are being bound stand above the grouping: columns mean those of the groups.
	grouped bool
	// allowAggregates: the clause that is being bound may have aggregates of this query.
	allowAggregates bool
	// lateral: the scope is only what a LATERAL derived table sees of the FROM it stands in.
	lateral bool
	// windows are the window functions of the query (windows.go).
	windows []*windowFunc
	// inWindow is the window whose PARTITION BY or ORDER BY is being bound, or windowArgument; "": none.
	inWindow string
	// windowError is the first error in what partitions or orders a window, frameError in a frame; nil: there is none.
	windowError, frameError error
	sel                     *sqlparser.Select
	ons                     []pendingOn
	// compared: the left side of IN (SELECT ...) is being bound, which errors name in place of the clause.
	compared bool
	// where is how errors name an expression that is in no query; "": it is in one.
	where string
	// number is that of the expression in its clause, from 1.
	number int
	// read are the columns that an expression has been found to read, while it is compared with the keys of GROUP BY.
	read []place
	// below are the columns that the subqueries of the expression of ORDER BY read.
	below []rel.ColID
	// loose are the columns that the groups do not decide, as far as can be seen from GROUP BY alone (fulldependence.go).
	loose []looseColumn
}

func newScope(outer *scope) *scope {
	s := &scope{outer: outer}
	if outer != nil {
		s.level = outer.level + 1
	}
	return s
}

// place is a column that a name was found to mean.
type place struct {
	s   *scope
	src *source
	column
}

// fullName is how errors call the column.
func (p *place) fullName() string {
	n := p.name
	if p.src != nil {
		n = p.src.alias + "." + n
		if p.src.database != "" {
			n = p.src.database + "." + n
		}
	}
	return n
}

func sameName(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// is reports whether a qualified name means the source.
func (s *source) is(t sqlparser.TableName) bool {
	if !sameName(s.alias, t.Name.String()) {
		return false
	}
	return t.DbQualifier.IsEmpty() || s.database == t.DbQualifier.String()
}

// find looks for a column among the tables of FROM; found is false if there is none. Error 1052: there are several.
func (f *joined) find(e *sqlparser.ColName, in string) (src *source, c column, found bool, err error) {
	name := e.Name.String()
	if e.Qualifier.IsEmpty() {
		for i := range f.cols {
			if !sameName(f.cols[i].name, name) {
				continue
			}
			if found {
				return nil, c, false, ambiguous(e, in)
			}
			src, c, found = f.cols[i].src, f.cols[i].column, true
		}
		if found {
			return src, c, true, nil
		}
	}
	for _, s := range f.sources {
		if !e.Qualifier.IsEmpty() && !s.is(e.Qualifier) {
			continue
		}
		for i := range s.cols {
			if e.Qualifier.IsEmpty() && !s.cols[i].hidden || !sameName(s.cols[i].name, name) {
				continue
			}
			if found {
				return nil, c, false, ambiguous(e, in)
			}
			src, c, found = s, s.cols[i], true
		}
	}
	return src, c, found, nil
}

// place is how errors name what is being bound.
func (s *scope) place() string {
	if s.where != "" {
		return s.where
	}
	if s.compared {
		return "IN/ALL/ANY subquery"
	}
	return s.clause.text()
}

func ambiguous(e *sqlparser.ColName, in string) error {
	return expr.Errorf(1052, "23000", "Column '%s' in %s is ambiguous", e.String(), in)
}

func unknownColumn(e *sqlparser.ColName, in string) error {
	return expr.Errorf(1054, "42S22", "Unknown column '%s' in '%s'", e.String(), in)
}
