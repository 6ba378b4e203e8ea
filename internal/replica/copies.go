package replica

import (
	"sync"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// A network may deliver a call twice, the second time much later. A one-phase commit that was refused for a reason that can go
// away (no lease here, the range is elsewhere, latches were held for too long) has left no record, and its coordinator
// reports it as failed (X6 of package txn). If a copy of the call were executed then, now or after it had waited in a log that
// makes no progress, the report would have been wrong. So the answer to a call is made to hold for all its copies:
//
//	C1  One sending of a commit (kv.WriteRequest.Try) is executed at most once by a process: a copy that comes while it is under
//	    way is answered with ErrAmbiguous, and the coordinator asks the record.
//	C2  What a process has refused without leaving a trace it refuses again, until the time of the request is certainly over
//	    (NotAfter); from then on nobody evaluates it (package eval). If there are too many to remember, the answer is
//	    ErrAmbiguous.
//	C3  A process executes nothing that may have been sent before it began, and answers it with ErrAmbiguous: it was for another
//	    process, which may have refused it, or may have executed a copy.
//
// All copies of a sending go to one node, so this is all that may execute them. Refusals that stay need not be remembered: the
// record, what was read has changed, a write has to land higher than it was asked for. Nor what the coordinator asks the record
// about anyway.
//
// C2 asks one clock only, whose earliest never goes back: what it has once passed its latest has passed as well.
//
// HAZARD: C3 compares readings of two nodes. If a bound is broken, a copy that was on its way while the process was started again may
// make a commit take effect that was reported as failed.

// maxRefused bounds C2's memory, to some megabytes.
const maxRefused = 1 << 16

type sending struct {
	txn kv.TxnID
	try uint32
}

type copies struct {
	clock   *clock.Clock
	self    kv.Process
	max     int
	mu      sync.Mutex
	started clock.Instant // no lower than when this process began; 0: not known yet
	known   map[sending]bool
	refused []refusal // as they came in
}

type refusal struct {
	sending
	until clock.Instant
}

func newCopies(o *Options) *copies {
	return &copies{clock: o.Clock, self: o.Process, max: maxRefused, known: map[sending]bool{}}
}

// start is called when everything that was answered in this process's name without asking the store has been sent. If the
// clock gives no reading the first commit takes one.
func (c *copies) start() {
	if now, err := c.clock.Now(); err == nil {
		c.mu.Lock()
		c.startAt(now)
		c.mu.Unlock()
	}
}

func (c *copies) startAt(now clock.Interval) {
	if c.started == 0 {
		c.started = now.Latest
	}
}

// begin takes a sending on, or says why not.
func (c *copies) begin(w *kv.WriteRequest) *kv.Error {
	now, err := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	id := sending{w.Txn, w.Try}
	if _, ok := c.known[id]; ok {
		return kv.Errorf(kv.ErrAmbiguous, "a copy of a commit of transaction %s that is under way here, or was refused", w.Txn)
	}
	if err != nil {
		return c.refuse(id, w.NotAfter, kv.Errorf(kv.ErrFenced, "whether the commit was sent before this process began cannot be told: %v", err))
	}
	c.startAt(now)
	c.forget(now)
	if own := w.Coord == c.self && c.self.Node != 0; !own && w.Laid < c.started { // C3
		return kv.Errorf(kv.ErrAmbiguous, "the commit may have been sent before this process began: sent after %d, began before %d", w.Laid, c.started)
	}
	c.known[id] = true
	return nil
}

// end takes in what became of a sending, and returns what to answer.
func (c *copies) end(w *kv.WriteRequest, resp kv.Response) kv.Response {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := sending{w.Txn, w.Try}
	if goesAway(resp.Err) {
		resp.Err = c.refuse(id, w.NotAfter, resp.Err)
	} else {
		delete(c.known, id)
	}
	return resp
}

// refuse remembers a refusal, and returns what to say. It is called with mu held.
func (c *copies) refuse(id sending, until clock.Instant, why *kv.Error) *kv.Error {
	if len(c.refused) >= c.max {
		delete(c.known, id)
		return kv.Errorf(kv.ErrAmbiguous, "too many commits were refused lately to remember another: %s", why.Msg)
	}
	c.known[id] = false
	c.refused = append(c.refused, refusal{id, until})
	return why
}

// forget drops refusals that nobody has to remember any more.
func (c *copies) forget(now clock.Interval) {
	n := 0
	for n < len(c.refused) && now.Passed(c.refused[n].until) {
		delete(c.known, c.refused[n].sending)
		n++
	}
	if c.refused = c.refused[n:]; len(c.refused) == 0 {
		c.refused = nil // and with it the room
	}
}

// goesAway reports whether a copy of a commit that was answered so might be executed.
func goesAway(err *kv.Error) bool {
	if err == nil {
		return false // the record says so
	}
	switch err.Code {
	case kv.ErrAborted, kv.ErrTooOld, kv.ErrRefresh, kv.ErrRetryAt: // stays
		return false
	case kv.ErrCondition, kv.ErrConflict, kv.ErrWaited: // the coordinator has the record say aborted
		return false
	}
	return true
}

// executeOnce is execute for a sending that has copies, perhaps.
func (s *Store) executeOnce(q *kv.Request) kv.Response {
	if kerr := s.copies.begin(q.Write); kerr != nil {
		return failed(kerr)
	}
	return s.copies.end(q.Write, s.executeAny(q))
}
