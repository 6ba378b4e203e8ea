package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// tx is a session's transaction. The attempt under it begins at the first access and may be replaced by another one
// while the client has seen nothing of it.
type tx struct {
	e        *Engine
	ordering txn.Ordering
	readOnly bool
	mayWrite bool     // though it is readOnly: temporary tables
	past     txn.Past // it reads at a time in the past, and is readOnly then
	explicit bool     // BEGIN began it
	accessed bool     // it has looked at rows, or written some: beyond the catalog

	kv     *txn.Txn
	age    clock.Timestamp // of the first attempt
	locks  *txn.Locks      // of the attempt before, until the next begins
	stats  txn.TxnStats    // of the attempts before
	retry  error           // the retryable error that ended the attempt
	failed error           // the latest other error of the layers below

	schema     *schema           // pinned at the first look at the catalog
	uses       *uses             // of it; nil: nothing yet
	sharedUses bool              // uses belongs to a plan
	hasCatalog bool              // it holds the lock that changes of the catalog take turns by
	edit       *catalog.Edit     // of a transaction that changes the catalog, or of a statement that changes temporary tables (temporary)
	edited     *schema           // what edit has made
	temporary  bool              // edit changes temporary tables alone
	base       *catalog.Snapshot // that it began from
	wrote      bool
	broken     bool      // the statement has failed: nothing of it may be committed
	sent       bool      // rows of the present statement have left
	lockUntil  time.Time // how long the present statement's writes wait for locks; zero: as long as ranges let them
	statements int       // that are over: their results are with the client
	savepoints []savepoint
	begun      txn.Savepoint // of the present statement
	watched    *watchedTx    // what longitude.transactions shows
	cleanup    []func()      // after a commit
	// gaveTemporary and tookTemporary: temporary tables were made or dropped, which no ROLLBACK takes back.
	gaveTemporary, tookTemporary bool
	expected                     expectations
}

type savepoint struct {
	name string
	at   txn.Savepoint
}

// changesCatalog reports whether the transaction is one that changes the catalog.
func (t *tx) changesCatalog() bool { return t.edit != nil && !t.temporary }

func (t *tx) String() string   { return "transaction" }
func (t *tx) IsReadOnly() bool { return t.readOnly }

// attempt returns the attempt, begun if need be, for reading rows or writing some.
func (t *tx) attempt() *txn.Txn {
	t.accessed = true
	return t.look()
}

// look is attempt for looking at the catalog alone: in the client's eyes that begins no transaction.
func (t *tx) look() *txn.Txn {
	if t.kv == nil {
		t.kv = t.e.o.DB.Begin(txn.Options{Ordering: t.ordering, ReadOnly: t.readOnly && !t.mayWrite, Past: t.past, Name: "sql", AgeOf: t.age, Locks: t.locks, StatsOf: t.stats})
		t.locks = nil
		t.begun = t.kv.Savepoint()
		for i := range t.savepoints { // of the attempt before (again)
			t.savepoints[i].at = t.begun
		}
		t.limitWaiting()
		t.watched.attempt(t.kv)
	}
	return t.kv
}

// note remembers an error of the layers below: on its way up through the engine it may be wrapped beyond recognition.
func (t *tx) note(err error) error {
	switch {
	case err == nil:
	case txn.Retryable(err):
		t.retry = err
	default:
		var e *kv.Error
		if errors.As(err, &e) {
			t.failed = err
		}
	}
	return err
}

func (t *tx) get(ctx context.Context, key kv.Key) ([]byte, error) {
	v, err := t.attempt().Get(ctx, key)
	return v, t.note(err)
}

func (t *tx) getMany(ctx context.Context, keys []kv.Key) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	vs, err := t.attempt().GetMany(ctx, keys)
	return vs, t.note(err)
}

// getLocked is getMany that locks. skipped says which keys others hold.
func (t *tx) getLocked(ctx context.Context, keys []kv.Key, l txn.Lock) (vs [][]byte, skipped []bool, err error) {
	if len(keys) == 0 {
		return nil, nil, nil
	}
	vs, skipped, err = t.attempt().GetLocked(ctx, keys, l)
	if err == nil && l.Mode != kv.NoLock {
		err = t.moved(ctx)
	}
	return vs, skipped, t.note(err)
}

// moved asks whether the statement's version of the catalog still holds where a locking read has moved r (S4).
func (t *tx) moved(ctx context.Context) error {
	if t.schema == nil || t.changesCatalog() {
		return nil
	}
	r, err := t.attempt().ReadTimestamp(ctx)
	if err == nil {
		_, err = t.e.schemas.validUntil(ctx, t.schema, t.uses, r)
	}
	return err
}

func (t *tx) scanMany(ctx context.Context, spans []kv.Span) ([][]txn.KeyValue, error) {
	rows, err := t.attempt().ScanMany(ctx, spans)
	return rows, t.note(err)
}

func (t *tx) count(ctx context.Context, counts []txn.Counting, spans []kv.Span) ([][]txn.Group, [][]txn.KeyValue, error) {
	groups, rows, err := t.attempt().Count(ctx, counts, spans)
	return groups, rows, t.note(err)
}

func (t *tx) scanLocked(ctx context.Context, spans []kv.Span, l txn.Lock) ([][]txn.KeyValue, error) {
	rows, err := t.attempt().ScanManyLocked(ctx, spans, l)
	if err == nil && l.Mode != kv.NoLock {
		err = t.moved(ctx)
	}
	return rows, t.note(err)
}

