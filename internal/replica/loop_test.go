package replica

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/internal/kv"
)

// happening is an event that is made up by a test.
type happening func(r *Replica)

func (fn happening) handle(r *Replica) { fn(r) }

// turning is a leader of three replicas between two turns, and what its store has stopped with.
func turning(t *testing.T) (r *Replica, failed *error) {
	failed = new(error)
	h := newHarness(t, 1, 3, func(o *Options) { o.OnFatal = func(err error) { *failed = err } })
	c := h.client(1)
	r = h.leader(1).s.ranges.get(1)
	h.isolate(r.nodeOf(behind(r)), true)
	for range 5 {
		h.task(10*time.Second, func() { c.write(1, "a", "x", 5*time.Second) })
	}
	return h.leader(1).s.ranges.get(1), failed
}

// behind is the follower that has not got the last entries.
func behind(r *Replica) uint64 {
	if r.rid == 1 {
		return 2
	}
	return 1
}

// lagging is its answer that it misses something: the leader has to read its log where the follower's ends.
func lagging(r *Replica) event {
	from := behind(r)
	return &incoming{from: r.nodeOf(from), m: &raftpb.Message{Type: raftpb.MsgAppResp.Enum(), From: &from, To: proto.Uint64(uint64(r.rid)),
		Term: &r.soft.term, Reject: proto.Bool(true), RejectHint: proto.Uint64(1), Index: proto.Uint64(r.raftLog.last.index), LogTerm: proto.Uint64(0)}}
}

// Raft panics when its storage cannot be read. The turn ends there, the store stops with the reason, and whoever waits for the
// rest of the events gets an answer.
func TestTurnEndsWhenTheLogCannotBeRead(t *testing.T) {
	r, failed := turning(t)
	at := r.matches()[kv.ReplicaID(behind(r))]
	if at == 0 || at >= r.raftLog.last.index-2 {
		t.Fatalf("the follower has entry %d of %d", at, r.raftLog.last.index)
	}
	if err := r.store.opts.Engines.Log.Set(entryKey(r.id, at), []byte("damaged"), nil); err != nil {
		t.Fatal(err)
	}
	r.raftLog.cache, r.raftLog.cacheSize = nil, 0
	before := false
	var outcome *kv.Error
	waiting := &proposal{done: func(e *kv.Error) { outcome = e }}
	r.proposals.count.Add(1)
	rest, ok := r.turn([]event{happening(func(*Replica) { before = true }), lagging(r), (*proposeEvent)(waiting)})
	switch {
	case ok || !before:
		t.Fatalf("the turn went on (%t), what came before was handled: %t", ok, before)
	case len(rest) != 1 || rest[0] != (*proposeEvent)(waiting):
		t.Fatalf("left over: %v", rest)
	case *failed == nil || !strings.Contains((*failed).Error(), "the log cannot be read") || !strings.Contains((*failed).Error(), "damaged"):
		t.Fatalf("the store stopped with: %v", *failed)
	case r.store.Err() != *failed || !r.store.stopped():
		t.Fatalf("the store says %v, stopped: %t", r.store.Err(), r.store.stopped())
	}
	r.end(rest)
	if outcome == nil || outcome.Code != kv.ErrUnavailable {
		t.Errorf("a command that was not proposed ends with %v", outcome)
	}
}

