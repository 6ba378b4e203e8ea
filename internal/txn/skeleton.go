package txn

import (
	"context"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

type DB struct{}
type Txn struct{}
type Scanner struct{}

var errNotYet = kv.Errorf(kv.ErrUnavailable, "the coordinator is being put in")

func (db *DB) Begin(o Options) *Txn                                { return &Txn{} }
func (db *DB) Run(ctx context.Context, o Options, fn Func) error   { return errNotYet }
func (t *Txn) Get(ctx context.Context, key kv.Key) ([]byte, error) { return nil, errNotYet }
func (t *Txn) GetMany(ctx context.Context, keys []kv.Key) ([][]byte, error) {
	return nil, errNotYet
}
func (t *Txn) Scan(ctx context.Context, span kv.Span, o ScanOptions) *Scanner { return &Scanner{} }
func (t *Txn) ScanMany(ctx context.Context, spans []kv.Span) ([][]KeyValue, error) {
	return nil, errNotYet
}

// Next returns the next rows in order, and none at the end.
func (s *Scanner) Next(ctx context.Context) ([]KeyValue, error) { return nil, errNotYet }

func (t *Txn) Put(key kv.Key, value []byte) {}

// Insert is Put for a key that must have no value: the commit fails with kv.ErrCondition if it has. It fails at once
// if the transaction itself has given the key a value.
func (t *Txn) Insert(key kv.Key, value []byte) error { return errNotYet }
func (t *Txn) Delete(key kv.Key)                     {}

func (t *Txn) Savepoint() Savepoint              { return Savepoint{} }
func (t *Txn) RollbackTo(s Savepoint)            {}
func (t *Txn) Release(ctx context.Context) error { return errNotYet }
func (t *Txn) Commit(ctx context.Context) error  { return errNotYet }
func (t *Txn) Rollback(ctx context.Context)      {}
func (t *Txn) ReadTimestamp(ctx context.Context) (clock.Timestamp, error) {
	return clock.Timestamp{}, errNotYet
}
func (t *Txn) CommitTimestamp() clock.Timestamp { return clock.Timestamp{} }

// SentRows says that rows have left: a restart is the client's from now on.
func (t *Txn) SentRows() {}

// Age is passed to the attempt that repeats this transaction (Options.AgeOf).
func (t *Txn) Age() clock.Timestamp { return clock.Timestamp{} }

// Finished reports whether the transaction has ended, by commit, rollback or a retryable error.
func (t *Txn) Finished() bool { return false }
