package rpc

import (
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rpc/rpctest"
)

// A node whose bulk lane gets through to nobody knows it as long as it has something to say there, and for a while after; the urgent lane
// does not matter. Where nothing was said, or a connection holds, nothing is known to fail (N10).
func TestReaches(t *testing.T) {
	noLeaks(t)
	var net addresses
	quick := func(o *Options) { o.Keepalive, o.DialTimeout = 100*time.Millisecond, 200*time.Millisecond }
	a := node(t, &net, 1, echo, quick)
	node(t, &net, 2, func(m *kv.Message) *kv.Message {
		if m.Liveness != nil {
			return nil
		}
		return echo(m)
	}, quick)
	way := through(t, &net, 2)
	if !a.Reaches(2) {
		t.Error("nothing was said, and it is known to fail")
	}
	if _, err := a.Call(2, ask("before"), 5*time.Second); err != nil || !a.Reaches(2) {
		t.Errorf("the call ended with %v, reached: %t", err, a.Reaches(2))
	}
	if err := way.Set(rpctest.Swallow, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is known that nothing gets through", func() bool {
		_, _ = a.Call(2, ask("x"), 50*time.Millisecond)
		return !a.Reaches(2)
	})
	a.Send(2, heartbeat())
	if a.Reaches(2) {
		t.Error("a heartbeat was sent, and nothing is known any more of the bulk lane")
	}
	if err := way.Set(rpctest.Pass, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is reached again", func() bool {
		_, err := a.Call(2, ask("x"), time.Second)
		return err == nil && a.Reaches(2)
	})
	// Left alone it is not known to fail for long.
	if err := way.Set(rpctest.Refuse, nil); err != nil {
		t.Fatal(err)
	}
	way.Break()
	eventually(t, "it is known that it refuses", func() bool { return !a.Reaches(2) })
	eventually(t, "nothing was tried for long", func() bool { return a.Reaches(2) })
}
