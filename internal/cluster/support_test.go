package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// TestSupport runs the scripts of the support core. Time is in units that mean nothing; L is 100 in all of them, and support is
// given at most 200 ahead.
//
//	store [restart=100] [slack=100]             a store, perhaps one that has been restarted
//	request n2 until=150 now=(40,50)          n2 requests support; what has to become durable, which support is given
//	durable 250 now=(40,50)                     the disk says so
//	withdraw n2 now=(160,170)                   may we vote against n2?
//	request-until now=(40,50) [allowance=20]  until when we request support of others
//	support n2 until=150 epoch=40             n2 supports us
//	close now=(40,50)                           the exact high water
func TestSupport(t *testing.T) {
	datadriven.Walk(t, "testdata/support", func(t *testing.T, path string) {
		var p *supportCore
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			instant := func(key string) (i clock.Instant) {
				var n int
				d.MaybeScanArgs(t, key, &n)
				return clock.Instant(n)
			}
			var e, l int
			if d.HasArg("now") {
				d.ScanArgs(t, "now", &e, &l)
			}
			now := clock.Interval{Earliest: clock.Instant(e), Latest: clock.Instant(l)}
			var n int
			if len(d.CmdArgs) > 0 {
				fmt.Sscanf(strings.TrimPrefix(d.CmdArgs[0].Key, "n"), "%d", &n)
			}
			node := kv.NodeID(n)
			switch d.Cmd {
			case "store":
				p = newSupportCore(100, 200, time.Duration(instant("slack")), instant("restart"))
				return ""
			case "request":
				return p.handleRequest(now, node, instant("until")).String()
			case "durable":
				return p.highWaterPersisted(now, clock.Instant(n)).String()
			case "withdraw":
				return fmt.Sprintf("%t (bound until %d)\n", p.withdraw(now, node), p.supportForUntil(node))
			case "request-until":
				return fmt.Sprintf("%d\n", p.requestUntil(now, time.Duration(instant("allowance"))))
			case "support":
				changed := p.handleSupport(node, Support{Until: instant("until"), Epoch: instant("epoch")})
				return fmt.Sprintf("until=%d epoch=%d changed=%t\n", p.supportFrom[node].Until, p.supportFrom[node].Epoch, changed)
			case "close":
				return fmt.Sprintf("high water %d\n", p.stop(now))
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func (o output) String() string {
	var b strings.Builder
	if o.persistHighWater != 0 {
		fmt.Fprintf(&b, "make %d durable\n", o.persistHighWater)
	}
	for _, g := range o.replies {
		fmt.Fprintf(&b, "give n%d until=%d epoch=%d\n", g.to, g.Until, g.Epoch)
	}
	if o.refused != nil {
		fmt.Fprintf(&b, "refused: %s\n", o.refused)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}