func (t *tx) put(key kv.Key, value []byte) {
	t.wrote = true
	t.attempt().Put(key, value)
}

func (t *tx) insert(key kv.Key, value []byte) error {
	t.wrote = true
	return t.note(t.attempt().Insert(key, value))
}

// expect notes what a key is of, for the message if the commit refuses it.
func (t *tx) expect(key kv.Key, p pendingKey) { t.expected.add(t.attempt(), key, p) }

// alive says why the transaction can write no more: a large one may fail before its commit.
func (t *tx) alive() error {
	if t.kv == nil {
		return nil
	}
	return t.note(t.kv.Failure())
}

// lost reports whether a transaction of several statements has failed on its own: the client has to begin it again.
func (t *tx) lost() bool {
	return (t.explicit || t.statements > 0) && t.kv != nil && t.kv.Failure() != nil
}

func (t *tx) delete(key kv.Key) {
	t.wrote = true
	t.attempt().Delete(key)
}

// limitWaiting bounds how long the writes of the statement wait for locks, at the commit or before.
func (t *tx) limitWaiting() {
	if t.kv != nil && !t.lockUntil.IsZero() {
		t.kv.WaitAtMost(max(time.Millisecond, t.lockUntil.Sub(t.e.now())))
	}
}

// startStatement marks where a failing statement is rolled back to.
func (t *tx) startStatement(lockUntil time.Time) {
	t.failed, t.sent, t.lockUntil = nil, false, lockUntil
	t.limitWaiting()
	if t.kv != nil {
		named := make([]txn.Savepoint, len(t.savepoints))
		for i, s := range t.savepoints {
			named[i] = s.at
		}
		t.kv.KeepOnly(named...)
		t.begun = t.kv.Savepoint()
	}
}

// rollbackStatement takes back what the present statement has written.
func (t *tx) rollbackStatement() {
	if t.kv != nil && t.retry == nil {
		t.kv.RollbackTo(t.begun)
	}
}

// commit makes the changes of the catalog part of the transaction and commits.
func (t *tx) commit(ctx context.Context) error {
	if t.retry != nil {
		return t.retry
	}
	if t.broken {
		return errors.New("the statement has failed")
	}
	if t.edit != nil {
		if err := checkTables(t.edit.Changed()); err != nil {
			return err
		}
	}
	if t.changesCatalog() {
		if err := t.writeCatalog(); err != nil {
			return err
		}
	}
	if t.kv == nil {
		return nil
	}
	if t.wrote && !t.changesCatalog() && t.schema != nil {
		t.kv.SetGuard(t.schema.guard(t.e.schemas, t.uses))
	}
	if err := t.note(t.kv.Commit(ctx)); err != nil {
		return err
	}
	t.watched.become(outcomeCommitted)
	for _, f := range t.cleanup {
		f()
	}
	t.cleanup = nil
	return nil
}

func (t *tx) writeCatalog() error {
	writes, err := t.edit.Writes()
	if err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(writes)) { // in order: the first one is where the record lies
		if v := writes[k]; len(v) == 0 {
			t.delete(kv.Key(k))
		} else {
			t.put(kv.Key(k), writes[k])
		}
	}
	return nil
}

func (t *tx) rollback(ctx context.Context) {
	t.locks.End()
	t.locks = nil
	if t.kv != nil {
		t.kv.Rollback(ctx)
	}
}

// again prepares the transaction for being repeated from its beginning.
func (t *tx) again() *tx {
	n := &tx{e: t.e, ordering: t.ordering, readOnly: t.readOnly, mayWrite: t.mayWrite, past: t.past, explicit: t.explicit, age: t.age, stats: t.stats, watched: t.watched}
	if t.kv != nil {
		n.age, n.locks, n.stats = t.kv.Age(), t.kv.HandOver(), t.kv.Stats()
	}
	n.savepoints = slices.Clone(t.savepoints) // set before the statement that is repeated, which is the first one
	return n
}

// repeated accounts for the attempt before, whose work is lost.
func (t *tx) repeated(why string, lost time.Duration) {
	t.stats.Repeats.Add(why, lost)
	t.watched.over(t.stats)
}

func (t *tx) find(name string) int {
	for i := len(t.savepoints) - 1; i >= 0; i-- {
		if equalFold(t.savepoints[i].name, name) {
			return i
		}
	}
	return -1
}

func (t *tx) setSavepoint(name string) {
	if i := t.find(name); i >= 0 {
		t.savepoints = append(t.savepoints[:i], t.savepoints[i+1:]...)
	}
	t.savepoints = append(t.savepoints, savepoint{name, t.attempt().Savepoint()})
}

func (t *tx) rollbackTo(name string) error {
	i := t.find(name)
	if i < 0 {
		return sql.ErrSavepointDoesNotExist.New(name)
	}
	t.attempt().RollbackTo(t.savepoints[i].at)
	t.savepoints = t.savepoints[:i+1]
	return nil
}

func (t *tx) releaseSavepoint(name string) error {
	i := t.find(name)
	if i < 0 {
		return sql.ErrSavepointDoesNotExist.New(name)
	}
	t.savepoints = t.savepoints[:i]
	return nil
}

// takenGenerated reports whether the commit was refused because of a key that the node had generated.
func (t *tx) takenGenerated() bool {
	var e *kv.Error
	if !errors.As(t.failed, &e) {
		return false
	}
	return t.expected.of(e.Key).generated
}
