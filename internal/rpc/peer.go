package rpc

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

const (
	backoffMin = 50 * time.Millisecond
	backoffMax = time.Second
)

// peer is another node as we reach it: the connection that we dialled, or when to try again.
//
// A connection is made when there is something to say. While it is being made messages wait in its queue. After a
// failure everything fails at once until the pause is over.
type peer struct {
	t  *Transport
	id kv.NodeID

	mu      sync.Mutex
	link    *link // nil: none
	retryAt time.Time
	backoff time.Duration
	lastErr error
}

// connect returns the connection, perhaps one that is only being made.
func (p *peer) connect() (*link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link != nil {
		return p.link, nil
	}
	if p.lastErr != nil && time.Now().Before(p.retryAt) {
		return nil, fmt.Errorf("not reachable: %w", p.lastErr)
	}
	addr, ok := p.t.o.Addr(p.id)
	if !ok {
		return nil, fmt.Errorf("its address is not known")
	}
	l := newLink(p.t, p, p.id, addr)
	if !p.t.spawn(l.run) {
		return nil, errShutdown
	}
	p.link = l
	return l, nil
}

// up is called when the connection has been made.
func (p *peer) up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backoff = 0
}

// lost is called when a connection has ended, or could not be made. The pause doubles as long as none can be made.
func (p *peer) lost(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link, p.lastErr = nil, err
	p.backoff = min(max(2*p.backoff, backoffMin), backoffMax)
	p.retryAt = time.Now().Add(p.backoff/2 + rand.N(p.backoff/2))
}
