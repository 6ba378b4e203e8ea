package engine

import (
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/vt/proto/query"
)

// mendTimes writes the dates and times among the parameters of a prepared statement as they were sent. vitess writes them as texts
// (parseStmtArgs in go/mysql/query.go) and the microseconds without leading zeros: 5000 of them became ".5000", half a second. Only
// what came as a date or a time has the type VARCHAR there; texts are VARBINARY.
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
		if whole, fraction, ok := strings.Cut(text, "."); ok {
			if micros, err := strconv.Atoi(fraction); err == nil && len(fraction) < 6 {
				p.Value = []byte(whole + "." + strconv.Itoa(1_000_000 + micros)[1:])
			}
		}
	}
}
