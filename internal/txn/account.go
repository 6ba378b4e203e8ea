package txn

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/route"
)

// TxnStats is what one transaction has cost so far, over all its attempts: the one account of it, that whatever shows something of a
// transaction reads. Where attempts are repeated by DB.Run they are counted on; who repeats a transaction himself hands them
// on with the repetition added (Options.StatsOf).
type TxnStats struct {
	Repeats Repeats // of the whole transaction
	// Rounds is how often the transaction waited for answers of ranges; what goes out in parallel is one. CommitRounds are those
	// of commits among them. Messages are the batches sent in these rounds, those to this node's own ranges included.
	Rounds, CommitRounds, Messages int
	// CommitWait and ReadWait are rule 2: how far from past things were, and what was waited for that.
	CommitWait, ReadWait WaitStats
	// Locking is the time in locking reads, waiting for others included.
	Locking time.Duration
}

// Waited is the time that was stood still for rule 2, for rows and commits.
func (s TxnStats) Waited() time.Duration { return s.CommitWait.Actual + s.ReadWait.Actual }

// String is one line for people. Parts that are nothing are left out.
func (s TxnStats) String() string {
	out := []string{plural(s.Rounds, "round"), "commit in " + plural(s.CommitRounds, "round")}
	if s.CommitRounds == 0 {
		out = out[:1]
	}
	if r := s.Repeats; r.N > 0 {
		out = append(out, "begun again ("+r.Reasons()+"), "+r.Lost.Round(time.Microsecond).String()+" lost")
	}
	if s.Locking > 0 {
		out = append(out, s.Locking.Round(time.Microsecond).String()+" in locking reads")
	}
	for _, w := range []struct {
		what string
		WaitStats
	}{{"commit wait ", s.CommitWait}, {"read wait ", s.ReadWait}} {
		if w.Needed > 0 {
			out = append(out, w.what+w.Actual.Round(time.Microsecond).String()+" of "+w.Needed.Round(time.Microsecond).String())
		}
	}
	return strings.Join(out, ", ")
}

// account is the live form of TxnStats, of one attempt.
type account struct {
	trips route.Trips

	mu     sync.Mutex
	s      TxnStats // of the attempts before, and of this one but for what trips counts
	commit int      // rounds when the commit began; -1: it has not
	ended  int      // rounds when it ended; -1: it has not

	lockers int           // locking reads under way
	since   time.Duration // when the first of them began
	locked  int           // keys that they have found, in this attempt
}

func (a *account) begin(before TxnStats) {
	a.s = before
	a.s.Repeats = before.Repeats.Clone()
	a.commit, a.ended = -1, -1
}

// locking accounts for a locking read; the func returned is called at its end. now is the runtime's clock.
func (a *account) locking(now func() time.Duration) (done func(found int)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lockers == 0 {
		a.since = now()
	}
	a.lockers++
	return func(found int) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.locked += found
		if a.lockers--; a.lockers == 0 {
			a.s.Locking += now() - a.since
		}
	}
}

// committing and committed enclose the rounds of a commit.
func (a *account) committing() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.commit = int(a.trips.Rounds.Load())
}

func (a *account) committed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = int(a.trips.Rounds.Load())
}

func (a *account) waited(commit bool, needed, actual time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := &a.s.ReadWait
	if commit {
		w = &a.s.CommitWait
	}
	w.Count++
	w.Needed += needed
	w.Actual += actual
}

// Stats is what the transaction has cost so far. It may be asked for at any time, from any task.
func (t *Txn) Stats() TxnStats {
	s, _, _ := t.account.read(t.db.o.RT.Now())
	return s
}

// read is what the transaction has cost, how many keys its locking reads have found in this attempt, and whether one is under way.
func (a *account) read(now time.Duration) (s TxnStats, locked int, locking bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s = a.s
	s.Repeats = a.s.Repeats.Clone()
	if a.lockers > 0 {
		s.Locking += now - a.since
	}
	rounds := int(a.trips.Rounds.Load())
	s.Rounds += rounds
	s.Messages += int(a.trips.Messages.Load())
	switch {
	case a.ended >= 0:
		s.CommitRounds += a.ended - a.commit
	case a.commit >= 0:
		s.CommitRounds += rounds - a.commit
	}
	return s, a.locked, a.lockers > 0
}

// within bounds an operation by an instant of the runtime's clock, and has its rounds counted.
func (t *Txn) within(ctx context.Context, at time.Duration) context.Context {
	return route.WithTrips(ctx, at, &t.account.trips)
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
