package engine

import (
	"strings"

	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// nameShown gives the first column of SHOW TABLES LIKE and SHOW DATABASES LIKE the name that it has in MySQL, with the pattern in it.
// Applications look for it by that name.
func nameShown(fields []*querypb.Field, stmt sqlparser.Statement) {
	s, ok := stmt.(*sqlparser.Show)
	if !ok || len(fields) == 0 {
		return
	}
	filter := s.Filter
	switch strings.ToLower(s.Type) {
	case "tables":
		if s.ShowTablesOpt != nil {
			filter = s.ShowTablesOpt.Filter
		}
	case "databases", "schemas":
	default:
		return
	}
	if filter != nil && filter.Filter == nil {
		fields[0].Name += " (" + filter.Like + ")"
	}
}
