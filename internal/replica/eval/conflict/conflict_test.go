package conflict

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/replica/eval"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

func ts(n int64) clock.Timestamp { return clock.Timestamp{Wall: n} }

// A met intent, as an evaluation reports it.
func met(key, txn string, kind kv.PushKind, yield bool) eval.Conflict {
	return eval.Conflict{Key: kv.Key(key), Kind: kind, To: ts(20), Yield: yield,
		Intent: kv.Intent{Txn: kv.TxnID{txn[0]}, Start: ts(1), Anchor: kv.Key(key), TS: ts(10)}}
}

type world struct {
	loop   *eventloop.Loop
	r      *eventloop.Runtime
	w      *Waits
	answer func(q *kv.PushRequest) (*kv.TxnStatus, error)
	trace  []string
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%s %s", w.r.Now().Round(time.Millisecond), fmt.Sprintf(format, args...)))
}

func newWorld() *world {
	w := &world{loop: eventloop.New(1)}
	w.r = w.loop.Runtime("n1")
	now := func() (clock.Interval, error) {
		at := clock.Instant(w.r.Now())
		return clock.Interval{Earliest: at, Latest: at}, nil
	}
	push := func(q *kv.PushRequest) (*kv.TxnStatus, error) {
		w.r.Sleep(time.Millisecond)
		if len(w.trace) < 12 {
			w.note("push %s", q.Txn[:1])
		}
		return w.answer(q)
	}
	w.w = New(Options{RT: w.r, Pushes: NewPushes(w.r, now, push),
		Resolve: func(q *kv.ResolveRequest) error {
			w.note("resolve %s %s on %s", q.Txn[:1], q.Status.State, q.Keys)
			w.w.Released(q.Keys)
			return nil
		}})
	return w
}

// run lets one request of transaction R (age 5) clear conflicts, and returns what happened.
func (w *world) run(t *testing.T, list ...eval.Conflict) (*Request, error) {
	t.Helper()
	var req *Request
	var err error
	done := false
	w.loop.At(0, func() {
		w.r.Go("request", func() {
			req = w.w.Request(&kv.Request{Read: &kv.ReadRequest{Txn: kv.TxnID{'R'}, Start: ts(5)}})
			req.Watch(list)
			err = req.Clear()
			w.note("again")
			done = true
		})
	})
	if !w.loop.Run(time.Minute, func() bool { return done }) {
		t.Fatal("it waits for ever")
	}
	if n := w.w.Waiting(); n != 0 {
		t.Errorf("%d waits are still registered", n)
	}
	return req, err
}

