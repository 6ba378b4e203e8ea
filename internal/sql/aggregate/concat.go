package aggregate

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// concatForm is what the states of one GROUP_CONCAT share.
type concatForm struct {
	agg    *rel.Agg
	keys   *expr.Keys // DISTINCT
	orders []expr.Order
	limit  int // group_concat_max_len, bytes
	binary bool
	row    int // how many rows have been put into results: MySQL counts them through all groups
}

// concats makes the states of GROUP_CONCAT. The expressions of ORDER BY are evaluated by Add, so the registers must hold the row then.
func concats(a *rel.Agg, types []expr.Type, env *expr.Env) (func() rel.AggState, error) {
	f := &concatForm{agg: a, limit: env.GroupConcatMax, binary: a.T.Kind() == expr.KindBytes}
	if a.Distinct {
		keys, err := expr.NewKeys(types)
		if err != nil {
			return nil, err
		}
		f.keys = keys
	}
	for _, k := range a.Order {
		f.orders = append(f.orders, expr.OrderOf(k.Expr.Type()))
	}
	return func() rel.AggState {
		c := &concat{form: f}
		if f.keys != nil {
			c.seen = map[string]struct{}{}
		}
		return c
	}, nil
}

// concat is GROUP_CONCAT.
type concat struct {
	form *concatForm
	seen map[string]struct{}
	key  []byte
	// rows are the texts, with what they are ordered by. Without ORDER BY no more are kept than the result can hold.
	rows []concatRow
	size int // bytes of the texts with separators
}

type concatRow struct {
	text string
	by   []expr.Value
}

// Add implements rel.AggState.
func (c *concat) Add(env *expr.Env, args []expr.Value) error {
	for _, v := range args {
		if v.IsNull() {
			return nil
		}
	}
	f := c.form
	if len(f.orders) == 0 && c.size > f.limit {
		return nil // it is cut already
	}
	if f.keys != nil {
		key, err := f.keys.AppendRow(c.key[:0], env, args)
		if err != nil {
			return err
		}
		c.key = key
		if _, ok := c.seen[string(key)]; ok {
			return nil
		}
		c.seen[string(key)] = struct{}{}
	}
	var row concatRow
	for _, v := range args {
		s, err := expr.ToText(env, v)
		if err != nil {
			return err
		}
		row.text += s
	}
	for i, k := range f.agg.Order {
		v, err := k.Expr.Eval(env)
		if err == nil {
			v, err = f.orders[i].Prepare(env, v)
		}
		if err != nil {
			return err
		}
		row.by = append(row.by, v)
	}
	if len(c.rows) > 0 {
		c.size += len(f.agg.Separator)
	}
	c.size += len(row.text)
	c.rows = append(c.rows, row)
	return nil
}

// Result implements rel.AggState.
func (c *concat) Result(env *expr.Env) (expr.Value, error) {
	if len(c.rows) == 0 {
		return expr.Null, nil
	}
	if err := c.sort(env); err != nil {
		return expr.Null, err
	}
	f := c.form
	var b strings.Builder
	b.Grow(min(c.size, f.limit))
	for i, row := range c.rows {
		f.row++
		before := b.Len()
		if i > 0 {
			b.WriteString(f.agg.Separator)
		}
		b.WriteString(row.text)
		if b.Len() <= f.limit {
			continue
		}
		out := b.String()[:max(before, f.limit)]
		env.Warning(1260, "Row %d was cut by GROUP_CONCAT()", f.row)
		return f.value(whole(out, before, f.binary)), nil
	}
	return f.value(b.String()), nil
}

func (f *concatForm) value(s string) expr.Value {
	if f.binary {
		return expr.Bytes(s)
	}
	return expr.Text(s)
}

// whole is a text without the beginning of a character at its end, which is not within the first keep bytes.
func whole(s string, keep int, binary bool) string {
	if binary {
		return s
	}
	for at := len(s) - 1; at >= keep && at >= len(s)-utf8.UTFMax; at-- {
		if !utf8.RuneStart(s[at]) {
			continue
		}
		if !utf8.FullRuneInString(s[at:]) {
			return s[:at]
		}
		break
	}
	return s
}

// sort orders the rows as ORDER BY says; equal ones stay in the order in which they came.
func (c *concat) sort(env *expr.Env) (err error) {
	f := c.form
	if len(f.orders) == 0 {
		return nil
	}
	slices.SortStableFunc(c.rows, func(a, b concatRow) int {
		for i, o := range f.orders {
			n, failed := o.Compare(env, a.by[i], b.by[i])
			if failed != nil {
				err = failed
			}
			if f.agg.Order[i].Desc {
				n = -n
			}
			if n != 0 {
				return n
			}
		}
		return 0
	})
	return err
}