// Any other panic is a bug of one range, and quarantines its replica, unless the log is broken, too. What unwinds a task that was killed
// goes on, and so does every panic of a test that does not want to be told.
func TestTurnEndsWithAPanic(t *testing.T) {
	bug := errors.New("a bug")
	for _, c := range []struct {
		name           string
		broken         error
		p              any
		deaf           bool
		passes, failed bool
	}{
		{name: "sound log", p: bug},
		{name: "broken log", p: bug, broken: errors.New("no such block"), failed: true},
		{name: "killed", p: unwinding{}, passes: true},
		{name: "nobody is told", p: bug, deaf: true, passes: checked},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, failed := turning(t)
			var told error
			r.store.opts.Quarantined = func(_ kv.RangeID, err error) { told = err }
			if c.deaf {
				r.store.opts.Quarantined = nil
			}
			var outcome *kv.Error
			waiting := (*proposeEvent)(&proposal{done: func(e *kv.Error) { outcome = e }})
			defer func() {
				if p := recover(); (p != nil) != c.passes || c.passes && p != c.p {
					t.Errorf("what came out is %v", p)
				}
				if (*failed != nil) != c.failed {
					t.Errorf("the store stopped with %v", *failed)
				}
				if quarantined := r.quarantined.Load() != nil; quarantined != (!c.passes && !c.failed) || (told != nil) != (quarantined && !c.deaf) {
					t.Errorf("quarantined: %t, told: %v", quarantined, told)
				}
			}()
			r.proposals.count.Add(1)
			rest, ok := r.turn([]event{happening(func(r *Replica) {
				r.raftLog.broken = c.broken
				panic(c.p)
			}), waiting})
			if ok || len(rest) != 1 || rest[0] != waiting {
				t.Errorf("the turn went on (%t), left over: %v", ok, rest)
			}
			if r.quarantined.Load() != nil {
				r.dismiss(rest)
				if outcome == nil || outcome.Code != kv.ErrUnavailable {
					t.Errorf("a command that was not proposed ends with %v", outcome)
				}
			}
		})
	}
}

// A panic while commands are proposed leaves none of them without an outcome, and nothing is said of what became of those that had none.
func TestPanicWhileCommandsAreProposed(t *testing.T) {
	for _, n := range []int{1, 3} {
		r, _ := turning(t)
		r.store.opts.Quarantined = func(kv.RangeID, error) {}
		outcomes := make([]*kv.Error, n)
		var evs []event
		for i := range n {
			p := &proposal{cmd: command{Term: r.soft.term - 1, ID: uint64(i + 1)}, done: func(e *kv.Error) {
				outcomes[i] = e
				if i == n/2 {
					panic("a bug")
				}
			}}
			r.proposals.count.Add(1)
			evs = append(evs, (*proposeEvent)(p))
		}
		before := r.proposals.count.Load()
		rest, ok := r.turn(evs)
		if ok || len(rest) != 0 || r.quarantined.Load() == nil {
			t.Fatalf("%d commands: the turn went on (%t), left over %v", n, ok, rest)
		}
		for i, e := range outcomes {
			want := kv.ErrUnavailable // its term is over
			if i > n/2 {
				want = kv.ErrAmbiguous
			}
			if e == nil || e.Code != want {
				t.Errorf("command %d of %d ends with %v, want %s", i+1, n, e, want)
			}
		}
		if left := r.proposals.count.Load(); left != before-int32(n) {
			t.Errorf("%d commands were on their way, %d of them had an outcome, %d are left", before, n, left)
		}
	}
}

type unwinding struct{}

func (unwinding) UnwindsTask() {}

// A log that turned out broken without a panic, because Raft could do without the answer, ends the store all the same.
func TestTurnEndsWithABrokenLog(t *testing.T) {
	r, failed := turning(t)
	rest, ok := r.turn([]event{happening(func(r *Replica) { r.raftLog.broken = errors.New("no such block") })})
	if ok || len(rest) != 0 || *failed == nil {
		t.Errorf("ok=%t, left over %v, the store stopped with: %v", ok, rest, *failed)
	}
}

// What clients propose while a range is busy is proposed together, in the order in which it came.
func TestTogether(t *testing.T) {
	small := func() event { return &proposeEvent{data: make([]byte, 10)} }
	large := func() event { return &proposeEvent{data: make([]byte, maxStepBytes)} }
	many := make([]event, 3*maxStepCommands)
	for i := range many {
		many[i] = small()
	}
	for name, c := range map[string]struct {
		evs  []event
		want int
	}{
		"nothing":          {nil, 0},
		"another event":    {[]event{tick{}, small()}, 0},
		"until another":    {[]event{small(), small(), tick{}, small()}, 2},
		"a change is not":  {[]event{small(), &proposeEvent{change: &raftpb.ConfChangeV2{}}}, 1},
		"too many":         {many, maxStepCommands},
		"a large one ends": {[]event{small(), large(), small()}, 2},
	} {
		if got := together(c.evs); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
