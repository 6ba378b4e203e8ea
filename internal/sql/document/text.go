package document

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/longitude-db/longitude/internal/sql/number"
)

// Text is the document as MySQL writes it: a blank behind commas and colons.
func (d *Doc) Text() string { return string(d.Append(nil)) }

// Append appends the text.
func (d *Doc) Append(b []byte) []byte {
	switch d.kind {
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, d.n != 0)
	case Int:
		return strconv.AppendInt(b, int64(d.n), 10)
	case Uint:
		return strconv.AppendUint(b, d.n, 10)
	case Double:
		return append(b, doubleText(d.Float())...)
	case Decimal:
		return append(b, number.Text(d.d)...)
	case String:
		return quote(b, d.s)
	case Array:
		b = append(b, '[')
		for i, e := range d.list {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = e.Append(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range d.members {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(quote(b, m.Name), ": "...)
			b = m.Doc.Append(b)
		}
		return append(b, '}')
	case Opaque:
		return quote(b, d.opaqueText())
	}
	return append(append(append(b, '"'), temporalText(d)...), '"')
}

func (d *Doc) opaqueText() string {
	return "base64:type" + strconv.FormatUint(d.n, 10) + ":" + base64.StdEncoding.EncodeToString([]byte(d.s))
}

// doubleText shows that it is no whole number by its kind: 1.0.
func doubleText(f float64) string {
	s := number.FormatDouble(f)
	if f == 0 && strconv.FormatFloat(f, 'g', -1, 64) == "-0" && s == "0" {
		s = "-0"
	}
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// Unquoted is the text without the quotation marks around it, if it is a text or what JSON writes as one.
func (d *Doc) Unquoted() string {
	switch d.kind {
	case String:
		return d.s
	case Opaque:
		return d.opaqueText()
	case Date, Datetime, Time:
		return string(temporalText(d))
	}
	return d.Text()
}

// Quote is a text as a JSON string.
func Quote(s string) string { return string(quote(nil, s)) }

func quote(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			const digits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(b, s[from:]...), '"')
}

// Pretty is the text with a line for each element and member.
func (d *Doc) Pretty() string { return string(d.pretty(nil, 0)) }

func (d *Doc) pretty(b []byte, depth int) []byte {
	if d.kind != Array && d.kind != Object || d.Len() == 0 {
		return d.Append(b)
	}
	line := func(depth int) {
		b = append(b, '\n')
		for range depth {
			b = append(b, "  "...)
		}
	}
	open, end := byte('['), byte(']')
	if d.kind == Object {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i := range d.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		line(depth + 1)
		if d.kind == Array {
			b = d.list[i].pretty(b, depth+1)
		} else {
			b = append(quote(b, d.members[i].Name), ": "...)
			b = d.members[i].Doc.pretty(b, depth+1)
		}
	}
	line(depth)
	return append(b, end)
}
