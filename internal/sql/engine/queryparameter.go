package engine

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// parameterNode is a value that was bound to a parameter. Of texts and decimals vitess keeps the text alone and calls it VARBINARY; dates
// and times are VARCHAR (timeparameters.go).
func parameterNode(ctx *sql.Context, b *querypb.BindVariable) (expr.Node, error) {
	v, err := sqltypes.BindVariableToValue(b)
	if err != nil {
		return nil, err
	}
	text := v.ToString()
	switch t := v.Type(); {
	case v.IsNull():
		return &expr.Lit{T: expr.TNull}, nil
	case sqltypes.IsUnsigned(t):
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, err
		}
		if n <= 1<<63-1 {
			return wholeLiteral(expr.Int(int64(n)), expr.TInt, len(text)), nil
		}
		return wholeLiteral(expr.Uint(n), expr.TUint, len(text)), nil
	case sqltypes.IsIntegral(t):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		return wholeLiteral(expr.Int(n), expr.TInt, len(text)), nil
	case sqltypes.IsFloat(t):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		return &expr.Lit{V: expr.Float(f), T: expr.TFloat}, nil
	case t == sqltypes.Decimal:
		d, s := number.ParseDecimal(text)
		if s.Clean() {
			scale := max(0, int(-d.Exponent))
			return &expr.Lit{V: expr.Decimal(d), T: expr.TDecimal(max(int(d.NumDigits())+max(0, int(d.Exponent)), scale), scale)}, nil
		}
	case t == sqltypes.VarChar:
		if n := timeParameter(text); n != nil {
			return n, nil
		}
	}
	if !utf8.ValidString(text) {
		return &expr.Lit{V: expr.Bytes(text), T: expr.TBytes(len(text))}, nil
	}
	t := expr.TText(utf8.RuneCountInString(text), uint16(ctx.GetCollation()), expr.Coercible)
	t.Name = expr.Varchar
	return &expr.Lit{V: expr.Text(text), T: t}, nil
}

func wholeLiteral(v expr.Value, t expr.Type, length int) *expr.Lit {
	t.Length = length
	return &expr.Lit{V: v, T: t}
}

// timeParameter is a date or time as vitess writes those of the binary protocol; nil: it is none.
func timeParameter(text string) *expr.Lit {
	fsp := 0
	if _, fraction, ok := strings.Cut(text, "."); ok {
		fsp = min(len(fraction), 6)
	}
	if len(text) >= 10 && text[4] == '-' && text[7] == '-' {
		r := temporal.ParseDateTime(text, temporal.Mode(0))
		switch {
		case !r.OK():
			return nil
		case len(text) == 10:
			return &expr.Lit{V: expr.Packed(expr.KindDate, int64(r.DateTime.Date()), 0), T: expr.TDate}
		}
		return &expr.Lit{V: expr.Packed(expr.KindDatetime, int64(r.DateTime), fsp), T: expr.TDatetime(fsp)}
	}
	if r := temporal.ParseTime(text, temporal.Mode(0)); r.OK() && r.Kind == temporal.KindTime {
		return &expr.Lit{V: expr.Packed(expr.KindTime, int64(r.Duration), fsp), T: expr.TTime(fsp)}
	}
	return nil
}