func (w *world) expect(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(w.trace, ", "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func pending(at int64) func(*kv.PushRequest) (*kv.TxnStatus, error) {
	return func(*kv.PushRequest) (*kv.TxnStatus, error) { return &kv.TxnStatus{CommitTS: ts(at)}, nil }
}

// Most intents go by themselves, within moments: nobody is asked.
func TestIntentGoes(t *testing.T) {
	w := newWorld()
	w.loop.At(2*time.Millisecond, func() { w.w.Released([]kv.Key{kv.Key("x"), kv.Key("k")}) })
	if _, err := w.run(t, met("k", "A", kv.PushAbort, false)); err != nil {
		t.Error(err)
	}
	w.expect(t, "2ms again")
}

// What has finished is resolved by whoever meets it, all of it at once.
func TestFinishedIsResolved(t *testing.T) {
	w := newWorld()
	w.answer = func(*kv.PushRequest) (*kv.TxnStatus, error) {
		return &kv.TxnStatus{State: kv.Committed, CommitTS: ts(12)}, nil
	}
	if _, err := w.run(t, met("k", "A", kv.PushTimestamp, false), met("l", "A", kv.PushTimestamp, false)); err != nil {
		t.Error(err)
	}
	w.expect(t, `6ms push A, 6ms resolve A committed on ["k" "l"], 6ms again`)
}

// A reader passes over what is bound to commit above it, and over nothing else (W4). Several are asked at once.
func TestReaderPassesOver(t *testing.T) {
	w := newWorld()
	w.answer = pending(21)
	req, err := w.run(t, met("k", "A", kv.PushTimestamp, false), met("l", "B", kv.PushTimestamp, false))
	if err != nil || req.Pushed[kv.TxnID{'A'}] != ts(21) || req.Pushed[kv.TxnID{'B'}] != ts(21) {
		t.Error(err, req.Pushed)
	}
	if len(w.trace) != 3 || w.trace[2] != "6ms again" {
		t.Error(w.trace)
	}

	w = newWorld()
	w.answer = pending(20)
	if req, err := w.run(t, met("k", "A", kv.PushTimestamp, false)); err != nil || len(req.Pushed) != 0 {
		t.Error(err, req.Pushed)
	}
}

// A younger writer waits, asking ever less often, and goes on at once when the intent is gone.
func TestWriterWaits(t *testing.T) {
	w := newWorld()
	w.answer = pending(0)
	w.loop.At(100*time.Millisecond, func() { w.w.Released([]kv.Key{kv.Key("k")}) })
	if _, err := w.run(t, met("k", "A", kv.PushAbort, false)); err != nil {
		t.Error(err)
	}
	if n := len(w.trace); n < 3 || n > 7 || w.trace[n-1] != "100ms again" {
		t.Error(w.trace)
	}
}

// W3: it does not wait for ever; not longer than it says itself, if it does. Every second it is evaluated again, in case its
// range has gone.
func TestWriterGivesUp(t *testing.T) {
	for _, c := range []struct{ own, limit time.Duration }{{0, 10 * time.Second}, {2500 * time.Millisecond, 2500 * time.Millisecond}, {time.Minute, 10 * time.Second}} {
		w := newWorld()
		w.answer = pending(0)
		var err error
		rounds := 0
		w.loop.At(0, func() {
			w.r.Go("request", func() {
				req := w.w.Request(&kv.Request{Write: &kv.WriteRequest{Txn: kv.TxnID{'R'}, Start: ts(5), Wait: c.own}})
				for err == nil {
					rounds++
					req.Watch([]eval.Conflict{met("k", "A", kv.PushAbort, false)})
					err = req.Clear()
				}
			})
		})
		w.loop.Run(time.Minute, func() bool { return err != nil })
		var e *kv.Error
		if !errors.As(err, &e) || e.Code != kv.ErrWaited || string(e.Key) != "k" {
			t.Error(err)
		}
		seconds := int(c.limit / time.Second)
		if now := w.r.Now(); now < c.limit || now > c.limit+time.Second || rounds < seconds-2 || rounds > seconds+1 {
			t.Errorf("after %s, %d rounds; limit %s", now, rounds, c.limit)
		}
	}
}

// A refresh gives an older transaction a moment to finish, then gives up.
func TestRefreshYields(t *testing.T) {
	w := newWorld()
	w.answer = pending(0)
	_, err := w.run(t, met("k", "A", kv.PushQuery, true))
	var e *kv.Error
	if !errors.As(err, &e) || e.Code != kv.ErrRefresh || string(e.Key) != "k" {
		t.Error(err)
	}
	if now := w.r.Now(); now < 50*time.Millisecond || now > 200*time.Millisecond {
		t.Errorf("after %s", now)
	}
}

// A record that cannot be reached is tried again until time is up.
func TestUnreachable(t *testing.T) {
	w := newWorld()
	fails := 3
	w.answer = func(*kv.PushRequest) (*kv.TxnStatus, error) {
		if fails--; fails >= 0 {
			return nil, errors.New("connection refused")
		}
		return &kv.TxnStatus{State: kv.Aborted}, nil
	}
	if _, err := w.run(t, met("k", "A", kv.PushAbort, false)); err != nil {
		t.Error(err)
	}
	w = newWorld()
	w.w.o.Limit = 100 * time.Millisecond
	w.answer = func(*kv.PushRequest) (*kv.TxnStatus, error) { return nil, rt.ErrTimeout }
	_, err := w.run(t, met("k", "A", kv.PushAbort, false))
	var e *kv.Error
	if !errors.As(err, &e) || e.Code != kv.ErrUnavailable {
		t.Error(err)
	}
}

// Readers of one node that meet the same transaction share one push, and those that come later need none, as long as all
// that they have to observe is below what was learnt (Q2). One that has to observe more asks for itself (Q3).
func TestReadersSharePushes(t *testing.T) {
	w := newWorld()
	pushes, pushed := 0, ts(0)
	w.answer = func(q *kv.PushRequest) (*kv.TxnStatus, error) {
		pushes++
		pushed = pushed.Forward(q.To)
		return &kv.TxnStatus{CommitTS: pushed.Next()}, nil
	}
	read := func(at, limit int64) {
		c := met("k", "A", kv.PushTimestamp, false)
		c.To, c.Limit = ts(at), ts(limit)
		if req, err := w.run(t, c); err != nil || !ts(at).Less(req.Pushed[kv.TxnID{'A'}]) {
			t.Error(err, req.Pushed)
		}
	}
	left := 20
	for range left {
		w.loop.At(0, func() {
			w.r.Go("other", func() {
				defer func() { left-- }()
				req := w.w.Request(&kv.Request{Read: &kv.ReadRequest{Txn: kv.TxnID{'O'}, Start: ts(6)}})
				c := met("k", "A", kv.PushTimestamp, false)
				c.Limit = c.To
				req.Watch([]eval.Conflict{c})
				if err := req.Clear(); err != nil || len(req.Pushed) != 1 {
					t.Error(err, req.Pushed)
				}
			})
		})
	}
	w.loop.Run(time.Minute, func() bool { return left == 0 })
	if pushes == 0 || pushes > 6 { // those that waited for the same moment
		t.Errorf("%d pushes for 20 readers", pushes)
	}
	before, now := pushes, w.r.Now()
	read(20, 20)
	read(pushed.Wall, pushed.Wall)
	if pushes != before || w.r.Now() != now {
		t.Errorf("%d more pushes, %s later, though all was known", pushes-before, w.r.Now()-now)
	}
	read(20, pushed.Wall+1)
	if pushes != before+1 {
		t.Errorf("%d more pushes for a higher limit", pushes-before)
	}
}

// Who meets many intents of a decided transaction reads through them, and the next that does need not ask (W5). One that cannot read
// through has all of them resolved that lie in the rest of its spans (W6), not only those that the evaluation has reported.
func TestManyIntents(t *testing.T) {
	w := newWorld()
	w.w.o.Through = 2
	w.w.o.Resolve = func(q *kv.ResolveRequest) error {
		w.note("resolve %s in %s and on %s", q.Txn[:1], q.Spans, q.Keys)
		return nil
	}
	w.w.o.Behind = func(q *kv.ResolveRequest, coord kv.Process) { w.note("behind %s in %s", q.Txn[:1], q.Spans) }
	w.answer = func(*kv.PushRequest) (*kv.TxnStatus, error) {
		return &kv.TxnStatus{State: kv.Committed, CommitTS: ts(12)}, nil
	}
	list := []eval.Conflict{met("k", "A", kv.PushTimestamp, false), met("l", "A", kv.PushTimestamp, false)}
	spans := []kv.Span{{Start: kv.Key("a"), End: kv.Key("c")}, {Start: kv.Key("d"), End: kv.Key("n")}, {Start: kv.Key("p"), End: kv.Key("q")}}
	for _, q := range []*kv.ReadRequest{
		{Txn: kv.TxnID{'R'}, Start: ts(5), Spans: spans},
		{Txn: kv.TxnID{'S'}, Start: ts(5), Spans: spans},
		{Txn: kv.TxnID{'T'}, Start: ts(5), Spans: spans, Lock: &kv.ReadLock{}},
	} {
		done := false
		w.loop.At(w.loop.Now(), func() {
			w.r.Go("request", func() {
				req := w.w.Request(&kv.Request{Read: q})
				req.Watch(list)
				if err := req.Clear(); err != nil {
					t.Error(err)
				}
				w.note("again, through %d", len(req.Finished))
				done = true
			})
		})
		if !w.loop.Run(time.Minute, func() bool { return done }) {
			t.Fatal("it waits for ever")
		}
	}
	w.expect(t, `6ms push A, 6ms behind A in [["k","n") ["p","q")], 6ms again, through 1, 6ms again, through 1, `+
		`13ms push A, 13ms resolve A in [["k","n") ["p","q")] and on [], 13ms again, through 0`)
}
