package expr

// Name is the name of an SQL type.
type Name uint8

const (
	NullType Name = iota
	TinyInt
	SmallInt
	MediumInt
	IntType
	BigInt
	DecimalType
	FloatType
	DoubleType
	YearType
	BitType
	DateType
	DatetimeType
	TimestampType
	TimeType
	Char
	Varchar
	TextType // TINYTEXT to LONGTEXT: Length says which
	Binary
	Varbinary
	Blob // TINYBLOB to LONGBLOB: Length says which
	EnumType
	SetType
	JSONType
	OtherType // geometry, vector
)

// NotFixed is the scale of floating point numbers that are not declared with one.
const NotFixed = 31

// Collation ids that the evaluator itself names; the others come from package collation.
const (
	BinaryCollation  = 63  // binary
	DefaultCollation = 255 // utf8mb4_0900_ai_ci
)

// Coercibility says how firmly a text has its collation; the lower wins (manual, Collation Coercibility in Expressions).
type Coercibility uint8

const (
	Explicit  Coercibility = 0 // COLLATE
	Implicit  Coercibility = 2 // a column, a parameter or variable of a procedure
	SysConst  Coercibility = 3 // USER(), VERSION()
	Coercible Coercibility = 4 // a literal
	Numeric   Coercibility = 5 // a number or date made to text
	Ignorable Coercibility = 6 // NULL
	NoneCoerc Coercibility = 7 // a concatenation of texts with different collations
)

// Type is the type of an expression or of a column.
type Type struct {
	Name      Name
	Unsigned  bool
	Zerofill  bool
	Collation uint16 // text, ENUM, SET: MySQL's collation id; BinaryCollation for binary strings, numbers and dates
	Coerc     Coercibility
	// Length is the most characters of a text, bytes of a binary string, digits of a decimal, bits of a BIT; of
	// integers and dates how wide they are shown. -1: not known.
	Length int
	// Scale is the digits after the point of a decimal or of the seconds; NotFixed for floats without.
	Scale    int
	Elements []string // ENUM, SET
	// Truth is true for what comparisons and logic give: as JSON it is true or false, not 1 or 0.
	Truth bool
}

// Kind is how values of the type are held.
func (t Type) Kind() Kind {
	switch t.Name {
	case TinyInt, SmallInt, MediumInt, IntType, BigInt:
		if t.Unsigned {
			return KindUint
		}
		return KindInt
	case YearType:
		return KindUint
	case DecimalType:
		return KindDecimal
	case FloatType, DoubleType:
		return KindFloat
	case BitType:
		return KindBit
	case DateType:
		return KindDate
	case DatetimeType, TimestampType:
		return KindDatetime
	case TimeType:
		return KindTime
	case Char, Varchar, TextType:
		return KindText
	case Binary, Varbinary, Blob:
		return KindBytes
	case EnumType:
		return KindEnum
	case SetType:
		return KindSet
	case JSONType:
		return KindJSON
	case OtherType:
		return KindOther
	}
	return KindNull
}

// IsInteger reports whether the type holds whole numbers (YEAR and BIT too, as MySQL has it).
func (t Type) IsInteger() bool {
	k := t.Kind()
	return k == KindInt || k == KindUint || k == KindBit
}

// IsNumber reports whether the type is numeric.
func (t Type) IsNumber() bool {
	return t.IsInteger() || t.Name == DecimalType || t.Name == FloatType || t.Name == DoubleType
}

// IsString reports whether values are texts or binary strings in comparisons with each other: also ENUM and SET.
func (t Type) IsString() bool {
	switch t.Kind() {
	case KindText, KindBytes, KindEnum, KindSet:
		return true
	}
	return false
}

// IsTemporal reports whether the type is a date or a time.
func (t Type) IsTemporal() bool {
	switch t.Kind() {
	case KindDate, KindDatetime, KindTime:
		return true
	}
	return false
}

// HasDate reports whether the type is DATE, DATETIME or TIMESTAMP.
func (t Type) HasDate() bool { return t.Kind() == KindDate || t.Kind() == KindDatetime }

// Digits is the precision that the type has as a decimal: of numbers what they can hold, of the others a guess as MySQL's.
func (t Type) Digits() (precision, scale int) {
	switch t.Name {
	case TinyInt:
		return 3, 0
	case SmallInt:
		return 5, 0
	case MediumInt:
		return 8, 0
	case IntType:
		return 10, 0
	case BigInt, BitType:
		if t.Name == BigInt && t.Length > 0 { // an expression is as wide as it is shown, with its sign
			if t.Unsigned {
				return t.Length, 0
			}
			return max(t.Length-1, 1), 0
		}
		if t.Unsigned || t.Name == BitType {
			return 20, 0
		}
		return 19, 0
	case YearType:
		return 4, 0
	case DecimalType:
		return t.Length, t.Scale
	case DateType:
		return 8, 0
	case TimeType:
		return 7 + t.Scale, t.Scale
	case DatetimeType, TimestampType:
		return 14 + t.Scale, t.Scale
	}
	return 65, 30
}

// Types that operators and functions give.
var (
	TBool     = Type{Name: BigInt, Length: 1, Collation: BinaryCollation, Coerc: Numeric, Truth: true}
	TInt      = Type{Name: BigInt, Length: 20, Collation: BinaryCollation, Coerc: Numeric}
	TUint     = Type{Name: BigInt, Unsigned: true, Length: 20, Collation: BinaryCollation, Coerc: Numeric}
	TFloat    = Type{Name: DoubleType, Length: 23, Scale: NotFixed, Collation: BinaryCollation, Coerc: Numeric}
	TNull     = Type{Name: NullType, Collation: BinaryCollation, Coerc: Ignorable}
	TDate     = Type{Name: DateType, Length: 10, Collation: BinaryCollation, Coerc: Numeric}
	TJSON     = Type{Name: JSONType, Length: -1, Collation: 46, Coerc: Implicit} // utf8mb4_bin
	TLongBlob = Type{Name: Blob, Length: 1<<32 - 1, Collation: BinaryCollation, Coerc: Implicit}
)

// TDecimal is a decimal type; precision and scale beyond the limits are cut as MySQL does.
func TDecimal(precision, scale int) Type {
	scale = min(max(scale, 0), 30)
	return Type{Name: DecimalType, Length: min(max(precision, scale, 1), 65), Scale: scale, Collation: BinaryCollation, Coerc: Numeric}
}

// TDatetime is DATETIME(fsp).
func TDatetime(fsp int) Type {
	return Type{Name: DatetimeType, Length: 19, Scale: fsp, Collation: BinaryCollation, Coerc: Numeric}
}

// TTime is TIME(fsp).
func TTime(fsp int) Type {
	return Type{Name: TimeType, Length: 10, Scale: fsp, Collation: BinaryCollation, Coerc: Numeric}
}

// TText is a text of at most length characters (-1: not known) under a collation.
func TText(length int, collation uint16, c Coercibility) Type {
	name := Varchar
	if length < 0 || length > 16383 {
		name = TextType
	}
	return Type{Name: name, Length: length, Collation: collation, Coerc: c}
}

// TBytes is a binary string of at most length bytes (-1: not known), as a function gives it.
func TBytes(length int) Type {
	name := Varbinary
	if length < 0 || length > 65535 {
		name = Blob
	}
	return Type{Name: name, Length: length, Collation: BinaryCollation, Coerc: Coercible}
}
