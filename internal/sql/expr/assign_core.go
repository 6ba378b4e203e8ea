package expr

import "github.com/longitude-db/longitude/internal/sql/document"

// Conversion on assignment: what INSERT, UPDATE, LOAD DATA, defaults, generated columns and SET NEW.x do with a value before it is
// stored. It is not what CAST does: a text is read as a number with its fraction and rounded, and what does not fit is an error.
//
//	XA1  Assign gives NULL or a value that the column's type holds: in range, of its sign, no longer than it may be. There is no other
//	     way for a value into a row.
//	XA2  In strict mode (Env.Strict) what would be changed is refused with MySQL's error; otherwise the nearest value is stored and the
//	     same text is a warning. Digits after the last place of a DECIMAL and spaces at the end of a VARCHAR are changed in both, with
//	     a note.

// Target is a column that values are assigned to.
type Target struct {
	Type  Type
	Name  string // of the column, as errors name it
	Table string // of the column, or empty
	// Row counts the rows of the statement from 1 on. Errors and warnings name it.
	Row int
}

// assignTemporal converts to DATE, DATETIME, TIMESTAMP and TIME. The file that knows those sets it.
var assignTemporal func(env *Env, v Value, to *Target) (Value, error)

// Assignable reports whether Assign converts to a type.
func Assignable(t Type) bool {
	switch t.Name {
	case NullType, OtherType:
		return false
	case DateType, DatetimeType, TimestampType, TimeType:
		return assignTemporal != nil
	}
	return true
}

// Assign converts a value to the type of a column. NULL stays NULL: whether the column takes it is the statement's business (1048).
func Assign(env *Env, v Value, to *Target) (Value, error) {
	if v.IsNull() {
		return Null, nil
	}
	switch to.Type.Name {
	case TinyInt, SmallInt, MediumInt, IntType, BigInt:
		return assignInt(env, v, to)
	case DecimalType:
		return assignDecimal(env, v, to)
	case FloatType, DoubleType:
		return assignFloat(env, v, to)
	case YearType:
		return assignYear(env, v, to)
	case BitType:
		return assignBit(env, v, to)
	case Char, Varchar, TextType:
		return assignText(env, v, to)
	case Binary, Varbinary, Blob:
		return assignBytes(env, v, to)
	case EnumType:
		return assignEnum(env, v, to)
	case SetType:
		return assignSet(env, v, to)
	case DateType, DatetimeType, TimestampType, TimeType:
		if assignTemporal != nil {
			return assignTemporal(env, v, to)
		}
	case JSONType:
		return assignDocument(v, to)
	case OtherType:
		if v.Kind() == KindOther {
			return v, nil
		}
	}
	return Null, Errorf(1235, "42000", "This version of Longitude doesn't yet assign this value to column '%s'", to.Name)
}

// ImplicitDefault is what a NOT NULL column without default gets outside strict mode (manual, Data Type Default Values). Dates get the
// packed zero date.
func ImplicitDefault(t Type) Value {
	switch t.Kind() {
	case KindInt:
		return Int(0)
	case KindUint:
		return Uint(0)
	case KindFloat:
		return Float(0)
	case KindDecimal:
		return Decimal(rescale(zeroDecimal, t.Scale))
	case KindText:
		return Text("")
	case KindBytes:
		return Bytes(padded("", t))
	case KindBit:
		return bitValue(0, t.Length)
	case KindDate, KindDatetime, KindTime:
		return Packed(t.Kind(), 0, t.Scale)
	case KindEnum:
		if len(t.Elements) > 0 {
			return Enum(1, t.Elements[0])
		}
		return Enum(0, "")
	case KindSet:
		return Set(0, "")
	case KindJSON:
		return JSON(document.NewNull())
	}
	return Null
}

// outOfRange is 1264: the value lies outside the column's range.
func outOfRange(env *Env, to *Target) error {
	return env.StrictOrWarn(1264, "22003", "Out of range value for column '%s' at row %d", to.Name, to.Row)
}

// truncated is 1265: a part of the value is not stored.
func truncated(env *Env, to *Target) error {
	return env.StrictOrWarn(1265, "01000", "Data truncated for column '%s' at row %d", to.Name, to.Row)
}

// noted is 1265 where MySQL gives a note in strict mode, too.
func noted(env *Env, to *Target) {
	env.remark(1265, "Data truncated for column '%s' at row %d", to.Name, to.Row)
}

// incorrect is 1366: the value is none of the column's kind.
func incorrect(env *Env, kind, value string, to *Target) error {
	return env.StrictOrWarn(1366, "HY000", "Incorrect %s value: '%s' for column '%s' at row %d", kind, value, to.Name, to.Row)
}

// tooLong is 1406 in strict mode, otherwise warning 1265.
func tooLong(env *Env, to *Target) error {
	if env.Strict() {
		return Errorf(1406, "22001", "Data too long for column '%s' at row %d", to.Name, to.Row)
	}
	return truncated(env, to)
}
