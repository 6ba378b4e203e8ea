package social

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/bench/harness"
)

// Verify implements harness.Workload: what was found while running, and S3 through every node.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	found := w.wrong.List()
	bad := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	acked, most := w.ledger.Bounds()
	atLeast, atMost := int64(w.o.Likes)+acked, int64(w.o.Likes)+most
	for i, db := range t.Nodes {
		rows, err := db.QueryContext(ctx, listPosts)
		sum, err := sumLikes(rows, err)
		if err != nil {
			return nil, err
		}
		var n, first, last int64
		if err := db.QueryRowContext(ctx, `SELECT COUNT(*), MIN(post_id), MAX(post_id) FROM likes`).Scan(&n, &first, &last); err != nil {
			return nil, err
		}
		if n < atLeast || n > atMost {
			bad("S3: node %d of %d holds %d likes, wanted: %d to %d (loaded %d, acknowledged %d, fate unknown %d)",
				i+1, len(t.Nodes), n, atLeast, atMost, w.o.Likes, acked, atMost-atLeast)
		}
		if sum != n {
			bad("S3: node %d of %d counts %d likes by post, but its table holds %d", i+1, len(t.Nodes), sum, n)
		}
		if first < 1 || last > int64(w.o.Posts) {
			bad("S3: likes name posts %d to %d, wanted: 1 to %d", first, last, w.o.Posts)
		}
	}
	return found, nil
}
