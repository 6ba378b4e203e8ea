package bind

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// neverNull are calls that are not NULL whatever their arguments are.
var neverNull = map[string]bool{"is null": true, "isnull": true, "is not null": true, "is true": true, "is false": true,
	"is not true": true, "is not false": true, "<=>": true, "pi": true, "rand": true, "now": true, "current_timestamp": true,
	"localtime": true, "localtimestamp": true, "utc_timestamp": true, "curtime": true, "current_time": true, "utc_time": true, "curdate": true,
	"current_date": true, "utc_date": true, "sysdate": true, "date literal": true, "time literal": true, "timestamp literal": true,
	"coercibility": true, "interval": true}

// asArguments are calls that MySQL takes to be NULL only if an argument is. Of functions of texts it takes most to be NULL at any time.
var asArguments = map[string]bool{"=": true, "<>": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true, "between": true,
	"not between": true, "in": true, "not in": true, "and": true, "or": true, "xor": true, "not": true, "+": true, "-": true, "*": true,
	"neg": true, "&": true, "|": true, "^": true, "~": true, "<<": true, ">>": true, "bit_count": true, "abs": true, "ceil": true,
	"ceiling": true, "floor": true, "round": true, "truncate": true, "sign": true, "crc32": true, "greatest": true, "least": true,
	"like": true, "not like": true, "ascii": true, "ord": true, "length": true, "octet_length": true, "bit_length": true, "char_length": true,
	"character_length": true, "instr": true, "locate": true, "position": true, "strcmp": true, "field": true, "find_in_set": true,
	"is_ipv4": true, "is_ipv6": true, "is_ipv4_compat": true, "is_ipv4_mapped": true, "period_add": true, "period_diff": true,
	"unix_timestamp": true, "make_set": true, "md5": true, "sha": true, "sha1": true}

// nullable reports whether an expression may be NULL, as far as its columns and functions say.
func (b *binder) nullable(n expr.Node) bool {
	switch n := withoutOnce(n).(type) {
	case *rel.Col:
		return b.mayBeNull(n.ID)
	case *expr.Lit:
		return n.V.IsNull()
	case *rel.Subquery:
		if n.Kind == rel.Exists {
			return false
		}
		return true
	case *expr.Call:
		return b.callNullable(n)
	}
	return true
}

func (b *binder) callNullable(c *expr.Call) bool {
	switch c.Name {
	case "coalesce", "ifnull":
		for _, a := range c.Args {
			if !b.nullable(a) {
				return false
			}
		}
		return true
	case "if":
		return b.nullable(c.Args[1]) || b.nullable(c.Args[2])
	case "as":
		return b.nullable(c.Args[0])
	case "case":
		form, _ := c.Extra.(expr.CaseForm)
		if !form.Else {
			return true
		}
		args := c.Args[:len(c.Args)-1]
		if form.Operand {
			args = args[1:]
		}
		for i := 1; i < len(args); i += 2 {
			if b.nullable(args[i]) {
				return true
			}
		}
		return b.nullable(c.Args[len(c.Args)-1])
	case "cast":
		if t := c.T; t.IsString() || t.Name == expr.YearType {
			return true
		} else if t.IsTemporal() || t.Kind() == expr.KindJSON {
			return b.nullable(c.Args[0]) || c.Args[0].Type().Kind() != t.Kind()
		}
		return b.nullable(c.Args[0])
	}
	if neverNull[c.Name] {
		return false
	}
	if !asArguments[c.Name] {
		return true
	}
	for _, a := range c.Args {
		if t, ok := a.(*expr.Tuple); ok {
			for _, n := range t.Nodes {
				if b.nullable(n) {
					return true
				}
			}
			continue
		}
		if b.nullable(a) {
			return true
		}
	}
	return false
}
