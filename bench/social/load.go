package social

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/bench/harness"
)

// Setup implements harness.Workload. Each post gets the same number of likes, give or take one.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, say harness.Say) error {
	if err := t.Fresh(ctx, "likes", "posts"); err != nil {
		return err
	}
	db := t.Nodes[0]
	for _, q := range []string{createPosts, createLikes} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	say("loading %d posts and %d likes", w.o.Posts, w.o.Likes)
	err := harness.Insert(ctx, db, "INSERT INTO posts(id, title) VALUES ", "(?, ?)", 0, w.o.Posts, func(i int) []any {
		return []any{i + 1, fmt.Sprintf("Post number %d", i+1)}
	})
	if err != nil {
		return err
	}
	// Each node of ours gives out ids of its own, so a third of the likes through each of three nodes makes thirds of the
	// ids that go on growing where they are (split).
	for third := range 3 {
		through := t.Nodes[third%len(t.Nodes)]
		err := harness.Insert(ctx, through, "INSERT INTO likes(post_id) VALUES ", "(?)", w.o.Likes*third/3, w.o.Likes*(third+1)/3, func(i int) []any {
			return []any{i%w.o.Posts + 1}
		})
		if err != nil {
			return err
		}
	}
	if !t.Ours {
		return nil
	}
	return split(ctx, t, say)
}

// split cuts posts, likes and the index of likes each into three ranges and has three different nodes lead them. The
// bounds are those of the thirds that were loaded; later likes grow within them, because each node gives out ids from a
// shard of its own and a third was loaded through each.
func split(ctx context.Context, t *harness.Target, say harness.Say) error {
	db := t.Nodes[0]
	nodes, err := t.NodeIDs(ctx)
	if err != nil {
		return err
	}
	say("splitting posts, likes and the index of likes in three, led by %d nodes", min(3, len(nodes)))
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
