package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	accounts = 20
	each     = 100 // on each account at first
	tellers  = 6
)

// bank moves money between accounts and writes each transfer down in a second table, in the same transaction. So the
// final state tells which transfers happened, and the tellers know which were acknowledged.
type bank struct {
	t     *testing.T
	nodes []*node
	stop  chan struct{}
	wg    sync.WaitGroup

	acked atomic.Int64
	sums  atomic.Int64
	mu    sync.Mutex
	done  []int64 // ids of acknowledged transfers
}

func openBank(t *testing.T, nodes []*node) *bank {
	t.Helper()
	nodes[0].exec(`CREATE DATABASE bank`,
		`CREATE TABLE bank.accounts(id INT PRIMARY KEY, balance BIGINT NOT NULL)`,
		`CREATE TABLE bank.transfers(id BIGINT PRIMARY KEY, src INT NOT NULL, dst INT NOT NULL, amount BIGINT NOT NULL)`)
	for i := range accounts {
		nodes[0].exec(fmt.Sprintf(`INSERT INTO bank.accounts VALUES (%d, %d)`, i, each))
	}
	// Three ranges of accounts and three of transfers, led by three nodes: a transfer writes in several of them, so it is
	// committed with intents and a record, and each kill takes a third of the leases away.
	for third := 1; third <= 3; third++ {
		first, id := (third-1)*accounts/3, (third-1)*1_000_000
		for _, p := range []struct {
			table string
			at    int
		}{{"bank.accounts", first}, {"bank.transfers", id}} {
			nodes[0].exec(fmt.Sprintf(`CALL longitude_split('%s', 'PRIMARY', '%d')`, p.table, p.at))
			nodes[0].exec(fmt.Sprintf(`CALL longitude_move_lease('%s', 'PRIMARY', '%d', '%d')`, p.table, p.at, third))
		}
	}
	b := &bank{t: t, nodes: nodes, stop: make(chan struct{})}
	for i := range tellers {
		b.wg.Go(func() { b.teller(i) })
	}
	for _, n := range nodes {
		b.wg.Go(func() { b.auditor(n) })
	}
	return b
}

// again runs fn until the bank closes.
func (b *bank) again(fn func()) {
	for {
		select {
		case <-b.stop:
			return
		default:
			fn()
		}
	}
}

func (b *bank) teller(i int) {
	rnd, next := rand.New(rand.NewPCG(1, uint64(i))), int64(i%3)*1_000_000+int64(i) // in one of three ranges
	at := i                                                                         // the node that this teller talks to; it goes to another when that one fails
	b.again(func() {
		next += tellers
		err := b.transfer(b.nodes[at%len(b.nodes)], next, rnd)
		var answer *mysql.MySQLError
		switch {
		case err == nil:
			b.acked.Add(1)
			b.mu.Lock()
			b.done = append(b.done, next)
			b.mu.Unlock()
		case !errors.As(err, &answer):
			at++
		}
	})
}

func (b *bank) transfer(n *node, id int64, rnd *rand.Rand) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tx, err := n.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	src, dst, amount := rnd.IntN(accounts), rnd.IntN(accounts), rnd.Int64N(10)+1
	var balance int64
	if err := tx.QueryRowContext(ctx, `SELECT balance FROM bank.accounts WHERE id = ?`, src).Scan(&balance); err != nil {
		return err
	}
	if src == dst || balance < amount {
		amount = 0
	}
	for _, q := range []struct {
		text string
		args []any
	}{
		{`UPDATE bank.accounts SET balance = balance - ? WHERE id = ?`, []any{amount, src}},
		{`UPDATE bank.accounts SET balance = balance + ? WHERE id = ?`, []any{amount, dst}},
		{`INSERT INTO bank.transfers VALUES (?, ?, ?, ?)`, []any{id, src, dst, amount}},
	} {
		if _, err := tx.ExecContext(ctx, q.text, q.args...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// auditor adds all accounts up again and again through one node.
func (b *bank) auditor(n *node) {
	b.again(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		var sum int64
		if err := n.db.QueryRowContext(ctx, `SELECT SUM(balance) FROM bank.accounts`).Scan(&sum); err != nil {
			time.Sleep(20 * time.Millisecond) // the node is down, or refuses for a moment
			return
		}
		b.sums.Add(1)
		if sum != accounts*each {
			b.t.Errorf("node %d: the accounts hold %d, want %d", n.id, sum, accounts*each)
		}
	})
}

// moves waits until n more transfers have been acknowledged, and says how long that took.
func (b *bank) moves(n int64, when string) {
	b.t.Helper()
	start, from := time.Now(), b.acked.Load()
	eventually(b.t, fmt.Sprintf("%d transfers %s", n, when), func() error {
		if got := b.acked.Load() - from; got < n {
			return fmt.Errorf("%d so far", got)
		}
		return nil
	})
	b.t.Logf("%d transfers %s took %s", n, when, time.Since(start).Round(time.Millisecond))
}

// close stops the load and compares what is there with what was acknowledged.
func (b *bank) close() {
	b.t.Helper()
	close(b.stop)
	b.wg.Wait()
	b.t.Logf("%d transfers acknowledged, %d sums read", b.acked.Load(), b.sums.Load())
	for _, n := range b.nodes {
		happened, balance := map[int64]bool{}, map[int]int64{}
		eventually(b.t, fmt.Sprintf("node %d reads all transfers", n.id), func() error {
			clear(happened)
			for i := range accounts {
				balance[i] = each
			}
			rows, err := n.db.Query(`SELECT id, src, dst, amount FROM bank.transfers`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var id, amount int64
				var src, dst int
				if err := rows.Scan(&id, &src, &dst, &amount); err != nil {
					return err
				}
				happened[id] = true
				balance[src] -= amount
				balance[dst] += amount
			}
			return rows.Err()
		})
		for _, id := range b.done {
			if !happened[id] {
				b.t.Errorf("node %d: transfer %d was acknowledged and is lost", n.id, id)
			}
		}
		for id, want := range balance {
			if got := one[int64](n, `SELECT balance FROM bank.accounts WHERE id = ?`, id); got != want {
				b.t.Errorf("node %d: account %d holds %d, its transfers make it %d", n.id, id, got, want)
			}
		}
	}
}

// TestKillEachNodeInTurn kills one process after the other with SIGKILL while the bank works. The other two must go on,
// the killed one must come back, and nothing acknowledged may be lost.
func TestKillEachNodeInTurn(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	nodes := startCluster(t)
	replicated(t, nodes)
	b := openBank(t, nodes)
	b.moves(20, "with all nodes up")
	for _, n := range nodes {
		n.kill()
		b.moves(20, fmt.Sprintf("with node %d killed", n.id))
		b.moves(200, fmt.Sprintf("more with node %d killed", n.id))
		n.start()
		n.healthy()
		b.moves(20, fmt.Sprintf("with node %d back", n.id))
		replicated(t, nodes)
	}
	b.close()
}

// TestGracefulStop ends a node with SIGTERM: it hands its leases over and exits with code 0.
func TestGracefulStop(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	nodes := startCluster(t)
	replicated(t, nodes)
	b := openBank(t, nodes)
	for _, n := range nodes {
		n.signal(terminate)
		if code := n.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("node %d exited with %d after SIGTERM, want 0", n.id, code)
		}
		b.moves(20, fmt.Sprintf("with node %d stopped", n.id))
		n.start()
		n.healthy()
		replicated(t, nodes)
	}
	b.close()
}
