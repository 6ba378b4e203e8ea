package engine

import "strings"

// maxDigest bounds the text that stands for a kind of statement.
const maxDigest = 1024

// digest is what statements that differ only in their constants, comments and spaces have in common: `SELECT a FROM t WHERE
// id = 5` and `select  a from t where id = 7` are not the same (case of keywords is kept), but with ids 5 and 7 they are. A
// list of constants in parentheses, and a list of such lists, counts as one.
func digest(query string) string {
	d := digester{in: query}
	for d.at < len(d.in) && d.out.Len() < maxDigest {
		d.token()
	}
	return strings.TrimRight(d.out.String(), " ;")
}

type digester struct {
	in    string
	at    int
	out   strings.Builder
	space bool // a space is due before the next token
}

func (d *digester) token() {
	c := d.in[d.at]
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		d.at++
		d.space = true
	case c == '#' || strings.HasPrefix(d.in[d.at:], "-- "):
		d.skipTo("\n")
	case strings.HasPrefix(d.in[d.at:], "/*"):
		d.skipTo("*/")
	case c == '\'' || c == '"':
		d.quoted(c)
		d.constant()
	case c == '`':
		from := d.at
		d.quoted(c)
		d.write(d.in[from:d.at])
	case c >= '0' && c <= '9':
		d.number()
		d.constant()
	case letter(c):
		from := d.at
		for d.at < len(d.in) && (letter(d.in[d.at]) || d.in[d.at] >= '0' && d.in[d.at] <= '9') {
			d.at++
		}
		if w := d.in[from:d.at]; len(w) == 1 && strings.ContainsAny(w, "xXbBnN") && d.at < len(d.in) && d.in[d.at] == '\'' {
			d.quoted('\'') // x'1f', b'01', n'text'
			d.constant()
		} else {
			d.write(w)
		}
	default:
		d.at++
		d.write(string(c))
		if c == ')' {
			d.fold()
		}
	}
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '@' || c >= 0x80
}

func (d *digester) skipTo(end string) {
	if i := strings.Index(d.in[d.at:], end); i >= 0 {
		d.at += i + len(end)
	} else {
		d.at = len(d.in)
	}
	d.space = true
}

// quoted passes over a text or a quoted name. Without an end it goes on to the end of the query.
func (d *digester) quoted(q byte) {
	for d.at++; d.at < len(d.in); d.at++ {
		switch {
		case d.in[d.at] == '\\' && q != '`':
			d.at++
		case d.in[d.at] == q && d.at+1 < len(d.in) && d.in[d.at+1] == q:
			d.at++
		case d.in[d.at] == q:
			d.at++
			return
		}
	}
	d.at = len(d.in)
}

// number passes over 12, 1.5, 1e-3, 0x1f.
func (d *digester) number() {
	for d.at < len(d.in) {
		c := d.in[d.at]
		sign := (c == '-' || c == '+') && (d.in[d.at-1] == 'e' || d.in[d.at-1] == 'E')
		if !sign && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return
		}
		d.at++
	}
}

func (d *digester) write(s string) {
	if d.space && d.out.Len() > 0 {
		d.out.WriteByte(' ')
	}
	d.space = false
	d.out.WriteString(s)
}

// constant writes a constant, unless the list that it stands in has one already.
func (d *digester) constant() {
	if s := d.out.String(); strings.HasSuffix(s, "?,") {
		d.cut(len(s) - 1)
		d.out.WriteString("...")
		d.space = false
		return
	} else if strings.HasSuffix(s, "?...,") {
		d.cut(len(s) - 1)
		d.space = false
		return
	}
	d.write("?")
}

// fold joins a list of constants with the one before it, as in VALUES (1, 2), (3, 4).
func (d *digester) fold() {
	for _, list := range []string{"(?)", "(?...)"} {
		s := d.out.String()
		for _, sep := range []string{",", ", "} {
			if strings.HasSuffix(s, list+sep+list) {
				d.cut(len(s) - len(sep) - len(list))
			} else if strings.HasSuffix(s, list+" ..."+sep+list) {
				d.cut(len(s) - len(sep) - len(list))
				return
			} else {
				continue
			}
			d.out.WriteString(" ...")
			return
		}
	}
}

func (d *digester) cut(n int) {
	s := d.out.String()[:n]
	d.out.Reset()
	d.out.WriteString(s)
}
