package txn

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/route"
)

// TxnStats is what one transaction has cost so far, over all its attempts. Where those are repeated by DB.Run they are
// counted on; who repeats a transaction himself hands them on (Options.StatsOf).
type TxnStats struct {
	Attempts int            // begun; 1: it was not repeated
	Restarts map[string]int // by reason, as in Stats
	// Lost is the time from the beginning of the first attempt to that of the present one: work that was thrown away, and
	// pauses.
	Lost time.Duration
	// Rounds is how often the transaction waited for answers of ranges; what goes out in parallel is one. CommitRounds are those
	// of commits among them. Messages are the batches sent in these rounds, those to this node's own ranges included.
	Rounds, CommitRounds, Messages int
	// CommitWait and ReadWait are rule 2: how far from past things were, and what was waited for that.
	CommitWait, ReadWait WaitStats

	first time.Duration // when the first attempt began, by the runtime; 0: none has
}

// String is one line for people. Parts that are nothing are left out.
func (s TxnStats) String() string {
	out := []string{plural(s.Rounds, "round"), "commit in " + plural(s.CommitRounds, "round")}
	if s.CommitRounds == 0 {
		out = out[:1]
	}
	if s.Attempts > 1 {
		why := strings.Join(slices.Sorted(maps.Keys(s.Restarts)), ", ")
		out = append(out, plural(s.Attempts, "attempt")+" ("+why+"), "+s.Lost.Round(time.Microsecond).String()+" lost")
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
}

func (a *account) begin(before TxnStats, now time.Duration) {
	a.s = before
	a.s.Restarts = maps.Clone(before.Restarts)
	if a.s.Attempts++; a.s.Attempts == 1 {
		a.s.first = now
	}
	a.s.Lost = now - a.s.first
	a.commit, a.ended = -1, -1
}

func (a *account) restarted(reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.s.Restarts == nil {
		a.s.Restarts = map[string]int{}
	}
	a.s.Restarts[reason]++
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

// Stats is what the transaction has cost so far.
func (t *Txn) Stats() TxnStats {
	a := &t.account
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.s
	s.Restarts = maps.Clone(a.s.Restarts)
	rounds := int(a.trips.Rounds.Load())
	s.Rounds += rounds
	s.Messages += int(a.trips.Messages.Load())
	switch {
	case a.ended >= 0:
		s.CommitRounds += a.ended - a.commit
	case a.commit >= 0:
		s.CommitRounds += rounds - a.commit
	}
	return s
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
