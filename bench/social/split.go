package social

import (
	"context"
	"fmt"
)

// Split cuts posts, likes and the index of likes each into three ranges and has three different nodes lead them. The
// bounds are those of the thirds that were loaded; later likes grow within them, because each node gives out ids from a
// shard of its own and a third was loaded through each (Load).
func Split(ctx context.Context, o *Options) error {
	db := o.Nodes[0]
	nodes, err := nodeIDs(ctx, db)
	if err != nil {
		return err
	}
	o.Progress("splitting posts, likes and the index of likes in three, led by %d nodes", min(3, len(nodes)))
	for _, part := range []struct{ table, index, column string }{
		{"posts", "PRIMARY", "id"}, {"likes", "PRIMARY", "id"}, {"likes", "post_id", "post_id"},
	} {
		var rows int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+part.table).Scan(&rows); err != nil {
			return err
		}
		for third := range 3 {
			// A range is led by whoever led it before the split, so each part is given its leader, the first too.
			var at string
			q := fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT 1 OFFSET %d", part.column, part.table, part.column, rows*third/3)
			if err := db.QueryRowContext(ctx, q).Scan(&at); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
			if third > 0 || part.index != "PRIMARY" {
				if _, err := db.ExecContext(ctx, "CALL longitude_split(?, ?, ?)", part.table, part.index, at); err != nil {
					return fmt.Errorf("splitting %s (%s) at %s: %w", part.table, part.index, at, err)
				}
			}
			leader := nodes[third%len(nodes)]
			if _, err := db.ExecContext(ctx, "CALL longitude_move_lease(?, ?, ?, ?)", part.table, part.index, at, leader); err != nil {
				return fmt.Errorf("moving the lease of %s (%s) at %s to node %d: %w", part.table, part.index, at, leader, err)
			}
		}
	}
	return nil
}
