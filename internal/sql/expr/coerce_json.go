package expr

import (
	"github.com/cockroachdb/apd/v3"

	"github.com/longitude-db/longitude/internal/sql/document"
	"github.com/longitude-db/longitude/internal/sql/number"
	"github.com/longitude-db/longitude/internal/sql/temporal"
)

// What a JSON document is as a number, text or time, and which document a value is.

func jsonToText(v Value) (string, error) {
	if v.x == nil {
		return v.s, nil
	}
	d, err := v.Document()
	if err != nil {
		return "", err
	}
	return d.Text(), nil
}

// warnJSON warns of a document that is no number or time.
func warnJSON(env *Env, as string) {
	env.Warning(3156, "Invalid JSON value for CAST to %s from column cast_as_json at row 1", as)
}

// jsonNumber is a document as an exact number; texts are read as such, what is none is 0 with a warning.
func jsonNumber(env *Env, v Value, as string) (*apd.Decimal, error) {
	d, err := v.Document()
	if err != nil {
		return nil, err
	}
	switch d.Kind() {
	case document.Bool, document.Int:
		return apd.New(int64(d.Bits()), 0), nil
	case document.Uint:
		return number.FromUint64(d.Bits()), nil
	case document.Decimal:
		return d.Exact(), nil
	case document.Double:
		return floatToDecimal(env, d.Float()), nil
	case document.String:
		n, scanned := number.ParseDecimal(d.Str())
		if !scanned.Clean() {
			warnJSON(env, as)
		}
		return n, nil
	}
	warnJSON(env, as)
	return new(apd.Decimal), nil
}

func jsonToFloat(env *Env, v Value) (float64, error) {
	d, err := v.Document()
	if err != nil {
		return 0, err
	}
	switch d.Kind() {
	case document.Double:
		return d.Float(), nil
	case document.String:
		f, scanned := number.ParseDouble(d.Str())
		if scanned.Doubtful() {
			warnJSON(env, "DOUBLE")
		}
		return f, nil
	}
	n, err := jsonNumber(env, v, "DOUBLE")
	if err != nil {
		return 0, err
	}
	return number.ToFloat64(n), nil
}

func jsonToInt(env *Env, v Value) (n int64, unsigned bool, err error) {
	d, err := v.Document()
	if err != nil {
		return 0, false, err
	}
	switch d.Kind() {
	case document.Uint:
		return int64(d.Bits()), true, nil
	case document.String:
		i, scanned := number.ParseInteger(d.Str())
		if !scanned.Clean() {
			warnJSON(env, "INTEGER")
		}
		return int64(i.Bits), i.Unsigned, nil
	case document.Double:
		n, err = floatToInt(env, Float(d.Float()))
		return n, false, err
	}
	x, err := jsonNumber(env, v, "INTEGER")
	if err != nil {
		return 0, false, err
	}
	n, unsigned = decimalToInt(env, x)
	return n, unsigned, nil
}

// temporalOf is a document of a date or time as the SQL value.
func temporalOf(d *document.Doc) Value {
	kinds := map[document.Kind]Kind{document.Date: KindDate, document.Datetime: KindDatetime, document.Time: KindTime}
	fsp := 6
	if d.Kind() == document.Date {
		fsp = 0
	}
	return Packed(kinds[d.Kind()], int64(d.Bits()), fsp)
}

// jsonTemporal is what a document is where a date or time is wanted: a date, a time, a text that is one. All others are no value, with a warning.
func jsonTemporal(env *Env, v Value, as string, read func(Value) (temporal.Reading, error)) (temporal.Reading, error) {
	d, err := v.Document()
	if err != nil {
		return temporal.Reading{}, err
	}
	switch d.Kind() {
	case document.Date, document.Datetime, document.Time:
		return read(temporalOf(d))
	case document.String:
		if r, err := read(Text(d.Str())); err != nil || r.OK() && r.Faults == 0 {
			return r, err
		}
	}
	warnJSON(env, as)
	return temporal.Reading{Faults: temporal.Truncated}, nil
}

func compareJSON(env *Env, a, b Value) (int, bool, error) {
	x, err := atom(env, a, Type{})
	if err != nil {
		return 0, false, err
	}
	y, err := atom(env, b, Type{})
	if err != nil {
		return 0, false, err
	}
	return document.Compare(x, y), false, nil
}

