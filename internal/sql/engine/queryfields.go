package engine

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Flags of columns that vitess has no names for (MySQL's include/mysql_com.h).
const (
	noDefaultFlag = 1 << 12
	partKeyFlag   = 1 << 14
)

// queryFields describes the columns of a query's result to clients, as MySQL 8 does: a column of a table as it was declared, and by
// its names there; an expression by its type.
func queryFields(ctx *sql.Context, q *rel.Query) []*querypb.Field {
	results := ctx.GetCharacterSetResults()
	fields := make([]*querypb.Field, len(q.Out))
	for i, o := range q.Out {
		c := &q.Meta.Columns[o.Col]
		f := &querypb.Field{Name: o.Name, Database: o.From.Database, Table: o.From.Table, OrgTable: o.From.OrgTable, OrgName: o.From.OrgName,
			Type: wireType(c.Type), Flags: uint32(typeFlags(c.Type, c.Origin != nil))}
		if !o.Nullable {
			f.Flags |= uint32(querypb.MySqlFlag_NOT_NULL_FLAG)
		}
		if c.Origin != nil {
			if c.Origin.Source != nil {
				f.Flags |= uint32(columnFlags(&c.Origin.Source.Columns()[c.Origin.Place], inKey(c.Origin.Source, c.Origin.Place)))
			}
		}
		f.Charset, f.ColumnLength = charsetAndLength(c.Type, results, c.Origin != nil)
		f.Decimals = wireDecimals(c.Type, c.Origin != nil)
		fields[i] = f
	}
	return fields
}

// wireType is how the protocol calls a type.
func wireType(t expr.Type) querypb.Type {
	pick := func(unsigned, signed querypb.Type) querypb.Type {
		if t.Unsigned {
			return unsigned
		}
		return signed
	}
	switch t.Name {
	case expr.NullType:
		return sqltypes.Null
	case expr.TinyInt:
		return pick(sqltypes.Uint8, sqltypes.Int8)
	case expr.SmallInt:
		return pick(sqltypes.Uint16, sqltypes.Int16)
	case expr.MediumInt:
		return pick(sqltypes.Uint24, sqltypes.Int24)
	case expr.IntType:
		return pick(sqltypes.Uint32, sqltypes.Int32)
	case expr.BigInt:
		return pick(sqltypes.Uint64, sqltypes.Int64)
	case expr.DecimalType:
		return sqltypes.Decimal
	case expr.FloatType:
		return sqltypes.Float32
	case expr.DoubleType:
		return sqltypes.Float64
	case expr.YearType:
		return sqltypes.Year
	case expr.BitType:
		return sqltypes.Bit
	case expr.DateType:
		return sqltypes.Date
	case expr.DatetimeType:
		return sqltypes.Datetime
	case expr.TimestampType:
		return sqltypes.Timestamp
	case expr.TimeType:
		return sqltypes.Time
	case expr.Char:
		return sqltypes.Char
	case expr.Varchar:
		return sqltypes.VarChar
	case expr.TextType:
		return sqltypes.Text
	case expr.Binary:
		return sqltypes.Binary
	case expr.Varbinary:
		return sqltypes.VarBinary
	case expr.Blob:
		return sqltypes.Blob
	case expr.EnumType:
		return sqltypes.Enum
	case expr.SetType:
		return sqltypes.Set
	case expr.JSONType:
		return sqltypes.TypeJSON
	}
	return sqltypes.Geometry
}

// typeFlags are those that follow from a column's type. Numbers that are no columns of a table count as binary.
func typeFlags(t expr.Type, ofTable bool) (f querypb.MySqlFlag) {
	if t.Unsigned || t.Name == expr.BitType || t.Name == expr.YearType {
		f |= querypb.MySqlFlag_UNSIGNED_FLAG
	}
	if t.Zerofill || t.Name == expr.YearType && ofTable {
		f |= querypb.MySqlFlag_ZEROFILL_FLAG
	}
	switch t.Kind() {
	case expr.KindText, expr.KindEnum, expr.KindSet:
		if c, err := collation.ByID(t.Collation); err == nil && c.Bytewise() {
			f |= querypb.MySqlFlag_BINARY_FLAG
		}
	case expr.KindInt, expr.KindUint, expr.KindFloat, expr.KindDecimal, expr.KindBit:
		if !ofTable {
			f |= querypb.MySqlFlag_BINARY_FLAG
		}
	default:
		f |= querypb.MySqlFlag_BINARY_FLAG
	}
	switch t.Name {
	case expr.TextType, expr.Blob, expr.JSONType, expr.OtherType:
		if ofTable {
			f |= querypb.MySqlFlag_BLOB_FLAG
		}
	case expr.EnumType:
		f |= querypb.MySqlFlag_ENUM_FLAG
	case expr.SetType:
		f |= querypb.MySqlFlag_SET_FLAG
	}
	return f
}

// columnFlags are those that a table's column has beside.
func columnFlags(c *rel.TableColumn, inKey bool) (f querypb.MySqlFlag) {
	flag := func(on bool, b querypb.MySqlFlag) {
		if on {
			f |= b
		}
	}
	flag(c.PrimaryKey, querypb.MySqlFlag_PRI_KEY_FLAG)
	flag(c.UniqueKey, querypb.MySqlFlag_UNIQUE_KEY_FLAG)
	flag(c.MultipleKey, querypb.MySqlFlag_MULTIPLE_KEY_FLAG)
	flag(c.AutoIncrement, querypb.MySqlFlag_AUTO_INCREMENT_FLAG)
	flag(!c.Nullable && !c.HasDefault && !c.AutoIncrement, noDefaultFlag)
	flag(inKey, partKeyFlag)
	return f
}

// inKey reports whether a column is part of an index.
func inKey(t rel.Table, place int) bool {
	return slices.ContainsFunc(t.Indexes(), func(x rel.Index) bool {
		return slices.ContainsFunc(x.Parts(), func(p rel.IndexPart) bool { return p.Place == place })
	})
}

// integerWidths are how wide whole numbers are shown, without and with a sign.
var integerWidths = map[expr.Name][2]uint32{expr.TinyInt: {3, 4}, expr.SmallInt: {5, 6}, expr.MediumInt: {8, 9}, expr.IntType: {10, 11}, expr.BigInt: {20, 20}}

// textLengths are how many bytes TINYTEXT to LONGTEXT may take, by how many characters they hold for sure.
var textLengths = map[int]uint64{63: 255, 16383: 65535, 4194303: 16777215, 1073741823: 1<<32 - 1}

// textCharset is what clients are told of the collation of texts.
func textCharset(collation uint16, results sql.CharacterSetID) uint32 {
	if results != sql.CharacterSet_Unspecified && results != sql.CharacterSet_binary {
		return uint32(results)
	}
	return uint32(collation)
}

// charsetAndLength are the collation that clients are told of a type, and how many bytes its values take at most as texts.
func charsetAndLength(t expr.Type, results sql.CharacterSetID, ofTable bool) (charset, length uint32) {
	charset = uint32(expr.BinaryCollation)
	fraction := func(n int) uint32 {
		if t.Scale > 0 {
			n += 1 + t.Scale
		}
		return uint32(n)
	}
	switch t.Name {
	case expr.NullType:
		return charset, 0
	case expr.TinyInt, expr.SmallInt, expr.MediumInt, expr.IntType, expr.BigInt:
		w := integerWidths[t.Name]
		length = w[1]
		if t.Unsigned {
			length = w[0]
		}
		if t.Length > 0 && (!ofTable || uint32(t.Length) != w[1]) {
			length = uint32(t.Length)
		}
		return charset, length
	case expr.DecimalType:
		length = uint32(t.Length)
		if t.Scale > 0 {
			length++
		}
		if !t.Unsigned {
			length++
		}
		return charset, length
	case expr.DateType:
		return charset, 10
	case expr.DatetimeType, expr.TimestampType:
		return charset, fraction(19)
	case expr.TimeType:
		return charset, fraction(10)
	case expr.YearType:
		return charset, 4
	case expr.JSONType:
		if !ofTable {
			return textCharset(46, results), 1<<32 - 4
		}
		return charset, 1<<32 - 1
	case expr.TextType:
		if whole, ok := textLengths[t.Length]; ok && ofTable {
			if results != sql.CharacterSet_Unspecified && results != sql.CharacterSet_binary { // each byte may become a character of it
				whole *= uint64(max(results.MaxLength(), 1))
			}
			return textCharset(t.Collation, results), uint32(min(whole, 1<<32-1))
		}
	}
	if t.Length < 0 {
		length = 1<<32 - 1
	} else {
		length = uint32(min(t.Length, 1<<32-1))
	}
	switch t.Kind() {
	case expr.KindText, expr.KindEnum, expr.KindSet:
	default:
		return charset, length
	}
	charset, width := uint32(t.Collation), uint32(4)
	if results != sql.CharacterSet_Unspecified && results != sql.CharacterSet_binary {
		charset, width = uint32(results), uint32(max(results.MaxLength(), 1))
	} else if results == sql.CharacterSet_binary {
		width = 1
	} else if w := sql.CollationID(t.Collation).CharacterSet().MaxLength(); w > 0 {
		width = uint32(w)
	}
	if uint64(length)*uint64(width) >= 1<<32 {
		return charset, 1<<32 - 1
	}
	return charset, length * width
}

// wireDecimals are the digits after the point that clients are told of; 31: as many as there are.
func wireDecimals(t expr.Type, ofTable bool) uint32 {
	switch t.Kind() {
	case expr.KindDecimal, expr.KindDatetime, expr.KindTime, expr.KindFloat:
		return uint32(max(t.Scale, 0))
	case expr.KindText, expr.KindBytes, expr.KindJSON, expr.KindOther:
		if !ofTable {
			return expr.NotFixed
		}
	}
	return 0
}
