package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// pauses measures for how long no statement was acknowledged through the nodes that are well.
type pauses struct {
	t *testing.T

	mu     sync.Mutex
	struck int // the node that is not; 0: all are well
	acks   []time.Time
}

// watch begins to note what is acknowledged through nodes other than one.
func (p *pauses) watch(struck int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.struck, p.acks = struck, []time.Time{now}
}

// acknowledged notes a statement.
func (p *pauses) acknowledged(through int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if through != p.struck {
		p.acks = append(p.acks, time.Now())
	}
}

// isStruck reports whether a node is the one that is not well.
func (p *pauses) isStruck(node int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return node == p.struck
}

// gap is the longest time without any acknowledgement since watch.
func (p *pauses) gap() (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := 1; i < len(p.acks); i++ {
		longest = max(longest, p.acks[i].Sub(p.acks[i-1]))
	}
	return longest
}

// resumes waits until so many statements have been acknowledged from now on.
func (p *pauses) resumes(want int) {
	from := time.Now()
	eventually(p.t, "inserts are acknowledged", func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		n := 0
		for i := len(p.acks) - 1; i >= 0 && p.acks[i].After(from); i-- {
			n++
		}
		if n < want {
			return fmt.Errorf("%d of %d", n, want)
		}
		return nil
	})
}
