// Package social is the social network of the Lund thesis "Utilizing highly synchronized clocks in distributed
// databases" (section 3.4.2, appendix A): posts, likes, and clients that either list all posts by their number of likes or
// like one of them. It shows what clocks do to a database: every list reads two tables and an index whole, on three
// nodes, while likes keep arriving, so nearly every list meets versions near its own timestamp.
//
//	S1  A list that starts after a like was acknowledged counts it (recency; rule 1 and rule 2).
//	S2  No list counts a like that nobody had sent when the list was complete.
//	S3  At the end the table holds each acknowledged like once, no refused one, and of those whose fate the client could
//	    not learn at most each one once; the index counts the same per post.
//
// S1 and S2 are checked on every list, S3 at the end of the run. HAZARD: S1 leans on the clocks; with a bound that is
// broken it is the check that fails.
package social

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/longitude-db/longitude/bench/harness"
)

// Options of the workload.
type Options struct {
	ReadFraction float64 // how often an operation is a list and not a like; 0.95 in the thesis, and 0.5
	Posts, Likes int     // rows to load; 100 and 1,000 in the thesis. Likes are how much a list has to read
	Hot          float64 // share of new likes that go to the first post; the others are spread evenly
}

// Check reports all that is wrong with the options.
func (o Options) Check() error {
	var faults []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	bad(!(o.ReadFraction >= 0 && o.ReadFraction <= 1), "read fraction is %g, wanted: 0 to 1", o.ReadFraction)
	bad(o.Posts < 3, "posts is %d, wanted: 3 or more, to be split in three", o.Posts)
	bad(o.Likes < o.Posts, "likes is %d, wanted: one or more for each of the %d posts, because COUNT(*) of a post without likes is 1", o.Likes, o.Posts)
	bad(!(o.Hot >= 0 && o.Hot <= 1), "hot is %g, wanted: the share of likes that go to one post, 0 to 1", o.Hot)
	return errors.Join(faults...)
}

// Classes of operations.
const (
	read = iota // a list
	like
)

// Workload is the social network on one target.
type Workload struct {
	o      Options
	ledger harness.Ledger
	wrong  harness.Violations
}

// New makes one.
func New(o Options) (*Workload, error) { return &Workload{o: o}, o.Check() }

// Name implements harness.Workload.
func (w *Workload) Name() string { return "social" }

// Classes implements harness.Workload, with the thesis's words.
func (w *Workload) Classes() []string { return []string{"read", "like"} }

// The statements of the thesis.
const (
	createPosts = `CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT)`
	createLikes = `CREATE TABLE likes(id SERIAL PRIMARY KEY, post_id INTEGER, FOREIGN KEY (post_id) REFERENCES posts (id), INDEX (post_id))`
	listPosts   = `SELECT posts.id, posts.title, COUNT(*) FROM posts LEFT JOIN likes ON posts.id = likes.post_id GROUP BY posts.id ORDER BY COUNT(*) DESC`
	likePost    = `INSERT INTO likes(post_id) VALUES (?)`
)

// Client implements harness.Workload.
func (w *Workload) Client(rnd *rand.Rand) harness.Client { return &client{w, rnd} }

type client struct {
	w   *Workload
	rnd *rand.Rand
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	if c.rnd.Float64() < c.w.o.ReadFraction {
		return harness.Op{Class: read, Do: c.w.list}
	}
	post := 1
	if c.rnd.Float64() >= c.w.o.Hot {
		post = c.rnd.IntN(c.w.o.Posts) + 1
	}
	return harness.Op{Class: like, Do: func(ctx context.Context, conn *harness.Conn) error {
		return c.w.ledger.Do(1, func() error {
			_, err := conn.Exec(ctx, likePost, post)
			return err
		})
	}}
}

// list checks S1 and S2.
func (w *Workload) list(ctx context.Context, conn *harness.Conn) error {
	acked, _ := w.ledger.Bounds()
	atLeast := int64(w.o.Likes) + acked
	rows, err := conn.Query(ctx, listPosts)
	sum, err := sumLikes(rows, err)
	if err != nil {
		return err
	}
	atMost := int64(w.o.Likes) + w.ledger.Issued()
	if sum < atLeast {
		w.wrong.Add("S1: a list counted %d likes, although %d had been acknowledged before it began", sum, atLeast)
	}
	if sum > atMost {
		w.wrong.Add("S2: a list counted %d likes, although no more than %d had ever been sent", sum, atMost)
	}
	return nil
}

// sumLikes adds up the likes of a list. Every post has a like from the beginning (Options.Check), so that the 1 that
// COUNT(*) of an outer join gives for a post without likes does not occur.
func sumLikes(rows *sql.Rows, err error) (sum int64, _ error) {
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, n int64
		var title sql.RawBytes
		if err := rows.Scan(&id, &title, &n); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, rows.Err()
}