// documentOf is the value of an expression as a document: a text is a string, a truth value true or false.
func documentOf(env *Env, n Node) (*document.Doc, error) {
	v, err := n.Eval(env)
	if err != nil {
		return nil, err
	}
	if !v.IsNull() && IsTruth(n) {
		return document.NewBool(v.n != 0), nil
	}
	t := n.Type()
	if _, made := n.(*Call); made && t.Name == Blob && t.Length < 0 { // of which the length is not known
		t.Name = Varbinary
	}
	return atom(env, v, t)
}

// IsTruth reports whether an expression gives a truth value, which is true or false in a document. A column is none, whatever was put into it.
func IsTruth(n Node) bool { return n.Type().Truth }

// Atom is a value of a type as a document: a text is a string.
func Atom(env *Env, v Value, t Type) (*document.Doc, error) { return atom(env, v, t) }

func atom(env *Env, v Value, t Type) (*document.Doc, error) {
	switch v.kind {
	case KindNull:
		return document.NewNull(), nil
	case KindJSON:
		return v.Document()
	case KindInt:
		return document.NewInt(int64(v.n)), nil
	case KindUint:
		return document.NewUint(v.n), nil
	case KindFloat:
		return document.NewDouble(v.RawFloat()), nil
	case KindDecimal:
		return document.NewDecimal(v.Shown()), nil
	case KindDate:
		return document.NewTemporal(document.Date, int64(v.n)), nil
	case KindDatetime:
		return document.NewTemporal(document.Datetime, int64(v.n)), nil
	case KindTime:
		return document.NewTemporal(document.Time, int64(v.n)), nil
	case KindBytes, KindBit:
		kind := document.OpaqueVarbinary
		switch {
		case t.Name == BitType:
			kind = document.OpaqueBit
		case t.Name == Binary:
			kind = document.OpaqueBinary
		case t.Name == Blob:
			kind = document.OpaqueBlob
		}
		return document.NewOpaque(v.s, kind), nil
	}
	s, err := ToText(env, v)
	return document.NewString(s), err
}

// castDocument is CAST(v AS JSON): a text is read, everything else is the document that says it.
func castDocument(env *Env, c *Call, v Value) (Value, error) {
	if IsTruth(c.Args[0]) {
		return JSON(document.NewBool(v.n != 0)), nil
	}
	if v.kind != KindText {
		d, err := atom(env, v, c.ArgType(0))
		return JSON(d), err
	}
	d, err := document.Parse(v.s)
	if err != nil {
		return Null, invalidJSON(err, 1, "cast_as_json")
	}
	return JSON(d), nil
}

// invalidJSON is error 3141, or 3157 if the document is nested too deep.
func invalidJSON(err error, argument int, function string) error {
	e := err.(*document.SyntaxError)
	if e.Deep {
		return Errorf(3157, "22032", "%s", e.Text)
	}
	return Errorf(3141, "22032", "Invalid JSON text in argument %d to function %s: \"%s\" at position %d.", argument, function, e.Text, e.At)
}

// assignDocument is a value for a JSON column: a document, or a text that is one.
// named is the column with its table.
func (t *Target) named() string {
	if t.Table == "" {
		return t.Name
	}
	return t.Table + "." + t.Name
}

func assignDocument(v Value, to *Target) (Value, error) {
	switch v.kind {
	case KindJSON:
		return v, nil
	case KindBytes, KindBit:
		return Null, Errorf(3144, "22032", "Cannot create a JSON value from a string with CHARACTER SET 'binary'.")
	case KindText, KindEnum, KindSet:
		d, err := document.Parse(v.s)
		if err != nil {
			e := err.(*document.SyntaxError)
			if e.Deep {
				return Null, Errorf(3157, "22032", "%s", e.Text)
			}
			return Null, Errorf(3140, "22032", "Invalid JSON text: \"%s\" at position %d in value for column '%s'.", e.Text, e.At, to.named())
		}
		return JSON(d), nil
	}
	return Null, Errorf(3140, "22032", "Invalid JSON text: \"not a JSON text, may need CAST\" at position 0 in value for column '%s'.", to.named())
}
