package txn

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Repeats is how often something was begun again, why, and what time went into the attempts that were thrown away and the pauses
// after them. Whoever begins again accounts for it here: DB.Run for its transactions, sessions for their statements.
type Repeats struct {
	N    uint64
	Why  map[string]uint64 // by reason; nil: none
	Lost time.Duration
}

// Add accounts for one repetition.
func (r *Repeats) Add(why string, lost time.Duration) {
	r.Join(Repeats{N: 1, Why: map[string]uint64{why: 1}, Lost: lost})
}

// Join adds up both.
func (r *Repeats) Join(o Repeats) {
	r.N += o.N
	r.Lost += o.Lost
	if r.Why == nil && len(o.Why) > 0 {
		r.Why = make(map[string]uint64, len(o.Why))
	}
	for why, n := range o.Why {
		r.Why[why] += n
	}
}

// Clone shares nothing with r.
func (r Repeats) Clone() Repeats {
	r.Why = maps.Clone(r.Why)
	return r
}

// Reasons lists them: "refresh failed 3, uncertain 1".
func (r Repeats) Reasons() string {
	var out []string
	for _, why := range slices.Sorted(maps.Keys(r.Why)) {
		out = append(out, why+" "+strconv.FormatUint(r.Why[why], 10))
	}
	return strings.Join(out, ", ")
}
