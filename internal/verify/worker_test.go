package verify

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/internal/check"
)

// broken is a database that answers every statement, except one that begins with a text: that one gets an error.
type broken struct {
	on  string
	err error
	log *[]string
}

func (b broken) Connect(context.Context) (driver.Conn, error) {
	if b.on == "connect" {
		return nil, b.err
	}
	return b, nil
}

func (b broken) Driver() driver.Driver               { return nil }
func (b broken) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not prepared") }
func (b broken) Begin() (driver.Tx, error)           { return nil, errors.New("not begun so") }
func (b broken) Close() error                        { *b.log = append(*b.log, "close"); return nil }
func (b broken) LastInsertId() (int64, error)        { return 0, nil }
func (b broken) RowsAffected() (int64, error)        { return 1, nil }

// empty is a result without rows.
type empty struct{}

func (empty) Columns() []string         { return []string{"id", "val"} }
func (empty) Next([]driver.Value) error { return io.EOF }
func (empty) Close() error              { return nil }

func (b broken) answer(q string) error {
	q, _, _ = strings.Cut(q, " ")
	*b.log = append(*b.log, q)
	if q == b.on {
		return b.err
	}
	return nil
}

func (b broken) ExecContext(_ context.Context, q string, _ []driver.NamedValue) (driver.Result, error) {
	return b, b.answer(q)
}

func (b broken) QueryContext(_ context.Context, q string, _ []driver.NamedValue) (driver.Rows, error) {
	return empty{}, b.answer(q)
}

func answer(code uint16) error { return &mysql.MySQLError{Number: code, Message: "no"} }

// TestFates: what an error says of its transaction depends on whether the commit had been asked for (V3).
func TestFates(t *testing.T) {
	for _, c := range []struct {
		on   string
		err  error
		want check.Outcome
		log  string
	}{
		{"", nil, check.OK, "START INSERT SELECT COMMIT"},
		{"connect", errors.New("refused"), check.Failed, ""},
		{"START", mysql.ErrInvalidConn, check.Failed, "START close"},
		{"INSERT", answer(1213), check.Failed, "START INSERT ROLLBACK"},
		{"INSERT", answer(1180), check.Failed, "START INSERT ROLLBACK"},
		{"INSERT", mysql.ErrInvalidConn, check.Failed, "START INSERT ROLLBACK close"},
		{"SELECT", context.DeadlineExceeded, check.Failed, "START INSERT SELECT ROLLBACK close"},
		{"COMMIT", answer(1213), check.Failed, "START INSERT SELECT COMMIT"},
		{"COMMIT", answer(1205), check.Failed, "START INSERT SELECT COMMIT"},
		{"COMMIT", answer(1290), check.Failed, "START INSERT SELECT COMMIT"},
		{"COMMIT", answer(1180), check.Unknown, "START INSERT SELECT COMMIT"},
		{"COMMIT", answer(1105), check.Unknown, "START INSERT SELECT COMMIT"},
		{"COMMIT", mysql.ErrInvalidConn, check.Unknown, "START INSERT SELECT COMMIT close"},
		{"COMMIT", context.DeadlineExceeded, check.Unknown, "START INSERT SELECT COMMIT close"},
		{"COMMIT", driver.ErrBadConn, check.Failed, "START INSERT SELECT COMMIT close"}, // the driver has sent nothing
	} {
		t.Run(fmt.Sprint(c.on, " ", c.err), func(t *testing.T) {
			var log []string
			w := &worker{r: &Run{o: Options{Timeout: time.Minute}}, rng: rand.New(rand.NewPCG(1, 1))}
			w.r.nodes = []*sql.DB{sql.OpenDB(broken{c.on, c.err, &log})}
			defer w.r.nodes[0].Close()
			got, err := w.txn(func(ctx context.Context) error {
				if _, err := w.exec(ctx, "INSERT INTO t"); err != nil {
					return err
				}
				return w.rows(ctx, "SELECT 1", nil)
			})
			if got != c.want || (err == nil) != (c.err == nil) {
				t.Errorf("%v (%v), want %v", got, err, c.want)
			}
			if s := strings.Join(log, " "); s != c.log {
				t.Errorf("statements %q, want %q", s, c.log)
			}
		})
	}
}

