// Package bank moves money between accounts, in transactions that read two rows and write both, while others add up all
// accounts.
//
//	B1  Every sum over all accounts, during the run and at the end, is what it was at the beginning.
//	B2  At the end no account is below zero: a transfer that would do that is not made.
//
// A transfer computes the new balances in the client and writes them absolutely, so a lost update changes the sum. With
// Lock it reads the two rows FOR UPDATE, which is what a careful program does on any server; without it the database
// alone must see that a balance has changed since it was read. Longitude does (serializable); InnoDB's default does not,
// and then B1 is what fails.
package bank

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/longitude-db/longitude/bench/harness"
)

// Options of the workload.
type Options struct {
	Accounts    int
	SumFraction float64 // how often an operation adds up all accounts
	Hot         int     // transfers are among this many accounts; 0: among all
	Lock        bool    // read FOR UPDATE in transfers
}

const opening = 1000 // balance of each account at the beginning

// Check reports all that is wrong with the options.
func (o Options) Check() error {
	var faults []error
	if o.Accounts < 2 {
		faults = append(faults, fmt.Errorf("accounts is %d, wanted: 2 or more", o.Accounts))
	}
	if o.Hot != 0 && (o.Hot < 2 || o.Hot > o.Accounts) {
		faults = append(faults, fmt.Errorf("hot is %d, wanted: 2 to %d accounts, or 0 for all", o.Hot, o.Accounts))
	}
	if !(o.SumFraction >= 0 && o.SumFraction <= 1) {
		faults = append(faults, fmt.Errorf("sum fraction is %g, wanted: 0 to 1", o.SumFraction))
	}
	return errors.Join(faults...)
}

// Workload is the bank on one target.
type Workload struct {
	o     Options
	wrong harness.Violations
}

// New makes one.
func New(o Options) (*Workload, error) { return &Workload{o: o}, o.Check() }

// Name implements harness.Workload.
func (w *Workload) Name() string { return "bank" }

// Classes implements harness.Workload.
func (w *Workload) Classes() []string { return []string{"transfer", "sum"} }

const (
	create   = `CREATE TABLE accounts(id INT PRIMARY KEY, balance BIGINT NOT NULL)`
	readTwo  = `SELECT id, balance FROM accounts WHERE id IN (?, ?) ORDER BY id`
	readLock = readTwo + ` FOR UPDATE`
	set      = `UPDATE accounts SET balance = ? WHERE id = ?`
	sumAll   = `SELECT SUM(balance), MIN(balance), COUNT(*) FROM accounts`
)

// Setup implements harness.Workload.
func (w *Workload) Setup(ctx context.Context, t *harness.Target, say harness.Say) error {
	if err := t.Fresh(ctx, "accounts"); err != nil {
		return err
	}
	if _, err := t.Nodes[0].ExecContext(ctx, create); err != nil {
		return fmt.Errorf("%s: %w", create, err)
	}
	say("opening %d accounts", w.o.Accounts)
	return harness.Insert(ctx, t.Nodes[0], "INSERT INTO accounts VALUES ", "(?, ?)", 0, w.o.Accounts, func(i int) []any { return []any{i, opening} })
}

// Client implements harness.Workload.
func (w *Workload) Client(rnd *rand.Rand) harness.Client { return &client{w, rnd} }

type client struct {
	w   *Workload
	rnd *rand.Rand
}

// Next implements harness.Client.
func (c *client) Next() harness.Op {
	if c.rnd.Float64() < c.w.o.SumFraction {
		return harness.Op{Class: 1, Do: c.w.sum}
	}
	n := c.w.o.Accounts
	if c.w.o.Hot > 0 {
		n = c.w.o.Hot
	}
	from := c.rnd.IntN(n)
	to := (from + 1 + c.rnd.IntN(n-1)) % n
	amount := c.rnd.Int64N(100) + 1
	return harness.Op{Do: func(ctx context.Context, conn *harness.Conn) error { return c.w.transfer(ctx, conn, from, to, amount) }}
}

func (w *Workload) transfer(ctx context.Context, conn *harness.Conn, from, to int, amount int64) error {
	return conn.Tx(ctx, func() error {
		q := readTwo
		if w.o.Lock {
			q = readLock
		}
		rows, err := conn.Query(ctx, q, from, to)
		if err != nil {
			return err
		}
		defer rows.Close()
		balance := map[int]int64{}
		for rows.Next() {
			var id int
			var b int64
			if err := rows.Scan(&id, &b); err != nil {
				return err
			}
			balance[id] = b
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if len(balance) != 2 {
			w.wrong.Add("B1: of accounts %d and %d a transfer found %d", from, to, len(balance))
			return nil
		}
		if balance[from] < amount {
			return nil
		}
		for _, x := range []struct {
			id  int
			new int64
		}{{from, balance[from] - amount}, {to, balance[to] + amount}} {
			if _, err := conn.Exec(ctx, set, x.new, x.id); err != nil {
				return err
			}
		}
		return nil
	})
}

// sum checks B1.
func (w *Workload) sum(ctx context.Context, conn *harness.Conn) error {
	rows, err := conn.Query(ctx, sumAll)
	if err != nil {
		return err
	}
	defer rows.Close()
	var sum, least, n int64
	if rows.Next() {
		if err := rows.Scan(&sum, &least, &n); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	w.check("while transfers ran", sum, least, n)
	return nil
}

func (w *Workload) check(when string, sum, least, n int64) {
	if want := int64(w.o.Accounts) * opening; sum != want || n != int64(w.o.Accounts) {
		w.wrong.Add("B1: %s %d accounts add up to %d, wanted: %d accounts and %d", when, n, sum, w.o.Accounts, want)
	}
	if least < 0 {
		w.wrong.Add("B2: %s an account stands at %d", when, least)
	}
}

// Verify implements harness.Workload.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	for i, db := range t.Nodes {
		var sum, least, n int64
		if err := db.QueryRowContext(ctx, sumAll).Scan(&sum, &least, &n); err != nil {
			return nil, err
		}
		w.check(fmt.Sprintf("at the end, on node %d of %d,", i+1, len(t.Nodes)), sum, least, n)
	}
	return w.wrong.List(), nil
}
