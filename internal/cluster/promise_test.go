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

// TestPromise runs the scripts of the promise core. Time is in units that mean nothing; L is 100 in all of them, and the furthest
// promise 200 ahead.
//
//	store [fence=100] [slack=100]             a store, perhaps one that has been restarted
//	ask n2 until=150 now=(40,50)                n2 asks; what has to become durable, what is granted
//	durable 250 now=(40,50)                     the disk says so
//	released n2 now=(160,170)                   may we vote against n2?
//	want now=(40,50) [allowance=20]             what we ask of others
//	granted n2 until=150 since=40             n2 promises us
//	close now=(40,50)                           the exact high water
func TestPromise(t *testing.T) {
	datadriven.Walk(t, "testdata/promise", func(t *testing.T, path string) {
		var p *promises
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
				p = newPromises(100, 200, time.Duration(instant("slack")), instant("fence"))
				return ""
			case "ask":
				return p.ask(now, node, instant("until")).String()
			case "durable":
				return p.persisted(now, clock.Instant(n)).String()
			case "released":
				return fmt.Sprintf("%t (bound until %d)\n", p.released(now, node), p.until(node))
			case "want":
				return fmt.Sprintf("%d\n", p.want(now, time.Duration(instant("allowance"))))
			case "granted":
				changed := p.granted(node, Support{Until: instant("until"), Since: instant("since")})
				return fmt.Sprintf("until=%d since=%d changed=%t\n", p.got[node].Until, p.got[node].Since, changed)
			case "close":
				return fmt.Sprintf("high water %d\n", p.close(now))
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func (o output) String() string {
	var b strings.Builder
	if o.persist != 0 {
		fmt.Fprintf(&b, "make %d durable\n", o.persist)
	}
	for _, g := range o.grants {
		fmt.Fprintf(&b, "grant n%d until=%d since=%d\n", g.to, g.Until, g.Since)
	}
	if o.refused != nil {
		fmt.Fprintf(&b, "refused: %s\n", o.refused)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}
