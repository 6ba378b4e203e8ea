package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/check/jepsen"
)

// single reads, writes and changes single rows, each by itself: every key has to be linearizable, in both orderings.
type single struct {
	r     *Run
	ops   []*check.RegisterOp
	used  [slots]int
	next  int64
	tally tally
}

// singleUses is how many operations a key gets: searching for their order takes time that grows fast with their number.
const singleUses = 120

func (s *single) name() string   { return "register" }
func (s *single) counts() *tally { return &s.tally }
func (s *single) schema() []string {
	return []string{"CREATE TABLE single(id BIGINT PRIMARY KEY, val BIGINT NOT NULL)"}
}

func (s *single) splits() []split {
	return (&keys{base: 0}).split("single")
}

func (s *single) step(w *worker) check.Outcome {
	o, _ := s.do(w, w.rng.IntN(slots), check.RegisterKind(w.rng.IntN(3)))
	return o
}

func (s *single) do(w *worker, slot int, kind check.RegisterKind) (check.Outcome, error) {
	op := &check.RegisterOp{Kind: kind}
	var id int64
	s.r.begin(&op.Op, w.name, func() {
		if kind != check.Read {
			s.next++
			op.New = s.next
		}
		id = int64(slot)*slotWidth + int64(s.used[slot]/singleUses)
		s.used[slot]++
		op.Key = fmt.Sprint("single", id)
		s.ops = append(s.ops, op)
	})
	var old int64
	read := func(ctx context.Context) error {
		old = 0
		return w.rows(ctx, fmt.Sprintf("SELECT val FROM single WHERE id = %d", id), func(scan func(...any) error) error { return scan(&old) })
	}
	write := func(ctx context.Context) error {
		_, err := w.exec(ctx, fmt.Sprintf("REPLACE INTO single VALUES (%d, %d)", id, op.New))
		return err
	}
	var o check.Outcome
	var err error
	switch kind {
	case check.Read:
		o, err = w.alone(read)
	case check.Write:
		o, err = w.alone(write)
	case check.Change:
		o, err = w.txn(func(ctx context.Context) error {
			if err := read(ctx); err != nil {
				return err
			}
			return write(ctx)
		})
	}
	s.r.end(&op.Op, &s.tally, o, err, func() { op.Old = old })
	return o, err
}

func (s *single) final(w *worker) error {
	for slot := range slots {
		if _, err := s.do(w, slot, check.Read); err != nil {
			return err
		}
	}
	return nil
}

func (s *single) done() []check.RegisterOp {
	out := make([]check.RegisterOp, len(s.ops))
	for i, o := range s.ops {
		out[i] = *o
	}
	return out
}

func (s *single) judge(check.Model) ([]check.Anomaly, int) {
	return check.Registers(s.done(), 10*time.Second)
}

func (s *single) history(h *jepsen.History) { h.Registers = append(h.Registers, s.done()...) }
