package social

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/go-sql-driver/mysql"
)

// ledger counts likes from the outside, for S1 to S3. A like is issued before it is sent and acknowledged after its answer,
// so at any moment: acknowledged <= likes in the table that count <= issued - refused.
type ledger struct {
	issued, acked, refused atomic.Int64
}

// tally is what all workers of a run measured.
type tally struct {
	measuring atomic.Bool
	errors    atomic.Int64

	mu         sync.Mutex
	reads      *hdrhistogram.Histogram // µs
	likes      *hdrhistogram.Histogram // µs
	violations []string
	firstError error
}

func newTally() *tally {
	// Up to ten minutes, to three digits.
	return &tally{reads: hdrhistogram.New(1, 600_000_000, 3), likes: hdrhistogram.New(1, 600_000_000, 3)}
}

// done records an operation that succeeded, if it began within the measurement.
func (t *tally) done(h *hdrhistogram.Histogram, counted bool, d time.Duration) {
	if !counted {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// A value above the histogram's limit is still an operation; it is recorded at the limit.
	if h.RecordValue(d.Microseconds()) != nil {
		_ = h.RecordValue(h.HighestTrackableValue())
	}
}

func (t *tally) failed(err error) {
	t.errors.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.firstError == nil {
		t.firstError = err
	}
}

func (t *tally) violation(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.violations) < 10 {
		t.violations = append(t.violations, fmt.Sprintf(format, args...))
	}
}

// worker is one client with one connection.
type worker struct {
	o      *Options
	db     *sql.DB
	rnd    *rand.Rand
	ledger *ledger
	tally  *tally

	conn *sql.Conn
	like *sql.Stmt
}

// run works until stop is closed; the operation that is under way then is finished, or cut off when ctx ends.
func (w *worker) run(ctx context.Context, stop <-chan struct{}) {
	defer w.disconnect()
	for {
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		default:
		}
		var err error
		if err = w.connect(ctx); err == nil {
			if w.rnd.Float64() < w.o.ReadFraction {
				err = w.list(ctx)
			} else {
				err = w.likeOne(ctx)
			}
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		w.tally.failed(err)
		var answer *mysql.MySQLError
		if !errors.As(err, &answer) {
			w.disconnect()
			// A node that is down is asked again now and then, not all the time.
			pause := time.NewTimer(100 * time.Millisecond)
			select {
			case <-stop:
			case <-pause.C:
			}
			pause.Stop()
		}
	}
}

func (w *worker) connect(ctx context.Context) (err error) {
	if w.conn != nil {
		return nil
	}
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	if w.like, err = w.conn.PrepareContext(ctx, likePost); err != nil {
		w.disconnect()
	}
	return err
}

func (w *worker) disconnect() {
	if w.like != nil {
		w.like.Close()
	}
	if w.conn != nil {
		w.conn.Close()
	}
	w.like, w.conn = nil, nil
}

func (w *worker) list(ctx context.Context) error {
	counted, start := w.tally.measuring.Load(), time.Now()
	atLeast := int64(w.o.Likes) + w.ledger.acked.Load()
	sum, err := countLikes(ctx, w.conn)
	if err != nil {
		return err
	}
	atMost := int64(w.o.Likes) + w.ledger.issued.Load()
	w.tally.done(w.tally.reads, counted, time.Since(start))
	if sum < atLeast {
		w.tally.violation("S1: a list counted %d likes, although %d had been acknowledged before it began", sum, atLeast)
	}
	if sum > atMost {
		w.tally.violation("S2: a list counted %d likes, although no more than %d had ever been sent", sum, atMost)
	}
	return nil
}

func (w *worker) likeOne(ctx context.Context) error {
	counted, start := w.tally.measuring.Load(), time.Now()
	w.ledger.issued.Add(1)
	_, err := w.like.ExecContext(ctx, w.rnd.IntN(w.o.Posts)+1)
	if err != nil {
		if refused(err) {
			w.ledger.refused.Add(1)
		}
		return err
	}
	w.ledger.acked.Add(1)
	w.tally.done(w.tally.likes, counted, time.Since(start))
	return nil
}

// refused reports whether an error says that the statement did nothing. Any other error leaves its fate open.
func refused(err error) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Number {
	case 1062, 1205, 1213, 1452: // duplicate key, lock wait timeout, deadlock (restart), foreign key
		return true
	}
	return false
}

// querier is a connection or a pool.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// countLikes lists all posts and adds up their likes. Every post has a like from the beginning (Options.Check), so that
// the 1 that COUNT(*) of an outer join gives for a post without likes does not occur.
func countLikes(ctx context.Context, q querier) (sum int64, err error) {
	rows, err := q.QueryContext(ctx, listPosts)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, n int64
		var title sql.RawBytes
		if err := rows.Scan(&id, &title, &n); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, rows.Err()
}
