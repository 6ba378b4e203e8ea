package txn

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
)

// A large transaction does not keep its writes until the commit: when the buffer has grown to DBOptions.SpillBytes it is
// sent, in pieces, as intents, while the transaction goes on and fills it anew. This is a round; one at a time is under way,
// and who would write beyond waits for it. So the coordinator needs memory for two buffers, however much is written.
//
//	Z1  Every write has a number, and what is sent carries it. On a key the write with the highest number counts that was not
//	    taken back: wherever a request or a copy of it arrives late, it changes nothing (package kv, own.go).
//	Z2  No key is in two pieces that are under way at the same time: a later round begins when all of the earlier one has
//	    landed.
//	Z3  The transaction sees its own writes: reads carry its id, the number up to which they see, and what was taken back,
//	    and are laid under what is in the buffer and on its way.
//	Z4  What it has read holds up to the highest place where an intent landed, before its record is staged or committed.
//	Z5  Every range that may hold one of its intents has heard of the commit timestamp before the record is staged or
//	    committed (X5): ranges may have been split, and leases may have moved, since the intent was laid.
//	Z6  A record that decides it says what was taken back. Who makes its intents versions has read that there.
//
//	Z7  Rows leave only after the record has said, since they were read, that the transaction is not aborted. The intents of
//	    one that is may be gone already: it would not see its own writes, and might not know it yet.
//
// The record, which heartbeats keep alive from the first round on, names spans that hold all its intents. Who has aborted it,
// or finds it abandoned, cleans up by these (package replica, resolvespan.go).

const (
	// spillPiece is about how much one command lays, and spillKeys how many keys at most: it holds their latches until it is
	// applied. Larger: fewer commands; others wait longer for one.
	spillPiece = 1 << 20
	spillKeys  = 2048
	// spillParallel is how many commands of one transaction are under way at once.
	spillParallel = 4
	// spillPatience is for how many times DBOptions.Limit a piece is tried: more is lost with a large transaction than with a
	// statement.
	spillPatience = 4
	// maxSpillSpans is how many spans a record names. Beyond that neighbours are joined over what lies between.
	maxSpillSpans = 256
)

// spill is what a transaction knows of the intents that it has laid before its commit.
type spill struct {
	anchor kv.Key // nil: there are none
	round  *round // under way
	// lowest and highest are where intents have landed.
	lowest, highest clock.Timestamp
	keys            int    // that intents have been laid for, or are about to be
	decided         uint64 // writes that had landed when the round began
	spans           readSet
	stop            func() // heartbeats
	checked         int    // Z7: how many answers had been taken when the record was last asked
	ended           bool   // they are somebody else's to clean up
	settled         bool   // why the attempt has failed goes with what it has read
}

// round is a buffer on its way.
type round struct {
	puts []kv.Put
	done rt.Signal
}

// Failure is why the attempt is over, if it has failed on its own: what it writes from now on goes nowhere.
func (t *Txn) Failure() error {
	t.mu.Lock()
	over := t.failure != nil
	t.mu.Unlock()
	if !over {
		return nil
	}
	return t.told(route.WithDeadline(context.Background(), t.db.o.RT.Now()+t.db.o.Limit))
}

// told is why the attempt is over, as it may be told. That a key exists was found by an intent that was laid early, while the
// transaction went on reading; it is told only if it goes with what was read (sameTime), else the attempt is repeated.
func (t *Txn) told(ctx context.Context) error {
	t.mu.Lock()
	failure, settled := t.failure, t.spill.settled
	t.mu.Unlock()
	if e, ok := failure.(*kv.Error); !ok || e.Code != kv.ErrCondition || settled {
		return failure
	}
	err := t.sameTime(ctx, failure)
	t.mu.Lock()
	t.failure, t.spill.settled = err, true
	t.mu.Unlock()
	if e, ok := err.(*kv.Error); ok && Retryable(err) {
		t.db.countRestart(reason(e))
	}
	return err
}

// Spilled reports whether the transaction has laid intents, or is about to.
func (t *Txn) Spilled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.spill.anchor != nil
}

