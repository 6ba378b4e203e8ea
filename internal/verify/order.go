package verify

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/check/jepsen"
)

// order lets each client count up a key of its own, without reading, and readers read all keys: they have to see one
// order of the writes, which extends real time (long fork, causal reverse).
type order struct {
	r      *Run
	keys   int // given out
	writes []*check.Mark
	reads  []*check.Marks
	tally  tally
}

// mark is a client's key.
type mark struct {
	key int
	n   int64
}

func (l *order) name() string   { return "order" }
func (l *order) counts() *tally { return &l.tally }
func (l *order) schema() []string {
	return []string{"CREATE TABLE marks(id BIGINT PRIMARY KEY, n BIGINT NOT NULL)"}
}
func (l *order) history(h *jepsen.History) {}

// Keys are spread over the ranges: the nth key is in slot n mod slots.
func (l *order) splits() []split { return (&keys{}).split("marks") }

func markID(key int) int64 { return int64(key%slots)*slotWidth + int64(key/slots) }
func markKey(id int64) int { return int(id%slotWidth)*slots + int(id/slotWidth) }

func (l *order) step(w *worker) check.Outcome {
	switch {
	case l.r.enough(func() int { return len(l.writes) + len(l.reads) }):
		return idle
	case w.rng.IntN(2) == 0:
		o, _ := l.read(w)
		return o
	}
	return l.write(w)
}

func (l *order) write(w *worker) check.Outcome {
	m := &check.Mark{}
	l.r.begin(&m.Op, w.name, func() {
		if w.mark == nil {
			w.mark = &mark{key: l.keys}
			l.keys++
		}
		w.mark.n++
		m.Key, m.N = w.mark.key, w.mark.n
		l.writes = append(l.writes, m)
	})
	o, err := w.alone(func(ctx context.Context) error {
		_, err := w.exec(ctx, fmt.Sprintf("REPLACE INTO marks VALUES (%d, %d)", markID(m.Key), m.N))
		return err
	})
	l.r.end(&m.Op, &l.tally, o, err, nil)
	if o == check.Unknown {
		w.mark = nil // whatever it writes there later might come before this
	}
	return o
}

func (l *order) read(w *worker) (check.Outcome, error) {
	m := &check.Marks{}
	l.r.begin(&m.Op, w.name, func() { l.reads = append(l.reads, m) })
	var got []int64
	scan := func(ctx context.Context, where string) error {
		return w.rows(ctx, "SELECT id, n FROM marks "+where, func(scan func(...any) error) error {
			var id, n int64
			if err := scan(&id, &n); err != nil {
				return err
			}
			k := markKey(id)
			if id < 0 || k >= 1_000_000 {
				return fmt.Errorf("the database returned the key %d, which nobody wrote", id)
			}
			for len(got) <= k {
				got = append(got, 0)
			}
			got[k] = n
			return nil
		})
	}
	var o check.Outcome
	var err error
	if w.rng.IntN(2) == 0 {
		o, err = w.alone(func(ctx context.Context) error { return scan(ctx, "") })
	} else { // slowly, the parts in any order
		parts := w.rng.Perm(slots)
		o, err = w.txn(func(ctx context.Context) error {
			for _, p := range parts {
				if err := scan(ctx, fmt.Sprintf("WHERE id >= %d AND id < %d", p*slotWidth, (p+1)*slotWidth)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	l.r.end(&m.Op, &l.tally, o, err, func() { m.N = got })
	return o, err
}

func (l *order) final(w *worker) error {
	_, err := l.read(w)
	return err
}

func (l *order) judge(check.Model) ([]check.Anomaly, int) {
	ws, rs := make([]check.Mark, len(l.writes)), make([]check.Marks, len(l.reads))
	for i, w := range l.writes {
		ws[i] = *w
	}
	n := l.keys
	for _, r := range l.reads {
		n = max(n, len(r.N))
	}
	for i, r := range l.reads {
		rs[i] = *r
		rs[i].N = append(r.N[:len(r.N):len(r.N)], make([]int64, n-len(r.N))...) // a key that was not there yet
	}
	return check.Order(ws, rs), 0
}
