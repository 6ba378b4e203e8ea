package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
)

// Workload is one benchmark on one target, with all that it has to remember for its verification. A value is used for one
// target only: set up once, run in one or several slices, verified at the end.
type Workload interface {
	// Name is what reports call it.
	Name() string
	// Classes are the kinds of operations, in the order of reports; the first is the headline.
	Classes() []string
	// Setup makes and fills the tables.
	Setup(ctx context.Context, t *Target, say Say) error
	// Client makes one client. rnd is its own; all its choices come from there.
	Client(rnd *rand.Rand) Client
	// Verify compares the data with what clients were told, and returns what is wrong, a sentence each. It is called when
	// no operation is under way. An error means that the data could not be looked at.
	Verify(ctx context.Context, t *Target) (violations []string, err error)
}

// Client is one client of a workload, used by one worker.
type Client interface {
	// Next chooses the next operation.
	Next() Op
}

// Op is one operation: its class (an index of Workload.Classes), and one attempt at it. Do is called again when it fails
// with an error that says to retry (Retryable).
type Op struct {
	Class int
	Do    func(ctx context.Context, c *Conn) error
}

// Say is told what happens, a line each.
type Say func(format string, args ...any)

// Scattered gives the nth of a sequence of numbers that never repeats and looks random: keys for rows that are to be spread over a
// table, whatever was inserted before. It is the finalizer of SplitMix64, which maps 64 bits to 64 bits one to one.
func Scattered(n uint64) int64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return int64(n ^ n>>31)
}

// Violations collects what a workload finds wrong while it runs, up to a limit, from many clients at once.
type Violations struct {
	mu   sync.Mutex
	text []string
	more int
}

// maxViolations is how many are kept in full: the first ones tell what is wrong, the number of the rest how much.
const maxViolations = 10

// Add notes one.
func (v *Violations) Add(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.text) < maxViolations {
		v.text = append(v.text, fmt.Sprintf(format, args...))
	} else {
		v.more++
	}
}

// List returns them.
func (v *Violations) List() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := append([]string(nil), v.text...)
	if v.more > 0 {
		out = append(out, fmt.Sprintf("and %d more", v.more))
	}
	return out
}

// Ledger counts effects from the outside. One is issued before it is sent, acknowledged after its answer, refused if the
// answer says that nothing was done. So at any moment: acked <= effects in the database <= issued - refused.
type Ledger struct {
	mu                     sync.Mutex
	issued, acked, refused int64
}

// Do counts n effects around f.
func (l *Ledger) Do(n int64, f func() error) error {
	l.add(n, 0, 0)
	err := f()
	switch {
	case err == nil:
		l.add(0, n, 0)
	case Refused(err):
		l.add(0, 0, n)
	}
	return err
}

func (l *Ledger) add(issued, acked, refused int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.issued, l.acked, l.refused = l.issued+issued, l.acked+acked, l.refused+refused
}

// Bounds are the least and the most that the database can hold. At a moment before something that reads, atLeast bounds what it
// must see; at a moment after it, Issued bounds what it can have seen.
func (l *Ledger) Bounds() (atLeast, atMost int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked, l.issued - l.refused
}

// Issued is everything ever sent, refused or not: a refusal that comes later cannot unsay what a read has seen before.
func (l *Ledger) Issued() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.issued
}
