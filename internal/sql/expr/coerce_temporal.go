package expr

import "github.com/cockroachdb/apd/v3"

// ToDatetime is a value, not NULL, as a packed datetime; !ok: it is none, and the result is NULL (with a warning).
func ToDatetime(_ *Env, v Value) (packed int64, ok bool, err error) {
	if v.kind == KindDatetime || v.kind == KindDate {
		return int64(v.n), true, nil
	}
	return 0, false, Errorf(1235, "42000", "This version of Longitude doesn't yet convert this value to a DATETIME")
}

// ToTime is a value, not NULL, as a packed TIME; !ok: it is none, and the result is NULL (with a warning).
func ToTime(_ *Env, v Value) (packed int64, ok bool, err error) {
	if v.kind == KindTime {
		return int64(v.n), true, nil
	}
	return 0, false, Errorf(1235, "42000", "This version of Longitude doesn't yet convert this value to a TIME")
}

func temporalToDecimal(v Value) *apd.Decimal { return apd.New(int64(v.n), 0) }

func temporalToText(Value) string { return "" }

// checkTemporalConstants refuses constants that are compared with dates or times and are none (1525).
func checkTemporalConstants(class, ...Node) error { return nil }
