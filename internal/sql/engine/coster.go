package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/memo"
)

// coster prefers joins that read each table in one round: a lookup join asks for the rows of its right side again and
// again, over the network, however few there are. Lookups are batched (lookupJoin), so they cost a round for each batch.
type coster struct{ memo.Coster }

func newCoster() memo.Coster { return coster{memo.NewDefaultCoster()} }

// perLookup is what a lookup costs more than reading a row in order.
const perLookup = 8

// EstimateCost implements memo.Coster.
func (c coster) EstimateCost(ctx *sql.Context, n memo.RelExpr, s sql.StatsProvider) (float64, error) {
	cost, err := c.Coster.EstimateCost(ctx, n, s)
	if j, ok := n.(*memo.LookupJoin); ok && err == nil {
		cost += perLookup * float64(j.JoinPrivate().Left.RelProps.GetStats().RowCount())
	}
	return cost, err
}
