package expr

import "github.com/cockroachdb/apd/v3"

// JSON documents are the host's: a host that has them sets these functions once, before anything is evaluated.
var (
	// JSONText is a document as text; JSONNumber its number, false if it is none; JSONCompare orders a document and another
	// value, and JSONFrom makes a document of a value.
	JSONText    func(doc any) (string, error)
	JSONNumber  func(doc any) (*apd.Decimal, bool)
	JSONCompare func(env *Env, a, b Value) (order int, err error)
)

func jsonToText(_ *Env, v Value) (string, error) {
	if JSONText == nil {
		return "", Errorf(1235, "42000", "JSON is not supported here")
	}
	return JSONText(v.x)
}

func jsonToDecimal(env *Env, v Value) (*apd.Decimal, error) {
	if JSONNumber == nil {
		return nil, Errorf(1235, "42000", "JSON is not supported here")
	}
	d, ok := JSONNumber(v.x)
	if !ok {
		env.Warning(3156, "Invalid JSON value for CAST to DECIMAL from column json at row 1")
		return new(apd.Decimal), nil
	}
	return d, nil
}

func jsonToFloat(env *Env, v Value) (float64, error) {
	d, err := jsonToDecimal(env, v)
	if err != nil {
		return 0, err
	}
	return ToFloat(env, Decimal(d))
}

func compareJSON(env *Env, a, b Value) (int, bool, error) {
	if JSONCompare == nil {
		return 0, false, Errorf(1235, "42000", "JSON is not supported here")
	}
	o, err := JSONCompare(env, a, b)
	return o, false, err
}
