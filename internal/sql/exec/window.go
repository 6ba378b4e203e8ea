package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// newWindow executes window functions.
func newWindow(*Execution, *rel.Window, iterator) (iterator, error) {
	return nil, expr.Errorf(1235, "42000", "This version of Longitude doesn't yet execute window functions here")
}
