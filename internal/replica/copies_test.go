package replica

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// commitOf is a commit as its coordinator, on another node, sends it the first time: what the network has copies of. It is tried for 2 s.
func (h *harness) commitOf(c *client, key string) kv.Request {
	now := h.reading()
	return kv.Request{Range: 1, Write: &kv.WriteRequest{Txn: c.txn(), Start: now.Limit(), Anchor: kv.Key(key), ReadTS: now.Limit(), CommitTS: now.Limit(),
		OnePhase: true, CanForward: true, Puts: []kv.Put{{Key: kv.Key(key), Value: []byte("1")}}, Laid: now.Earliest,
		Try: 1, NotAfter: now.Latest.Add(2 * time.Second)}}
}

// answer is one delivery of it.
func (h *harness) answer(id kv.NodeID, q kv.Request) string {
	resp, err := h.call(id, q, 30*time.Second)
	switch {
	case err != nil:
		return err.Error()
	case resp.Err != nil:
		return resp.Err.Code.String()
	}
	return "ok"
}

// A copy is evaluated in time, by a leader that is cut off; its command waits in the log. The call itself finds it in the way. When the log goes on,
// long after nobody evaluates the commit any more, the command takes effect: so until then nobody may have said that it
// never will. Without a number, the call is told so.
func TestACopyWaitsInTheLog(t *testing.T) {
	for _, c := range []struct {
		name   string
		number uint32
		want   string
	}{
		{"numbered", 1, "ambiguous"},
		{"without a number, a commit that was refused takes effect", 0, "unavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t, 1, 3, nil)
			l := h.leader(1)
			h.task(90*time.Second, func() {
				user := h.client(1)
				user.write(1, "k", "0", 10*time.Second)
				q := h.commitOf(user, "k")
				q.Write.Try = c.number
				for _, m := range h.nodes {
					h.isolate(m.id, true)
				}
				copied := h.meanwhile(func() string { return h.answer(l.id, q) })
				h.user.Sleep(time.Millisecond)
				if got := h.answer(l.id, q); got != c.want {
					t.Errorf("the call is answered: %s", got)
				}
				if got := copied(); got != "ambiguous" {
					t.Errorf("the copy is answered: %s", got)
				}
				if late := h.reading(); !late.Passed(q.Write.NotAfter) {
					t.Errorf("the time of the commit is not over at %s", late)
				}
				for _, m := range h.nodes {
					h.isolate(m.id, false)
				}
				if v, _, _ := user.read(1, "k", 30*time.Second); v != "1" {
					t.Errorf("the copy did not take effect: %q", v)
				}
			})
			h.converge(1)
		})
	}
}

// A node that has no lease refuses a commit, and gets the lease. What it has refused it does not execute then; what it is sent
// anew it does. Without a number the copy is executed.
func TestACopyOfWhatWasRefused(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(90*time.Second, func() {
		user := h.client(1)
		user.write(1, "k", "0", 10*time.Second)
		was := h.leader(1).id
		to := was%3 + 1
		q, open := h.commitOf(user, "k"), h.commitOf(user, "o")
		q.Write.NotAfter, open.Write.NotAfter, open.Write.Try = q.Write.NotAfter.Add(time.Minute), open.Write.NotAfter.Add(time.Minute), 0
		for _, r := range []kv.Request{q, open} {
			if got := h.answer(to, r); got != "not leaseholder" {
				t.Errorf("a node without lease answers: %s", got)
			}
		}
		if _, ok := user.do(1, kv.Request{Admin: &kv.AdminRequest{TransferLease: to}}, 10*time.Second); !ok {
			t.Error("the lease does not move")
		}
		for h.leaders(1) == nil || h.leader(1).id != to {
			h.user.Sleep(10 * time.Millisecond)
		}
		if got := h.answer(to, q); got != "ambiguous" {
			t.Errorf("the copy is answered: %s", got)
		}
		if v, _, _ := user.read(1, "k", 10*time.Second); v != "0" {
			t.Errorf("the copy was executed: %q", v)
		}
		if got := h.answer(to, open); got != "ok" {
			t.Errorf("a copy without a number is answered: %s", got)
		}
		again := *q.Write
		again.Try, again.Laid = 2, h.reading().Earliest
		if got := h.answer(to, kv.Request{Range: 1, Write: &again}); got != "ok" {
			t.Errorf("the second sending is answered: %s", got)
		}
		if got := h.answer(to, kv.Request{Range: 1, Write: &again}); got != "ok" {
			t.Errorf("a copy of what was executed is answered: %s", got) // as the first was: the record says so
		}
	})
	h.converge(1)
}

// What was sent before a process began was sent to another, which may have refused it, or executed a copy.
func TestACopyForAnEarlierProcess(t *testing.T) {
	h := newHarness(t, 1, 1, nil)
	h.task(60*time.Second, func() {
		user := h.client(1)
		user.write(1, "k", "0", 10*time.Second)
		q := h.commitOf(user, "k")
		q.Write.NotAfter = q.Write.NotAfter.Add(time.Minute)
		h.nodes[0].restart()
		for h.leaders(1) == nil {
			h.user.Sleep(10 * time.Millisecond)
		}
		if got := h.answer(1, q); got != "ambiguous" {
			t.Errorf("what was sent to the process before is answered: %s", got)
		}
		q.Write.Try, q.Write.Laid = 2, h.reading().Earliest
		if got := h.answer(1, q); got != "ok" {
			t.Errorf("what is sent now is answered: %s", got)
		}
	})
}

// Refusals are remembered until the time of the request is over, and no more of them than there is room for.
func TestRefusalsAreRememberedForAWhile(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	h.task(60*time.Second, func() {
		user := h.client(1)
		to := h.leader(1).id%3 + 1
		c := h.nodes[to-1].s.copies
		c.max = 2
		q := []kv.Request{h.commitOf(user, "a"), h.commitOf(user, "b"), h.commitOf(user, "c")}
		for i, want := range []string{"not leaseholder", "not leaseholder", "ambiguous"} {
			if got := h.answer(to, q[i]); got != want {
				t.Errorf("commit %d is answered: %s", i, got)
			}
		}
		h.user.Sleep(2100 * time.Millisecond)
		if got := h.answer(to, h.commitOf(user, "d")); got != "not leaseholder" {
			t.Errorf("when the others are over a commit is answered: %s", got)
		}
		if len(c.known) != 1 || len(c.refused) != 1 {
			t.Errorf("%d and %d commits are remembered", len(c.known), len(c.refused))
		}
	})
}
