package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"github.com/longitude-db/longitude/internal/sql/bind"
)

// virtualColumns calculates the virtual columns of a table for the rows that a query reads: by go-mysql-server's expressions of them,
// which stand on the table's columns.
type virtualColumns struct {
	exprs []sql.Expression // by place; nil: not virtual
	needs [][]int          // by place: the columns that it is calculated from
}

// virtualOf makes those of a table; nil: it has none.
func (h *queryHost) virtualOf(database string, l *layout) (*virtualColumns, error) {
	calculated := func(at int) bool { return l.virtual[at] && !isPart(&l.desc.Columns[at]) }
	any := false
	for at := range l.columns {
		any = any || calculated(at)
	}
	if !any {
		return nil, nil
	}
	quoted := func(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }
	text := "SELECT * FROM " + quoted(database) + "." + quoted(l.desc.Name)
	stmt, err := h.s.e.gms.Parser.ParseSimple(text)
	if err != nil {
		return nil, err
	}
	node, _, err := planbuilder.New(h.ctx, h.s.e.gms.Analyzer.Catalog, nil).BindOnly(stmt, text, nil)
	if err != nil {
		return nil, err
	}
	var found *plan.VirtualColumnTable
	transform.Inspect(node, func(n sql.Node) bool {
		if r, ok := n.(*plan.ResolvedTable); ok {
			if v, ok := r.Table.(*plan.VirtualColumnTable); ok {
				found = v
			}
		}
		return true
	})
	if found == nil || len(found.Projections) != len(l.columns) {
		return nil, fmt.Errorf("%w: the virtual columns of table %s", bind.ErrUnsupported, l.desc.Name)
	}
	if err := (&storer{run: &evaluation{}}).virtual(h.ctx, found); err != nil {
		return nil, err
	}
	v := &virtualColumns{exprs: make([]sql.Expression, len(l.columns)), needs: make([][]int, len(l.columns))}
	for at, e := range found.Projections {
		if !calculated(at) {
			continue
		}
		v.exprs[at] = e
		wrong := false
		transform.InspectExpr(h.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if f, ok := e.(*expression.GetField); ok {
				wrong = wrong || f.Index() < 0 || f.Index() >= len(l.columns) || !strings.EqualFold(l.desc.Columns[f.Index()].Name, f.Name())
				v.needs[at] = append(v.needs[at], f.Index())
			}
			return false
		})
		if wrong {
			return nil, fmt.Errorf("%w: the virtual column %s of table %s", bind.ErrUnsupported, l.desc.Columns[at].Name, l.desc.Name)
		}
	}
	return v, nil
}

// plan says what has to be read, and what calculated in which order, for the columns at places.
func (v *virtualColumns) plan(places []int) (read, calculate []int) {
	var add func(at int)
	add = func(at int) {
		switch {
		case v.exprs[at] == nil:
			if !slices.Contains(read, at) {
				read = append(read, at)
			}
		case !slices.Contains(calculate, at):
			for _, n := range v.needs[at] {
				if n != at {
					add(n)
				}
			}
			calculate = append(calculate, at)
		}
	}
	for _, at := range places {
		add(at)
	}
	return read, calculate
}

// calculation is the calculation of virtual columns for one row after the other.
type calculation struct {
	v               *virtualColumns
	read, calculate []int
	row             sql.Row // by place: what was read, and what was calculated
}

func (c *calculation) fill(ctx *sql.Context, l *layout, d datums) error {
	for _, at := range c.read {
		if c.row[at] = nil; d[at].IsNull() {
			continue
		}
		v, err := l.decode[at](d[at])
		if err != nil {
			return fmt.Errorf("table %s, column %s: %w", l.desc.Name, l.desc.Columns[at].Name, err)
		}
		c.row[at] = v
	}
	for _, at := range c.calculate {
		v, err := c.v.exprs[at].Eval(ctx, c.row)
		if err != nil {
			return err
		}
		c.row[at] = v
	}
	return nil
}
