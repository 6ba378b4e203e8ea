package route

import (
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// trips remembers how long answers of other nodes take, at best: the way there and back, and little else.
type trips struct {
	mu sync.Mutex
	at map[kv.NodeID]time.Duration // never iterated
}

// forgets is how fast an estimate follows answers that take longer: by this part of the difference each time. A node that was
// quick once and is far away now is found out after some tens of answers.
const forgets = 32

func (t *trips) note(n kv.NodeID, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at == nil {
		t.at = map[kv.NodeID]time.Duration{}
	}
	old, known := t.at[n]
	if !known || took < old {
		t.at[n] = took
		return
	}
	t.at[n] = old + (took-old)/forgets
}

func (t *trips) get(n kv.NodeID) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at[n]
}

// RoundTrip is about how long a node's answer is on its way; 0: nothing is known. other is false for this node itself.
func (r *Router) RoundTrip(n kv.NodeID) (d time.Duration, other bool) {
	if n == r.o.Node && r.o.Local != nil {
		return 0, false
	}
	return r.trips.get(n), true
}
