package bind

import "github.com/longitude-db/longitude/internal/sql/expr"

func isDocument(n expr.Node) bool { return n.Type().Name == expr.JSONType }

// warnOfDocuments warns, as MySQL does when it resolves a call, of JSON documents that are conditions (3986), or that are compared as texts
// (1235).
func (b *binder) warnOfDocuments(name string, args []expr.Node) {
	some := func(nodes []expr.Node) bool {
		for _, n := range nodes {
			if isDocument(n) {
				return true
			}
		}
		return false
	}
	what := ""
	switch name {
	case "and", "or", "xor", "not", "is true", "is false", "is not true", "is not false":
		for _, a := range args {
			b.warnOfCondition(a)
		}
		return
	case "between", "not between":
		if some(args) {
			what = "comparison of JSON in the BETWEEN operator"
		}
	case "greatest", "least":
		if some(args) {
			what = "comparison of JSON in the LEAST and GREATEST operators"
		}
	case "in", "not in":
		for _, a := range args {
			if row, ok := a.(*expr.Tuple); ok && len(args) > 2 && some(row.Nodes) {
				what = "comparison of JSON within a ROW in the IN operator"
			}
		}
	}
	if what != "" {
		b.warn(1235, "This version of MySQL doesn't yet support '%s'", what)
	}
}

// warnOfCondition is warning 3986 if an expression, which is a condition, is a JSON document.
func (b *binder) warnOfCondition(n expr.Node) {
	if isDocument(n) {
		b.warn(3986, "Evaluating a JSON value in SQL boolean context does an implicit comparison against JSON integer 0; "+
			"if this is not what you want, consider converting JSON to a SQL numeric type with JSON_VALUE RETURNING")
	}
}

// warnOfDigest warns, as MySQL does when it resolves a call, of SHA2 with a constant length that no digest has.
func (b *binder) warnOfDigest(name string, args []expr.Node) {
	if name != "sha2" || len(args) != 2 || b.set.Env == nil {
		return
	}
	l, ok := withoutOnce(args[1]).(*expr.Lit)
	if !ok || l.V.IsNull() {
		return
	}
	quiet := *b.set.Env
	quiet.Warn = nil
	switch n, _, err := expr.ToInt(&quiet, l.V); {
	case err != nil:
	case n != 0 && n != 224 && n != 256 && n != 384 && n != 512:
		b.set.Env.Warning(1583, "Incorrect parameters in the call to native function 'sha2'")
	}
}
