package engine

import (
	"container/list"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/txn"
)

// longitude.transactions: the transactions that clients have open on this node, and the latest ones in which something went
// otherwise than at once: attempts that were repeated, locks that were waited for, clocks that were waited for, the client
// told to begin again. Transactions that are one statement are there, too.

// transactions keeps them. Finished ones that are not worth it are forgotten at once.
type transactions struct {
	mu   sync.Mutex
	open *list.List // of *watchedTx, the oldest first
	kept []finishedTx
	next int // where the next finished one goes: over the oldest
}

const (
	keepTransactions = 256
	// longWait is from when on a transaction is kept that has waited, for locks or clocks.
	longWait = 100 * time.Millisecond
	// longText bounds a statement's text in the table.
	longText = 1000
)

const outcomeCommitted = "committed"

// watchedTx is one transaction over all its attempts. Its session tells it what happens; whoever reads the table asks it.
type watchedTx struct {
	all      *transactions
	at       *list.Element
	conn     uint32
	began    time.Time
	ordering txn.Ordering
	readOnly bool

	mu         sync.Mutex
	now        *txn.Txn     // the latest attempt
	cost       txn.TxnStats // when that is over, and is to be repeated
	lost       bool         // it is
	statements int
	running    bool
	query      string
	outcome    string
}

type finishedTx struct {
	ended time.Time
	row   sql.Row
}

func newTransactions() *transactions { return &transactions{open: list.New()} }

// watch makes a session's new transaction visible.
func (s *Session) watch(t *tx) {
	s.unwatch()
	w := &watchedTx{all: s.e.open, conn: s.ID(), began: time.Now(), ordering: t.ordering, readOnly: t.readOnly, running: true, query: s.stmt.query}
	if s.stmt.begin == "" {
		w.statements = 1
	}
	w.all.mu.Lock()
	w.at = w.all.open.PushBack(w)
	w.all.mu.Unlock()
	s.watched, t.watched = w, w
}

// unwatch notes that the session's transaction is over.
func (s *Session) unwatch() {
	w := s.watched
	if w == nil {
		return
	}
	s.watched = nil
	var kept *finishedTx
	if w.remarkable() {
		now := time.Now()
		kept = &finishedTx{ended: now, row: w.row(s.e, now, true)}
	}
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.all.open.Remove(w.at)
	switch {
	case kept == nil:
	case len(w.all.kept) < keepTransactions:
		w.all.kept = append(w.all.kept, *kept)
	default:
		w.all.kept[w.all.next] = *kept
		w.all.next = (w.all.next + 1) % keepTransactions
	}
}

// watch notes that a statement begins, whichever way it is executed.
func (x *execution) watch() {
	if !x.watching {
		x.watching = true
		x.s.watched.statement(x.query, x.kind != control)
	}
}

// unwatch notes that it is over.
func (x *execution) unwatch() {
	switch {
	case !x.watching:
	case x.s.GetTransaction() == nil:
		x.s.unwatch()
	default:
		x.s.watched.idle()
	}
}

func (w *watchedTx) statement(query string, counts bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.query, w.running = query, true
	if counts {
		w.statements++
	}
}

func (w *watchedTx) idle() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
}

// attempt notes that an attempt begins.
func (w *watchedTx) attempt(t *txn.Txn) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.lost = t, false
}

// over notes that the attempt is to be repeated. cost is that of all so far, this repetition included: the next attempt goes on from
// there, but nobody knows whether it gets as far as to begin.
func (w *watchedTx) over(cost txn.TxnStats) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	cost.Repeats = cost.Repeats.Clone() // the session goes on with its own
	w.cost, w.lost = cost, true
}

// become says how the transaction has ended, or is about to.
func (w *watchedTx) become(outcome string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcome = outcome
}

// info is what the transaction is about now. w.mu is held.
func (w *watchedTx) info() (i txn.Info) {
	if w.now != nil {
		i = w.now.Info()
	}
	if w.lost {
		i.Cost = w.cost
	}
	return i
}

// remarkable reports whether the transaction, which is over, is worth being remembered.
func (w *watchedTx) remarkable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.info().Cost
	return c.Repeats.N > 0 || w.outcome != "" && w.outcome != outcomeCommitted || c.Locking >= longWait || c.Waited() >= longWait
}

var transactionColumns = []systemColumn{{"node_id", types.Uint32}, {"connection_id", types.Uint32}, {"state", textType},
	{"began", types.DatetimeMaxPrecision}, {"age_ms", types.Float64}, {"ordering", textType}, {"read_only", types.Boolean},
	{"statements", types.Uint64}, {"statement", textType}, {"txn_id", textType}, {"read_timestamp", textType},
	{"written_keys", types.Uint64}, {"written_bytes", types.Uint64}, {"locked_keys", types.Uint64}, {"locked_ranges", types.Uint64}, {"lock_ms", types.Float64},
	{"clock_wait_ms", types.Float64}, {"retries", types.Uint64}, {"retry_reasons", textType}, {"retry_ms", types.Float64}}

// row describes the transaction. Of one that is over, age_ms is how long it took.
func (w *watchedTx) row(e *Engine, now time.Time, over bool) sql.Row {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.info()
	state := i.State
	switch {
	case over && w.outcome != "":
		state = w.outcome
	case over:
		state = "rolled back"
	case w.now == nil, state == "open" && w.running:
		state = "running"
	}
	if !over && w.now == nil && !w.running {
		state = "open"
	}
	text := e.statements.digest(w.query)
	if len(text) > longText {
		text = text[:longText]
	}
	var id, read any
	if w.now != nil {
		id = i.ID.String()
		if !i.Read.IsZero() {
			read = i.Read.String()
		}
	}
	readOnly := int8(0)
	if w.readOnly {
		readOnly = 1
	}
	ms := func(d time.Duration) float64 { return micros(d) / 1000 }
	return sql.Row{uint32(e.o.NodeID), w.conn, state, w.began.UTC(), ms(now.Sub(w.began)), w.ordering.String(), readOnly,
		uint64(w.statements), text, id, read, uint64(i.Keys), uint64(i.Bytes), uint64(i.Locked), uint64(i.Ranges), ms(i.Cost.Locking),
		ms(i.Cost.Waited()), i.Cost.Repeats.N, i.Cost.Repeats.Reasons(), ms(i.Cost.Repeats.Lost)}
}

// transactionRows is longitude.transactions: the open ones, the oldest first, then those that are over, the latest first.
func transactionRows(_ *sql.Context, e *Engine) (out []sql.Row, err error) {
	e.open.mu.Lock()
	var open []*watchedTx
	for x := e.open.open.Front(); x != nil; x = x.Next() {
		open = append(open, x.Value.(*watchedTx))
	}
	kept := append([]finishedTx(nil), e.open.kept...)
	next := e.open.next
	e.open.mu.Unlock()
	now := time.Now()
	for _, w := range open {
		out = append(out, w.row(e, now, false))
	}
	for i := range kept {
		out = append(out, kept[(next+len(kept)-1-i)%len(kept)].row)
	}
	return out, nil
}
