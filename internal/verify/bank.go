package verify

import (
	"context"
	"fmt"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/check/jepsen"
)

const (
	accounts = 6
	initial  = 1000
	// mostViews is how many operations bank and order do in a run: each reader is held against each writer, which takes
	// quadratic time.
	mostViews = 6000
)

// bank moves money between accounts, and reads all of them at once.
type bank struct {
	r         *Run
	transfers []*check.Transfer
	snapshots []*check.Snapshot
	last      []check.Account
	tally     tally
}

func (b *bank) name() string              { return "bank" }
func (b *bank) counts() *tally            { return &b.tally }
func (b *bank) splits() []split           { return []split{{"accounts", []int64{0, 2, 4}}} }
func (b *bank) history(h *jepsen.History) {}

func (b *bank) schema() []string {
	out := []string{"CREATE TABLE accounts(id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, seq BIGINT NOT NULL, last BIGINT NOT NULL)"}
	for n := range accounts {
		out = append(out, fmt.Sprintf("INSERT INTO accounts VALUES (%d, %d, 0, 0)", n, initial))
	}
	return out
}

// enough reports whether there are as many operations as can be judged; count is called while none begins.
func (r *Run) enough(count func() int) bool {
	r.clock.mu.Lock()
	defer r.clock.mu.Unlock()
	return count() >= mostViews
}

func (b *bank) step(w *worker) check.Outcome {
	switch {
	case b.r.enough(func() int { return len(b.transfers) + len(b.snapshots) }):
		return idle
	case w.rng.IntN(3) == 0:
		o, _ := b.snapshot(w, false)
		return o
	}
	return b.transfer(w)
}

// accounts reads some accounts.
func (b *bank) read(ctx context.Context, w *worker, where string, as []check.Account) error {
	return w.rows(ctx, "SELECT id, balance, seq, last FROM accounts "+where, func(scan func(...any) error) error {
		var id int
		var a check.Account
		if err := scan(&id, &a.Balance, &a.Seq, &a.Last); err != nil {
			return err
		}
		if id < 0 || id >= len(as) {
			return fmt.Errorf("the database returned account %d, which nobody made", id)
		}
		as[id] = a
		return nil
	})
}

func (b *bank) transfer(w *worker) check.Outcome {
	t := &check.Transfer{From: w.rng.IntN(accounts), Amount: 1 + w.rng.Int64N(20)}
	t.To = (t.From + 1 + w.rng.IntN(accounts-1)) % accounts
	b.r.begin(&t.Op, w.name, func() {
		b.transfers = append(b.transfers, t)
		t.ID = int64(len(b.transfers))
	})
	as := make([]check.Account, accounts)
	relative := w.rng.IntN(2) == 0 // let the database add, or write what was added here
	o, err := w.txn(func(ctx context.Context) error {
		if err := b.read(ctx, w, fmt.Sprintf("WHERE id IN (%d, %d)", t.From, t.To), as); err != nil {
			return err
		}
		for n, amount := range map[int]int64{t.From: -t.Amount, t.To: t.Amount} {
			a := &as[n]
			q := fmt.Sprintf("UPDATE accounts SET balance = %d, seq = %d, last = %d WHERE id = %d", a.Balance+amount, a.Seq+1, t.ID, n)
			if relative {
				q = fmt.Sprintf("UPDATE accounts SET balance = balance + %d, seq = seq + 1, last = %d WHERE id = %d", amount, t.ID, n)
			}
			if _, err := w.exec(ctx, q); err != nil {
				return err
			}
			a.Seq++
		}
		return nil
	})
	b.r.end(&t.Op, &b.tally, o, err, func() {
		if o != check.Failed {
			t.FromSeq, t.ToSeq = as[t.From].Seq, as[t.To].Seq
		}
	})
	return o
}

func (b *bank) snapshot(w *worker, final bool) (check.Outcome, error) {
	s := &check.Snapshot{}
	b.r.begin(&s.Op, w.name, func() { b.snapshots = append(b.snapshots, s) })
	as := make([]check.Account, accounts)
	var o check.Outcome
	var err error
	if w.rng.IntN(2) == 0 {
		o, err = w.alone(func(ctx context.Context) error { return b.read(ctx, w, "", as) })
	} else { // one statement after the other
		o, err = w.txn(func(ctx context.Context) error {
			for n := range accounts {
				if err := b.read(ctx, w, fmt.Sprintf("WHERE id = %d", n), as); err != nil {
					return err
				}
			}
			return nil
		})
	}
	b.r.end(&s.Op, &b.tally, o, err, func() {
		s.Accounts = as
		if final && o == check.OK {
			b.last = as
		}
	})
	return o, err
}

func (b *bank) final(w *worker) error {
	_, err := b.snapshot(w, true)
	return err
}

func (b *bank) judge(check.Model) ([]check.Anomaly, int) {
	ts, ss := make([]check.Transfer, len(b.transfers)), make([]check.Snapshot, len(b.snapshots))
	for i, t := range b.transfers {
		ts[i] = *t
	}
	for i, s := range b.snapshots {
		ss[i] = *s
	}
	return check.Bank(initial, ts, ss, b.last), 0
}
