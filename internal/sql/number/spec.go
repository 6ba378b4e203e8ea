package number

// Spec is the declared type of a decimal: precision digits of which scale are behind the point.
type Spec struct{ Precision, Scale int }

func spec(precision, scale int) Spec {
	return Spec{max(1, min(precision, MaxPrecision)), min(scale, MaxScale)}
}

// AddSpec is the type of a + b and a - b: the larger integer part and one digit more, and the larger scale.
func AddSpec(a, b Spec) Spec {
	scale := max(a.Scale, b.Scale)
	return spec(max(a.Precision-a.Scale, b.Precision-b.Scale)+1+scale, scale)
}

// MulSpec is the type of a * b.
func MulSpec(a, b Spec) Spec { return spec(a.Precision+b.Precision, a.Scale+b.Scale) }

// DivSpec is the type of a / b, increment being div_precision_increment (4 unless a session says otherwise).
func DivSpec(a, b Spec, increment int) Spec {
	return spec(a.Precision+b.Scale+increment, a.Scale+increment)
}

// ModSpec is the type of a % b.
func ModSpec(a, b Spec) Spec { return spec(max(a.Precision, b.Precision), max(a.Scale, b.Scale)) }

// RoundSpec is the type of ROUND(a, places), and of TRUNCATE(a, places), for a constant number of places. Rounding may carry into a
// further digit.
func RoundSpec(a Spec, places int, truncate bool) Spec {
	scale := min(max(places, 0), MaxScale)
	carry := 1
	if truncate || scale >= a.Scale {
		carry = 0
	}
	return spec(a.Precision-(a.Scale-scale)+carry, scale)
}

// IntSpec is the type of an integer of so many bytes as a decimal.
func IntSpec(bytes int, unsigned bool) Spec {
	digits := map[int]int{1: 3, 2: 5, 3: 7, 4: 10, 8: 19}[bytes]
	if unsigned && (bytes == 3 || bytes == 8) {
		digits++
	}
	return Spec{digits, 0}
}

// SumSpec is the type of SUM over values of type a.
func SumSpec(a Spec) Spec { return spec(a.Precision+22, a.Scale) }

// AvgSpec is the type of AVG over values of type a.
func AvgSpec(a Spec, increment int) Spec { return spec(a.Precision+increment, a.Scale+increment) }

// UnionSpec is the type that holds values of both types, as CASE, COALESCE, GREATEST and UNION need it.
func UnionSpec(a, b Spec) Spec {
	scale := max(a.Scale, b.Scale)
	return spec(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
}
