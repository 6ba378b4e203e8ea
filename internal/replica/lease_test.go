package replica

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/cluster"
	"github.com/longitude-db/longitude/internal/kv"
)

// TestLease runs the scripts of the lease core, at node 1. Time is in units that mean nothing.
//
//	lead 7 / follow / start low=30 / stop
//	exclude                               the range stands still
//	support n2 until=100 epoch=5          the support of our store by n2's store
//	answer n2 term=7 epoch=5              what n2's replica answered
//	until voters=(n1,n2,n3)               T; 0: not to be used
func TestLease(t *testing.T) {
	datadriven.Walk(t, "testdata/lease", func(t *testing.T, path string) {
		l := leaseCore{self: 1}
		supports := map[kv.NodeID]cluster.Support{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "lead":
				l.lead(uint64(number(d.CmdArgs[0].Key)))
			case "follow":
				l.follow()
			case "start":
				l.start(clock.Timestamp{Wall: int64(arg(t, d, "low"))})
			case "stop":
				l.stop()
			case "exclude":
				l.exclude()
				return fmt.Sprintf("term %d, relied on until %d\n", l.term, l.cap)
			case "support":
				supports[nodeArg(d)] = cluster.Support{Until: clock.Instant(arg(t, d, "until")), Epoch: clock.Instant(arg(t, d, "epoch"))}
			case "answer":
				return fmt.Sprintf("counts: %t\n", l.answered(nodeArg(d), uint64(arg(t, d, "term")), clock.Instant(arg(t, d, "epoch"))))
			case "until":
				var voters []kv.NodeID
				for _, v := range d.CmdArgs[0].Vals {
					voters = append(voters, kv.NodeID(number(strings.TrimPrefix(v, "n"))))
				}
				return fmt.Sprintf("%d\n", l.until(voters, func(n kv.NodeID) cluster.Support { return supports[n] }))
			default:
				d.Fatalf(t, "unknown command")
			}
			return ""
		})
	})
}

// TestVoter runs the scripts of the voter, at node 1.
//
//	answered n2 term=6                       this replica answers n2, the leader of term 6
//	free n2 [no]                             whether our store's support of n2's store has expired (n0: after a restart)
//	over [no]                                whether what we served ourselves is safe
//	vote n3 term=7 now=6 [pre] [transfer]    n3 asks for a vote while we are in term 6
//	campaign                                 may we?
func TestVoter(t *testing.T) {
	datadriven.Walk(t, "testdata/voter", func(t *testing.T, path string) {
		v := voter{self: 1}
		o := &fakeVoteGuard{free: map[kv.NodeID]bool{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			o.gaveUp = false
			switch d.Cmd {
			case "answered":
				v.answered(nodeArg(d), uint64(arg(t, d, "term")))
				return ""
			case "free":
				o.free[nodeArg(d)] = !d.HasArg("no")
				return ""
			case "over":
				o.safe = !d.HasArg("no")
				return ""
			case "campaign":
				return fmt.Sprintf("%s\n", map[bool]string{true: "yes", false: "no"}[v.mayCampaign(o)])
			case "vote":
				m := &raftpb.Message{Type: raftpb.MsgVote.Enum(), Term: proto.Uint64(uint64(arg(t, d, "term")))}
				if d.HasArg("pre") {
					m.Type = raftpb.MsgPreVote.Enum()
				}
				if d.HasArg("transfer") {
					m.Context = []byte(campaignTransfer)
				}
				s := "dropped"
				if v.mayVote(m, nodeArg(d), uint64(arg(t, d, "now")), o) {
					s = "Raft decides"
				}
				if o.gaveUp {
					s += "; our lease is over"
				}
				return fmt.Sprintf("%s (bound to n%d)\n", s, v.lead)
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

type fakeVoteGuard struct {
	free   map[kv.NodeID]bool
	safe   bool
	gaveUp bool
}

func (o *fakeVoteGuard) supportWithdrawn(to kv.NodeID) bool { return o.free[to] }

func (o *fakeVoteGuard) canLoseLease(giveUp bool) bool {
	o.gaveUp = o.safe && giveUp
	return o.safe
}

func arg(t *testing.T, d *datadriven.TestData, key string) (n int) {
	d.MaybeScanArgs(t, key, &n)
	return n
}

func nodeArg(d *datadriven.TestData) kv.NodeID {
	return kv.NodeID(number(strings.TrimPrefix(d.CmdArgs[0].Key, "n")))
}

// P9 is asserted where leases are computed: what was said of a lease to others holds.
func TestExcludedLeaseIsNotUsed(t *testing.T) {
	l := leaseCore{self: 1}
	l.lead(7)
	l.start(clock.Timestamp{Wall: 1})
	until := clock.Instant(100)
	support := func(kv.NodeID) cluster.Support { return cluster.Support{Until: until, Epoch: 1} }
	if got := l.until([]kv.NodeID{1}, support); got != 100 {
		t.Fatal(got)
	}
	l.exclude()
	l.stopped, until = false, 200 // as if something had begun to serve again
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "P9") {
			t.Errorf("a lease that was excluded until 100 is used until 200: %s", p)
		}
	}()
	l.until([]kv.NodeID{1}, support)
}
