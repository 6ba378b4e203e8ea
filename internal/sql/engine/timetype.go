package engine

import (
	"context"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// timeType is TIME(fsp). go-mysql-server has TIME(6) only and refuses the others (sql/types/time.go, "TIME is implemented as
// TIME(6)"), and gives a TIME without digits six of them.
type timeType struct {
	types.TimespanType_
	fsp int
}

var _ types.TimeType = timeType{}

// timeDigits is the fsp of any type of go-mysql-server that is a TIME.
func timeDigits(t sql.Type) int {
	if t, ok := t.(timeType); ok {
		return t.fsp
	}
	return 6
}

// Convert implements sql.Type: it rounds to the digits of the type.
func (t timeType) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	out, in, err := t.TimespanType_.Convert(ctx, v)
	if s, ok := out.(types.Timespan); ok && err == nil {
		d, _ := temporal.Duration(s).Round(t.fsp, 0)
		out = types.Timespan(d)
	}
	return out, in, err
}

// Equals implements sql.Type.
func (t timeType) Equals(other sql.Type) bool {
	return other.Type() == sqltypes.Time && timeDigits(other) == t.fsp
}

// Promote implements sql.Type.
func (t timeType) Promote() sql.Type { return t }

// MaxTextResponseByteLength implements sql.Type.
func (t timeType) MaxTextResponseByteLength(*sql.Context) uint32 {
	if t.fsp == 0 {
		return 10
	}
	return uint32(11 + t.fsp)
}

// SQL implements sql.Type.
func (t timeType) SQL(_ *sql.Context, dest []byte, v any) (sqltypes.Value, error) {
	if v == nil {
		return sqltypes.NULL, nil
	}
	s, err := t.ConvertToTimespan(v)
	if err != nil {
		return sqltypes.Value{}, err
	}
	from := len(dest)
	dest = temporal.AppendTime(dest, temporal.Duration(s), t.fsp)
	return sqltypes.MakeTrusted(sqltypes.Time, dest[from:]), nil
}

// SQLValue implements sql.ValueType.
func (t timeType) SQLValue(ctx *sql.Context, v sql.Value, dest []byte) (sqltypes.Value, error) {
	if v.IsNull() {
		return sqltypes.NULL, nil
	}
	inner, err := t.TimespanType_.SQLValue(ctx, v, nil)
	if err != nil {
		return inner, err
	}
	return t.SQL(ctx, dest, inner.ToString())
}

// String implements sql.Type.
func (t timeType) String() string {
	if t.fsp == 0 {
		return "time"
	}
	return "time(" + strconv.Itoa(t.fsp) + ")"
}

// resolveTime gives a TIME in a definition its type, which the parser's tree can carry. More digits than six are refused when the
// column is described.
func resolveTime(c *sqlparser.ColumnType) {
	if c.ResolvedType != nil || !strings.EqualFold(c.Type, "time") {
		return
	}
	fsp := 0
	if c.Length != nil {
		var err error
		if fsp, err = strconv.Atoi(string(c.Length.Val)); err != nil {
			return
		}
	}
	c.ResolvedType = timeType{fsp: fsp}
}
