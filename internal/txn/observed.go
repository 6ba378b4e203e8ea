package txn

import (
	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// observed holds, per node, a timestamp no lower than any version that the node's leases had acknowledged when the
// transaction first asked it. What the node acknowledged after that cannot have ended before this transaction began, so it
// need not be observed, and the uncertainty limit on that node comes down to it.
//
// It is never iterated: its order is not the seed's.
type observed map[kv.NodeID]clock.Timestamp

// note takes in what an answer says of the node that gave it. The lowest is kept: each is as true as the others.
func (o observed) note(res *route.Result) {
	var ts clock.Timestamp // zero is an observation too: of a node that has acknowledged nothing yet
	switch {
	case res.Err != nil && res.Err.Code == kv.ErrUncertain:
		ts = res.Err.Observed
	case res.Err == nil && res.Response.Read != nil:
		ts = res.Response.Read.Observed
	default:
		return
	}
	if old, ok := o[res.Node]; !ok || ts.Less(old) {
		o[res.Node] = ts
	}
}
