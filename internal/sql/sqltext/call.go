package sqltext

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// synonyms are functions that MySQL keeps under another name.
var synonyms = map[string]string{"ucase": "upper", "lcase": "lower", "substring": "substr", "mid": "substr", "character_length": "char_length",
	"octet_length": "length", "power": "pow", "ceil": "ceiling", "position": "locate", "day": "dayofmonth", "sha": "sha", "sha1": "sha",
	"std": "std", "localtime": "now", "localtimestamp": "now", "current_timestamp": "now", "current_date": "curdate", "current_time": "curtime",
	"atan2": "atan"}

// call writes a call of a function.
func (w *writer) call(e *sqlparser.FuncExpr) {
	name := e.Name.Lowered()
	var args []sqlparser.Expr
	for _, x := range e.Exprs {
		a, ok := x.(*sqlparser.AliasedExpr)
		if !ok {
			w.fail(e)
			return
		}
		args = append(args, a.Expr)
	}
	if e.Over != nil || e.Distinct || !e.Qualifier.IsEmpty() {
		w.fail(e)
		return
	}
	n := len(args)
	switch {
	case n == 2 && (name == "date_add" || name == "adddate"):
		w.addInterval(args, "+")
	case n == 2 && (name == "date_sub" || name == "subdate"):
		w.addInterval(args, "-")
	case n == 2 && name == "mod":
		w.between(args[0], "%", args[1])
	case n == 2 && name == "json_length":
		w.list("json_length(json_extract(", args...)
		w.put(")")
	case n == 2 && name == "datediff":
		w.list("(to_days(", args[0])
		w.list(" - to_days(", args[1])
		w.put(")")
	case n == 2 && name == "instr":
		w.list("locate(", args[1], args[0])
	case n == 1 && (name == "week" || name == "yearweek"):
		w.put(name, "(")
		w.expr(args[0])
		w.put(",0)")
	case n == 1 && name == "bin":
		w.put("conv(")
		w.expr(args[0])
		w.put(",10,2)")
	case n == 1 && name == "oct":
		w.put("conv(")
		w.expr(args[0])
		w.put(",10,8)")
	case n == 1 && (name == "date" || name == "time"):
		w.put("cast(")
		w.expr(args[0])
		w.put(" as ", name, ")")
	case n == 1 && name == "isnull":
		w.put("(")
		w.expr(args[0])
		w.put(" is null)")
	case n == 1 && strings.HasSuffix(name, " literal"):
		v, ok := args[0].(*sqlparser.SQLVal)
		if !ok {
			w.fail(e)
			return
		}
		w.text(strings.ToUpper(strings.TrimSuffix(name, " literal")), string(v.Val))
	case n == 2 && name == "member of":
		w.expr(args[0])
		w.list(" member of (", args[1])
	default:
		if s := synonyms[name]; s != "" {
			name = s
		}
		w.list(name+"(", args...)
	}
}

func (w *writer) addInterval(args []sqlparser.Expr, op string) {
	if i, ok := args[1].(*sqlparser.IntervalExpr); ok {
		w.interval(args[0], op, i.Expr, i.Unit)
		return
	}
	w.interval(args[0], op, args[1], "day")
}

// special writes the functions that have a syntax of their own.
func (w *writer) special(e sqlparser.Expr) {
	switch e := e.(type) {
	case *sqlparser.ConvertExpr:
		w.put("cast(")
		w.expr(e.Expr)
		w.put(" as ", w.castType(e.Type), ")")
	case *sqlparser.ConvertUsingExpr:
		w.put("convert(")
		w.expr(e.Expr)
		w.put(" using ", strings.ToLower(e.Type), ")")
	case *sqlparser.SubstrExpr:
		var s sqlparser.Expr = e.Name
		if e.Name == nil {
			s = e.StrVal
		}
		args := []sqlparser.Expr{s, e.From}
		if e.To != nil {
			args = append(args, e.To)
		}
		w.list("substr(", args...)
	case *sqlparser.TrimExpr:
		w.trim(e)
	case *sqlparser.CharExpr:
		w.put("char(")
		for i, x := range e.Exprs {
			if i > 0 {
				w.put(",")
			}
			if a, ok := x.(*sqlparser.AliasedExpr); ok {
				w.expr(a.Expr)
			}
		}
		if e.Type != "" {
			w.put(" using ", strings.ToLower(e.Type))
		}
		w.put(")")
	case *sqlparser.TimestampFuncExpr:
		if strings.EqualFold(e.Name, "timestampadd") {
			w.interval(e.Expr2, "+", e.Expr1, e.Unit)
			return
		}
		w.put("timestampdiff(", strings.ToUpper(e.Unit), ",")
		w.list("", e.Expr1, e.Expr2)
	case *sqlparser.ExtractFuncExpr:
		w.put("extract(", strings.ToLower(e.Unit), " from ")
		w.expr(e.Expr)
		w.put(")")
	default:
		w.fail(e)
	}
}

func (w *writer) trim(e *sqlparser.TrimExpr) {
	w.put("trim(")
	switch e.Dir {
	case sqlparser.Leading:
		w.put("leading ")
	case sqlparser.Trailing:
		w.put("trailing ")
	default:
		if v, ok := e.Pattern.(*sqlparser.SQLVal); ok && string(v.Val) == " " { // what is meant if none is written
			w.expr(e.Str)
			w.put(")")
			return
		}
		w.put("both ")
	}
	w.expr(e.Pattern)
	w.put(" from ")
	w.expr(e.Str)
	w.put(")")
}

// castType is the type of a CAST as MySQL keeps it.
func (w *writer) castType(t *sqlparser.ConvertType) string {
	name := strings.ToLower(t.Type)
	length := ""
	if t.Length != nil {
		length = "(" + string(t.Length.Val) + ")"
		if t.Scale != nil {
			length = "(" + string(t.Length.Val) + "," + string(t.Scale.Val) + ")"
		}
	}
	switch name {
	case "char", "character":
		set := strings.ToLower(t.Charset)
		if set == "" {
			set = w.o.Charset
		}
		return "char" + length + " charset " + set
	case "nchar":
		return "char" + length + " charset utf8mb3"
	case "binary":
		return "char" + length + " charset binary"
	case "decimal", "dec", "numeric":
		switch {
		case t.Length == nil:
			length = "(10,0)"
		case t.Scale == nil:
			length = "(" + string(t.Length.Val) + ",0)"
		}
		return "decimal" + length
	case "signed", "integer", "int", "signed integer":
		return "signed"
	case "unsigned", "unsigned integer":
		return "unsigned"
	case "float":
		return "float"
	case "real":
		return "double"
	}
	return name + length
}
