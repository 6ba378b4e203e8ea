package social

import (
	"context"
	"fmt"
)

// verify checks S3 through every node and completes the result with it.
func verify(ctx context.Context, o *Options, led *ledger, res *Result) error {
	atLeast := int64(o.Likes) + led.acked.Load()
	atMost := int64(o.Likes) + led.issued.Load() - led.refused.Load()
	res.Likes, res.LikesUncertain = led.acked.Load(), atMost-atLeast
	for i, db := range o.Nodes {
		sum, err := countLikes(ctx, db)
		if err != nil {
			return err
		}
		var rows, first, last int64
		if err := db.QueryRowContext(ctx, `SELECT COUNT(*), MIN(post_id), MAX(post_id) FROM likes`).Scan(&rows, &first, &last); err != nil {
			return err
		}
		if rows < atLeast || rows > atMost {
			res.Violations = append(res.Violations, fmt.Sprintf("S3: node %d of %d holds %d likes, wanted: %d to %d (loaded %d, acknowledged %d, fate unknown %d)",
				i+1, len(o.Nodes), rows, atLeast, atMost, o.Likes, res.Likes, res.LikesUncertain))
		}
		if sum != rows {
			res.Violations = append(res.Violations, fmt.Sprintf("S3: node %d of %d counts %d likes by post, but its table holds %d", i+1, len(o.Nodes), sum, rows))
		}
		if first < 1 || last > int64(o.Posts) {
			res.Violations = append(res.Violations, fmt.Sprintf("S3: likes name posts %d to %d, wanted: 1 to %d", first, last, o.Posts))
		}
	}
	res.Verified = len(res.Violations) == 0
	return nil
}
