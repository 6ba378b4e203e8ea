package verify

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/internal/check"
)

// worker is one client with one connection. When its node does not answer it goes on to the next one.
type worker struct {
	r    *Run
	name string
	at   int // node
	conn *sql.Conn
	rng  *rand.Rand
	mark *mark // workload order: the key that it counts up
}

// errGone is a connection that could not be had: nothing was sent.
var errGone = errors.New("no connection")

// connect makes sure that there is a connection.
func (w *worker) connect(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.r.nodes[w.at%len(w.r.nodes)].Conn(ctx)
	if err != nil {
		w.at++
		return fmt.Errorf("%w: %w", errGone, err)
	}
	w.conn = conn
	return nil
}

// drop gives the connection up, so that its node rolls back what is open on it.
func (w *worker) drop() {
	if w.conn == nil {
		return
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn }) // the pool must not give it to anybody again
	_ = w.conn.Close()
	w.conn = nil
	w.at++
}

// failed looks at the connection after an error.
func (w *worker) failed(err error) {
	var answer *mysql.MySQLError
	if err != nil && !errors.As(err, &answer) {
		w.drop()
	}
}

func (w *worker) exec(ctx context.Context, q string) (sql.Result, error) {
	return w.conn.ExecContext(ctx, q)
}

// rows reads all rows of a query with two columns of integers and texts.
func (w *worker) rows(ctx context.Context, q string, each func(scan func(...any) error) error) error {
	rows, err := w.conn.QueryContext(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// txn runs a transaction: fn between START TRANSACTION and COMMIT. An error before COMMIT has been sent means that nothing
// happened: the node commits on nobody's behalf (V3).
func (w *worker) txn(fn func(ctx context.Context) error) (check.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), w.r.o.Timeout)
	defer cancel()
	if err := w.connect(ctx); err != nil {
		return check.Failed, err
	}
	_, err := w.exec(ctx, "START TRANSACTION")
	if err == nil {
		err = fn(ctx)
		if err != nil {
			if _, e := w.exec(ctx, "ROLLBACK"); e != nil {
				w.drop()
			}
		}
	}
	if err != nil {
		w.failed(err)
		return check.Failed, err
	}
	_, err = w.exec(ctx, "COMMIT")
	w.failed(err)
	return fate(err), err
}

// alone runs one statement that is a transaction by itself.
func (w *worker) alone(fn func(ctx context.Context) error) (check.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), w.r.o.Timeout)
	defer cancel()
	if err := w.connect(ctx); err != nil {
		return check.Failed, err
	}
	err := fn(ctx)
	w.failed(err)
	return fate(err), err
}

// fate is what an error says about the commit that was asked for (V3).
func fate(err error) check.Outcome {
	var answer *mysql.MySQLError
	switch {
	case err == nil:
		return check.OK
	case errors.Is(err, errGone), errors.Is(err, driver.ErrBadConn): // the driver says so only of what it has not sent
		return check.Failed
	case !errors.As(err, &answer):
		return check.Unknown
	}
	switch answer.Number {
	case 1062, // duplicate key
		1205, // the data cannot be reached, nothing was done
		1213, // begin again
		1290, // the node is fenced
		1040: // too many connections
		return check.Failed
	}
	return check.Unknown // 1180 says just that; others are not expected here
}

// errorText is what of an error is counted: its code, or what it begins with.
func errorText(err error) string {
	var answer *mysql.MySQLError
	if errors.As(err, &answer) {
		return fmt.Sprintf("error %d: %.100s", answer.Number, answer.Message)
	}
	return fmt.Sprintf("%.100s", err)
}

// idle is what a workload that has done enough says instead of an outcome.
const idle check.Outcome = 255

// work does operations until the run ends.
func (w *worker) work() {
	defer w.drop()
	for {
		select {
		case <-w.r.stop:
			return
		default:
		}
		if w.r.full() {
			return
		}
		l := w.r.loads[w.rng.IntN(len(w.r.loads))]
		pause := time.Duration(w.rng.Int64N(int64(20 * time.Millisecond))) // a cluster in trouble is not asked all the time
		switch l.step(w) {
		case check.OK:
			continue
		case idle:
			pause = time.Millisecond
		}
		select {
		case <-w.r.stop:
			return
		case <-time.After(pause):
		}
	}
}
