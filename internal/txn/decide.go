package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
)

// maxPushes is how often one commit may be told to land higher before the attempt is given up. Each time something
// overtook it; a transaction that is overtaken for ever should start again at a later timestamp.
const maxPushes = 16

// firstAhead is how far above the present a commit that was overtaken makes its reads hold, so that it may land anywhere
// below; it doubles each time, up to lastAhead. Without it a transaction that many look at might never catch up with
// them. More: fewer rounds; but others' writes to what it has read land as much higher.
const (
	firstAhead = 4 * time.Millisecond
	lastAhead  = 64 * time.Millisecond
)

// decide is for a commit whose intents are laid, but not all where they were wanted, or whose record is not staged. What was
// read is refreshed to c, the highest place where one landed, and the ranges of the others hear of c; then the record decides.
func (n *intents) decide(ctx context.Context) error {
	t := n.t
	for push := 0; ; push++ {
		began := t.db.o.RT.Now()
		if err := n.hold(ctx, push); err != nil {
			return err
		}
		until := n.until
		if limit, err := t.allowed(ctx, n.c); err != nil {
			return err
		} else if !limit.IsZero() && limit.Less(until) {
			until = limit
		}
		commit := n.record(&kv.EndTxnRequest{Commit: true, CommitTS: n.c, Until: until})
		n.unsure = true
		res := &t.db.o.Router.DoMany(ctx, []route.Addressed{commit})[0]
		switch {
		case res.Err != nil && res.Err.Code == kv.ErrRetryAt && push < maxPushes:
			if !n.c.Less(res.Err.TS) {
				return kv.Errorf(kv.ErrInternal, "transaction %s was told to commit at %s instead of %s", t.id, res.Err.TS, n.c)
			}
			n.c = res.Err.TS                 // a reader has passed it
			n.took = t.db.o.RT.Now() - began // it has to be further ahead than this takes
			t.db.m.Overtaken.Inc()
			continue
		case res.Err != nil:
			if res.Err.Code == kv.ErrAborted {
				n.unsure = false // the record has said so
			}
			return t.failed(res.Err)
		}
		st := res.Response.EndTxn
		if st != nil && st.State == kv.Committed && st.CommitTS == n.s {
			// Others have found it committed where it was staged: what seemed to have landed higher was a copy of a write
			// that came after its intent was resolved. There is nobody to tell, since all had landed at s.
			n.c = n.s
			return nil
		}
		if st == nil || st.State != kv.Committed || st.CommitTS.Less(n.c) || until.Less(st.CommitTS) {
			return kv.Errorf(kv.ErrInternal, "transaction %s asked for a commit from %s to %s and its record says %v", t.id, n.c, until, st)
		}
		n.c = st.CommitTS
		n.heard(n.c)
		return nil
	}
}

// hold makes what was read hold at c (X3), and tells of it the ranges that have not heard of it (X5); beyond that, if the
// commit has been overtaken before, up to a while from now.
func (n *intents) hold(ctx context.Context, overtaken int) error {
	t := n.t
	to := n.c
	if overtaken > 0 {
		now, err := t.db.reading()
		if err != nil {
			return err
		}
		to = to.Forward(clock.Timestamp{Wall: int64(now.Latest.Add(refreshAhead(overtaken, n.took)))})
	}
	err := n.firm(ctx, to)
	var e *kv.Error
	if errors.As(err, &e) && e.Code == kv.ErrRefresh && n.c.Less(e.TS) && n.c.Less(to) {
		to = n.c // it was the extra part that does not hold
		err = n.firm(ctx, to)
	}
	if err != nil {
		return t.failedFirm(err)
	}
	n.until = n.until.Forward(to)
	if n.until.Less(n.c) {
		panic(fmt.Sprintf("txn: X3: to commit at %s with reads that hold up to %s", n.c, n.until))
	}
	n.heard(n.until)
	return nil
}

func (n *intents) firm(ctx context.Context, to clock.Timestamp) error {
	told, err := n.t.firm(ctx, n.until, to, n.words(to))
	if told {
		n.told = n.told.Forward(to)
	}
	return err
}

// failedFirm is what failed makes of an error of firm.
func (t *Txn) failedFirm(err error) error {
	if e, ok := err.(*kv.Error); ok {
		return t.failed(e)
	}
	return err
}

// words are where ranges have to hear of a commit as high as c: those whose intents have landed below. Such a range has not heard of
// a write at c; if it led a later transaction to believe that nothing on its node is as new as c, that one could lower its
// limit below c and miss a commit that was known before it began (X5). It is told before the record says so, because from
// then on anybody may read the commit and tell of it. The ordering of this transaction does not matter, only the readers'. The word goes by spans, since a range may have been split meanwhile, and its halves may be led by two nodes.
// Where the record is, at the anchor, the request that makes it say so is the word.
func (n *intents) words(c clock.Timestamp) (spans []kv.Span) {
	if c.LessEq(n.told) {
		return nil
	}
	if n.spilled && !n.t.db.o.Unsafe.TellNobody {
		spans = append(spans, n.spans...)
	}
	for i := range n.laid {
		if w := n.laid[i].Response.Write; w.CommitTS.Less(c) {
			puts := n.laid[i].Request.Write.Puts // ascending
			if puts[0].Key.Equal(n.anchor) {
				puts = puts[1:]
			}
			if len(puts) > 0 {
				spans = append(spans, kv.Span{Start: puts[0].Key, End: kv.Point(puts[len(puts)-1].Key).End})
			}
		}
	}
	return spans
}

// heard asserts X5: of where a commit may land before it is asked for, and of where one has landed.
func (n *intents) heard(c clock.Timestamp) {
	if n.told.Less(c) {
		panic(fmt.Sprintf("txn: X5: a commit of transaction %s at %s, and its ranges have heard of %s", n.t.id, c, n.told))
	}
}
