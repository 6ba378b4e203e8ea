package collation

import (
	"fmt"
	"strings"
)

// Coercibility says how firmly an expression holds on to its collation: lower values win. The numbers are those of MySQL's
// COERCIBILITY().
type Coercibility int

// The values, from the manual's "Collation Coercibility in Expressions".
const (
	Explicit  Coercibility = 0 // COLLATE
	Implicit  Coercibility = 2 // a column, a routine's parameter or variable
	SysConst  Coercibility = 3 // USER(), VERSION()
	Coercible Coercibility = 4 // a literal
	Numeric   Coercibility = 5 // a number or a time
	Ignorable Coercibility = 6 // NULL
	// None is two collations that could not be reconciled. It gives way to every other, as in MySQL 9; the manual of MySQL 8 gives it the
	// number 1.
	None Coercibility = 7
)

func (c Coercibility) String() string {
	return [...]string{"EXPLICIT", "", "IMPLICIT", "SYSCONST", "COERCIBLE", "NUMERIC", "NULL", "NONE"}[c]
}

// Typed is the collation of an expression.
type Typed struct {
	*Collation
	Coercibility Coercibility
	// ASCII says that the expression can have no characters but ASCII ones, whatever its character set: numbers, times, and
	// literals of such characters.
	ASCII bool
}

// IllegalMixError says that the collations of the operands of an operation do not go together (MySQL: 1267 for two, 1270 for
// three, 1271 for more operands).
type IllegalMixError struct {
	Operation string
	Parts     []Typed
}

// Code is MySQL's error number.
func (e *IllegalMixError) Code() int {
	switch len(e.Parts) {
	case 2:
		return 1267
	case 3:
		return 1270
	}
	return 1271
}

func (e *IllegalMixError) Error() string {
	if len(e.Parts) > 3 {
		return fmt.Sprintf("Illegal mix of collations for operation '%s'", e.Operation)
	}
	var parts []string
	for _, p := range e.Parts {
		parts = append(parts, fmt.Sprintf("(%s,%s)", p.Name, p.Coercibility))
	}
	separator := " and "
	if len(parts) == 3 {
		separator = ", "
	}
	return fmt.Sprintf("Illegal mix of collations %s for operation '%s'", strings.Join(parts, separator), e.Operation)
}

// Aggregate finds the collation in which operands meet. If compares is true the operation compares them, so it needs one; else
// (CONCAT, CASE) implicit collations that differ give a result without one, whose coercibility is None.
func Aggregate(operation string, compares bool, operands ...Typed) (Typed, error) {
	if len(operands) == 0 {
		return Typed{}, nil
	}
	out, ok := operands[0], true
	differ := false // two operands did not go together; only COLLATE helps a comparison then
	for _, o := range operands[1:] {
		had := out.Coercibility != None && o.Coercibility != None
		if differ && o.Coercibility == Explicit && out.Coercibility == None {
			out = o
			continue
		}
		if out, ok = meet(out, o); !ok {
			break
		}
		differ = differ || had && out.Coercibility == None
	}
	if !ok || compares && (out.Coercibility == None || differ && out.Coercibility != Explicit) {
		return Typed{}, &IllegalMixError{Operation: operation, Parts: operands}
	}
	return out, nil
}

// meet is the collation of two operands; ok is false if they have none, and two texts could not be put together either.
func meet(a, b Typed) (out Typed, ok bool) {
	out, ok = choose(a, b)
	out.ASCII = a.ASCII && b.ASCII
	return out, ok
}

func choose(a, b Typed) (Typed, bool) {
	if a.Charset != b.Charset {
		switch {
		case a.Charset.Name == "binary" && a.Coercibility <= b.Coercibility:
			return a, true
		case a.Charset.Name == "binary":
			return b, true
		case b.Charset.Name == "binary" && b.Coercibility <= a.Coercibility:
			return b, true
		case b.Charset.Name == "binary":
			return a, true
		case holds(a, b):
			return a, true
		case holds(b, a):
			return b, true
		case a.Coercibility < b.Coercibility && b.Coercibility >= SysConst:
			return a, true
		case b.Coercibility < a.Coercibility && a.Coercibility >= SysConst:
			return b, true
		}
		return Typed{}, false
	}
	switch {
	case a.Collation == b.Collation && a.Coercibility == None:
		return a, true
	case a.Coercibility < b.Coercibility || a.Collation == b.Collation && a.Coercibility == b.Coercibility:
		return a, true
	case b.Coercibility < a.Coercibility:
		return b, true
	case a.Coercibility == Explicit:
		return Typed{}, false
	case a.Binary() && b.Binary():
		return Typed{}, false
	case a.Binary():
		return a, true
	case b.Binary():
		return b, true
	}
	return Typed{Collation: byName[a.Charset.Name+"_bin"], Coercibility: None}, true
}

// holds says whether a's character set has every text that b can be, and a need not give way.
func holds(a, b Typed) bool {
	wider := !b.Charset.Unicode() || a.Charset.MaxLen > b.Charset.MaxLen
	if a.Charset.Unicode() && (a.Coercibility < b.Coercibility || a.Coercibility == b.Coercibility && wider) {
		return true
	}
	return b.ASCII && (a.Coercibility < b.Coercibility || a.Coercibility == b.Coercibility && !a.ASCII)
}