// TestFatesAlone: a statement by itself asks for its commit.
func TestFatesAlone(t *testing.T) {
	for err, want := range map[error]check.Outcome{
		nil: check.OK, answer(1205): check.Failed, mysql.ErrInvalidConn: check.Unknown, context.DeadlineExceeded: check.Unknown,
	} {
		var log []string
		w := &worker{r: &Run{o: Options{Timeout: time.Minute}}}
		w.r.nodes = []*sql.DB{sql.OpenDB(broken{"REPLACE", err, &log})}
		got, _ := w.alone(func(ctx context.Context) error {
			_, err := w.exec(ctx, "REPLACE INTO t")
			return err
		})
		if got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
		w.r.nodes[0].Close()
	}
}

// TestKeys: a slot gives a key up after its writes, and reading all keys at the end leaves none out.
func TestKeys(t *testing.T) {
	k := &keys{base: 7, writes: 3}
	w := &worker{rng: rand.New(rand.NewPCG(1, 1))}
	var next int64
	used := map[int64]bool{}
	for range 200 {
		p := k.draw(w, true, &next)
		n := 0
		for _, b := range p.batch {
			n += b
		}
		if n != len(p.ids) || n != len(p.txn.Mops) {
			t.Fatalf("statements cover %d of %d micro-operations on %d keys", n, len(p.txn.Mops), len(p.ids))
		}
		for _, id := range p.ids {
			used[id] = true
		}
	}
	all := k.all()
	for id := range used {
		if !slices.Contains(all, id) {
			t.Errorf("key %d is not among those read at the end", id)
		}
	}
	if len(all) < 50 || next < 150 {
		t.Errorf("%d keys for %d writes, each good for 3", len(all), next)
	}
}

func TestMarks(t *testing.T) {
	for key := range 100 {
		if got := markKey(markID(key)); got != key {
			t.Errorf("key %d has id %d, which is that of key %d", key, markID(key), got)
		}
	}
}

// TestJudges: the workloads hand their histories over as the checkers want them. A bank and clients' marks with something
// wrong in them are found out, and readers from before a key was there count as having seen nothing of it.
func TestJudges(t *testing.T) {
	ok := func(invoke, ret int64) check.Op {
		return check.Op{Client: "c", Invoke: invoke, Return: ret, Outcome: check.OK}
	}
	l := &order{keys: 2, writes: []*check.Mark{{Op: ok(1, 2), Key: 0, N: 1}, {Op: ok(3, 4), Key: 1, N: 1}}}
	l.reads = []*check.Marks{{Op: check.Op{Client: "r", Invoke: 1, Return: 9, Outcome: check.OK}, N: []int64{1}}}
	if as, _ := l.judge(check.StrictSerializable); len(as) > 0 {
		t.Errorf("a reader saw the first key before the second was there: %v", as)
	}
	l.reads[0].N = []int64{0, 1}
	if as, _ := l.judge(check.StrictSerializable); len(as) != 1 || as[0].Kind != check.CausalReverse {
		t.Errorf("a reader saw the second write and not the first: %v", as)
	}
	b := &bank{snapshots: []*check.Snapshot{{Op: ok(1, 2), Accounts: make([]check.Account, accounts)}}}
	if as, _ := b.judge(check.StrictSerializable); len(as) != 1 || as[0].Kind != check.WrongTotal {
		t.Errorf("all money is gone: %v", as)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	o := Options{Workers: -1, Workloads: []string{"chess"}, Ordering: "late", Timeout: -1}
	err := o.Check()
	for _, want := range []string{"no node", "workers is -1", `no workload "chess"`, `ordering is "late"`, "timeout is"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
