package rpc

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

const (
	backoffMin = 50 * time.Millisecond
	backoffMax = time.Second
)

// way is one of the lanes to a node.
type way struct {
	id   kv.NodeID
	lane kv.Lane
}

// peer is another node as we reach it in one lane: the connection that we dialled, or when to try again.
//
// A connection is made when there is something to say. While it is being made messages wait in its queue. After a
// failure everything fails at once until the pause is over; and after one that was silence, until a connection has been made: or
// each call to a node that cannot be reached would wait for the next try to fail.
type peer struct {
	t *Transport
	way

	mu      sync.Mutex
	link    *link // nil: none
	silent  bool  // the last connection ended in silence, and none has been made since
	probing bool  // the link is being made after silence
	retryAt time.Time
	backoff time.Duration
	lastErr error
	// failed is when something that we had to say last found no way: a connection broke or could not be made, or something was refused
	// because of that. made is when the present connection was.
	failed, made time.Time
}

// connect returns the connection, perhaps one that is only being made.
func (p *peer) connect() (*link, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.connectLocked()
}

func (p *peer) connectLocked() (*link, error) {
	switch {
	case p.link != nil && p.probing, p.link == nil && p.lastErr != nil && time.Now().Before(p.retryAt):
		p.failed = time.Now()
		return nil, fmt.Errorf("not reachable: %w", p.lastErr)
	case p.link != nil:
		return p.link, nil
	}
	addr, ok := p.t.o.Addr(p.id)
	if !ok {
		return nil, fmt.Errorf("its address is not known")
	}
	l := newLink(p.t, p, p.id, p.lane, addr)
	if !p.t.spawn(l.run) {
		return nil, errShutdown
	}
	p.link, p.probing = l, p.silent
	if p.probing {
		return nil, fmt.Errorf("not reachable: %w", p.lastErr)
	}
	return l, nil
}

// up is called when the connection has been made.
func (p *peer) up() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.probing, p.silent = false, false
	p.made = time.Now()
}

// reaches reports whether what we have to say gets through, as far as we know: nothing has found no way lately, or a connection has held for
// as long as one that is silent is given. What was not tried lately is not known to fail.
func (p *peer) reaches(now time.Time, dead time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	holds := p.link != nil && !p.probing && p.made.After(p.failed) && now.Sub(p.made) >= dead
	return p.failed.IsZero() || holds || now.Sub(p.failed) >= 2*dead
}

// isSilence reports whether a connection ended, or could not be made, because the peer said nothing, or had enough of us. A peer that
// accepts a connection and ends it before it has answered our greeting has said nothing either: it gave up waiting for a greeting that
// is being lost on its way, perhaps a moment before we would have given up waiting for the answer.
func isSilence(err error, greeted bool) bool {
	return errors.Is(err, errSilent) || errors.Is(err, errStuck) || errors.Is(err, errParted) || isTimeout(err) ||
		!greeted && errors.Is(err, io.EOF)
}

// lost is called when a connection has ended, or could not be made. The first try after a break of one that had held follows at
// once, whether or not there is something to say: if the peer's process has ended its machine refuses, and we know. After that
// the pause doubles as long as no connection holds.
func (p *peer) lost(l *link, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.link, p.lastErr = nil, err
	p.silent = p.silent || isSilence(err, !l.since.IsZero())
	if !errors.Is(err, errParted) && !errors.Is(err, errShutdown) && !errors.Is(err, errClosed) {
		p.failed = time.Now()
	}
	if !l.since.IsZero() && time.Since(l.since) > backoffMax {
		p.backoff = 0
	}
	first := !l.since.IsZero() && p.backoff == 0
	p.backoff = min(max(2*p.backoff, backoffMin), backoffMax)
	if !first {
		p.retryAt = time.Now().Add(p.backoff/2 + rand.N(p.backoff/2))
		return
	}
	p.retryAt = time.Time{}
	if !errors.Is(err, errParted) && !onPurpose(err) {
		_, _ = p.connectLocked() // its failure is kept in lastErr, or says that we are closing
	}
}
