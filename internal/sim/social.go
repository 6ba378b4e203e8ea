package sim

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// social is the workload of the demonstration at the level of keys: users like posts and take it back. A like is a row, and
// how many a post has is written in its own row, in another range; both change in one transaction. Whoever reads a post
// with its likes finds as many as it says, whether the likes are read or counted where they are; and a user finds his own as
// he left them.
type social struct {
	ops   []*check.Op
	wrong []check.Anomaly
	users int
}

const posts = 5

// liker is what a client knows of its user: which posts he likes. A post that is not in it is in doubt.
type liker struct {
	user  int
	likes map[int]bool
}

func postKey(post int) kv.Key { return dataKey('s', post%parts, fmt.Sprintf("p%d", post)) }

// likes are in the range after the post's.
func likeKey(post, user int) kv.Key {
	return dataKey('s', (post+1)%parts, fmt.Sprintf("like/%d/%04d", post, user))
}

func likesOf(post int) kv.Span {
	prefix := dataKey('s', (post+1)%parts, fmt.Sprintf("like/%d/", post))
	return kv.Span{Start: prefix, End: keys.PrefixEnd(prefix)}
}

func (s *social) Splits() []kv.Key { return splits('s') }

func (s *social) Setup(*Client) error { return nil }

func (s *social) Step(c *Client) {
	switch post := c.Rand.IntN(posts); c.Rand.IntN(6) {
	case 0:
		_ = s.view(c, post)
	case 1:
		_ = s.viewAll(c)
	default:
		s.like(c, post)
	}
}

func (s *social) begin(c *Client, what func() string) *check.Op {
	op := &check.Op{}
	c.begin(op, func() string {
		s.ops = append(s.ops, op)
		return what()
	})
	return op
}

func (s *social) like(c *Client, post int) {
	var me *liker
	op := s.begin(c, func() string {
		var ok bool
		if me, ok = c.state.(*liker); !ok {
			me = &liker{user: s.users, likes: map[int]bool{}}
			for p := range posts {
				me.likes[p] = false
			}
			s.users++
			c.state = me
		}
		return fmt.Sprintf("user %d likes s%d, or no more", me.user, post)
	})
	var had bool
	var n, counted int64
	counts := c.Rand.IntN(3) == 0
	err := c.txn(false, func(ctx context.Context, t *txn.Txn) error {
		vs, err := t.GetMany(ctx, []kv.Key{likeKey(post, me.user), postKey(post)})
		if err != nil {
			return err
		}
		had, n = len(vs[0]) > 0, number(vs[1])
		if had {
			t.Delete(likeKey(post, me.user))
			n--
		} else {
			t.Put(likeKey(post, me.user), []byte{'1'})
			n++
		}
		t.Put(postKey(post), digits(n))
		if counted = n; counts { // together with what it has just written
			counted, err = likesCounted(ctx, t, post)
		}
		return err
	})
	c.end(op, err, func() string {
		if err == nil && counted != n {
			s.report(check.WrongTotal, "%s: user %d leaves post %d with %d likes, and counts %d", op, me.user, post, n, counted)
		}
		knew, sure := me.likes[post]
		delete(me.likes, post)
		if err == nil {
			if sure && knew != had {
				s.report(check.LostWrite, "%s: user %d left his like of post %d as %v and finds %v", op, me.user, post, knew, had)
			}
			me.likes[post] = !had
		} else if op.Outcome == check.Failed && sure {
			me.likes[post] = knew
		}
		return fmt.Sprintf(": had %v, now %d", had, n)
	})
}

// likesCounted has the likes of a post counted where they are.
func likesCounted(ctx context.Context, t *txn.Txn, post int) (n int64, err error) {
	groups, _, err := t.Count(ctx, []txn.Counting{{Spans: []kv.Span{likesOf(post)}}}, nil)
	if err == nil && len(groups[0]) > 0 {
		n = groups[0][0].Count
	}
	return n, err
}

// viewAll reads all posts and the number of likes of each, in one round.
func (s *social) viewAll(c *Client) error {
	op := s.begin(c, func() string { return "view all of s" })
	var says, counted [posts]int64
	err := c.txn(c.Rand.IntN(2) == 0, func(ctx context.Context, t *txn.Txn) error {
		says, counted = [posts]int64{}, [posts]int64{}
		ask := txn.Counting{By: kv.Grouping{Prefix: len(likesOf(0).Start)}}
		var rows []kv.Span
		for p := range posts {
			ask.Spans = append(ask.Spans, likesOf(p))
			rows = append(rows, kv.Point(postKey(p)))
		}
		groups, read, err := t.Count(ctx, []txn.Counting{ask}, rows)
		if err != nil {
			return err
		}
		for p := range posts {
			if len(read[p]) > 0 {
				says[p] = number(read[p][0].Value)
			}
			for _, g := range groups[0] {
				if likesOf(p).Contains(g.Key) {
					counted[p] += g.Count
				}
			}
		}
		return nil
	})
	c.end(op, err, func() string {
		if err == nil && says != counted {
			s.report(check.WrongTotal, "%s: the posts say that they have %d likes, and %d are counted", op, says, counted)
		}
		return fmt.Sprintf(": say %d, counted %d", says, counted)
	})
	return err
}

// view reads a post and its likes, in either order.
func (s *social) view(c *Client, post int) error {
	op := s.begin(c, func() string { return fmt.Sprint("view s", post) })
	first, counts := c.Rand.IntN(2) == 0, c.Rand.IntN(2) == 0
	var says int64
	var rows int
	err := c.txn(c.Rand.IntN(2) == 0, func(ctx context.Context, t *txn.Txn) error {
		for step := range 2 {
			if (step == 0) == first {
				v, err := t.Get(ctx, postKey(post))
				if err != nil {
					return err
				}
				says = number(v)
				continue
			}
			if counts {
				n, err := likesCounted(ctx, t, post)
				if err != nil {
					return err
				}
				rows = int(n)
				continue
			}
			all, err := t.ScanMany(ctx, []kv.Span{likesOf(post)})
			if err != nil {
				return err
			}
			rows = len(all[0])
		}
		return nil
	})
	c.end(op, err, func() string {
		if err == nil && says != int64(rows) {
			s.report(check.WrongTotal, "%s: post %d says that it has %d likes, and there are %d", op, post, says, rows)
		}
		return fmt.Sprintf(": says %d, has %d", says, rows)
	})
	return err
}

func (s *social) report(k check.Kind, format string, args ...any) {
	if len(s.wrong) < 10 {
		s.wrong = append(s.wrong, check.Anomaly{Kind: k, Text: fmt.Sprintf(format, args...)})
	}
}

func (s *social) Final(c *Client) error {
	for p := range posts {
		if err := s.view(c, p); err != nil {
			return err
		}
	}
	return s.viewAll(c)
}

func (s *social) Check() []check.Anomaly { return s.wrong }

func (s *social) Ops() (n map[check.Outcome]int) {
	for _, o := range s.ops {
		n = count(n, o.Outcome)
	}
	return n
}
