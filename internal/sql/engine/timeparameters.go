package engine

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/proto/query"
)

// mendTimes writes the dates and times among the parameters of a prepared statement as they were sent. vitess writes them as texts
// (parseStmtArgs in go/mysql/query.go) and the microseconds without leading zeros: 5000 of them became ".5000", half a second. Only
// what came as a date or a time has the type VARCHAR there; texts are VARBINARY. Nor has a date there the zeros of its parts: 2024-2-29.
func mendTimes(parameters map[string]*query.BindVariable) {
	for _, p := range parameters {
		if p == nil || p.Type != query.Type_VARCHAR {
			continue
		}
		text := string(p.Value)
		if text == " " { // a DATE or DATETIME of length zero
			p.Value = []byte("0000-00-00 00:00:00")
			continue
		}
		if at := strings.IndexByte(text, '-'); at > 0 {
			text = paddedDate(text)
			p.Value = []byte(text)
		}
		if whole, fraction, ok := strings.Cut(text, "."); ok {
			if micros, err := strconv.Atoi(fraction); err == nil && len(fraction) < 6 {
				p.Value = []byte(whole + "." + strconv.Itoa(1_000_000 + micros)[1:])
			}
		}
	}
}

// paddedDate gives the year four digits and the other parts of a date, with or without a time, two.
func paddedDate(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		width := 2
		if i == 0 {
			width = 4
		} else if text[i-1] == '.' {
			width = 0 // the fraction
		}
		out.WriteString(strings.Repeat("0", max(0, width-(end-i))))
		out.WriteString(text[i:end])
		if end < len(text) {
			out.WriteByte(text[end])
			end++
		}
		i = end
	}
	return out.String()
}
