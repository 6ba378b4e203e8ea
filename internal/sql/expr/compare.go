package expr

import (
	"bytes"
	"slices"
)

// class is how values are compared with each other. MySQL chooses it from the types, not from the values (manual, Type
// Conversion in Expression Evaluation).
type class uint8

const (
	asText class = iota
	asBytes
	asInt
	asDecimal
	asFloat
	asDatetime
	asTime
	asJSON
	asBits // as integers of 64 bits, whatever their signs: where MySQL looks for one of several values
)

// compareFn compares two values that are not NULL. unknown: the comparison gives NULL, because one of them cannot be brought
// to what they are compared as.
type compareFn func(env *Env, a, b Value) (order int, unknown bool, err error)

// comparison is how expressions are compared with each other.
type comparison struct {
	class     class
	collation uint16
}

// asTexts are the operations that compare documents by their texts, not as documents.
var asTexts = map[string]bool{"between": true, "not between": true, "greatest": true, "least": true, "case": true, "field": true}

// operands are expressions as they are compared: truth values among documents are true and false, binary strings among texts are texts.
func operands(class class, nodes ...Node) []Node {
	if class == asText {
		out := slices.Clone(nodes)
		for i, n := range out {
			out[i] = inCharacters(DefaultCollation, n)
		}
		return out
	}
	if class != asJSON || !slices.ContainsFunc(nodes, IsTruth) {
		return nodes
	}
	out := slices.Clone(nodes)
	for i, n := range out {
		if IsTruth(n) {
			out[i] = &Call{Name: "cast", Args: []Node{n}, T: TJSON, Fn: strict1(castDocument)}
		}
	}
	return out
}

// compareAs finds how expressions are compared with each other. operation is named by the error that two collations of the
// same rank give (1267).
func compareAs(operation string, nodes ...Node) (comparison, error) {
	var json, date, clock, text, number, float, decimal, integer, year bool
	for _, n := range nodes {
		t := n.Type()
		switch {
		case t.Name == NullType:
		case t.Kind() == KindJSON && asTexts[operation]:
			text = true
		case t.Kind() == KindJSON:
			json = true
		case t.HasDate():
			date = true
		case t.Kind() == KindTime:
			clock = true
		case t.IsString():
			text = true
		case t.Kind() == KindFloat:
			number, float = true, true
		case t.Kind() == KindDecimal:
			number, decimal = true, true
		case t.Name == YearType && isLeaf(n):
			year = true
		default:
			number, integer = true, true
		}
	}
	if year && (!date || number) { // beside dates alone a YEAR column is the first day of the year
		number, integer = true, true
	}
	switch {
	case json:
		return comparison{class: asJSON}, nil
	case date && !number:
		return comparison{class: asDatetime}, nil
	case clock && !date && !number && (!text || timesBesideColumn(nodes)):
		return comparison{class: asTime}, nil
	case float:
		return comparison{class: asFloat}, nil
	case number && text && (date || clock): // in BETWEEN
		return comparison{class: asFloat}, nil
	case number && (date || clock):
		// 20240229 = DATE'2024-02-29': as numbers; exact, because a double would round a datetime with microseconds
		return comparison{class: asDecimal}, nil
	case number && text:
		if !decimal && integer && wholeConstants(nodes) {
			return comparison{class: asDecimal}, nil // MySQL makes the constant a BIGINT: no digit is lost
		}
		return comparison{class: asFloat}, nil
	case decimal:
		return comparison{class: asDecimal}, nil
	case integer:
		return comparison{class: asInt}, nil
	}
	var types []Type
	for _, n := range nodes {
		if t := n.Type(); t.Name != NullType {
			types = append(types, t)
		}
	}
	how := together
	if operation == rowsIn || operation == "greatest" || operation == "least" { // of texts that do not go together the characters decide
		how = func(operation string, ts ...Type) (uint16, error) {
			coll, _, err := aggregate(operation, ts...)
			return coll, err
		}
	}
	coll, err := how(operation, types...)
	if err != nil {
		return comparison{}, err
	}
	if coll == BinaryCollation {
		return comparison{class: asBytes, collation: coll}, nil
	}
	return comparison{class: asText, collation: coll}, nil
}

// wholeConstants reports whether all texts among the expressions are literals that are whole numbers.
func wholeConstants(nodes []Node) bool {
	for _, n := range nodes {
		if k := n.Type().Kind(); k != KindJSON && !n.Type().IsString() {
			continue
		}
		l, ok := n.(*Lit)
		if !ok || !isWhole(l.V.s) {
			return false
		}
	}
	return true
}

func isWhole(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 19
}

// fn is the function that compares.
func (c comparison) fn() compareFn {
	switch c.class {
	case asText:
		collation := c.collation
		return func(env *Env, a, b Value) (int, bool, error) {
			x, y, err := twoTexts(env, a, b)
			if err != nil {
				return 0, false, err
			}
			return compareText(collation, x, y), false, nil
		}
	case asBytes:
		return func(env *Env, a, b Value) (int, bool, error) {
			x, y, err := twoTexts(env, a, b)
			if err != nil {
				return 0, false, err
			}
			return bytes.Compare([]byte(x), []byte(y)), false, nil
		}
	case asInt:
		return compareInts
	case asBits:
		return compareBits
	case asDecimal:
		return func(env *Env, a, b Value) (int, bool, error) {
			x, err := ToDecimal(env, a)
			if err != nil {
				return 0, false, err
			}
			y, err := ToDecimal(env, b)
			if err != nil {
				return 0, false, err
			}
			return x.Cmp(y), false, nil
		}
	case asDatetime, asTime:
		to := ToDatetime
		if c.class == asTime {
			to = ToTime
		}
		return func(env *Env, a, b Value) (int, bool, error) {
			// what is no date or time counts as the zero date, with a warning: the packed value is 0 then
			x, _, err := to(env, a)
			if err != nil {
				return 0, true, err
			}
			y, _, err := to(env, b)
			if err != nil {
				return 0, true, err
			}
			return order(x, y), false, nil
		}
	case asJSON:
		return compareJSON
	}
	return func(env *Env, a, b Value) (int, bool, error) {
		x, err := ToFloat(env, a)
		if err != nil {
			return 0, false, err
		}
		y, err := ToFloat(env, b)
		if err != nil {
			return 0, false, err
		}
		return order(x, y), false, nil
	}
}

func order[T int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func twoTexts(env *Env, a, b Value) (string, string, error) {
	x, err := ToText(env, a)
	if err != nil {
		return "", "", err
	}
	y, err := ToText(env, b)
	return x, y, err
}

// compareInts compares integers by their numbers, whether signed or not.
func compareInts(env *Env, a, b Value) (int, bool, error) {
	x, ux, err := ToInt(env, a)
	if err != nil {
		return 0, false, err
	}
	y, uy, err := ToInt(env, b)
	if err != nil {
		return 0, false, err
	}
	switch {
	case ux && uy:
		return order(uint64(x), uint64(y)), false, nil
	case ux && (x < 0 || y < 0): // x beyond BIGINT, or y negative
		return 1, false, nil
	case uy && (y < 0 || x < 0):
		return -1, false, nil
	}
	return order(x, y), false, nil
}

// compareBits compares integers by their bits: 18446744073709551615 and -1 are equal.
func compareBits(env *Env, a, b Value) (int, bool, error) {
	x, _, err := ToInt(env, a)
	if err != nil {
		return 0, false, err
	}
	y, _, err := ToInt(env, b)
	return order(x, y), false, err
}
