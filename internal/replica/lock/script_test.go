package lock

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// script drives one table. Transactions are named by their age: t1 is older than t2.
type script struct {
	t       *Table
	now     time.Duration
	waiting map[Ticket]string
	gone    map[kv.NodeID]bool
}

func who(name string) kv.LockOwner {
	var n int
	if _, err := fmt.Sscanf(name, "t%d", &n); err != nil {
		panic(err)
	}
	return kv.LockOwner{ID: kv.TxnID{byte(n)}, Start: clock.Timestamp{Wall: int64(n)}, Coord: kv.Process{Node: kv.NodeID(n)}}
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{waiting: map[Ticket]string{}, gone: map[kv.NodeID]bool{}}
		s.t = New(Options{Gone: func(p kv.Process) bool { return s.gone[p.Node] }})
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				if line = strings.TrimSpace(line); line != "" {
					s.do(&out, strings.Fields(line))
				}
			}
			if d.Cmd == "show" {
				s.show(&out)
			} else if d.Cmd == "limits" {
				o := Options{}
				d.ScanArgs(t, "locks", &o.MaxLocks)
				d.ScanArgs(t, "per-owner", &o.MaxPerOwner)
				s.t = New(o)
			}
			if err := s.t.checkInvariants(); err != nil {
				t.Fatal(d.Pos, err)
			}
			if out.Len() == 0 {
				return "ok"
			}
			return out.String()
		})
	})
}

// do executes one line:
//
//	t1 X a           an exclusive lock on a for t1; S: shared; x: in passing, for a write
//	t1 X a nowait
//	t1 x a claim     it has met an intent there
//	t1 ends          commit or rollback
//	t1 dies          its coordinator's process is gone
//	t1 lives         a sign of life
//	t1 drops a       the end of a write in passing
//	t1 cancels a     its time is up
//	250ms            time passes, and all that wait look again
//	lease lost; keep a..m
func (s *script) do(out *strings.Builder, f []string) {
	if d, err := time.ParseDuration(f[0]); err == nil {
		s.now += d
		for _, w := range s.t.inOrder() {
			s.t.Retry(s.now, w.ticket)
		}
		s.events(out)
		return
	}
	switch {
	case f[0] == "lease":
		s.t.Clear()
	case f[0] == "keep":
		from, to, _ := strings.Cut(f[1], "..")
		s.t.Keep(s.now, kv.Span{Start: kv.Key(from), End: kv.Key(to)})
	case f[1] == "ends":
		fmt.Fprintf(out, "%s: had %d\n", f[0], s.t.Release(s.now, who(f[0]).ID))
	case f[1] == "dies":
		s.gone[who(f[0]).Coord.Node] = true
	case f[1] == "lives":
		fmt.Fprintf(out, "%s: has %d\n", f[0], s.t.Touch(s.now, who(f[0]).ID))
	case f[1] == "drops":
		s.t.Drop(s.now, who(f[0]).ID, kv.Key(f[2]))
	case f[1] == "cancels":
		for _, w := range s.t.inOrder() {
			if s.waiting[w.ticket] == f[0]+" "+f[2] {
				s.t.Cancel(s.now, w.ticket)
			}
		}
	default:
		r := Request{Owner: who(f[0]), Key: kv.Key(f[2]), Mode: kv.LockExclusive, Passing: f[1] == "x", NoWait: slices.Contains(f, "nowait"), Claim: slices.Contains(f, "claim")}
		if f[1] == "S" {
			r.Mode = kv.LockShared
		}
		res, ticket := s.t.Acquire(s.now, r)
		fmt.Fprintf(out, "%s %s: %s\n", f[0], f[2], res)
		if res == Waiting {
			s.waiting[ticket] = f[0] + " " + f[2]
			s.t.Retry(s.now, ticket)
		}
	}
	s.events(out)
}

func (s *script) events(out *strings.Builder) {
	for _, e := range s.t.Take() {
		fmt.Fprintf(out, "  %s: %s\n", s.waiting[e.Ticket], e.Result)
	}
}

func (s *script) show(out *strings.Builder) {
	var keys []string
	for k := range s.t.queues {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	name := func(o *owner) string { return fmt.Sprintf("t%d", o.Start.Wall) }
	for _, k := range keys {
		q := s.t.queues[k]
		var held, wait []string
		for _, h := range q.holders {
			held = append(held, name(h.o)+" "+h.mode.String())
		}
		for _, w := range q.waiters {
			wait = append(wait, name(w.o))
		}
		slices.Sort(held)
		fmt.Fprintf(out, "%s: %s", k, strings.Join(held, ", "))
		if len(wait) > 0 {
			fmt.Fprintf(out, "; waiting %s", strings.Join(wait, " "))
		}
		out.WriteByte('\n')
	}
	st := s.t.Stats()
	fmt.Fprintf(out, "%d locks, %d waiting, %d wounds, %d expired, %d unlocked\n", st.Locks, st.Waiters, st.Wounds, st.Expired, st.Unlocked)
}
