package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// bank moves money between accounts in several ranges, and reads all of them at once.
type bank struct {
	transfers []*check.Transfer
	snapshots []*check.Snapshot
	final     []check.Account
}

const (
	accounts = 6
	initial  = 1000
)

func accountKey(n int) kv.Key { return dataKey('b', n%parts, fmt.Sprint(n)) }

func encodeAccount(a check.Account) []byte {
	return fmt.Appendf(nil, "%d %d %d", a.Balance, a.Seq, a.Last)
}

// decodeAccount takes an absent account for an empty one: the totals will not be right then, which the checker says better.
func decodeAccount(v []byte) (a check.Account) {
	if len(v) == 0 {
		return a
	}
	if _, err := fmt.Sscan(string(v), &a.Balance, &a.Seq, &a.Last); err != nil {
		panic(fmt.Sprintf("sim: the database returned %q for an account: %v", v, err))
	}
	return a
}

func (b *bank) Splits() []kv.Key { return splits('b') }

func (b *bank) Setup(c *Client) error {
	return c.txn(false, func(ctx context.Context, t *txn.Txn) error {
		for n := range accounts {
			t.Put(accountKey(n), encodeAccount(check.Account{Balance: initial}))
		}
		return nil
	})
}

func (b *bank) Step(c *Client) {
	if c.Rand.IntN(3) == 0 {
		_ = b.snapshot(c, false)
	} else {
		b.transfer(c)
	}
}

func (b *bank) transfer(c *Client) {
	t := &check.Transfer{From: c.Rand.IntN(accounts), Amount: int64(1 + c.Rand.IntN(20))}
	t.To = (t.From + 1 + c.Rand.IntN(accounts-1)) % accounts
	c.begin(&t.Op, func() string {
		b.transfers = append(b.transfers, t)
		t.ID = int64(len(b.transfers))
		return fmt.Sprintf("transfer %d: %d from b%d to b%d", t.ID, t.Amount, t.From, t.To)
	})
	giveUp := c.Rand.IntN(40) == 0
	lock, hold := c.lock()
	err := c.txn(false, func(ctx context.Context, x *txn.Txn) error {
		vs, err := c.get(ctx, x, []kv.Key{accountKey(t.From), accountKey(t.To)}, lock, hold)
		if err != nil {
			return err
		}
		from, to := decodeAccount(vs[0]), decodeAccount(vs[1])
		from.Balance, from.Seq, from.Last = from.Balance-t.Amount, from.Seq+1, t.ID
		to.Balance, to.Seq, to.Last = to.Balance+t.Amount, to.Seq+1, t.ID
		x.Put(accountKey(t.From), encodeAccount(from))
		x.Put(accountKey(t.To), encodeAccount(to))
		if giveUp {
			return errGaveUp
		}
		c.H.mu.Lock()
		t.FromSeq, t.ToSeq = from.Seq, to.Seq // also if this client never learns what became of it
		c.H.mu.Unlock()
		return nil
	})
	c.end(&t.Op, err, func() string { return fmt.Sprintf(" versions %d, %d", t.FromSeq, t.ToSeq) })
}

func (b *bank) snapshot(c *Client, final bool) error {
	s := &check.Snapshot{}
	c.begin(&s.Op, func() string {
		b.snapshots = append(b.snapshots, s)
		return "snapshot"
	})
	how := c.Rand.IntN(3)
	lock, _ := c.lock()
	lock.Policy = kv.LockQueue // a snapshot is of all accounts
	var as []check.Account
	err := c.txn(c.Rand.IntN(2) == 0, func(ctx context.Context, t *txn.Txn) (err error) {
		as, err = readAccounts(ctx, t, how, lock)
		return err
	})
	c.end(&s.Op, err, func() string {
		s.Accounts = as
		if final && err == nil {
			b.final = as
		}
		return fmt.Sprint(" ", as)
	})
	return err
}

// readAccounts reads all accounts in one of the ways that there are.
func readAccounts(ctx context.Context, t *txn.Txn, how int, lock txn.Lock) ([]check.Account, error) {
	as := make([]check.Account, accounts)
	var rows []txn.KeyValue
	switch how {
	case 0: // by key, in parallel
		var ks []kv.Key
		for n := range accounts {
			ks = append(ks, accountKey(n))
		}
		vs, _, err := t.GetLocked(ctx, ks, lock)
		if err != nil {
			return nil, err
		}
		for n, v := range vs {
			as[n] = decodeAccount(v)
		}
		return as, nil
	case 1: // all ranges in parallel
		all, err := t.ScanManyLocked(ctx, []kv.Span{dataSpan('b')}, lock)
		if err != nil {
			return nil, err
		}
		rows = slices.Concat(all...)
	case 2: // one range after another
		scan := t.Scan(ctx, dataSpan('b'), txn.ScanOptions{Lock: lock})
		for {
			page, err := scan.Next(ctx)
			if err != nil {
				return nil, err
			}
			if len(page) == 0 {
				break
			}
			rows = append(rows, page...)
		}
	}
	for n := range as {
		if i := slices.IndexFunc(rows, func(r txn.KeyValue) bool { return r.Key.Equal(accountKey(n)) }); i >= 0 {
			as[n] = decodeAccount(rows[i].Value)
		}
	}
	return as, nil
}

func (b *bank) Final(c *Client) error { return b.snapshot(c, true) }

func (b *bank) Check() []check.Anomaly {
	ts, ss := make([]check.Transfer, len(b.transfers)), make([]check.Snapshot, len(b.snapshots))
	for i, t := range b.transfers {
		ts[i] = *t
	}
	for i, s := range b.snapshots {
		ss[i] = *s
	}
	return check.Bank(initial, ts, ss, b.final)
}

func (b *bank) Ops() (n map[check.Outcome]int) {
	for _, t := range b.transfers {
		n = count(n, t.Outcome)
	}
	for _, s := range b.snapshots {
		n = count(n, s.Outcome)
	}
	return n
}
