package social

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Load makes the tables and fills them: each post gets the same number of likes, give or take one.
func Load(ctx context.Context, o *Options) error {
	db := o.Nodes[0]
	for _, table := range []string{"likes", "posts"} {
		var n int
		err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?`, table).Scan(&n)
		if err != nil {
			return fmt.Errorf("looking for table %s: %w", table, err)
		}
		if n == 0 {
			continue
		}
		if !o.Drop {
			return fmt.Errorf("table %s exists already; nothing was changed\nhint: name another database in the URL, or allow it to be dropped with --drop", table)
		}
		if _, err := db.ExecContext(ctx, "DROP TABLE "+table); err != nil {
			return fmt.Errorf("dropping table %s: %w", table, err)
		}
	}
	for _, q := range []string{createPosts, createLikes} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	o.Progress("loading %d posts and %d likes", o.Posts, o.Likes)
	err := insert(ctx, db, "INSERT INTO posts(id, title) VALUES ", "(?, ?)", 0, o.Posts, func(i int) []any {
		return []any{i + 1, fmt.Sprintf("Post number %d", i+1)}
	})
	if err != nil {
		return err
	}
	// Each node gives out ids of its own, so a third of the likes through each of three nodes makes thirds of the ids that
	// go on growing where they are (Split).
	for third := range 3 {
		through := o.Nodes[third%len(o.Nodes)]
		err := insert(ctx, through, "INSERT INTO likes(post_id) VALUES ", "(?)", o.Likes*third/3, o.Likes*(third+1)/3, func(i int) []any {
			return []any{i%o.Posts + 1}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// insert writes rows begin to end-1, a hundred with each statement.
func insert(ctx context.Context, db *sql.DB, head, tuple string, begin, end int, row func(i int) []any) error {
	const batch = 100
	for from := begin; from < end; from += batch {
		to := min(from+batch, end)
		var args []any
		for i := from; i < to; i++ {
			args = append(args, row(i)...)
		}
		q := head + tuple + strings.Repeat(", "+tuple, to-from-1)
		if _, err := db.ExecContext(ctx, q, args...); err != nil {
			return fmt.Errorf("%s...: %w", head+tuple, err)
		}
	}
	return nil
}
