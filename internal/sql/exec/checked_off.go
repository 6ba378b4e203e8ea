//go:build !invariants

package exec

import "github.com/longitude-db/longitude/internal/sql/rel"

// checked is the iterator itself: the checks are costly.
func (x *Execution) checked(_ rel.Node, it iterator) iterator { return it }