// Decided is up to which write the transaction's writes have become intents: no condition of theirs (Insert) can fail any
// more. Writes are numbered from 1 in the order in which they were made; Writes is the number of the last.
func (t *Txn) Decided() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spill.round != nil || t.state == aborted {
		return t.spill.decided
	}
	return t.writes.sent
}

// Writes is how many writes the transaction has made.
func (t *Txn) Writes() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writes.seq
}

// spillIfFull begins a round if the buffer is full, and waits for the one before if it is still under way.
func (t *Txn) spillIfFull() {
	for {
		t.mu.Lock()
		if t.state != open || t.db.o.SpillBytes < 0 || t.writes.size() < t.db.o.SpillBytes {
			t.mu.Unlock()
			return
		}
		before := t.spill.round
		if before == nil {
			t.beginRound()
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		before.done.Wait(rt.Forever) // it has a limit
	}
}

// beginRound is called with mu held.
func (t *Txn) beginRound() {
	s := &t.spill
	s.decided = t.writes.sent
	marks := t.writes.marks.newest()
	r := &round{puts: t.writes.send(), done: t.db.o.RT.NewSignal()}
	s.round = r
	s.keys += len(r.puts)
	first := s.anchor == nil
	if first {
		s.anchor, s.spans.limit = r.puts[0].Key, maxSpillSpans
	}
	req := kv.WriteRequest{Txn: t.id, Start: t.age, Anchor: s.anchor, ReadTS: t.ord.r, CommitTS: t.ord.r,
		Coord: t.db.o.Process, Wait: t.wait, Ignored: t.writes.ignored, Marks: marks}
	if t.locks != nil {
		req.Owner = &t.locks.owner
	}
	pieces := piecesOf(r.puts)
	for _, p := range pieces {
		s.spans.add(kv.Span{Start: p[0].Key, End: kv.Point(p[len(p)-1].Key).End})
	}
	if first {
		s.stop = t.keepAlive(s.anchor)
		t.db.countSpilled()
	}
	t.db.o.RT.Go("txn-spill", func() { t.runRound(r, req, pieces) })
}

// piecesOf cuts writes into what one command may lay.
func piecesOf(puts []kv.Put) (out [][]kv.Put) {
	bytes, from := 0, 0
	for i := range puts {
		size := len(puts[i].Key) + len(puts[i].Value)
		if i > from && (bytes+size > spillPiece || i-from >= spillKeys) {
			out, bytes, from = append(out, puts[from:i]), 0, i
		}
		bytes += size
	}
	return append(out, puts[from:])
}

// runRound lays the intents of a round. If that fails the transaction is over.
func (t *Txn) runRound(r *round, req kv.WriteRequest, pieces [][]kv.Put) {
	var next atomic.Int64
	var failed atomic.Bool
	results := make([][]route.Result, len(pieces))
	g := rt.NewGroup(t.db.o.RT)
	g.Go("txn-spill-record", func() { t.beat(context.Background(), req.Anchor) }) // the record knows the spans, though not sooner than the intents lie
	for range min(spillParallel, len(pieces)) {
		g.Go("txn-spill-piece", func() {
			for i := int(next.Add(1)) - 1; i < len(pieces) && !failed.Load() && !t.Finished(); i = int(next.Add(1)) - 1 {
				q := req
				q.Puts = pieces[i]
				results[i] = t.layPiece(&q)
				for _, res := range results[i] {
					if res.Err != nil {
						failed.Store(true)
					}
				}
			}
		})
	}
	g.Wait(rt.Forever) // each request has a limit
	t.endRound(r, results)
}

// layPiece lays one piece. A range that is out of reach is asked for longer than for a statement; that the piece may have
// been laid already, or a part of it, does no harm (Z1).
func (t *Txn) layPiece(q *kv.WriteRequest) []route.Result {
	for until := t.db.o.RT.Now() + spillPatience*t.db.o.Limit; ; {
		ctx := route.WithDeadline(context.Background(), t.db.o.RT.Now()+t.db.o.Limit)
		results := t.db.o.Router.Spread(ctx, []route.Addressed{{Request: kv.Request{Write: q}, Prepare: t.stampLaid}})
		again := false
		for i := range results {
			if err := results[i].Err; err != nil && err.Code != kv.ErrUnavailable && err.Code != kv.ErrAmbiguous {
				return results
			} else if err != nil {
				again = true
			}
		}
		if !again || t.Finished() || t.db.cleanup.closed.Load() || t.db.o.RT.Now() >= until {
			return results
		}
	}
}

// endRound takes in what has become of a round.
func (t *Txn) endRound(r *round, results [][]route.Result) {
	var failure *kv.Error
	low, high := clock.MaxTimestamp, clock.Timestamp{}
	all := true
	for _, piece := range results {
		all = all && len(piece) > 0
		for i := range piece {
			switch err := piece[i].Err; {
			case err == nil:
				c := piece[i].Response.Write.CommitTS
				high = high.Forward(c)
				if c.Less(low) {
					low = c
				}
			case failure == nil || err.Code == kv.ErrCondition && failure.Code != kv.ErrCondition:
				failure = err // that a key exists is the answer; all others are about this attempt only
			}
		}
	}
	bytes := 0
	for i := range r.puts {
		bytes += len(r.puts[i].Key) + len(r.puts[i].Value)
	}
	t.db.m.SpilledBytes.Add(float64(bytes))
	t.mu.Lock()
	s := &t.spill
	s.round = nil
	if !t.db.o.Unsafe.ForgetMoved {
		s.highest = s.highest.Forward(high) // Z4
	}
	if s.lowest.IsZero() || low.Less(s.lowest) {
		s.lowest = low
	}
	if failure == nil && all {
		t.writes.landed()
	}
	t.mu.Unlock()
	if failure != nil {
		t.failSpill(failure)
	}
	r.done.Fire()
	t.endSpill()
}

// failSpill ends the attempt: what it has written cannot be there as a whole.
func (t *Txn) failSpill(err *kv.Error) {
	if err.Code == kv.ErrAmbiguous { // what has become of one piece does not matter: the record will say aborted
		err = kv.Errorf(kv.ErrUnavailable, "the writes could not be laid: %s", err.Msg)
	}
	if Retryable(err) {
		_ = t.restart(err)
		return
	}
	t.giveUp(err)
}

// giveUp ends an open attempt with an error that no repetition cures.
func (t *Txn) giveUp(err *kv.Error) {
	t.mu.Lock()
	over := t.state != open
	if !over {
		t.state, t.failure = aborted, err
		t.newest = t.newest.Forward(err.TS) // that a key exists is something read
	}
	t.mu.Unlock()
	if !over {
		t.db.countAbort()
		t.endLocks()
		t.endSpill()
	}
}

// sendRest has the writes of a large transaction that are left at the commit laid like those before, unless they are few:
// these go out with the record.
func (t *Txn) sendRest() {
	t.settled()
	t.mu.Lock()
	if t.spill.anchor != nil && t.state == open && t.misuse == nil && (t.writes.count > maxStaged || t.writes.bytes > spillPiece) {
		t.beginRound()
	}
	t.mu.Unlock()
	t.settled()
}

// settled waits for the round that is under way. What it came to is in the state.
func (t *Txn) settled() {
	t.mu.Lock()
	r := t.spill.round
	t.mu.Unlock()
	if r != nil {
		r.done.Wait(rt.Forever) // it has a limit
	}
}

// endSpill leaves the intents of an attempt that is over to the background, once none are under way any more.
func (t *Txn) endSpill() {
	t.mu.Lock()
	s := &t.spill
	if s.anchor == nil || s.ended || s.round != nil || t.state != aborted {
		t.mu.Unlock()
		return
	}
	s.ended = true
	stop, j := s.stop, job{txn: t.id, age: t.age, anchor: s.anchor, spans: s.spans.list()}
	t.mu.Unlock()
	stop()
	t.db.cleanup.add(j)
}

// handOverSpill is endSpill for a commit that adds its own job.
func (t *Txn) handOverSpill() {
	t.mu.Lock()
	s := &t.spill
	stop := s.stop
	over := s.anchor == nil || s.ended
	s.ended = true
	t.mu.Unlock()
	if !over {
		stop()
	}
}

// own is what a read of the transaction says of its own intents; nil if there are none.
func (t *Txn) ownUpTo(mark uint64) *kv.Own {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spill.anchor == nil {
		return nil
	}
	return &kv.Own{Seq: mark, Ignored: t.writes.ignored}
}

// notAborted is Z7. It asks only if something was read since it last did.
func (t *Txn) notAborted(ctx context.Context) error {
	t.mu.Lock()
	s := &t.spill
	takes, anchor, start := t.takes, s.anchor, t.age
	unsure := anchor != nil && takes != s.checked
	st, failure := t.state, t.failure
	t.mu.Unlock()
	switch {
	case unsure && Retryable(failure):
		return failure
	case !unsure || st != open:
		return nil
	}
	ctx, err := t.ready(ctx)
	if err != nil {
		return err
	}
	now, err := t.db.reading()
	if err != nil {
		return err
	}
	resp, err := t.db.o.Router.Do(ctx, anchor, kv.Request{Push: &kv.PushRequest{Txn: t.id, Start: start, Anchor: anchor, Laid: now.Earliest, Kind: kv.PushQuery, Pusher: t.id, PusherStart: start}})
	if err != nil {
		return err
	}
	if resp.EndTxn.State == kv.Aborted {
		t.overtaken()
		_, err := t.ready(ctx)
		return err
	}
	t.mu.Lock()
	s.checked = takes
	t.mu.Unlock()
	return nil
}

// tooMuch reports that the transaction has reached the limit of what one may write. It is called with mu held.
func (t *Txn) tooMuch() *kv.Error {
	o := &t.db.o
	if t.total <= o.MaxWriteBytes && t.writes.seq <= uint64(o.MaxWrites) {
		return nil
	}
	return kv.Errorf(kv.ErrTooLarge, "the transaction has written %d MiB in %d writes, and one may write %d MiB in %d: it is rolled back; split the work into several transactions",
		t.total>>20, t.writes.seq, o.MaxWriteBytes>>20, o.MaxWrites)
}

// beat tells the record that the coordinator is at it, and what it has laid. It hears if the transaction has been aborted.
func (t *Txn) beat(ctx context.Context, anchor kv.Key) {
	now, err := t.db.o.Now()
	if err == nil {
		t.mu.Lock()
		spans := t.spill.spans.list()
		t.mu.Unlock()
		ctx = route.WithDeadline(ctx, t.db.o.RT.Now()+heartbeatEvery)
		var resp *kv.Response
		resp, err = t.db.o.Router.Do(ctx, anchor, kv.Request{Heartbeat: &kv.HeartbeatRequest{Txn: t.id, Start: t.age, Anchor: anchor, Now: now.Earliest, Spans: spans}})
		if err == nil && resp.EndTxn.State == kv.Aborted {
			t.overtaken()
		}
	}
	if err != nil {
		t.db.log.Debug("heartbeat of a transaction failed", "txn", t.id.String(), "err", err)
	}
}

// overtaken: the record says that somebody else has aborted the transaction. While it commits the commit finds that out.
func (t *Txn) overtaken() {
	t.mu.Lock()
	running := t.state == open
	t.mu.Unlock()
	if running {
		_ = t.restart(kv.Errorf(kv.ErrAborted, "transaction %s was aborted by an older one, or had not been heard of for some seconds", t.id))
	}
}

// spillLimits are the defaults of the options.
const (
	defaultSpill         = 16 << 20
	defaultMaxWriteBytes = 4 << 30
	defaultMaxWrites     = 20_000_000
)

// refreshAhead is how far beyond the present a commit that was overtaken makes its reads hold, if finding out took so long.
func refreshAhead(overtaken int, took time.Duration) time.Duration {
	ahead := min(firstAhead<<(overtaken-1), lastAhead)
	return max(ahead, min(2*took, lastSlowAhead))
}

// lastSlowAhead bounds it. The commit may have to be waited for as long, and so may others' writes to what was read.
const lastSlowAhead = 2 * time.Second
