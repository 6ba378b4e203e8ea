package bind

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// yearConstants makes years of two digits, which are compared with a column of type YEAR, years: MySQL converts such a constant to what the
// column would hold. It does so for comparisons of two values and NULLIF, not for BETWEEN, IN or CASE.
func (b *binder) yearConstants(name string, args []expr.Node) {
	switch name {
	case "=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "nullif":
	default:
		return
	}
	if b.set.Env == nil || len(args) != 2 {
		return
	}
	for i, n := range args {
		col, ok := n.(*rel.Col)
		other := args[1-i]
		if !ok || col.T.Name != expr.YearType || !expr.IsConst(other) || !other.Type().IsNumber() && !other.Type().IsString() {
			continue
		}
		quiet := *b.set.Env
		quiet.Warn, quiet.Change = nil, false
		v, err := other.Eval(&quiet)
		if err != nil || v.IsNull() {
			continue
		}
		f, err := expr.ToFloat(&quiet, v)
		if n := int64(f); err == nil && float64(n) == f && n >= 1 && n <= 99 {
			if n += 1900; n < 1970 {
				n += 100
			}
			args[1-i] = &expr.Lit{V: expr.Int(n), T: expr.TInt}
		}
	}
}
