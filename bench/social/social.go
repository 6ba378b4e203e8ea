// Package social is the social network of the Lund thesis "Utilizing highly synchronized clocks in distributed
// databases" (section 3.4.2, appendix A): posts, likes, and workers that either list all posts by their number of likes or
// like one of them. It shows what clocks do to a database: every list reads two tables and an index whole, on three
// nodes, while likes keep arriving, so nearly every list meets versions near its own timestamp.
//
//	S1  A list that starts after a like was acknowledged counts it (recency; rule 1 and rule 2).
//	S2  No list counts a like that nobody had sent when the list was complete.
//	S3  At the end the table holds each acknowledged like once, no refused one, and of those whose fate the client could
//	    not learn at most each one once; the index counts the same per post.
//
// S1 and S2 are checked on every list, S3 at the end of the run; Result.Verified is all of them. HAZARD: S1 leans on the
// clocks; with a bound that is broken it is the check that fails.
package social

import (
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Options of a run. Check says which values are allowed; only Progress and Stats have defaults.
type Options struct {
	Regime       string        // what the result is called
	Nodes        []*sql.DB     // one pool for each node, on the database that holds (or gets) the tables
	Workers      int           // clients, spread evenly over the nodes, each with a connection of its own
	ReadFraction float64       // how often an operation is a list and not a like; 0.95 in the thesis, and 0.5
	Duration     time.Duration // of the measurement
	WarmUp       time.Duration // before it, not counted; filling caches is not what is measured
	Posts, Likes int           // rows to load; 100 and 1,000 in the thesis
	Seed         uint64        // of the choices that workers make
	Drop         bool          // drop the tables if they exist, instead of refusing to touch them
	// Stats adds up what all nodes counted since they started. Without it the result lacks restarts and commit wait.
	Stats func() (Stats, error)
	// Progress is told what happens, a line each.
	Progress func(format string, args ...any)
}

// Check completes the options with their defaults and reports all that is wrong with them.
func (o *Options) Check() error {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	err := o.CheckValues()
	if len(o.Nodes) == 0 {
		err = errors.Join(err, errors.New("no node to send work to"))
	}
	return err
}

// CheckValues is Check for what a command line gives, before there are nodes.
func (o *Options) CheckValues() error {
	var faults []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	bad(o.Workers < 1, "workers is %d, wanted: 1 or more", o.Workers)
	bad(!(o.ReadFraction >= 0 && o.ReadFraction <= 1), "read fraction is %g, wanted: 0 to 1", o.ReadFraction)
	bad(o.Duration <= 0, "duration is %s, wanted: more than 0", o.Duration)
	bad(o.WarmUp < 0, "warm-up is %s, wanted: 0 or more", o.WarmUp)
	bad(o.Posts < 3, "posts is %d, wanted: 3 or more, to be split in three", o.Posts)
	bad(o.Likes < o.Posts, "likes is %d, wanted: one or more for each of the %d posts, because COUNT(*) of a post without likes is 1", o.Likes, o.Posts)
	return errors.Join(faults...)
}

// Stats is what nodes count about transactions, summed over nodes.
type Stats struct {
	Refreshed, Retried uint64        // uncertainty restarts: avoided by a refresh, or started over
	Commits            uint64        // read-only ones included: they wait too, for what they read
	WaitNeeded         time.Duration // commit wait, had nothing else been going on meanwhile
	WaitActual         time.Duration // commit wait that somebody stood still for
}

// sub is what was counted from o to s.
func (s Stats) sub(o Stats) Stats {
	return Stats{s.Refreshed - o.Refreshed, s.Retried - o.Retried, s.Commits - o.Commits, s.WaitNeeded - o.WaitNeeded, s.WaitActual - o.WaitActual}
}

// The statements of the thesis.
const (
	createPosts = `CREATE TABLE posts(id INTEGER PRIMARY KEY, title TEXT)`
	createLikes = `CREATE TABLE likes(id SERIAL PRIMARY KEY, post_id INTEGER, FOREIGN KEY (post_id) REFERENCES posts (id), INDEX (post_id))`
	listPosts   = `SELECT posts.id, posts.title, COUNT(*) FROM posts LEFT JOIN likes ON posts.id = likes.post_id GROUP BY posts.id ORDER BY COUNT(*) DESC`
	likePost    = `INSERT INTO likes(post_id) VALUES (?)`
)
