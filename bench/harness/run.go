package harness

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// maxRetries is how often an operation is begun again before its error counts.
const maxRetries = 100

// Run drives a workload that has been set up for one measurement. It does not verify: see Verify.
func Run(ctx context.Context, t *Target, w Workload, l Load, live func(Second)) (*Result, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if live == nil {
		live = func(Second) {}
	}
	if p, ok := w.(Phased); ok {
		return runPhases(ctx, t, p, l, live)
	}
	return runOnce(ctx, t, w, l, live)
}

func runOnce(ctx context.Context, t *Target, w Workload, l Load, live func(Second)) (*Result, error) {
	rec := newRecorder(len(w.Classes()))
	var workers []*worker
	for i := range l.Workers {
		workers = append(workers, &worker{db: t.Nodes[i%len(t.Nodes)], client: w.Client(rand.New(rand.NewPCG(l.Seed, uint64(i))))})
	}
	// Connections are made before the clock runs: making hundreds of them is not what is measured.
	var wg sync.WaitGroup
	for _, k := range workers {
		wg.Go(func() { _ = k.connect(ctx) }) // tried again with the first operation, which reports it
	}
	wg.Wait()
	defer func() {
		for _, k := range workers {
			k.disconnect()
		}
	}()
	m := &meter{t: t, rec: rec, live: live, warmUp: l.WarmUp, classes: w.Classes()}
	var attempts []attempt
	for _, k := range workers {
		attempts = append(attempts, k.attempt)
	}
	if err := drive(ctx, l, rec, attempts, func(now time.Time) { m.tick(ctx, now) }); err != nil {
		return nil, err
	}
	return m.result(w, l), nil
}

// Verify completes results with the workload's check of the data (H4).
func Verify(ctx context.Context, t *Target, w Workload, results ...*Result) error {
	found, err := w.Verify(ctx, t)
	if err != nil {
		return fmt.Errorf("verifying the data of %s on %s: %w", w.Name(), t.Name, err)
	}
	for _, r := range results {
		r.Violations, r.Verified = found, len(found) == 0
	}
	return nil
}

// Check reports all that is wrong with how a workload is to be driven.
func (l Load) Check() error {
	var faults []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	bad(l.Workers < 1, "workers is %d, wanted: 1 or more", l.Workers)
	bad(l.Duration <= 0, "duration is %s, wanted: more than 0", l.Duration)
	bad(l.WarmUp < 0, "warm-up is %s, wanted: 0 or more", l.WarmUp)
	bad(!(l.Rate >= 0 && l.Rate <= 1e7), "rate is %g, wanted: operations per second, or 0 for a closed loop", l.Rate)
	return errors.Join(faults...)
}

// worker is one client with one connection.
type worker struct {
	db     *sql.DB
	client Client
	conn   *Conn
}

// attempt carries out the next operation, again and again while the server asks for that.
func (k *worker) attempt(ctx context.Context) (class, retries int, err error) {
	op := k.client.Next()
	for {
		if err = k.connect(ctx); err == nil {
			err = op.Do(ctx, k.conn)
		}
		if err == nil || ctx.Err() != nil {
			return op.Class, retries, err
		}
		if !Retryable(err) || retries == maxRetries {
			break
		}
		retries++
		// The first retry goes out at once; later ones spread, so that clients in each other's way get out of it.
		if retries > 1 {
			pause(ctx, time.Duration(rand.Int64N(int64(min(50, 1<<min(retries, 6)))*int64(time.Millisecond))))
		}
	}
	if !answered(err) {
		k.disconnect()
		// A node that is down is asked again now and then, not all the time.
		pause(ctx, 100*time.Millisecond)
	}
	return op.Class, retries, err
}

func (k *worker) connect(ctx context.Context) (err error) {
	if k.conn == nil {
		if k.conn, err = Dial(ctx, k.db); err != nil {
			return notDone{err}
		}
	}
	return nil
}

func (k *worker) disconnect() {
	if k.conn != nil {
		k.conn.Close()
	}
	k.conn = nil
}

// kindOf sorts errors for the report.
func kindOf(err error) string {
	var e *mysql.MySQLError
	switch {
	case errors.As(err, &e):
		return fmt.Sprintf("MySQL error %d", e.Number)
	case errors.Is(err, context.Canceled):
		return "not ended in time"
	}
	return "connection"
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
