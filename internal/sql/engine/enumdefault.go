package engine

import (
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/collation"
)

// spellDefault writes the default of an ENUM or a SET as its elements are spelled: they are found under the column's collation, so that
// 'b' is a default of ENUM('a','B') and means 'B'. go-mysql-server compares octets (types/enum.go) and refuses it. The collation of the
// table or the database is not known here: where the column names none, that of new databases decides.
func spellDefault(c *sqlparser.ColumnType) {
	v, ok := c.Default.(*sqlparser.SQLVal)
	if !ok || v.Type != sqlparser.StrVal || len(c.EnumValues) == 0 {
		return
	}
	name := c.Collate
	if name == "" {
		name = "utf8mb4_0900_ai_ci"
	}
	order, err := collation.ByName(name)
	if err != nil {
		return // which is said elsewhere
	}
	find := func(s string) (string, bool) {
		for _, e := range c.EnumValues {
			if order.Compare(e, s) == 0 {
				return e, true
			}
		}
		return "", false
	}
	var out []string
	texts := []string{string(v.Val)}
	if strings.EqualFold(c.Type, "set") {
		texts = strings.Split(string(v.Val), ",")
	}
	for _, s := range texts {
		e, ok := find(s)
		if !ok {
			return
		}
		out = append(out, e)
	}
	v.Val = []byte(strings.Join(out, ","))
}
