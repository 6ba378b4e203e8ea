package mvcc

import (
	"math"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

func checkValue(k kv.Key, value []byte, deleted bool) error {
	if deleted != (len(value) == 0) {
		return assertionf("%s: a value of %d bytes, deleted=%t", k, len(value), deleted) // M4
	}
	return nil
}

// PutVersion writes a version. newest is that of the newest version that the key has (M2).
func PutVersion(b *storage.Batch, k kv.Key, newest, ts clock.Timestamp, value []byte, deleted bool) error {
	return PutSigned(b, k, newest, ts, value, deleted, kv.TxnID{})
}

// PutSigned is PutVersion with the name of the transaction in the version, by which SignedSince finds it. Zero: no name.
func PutSigned(b *storage.Batch, k kv.Key, newest, ts clock.Timestamp, value []byte, deleted bool, by kv.TxnID) error {
	if err := checkValue(k, value, deleted); err != nil {
		return err
	}
	if ts.LessEq(newest) || ts.IsZero() {
		return assertionf("%s: a version at %s, not above the newest at %s", k, ts, newest)
	}
	op := b.SetDeferred(len(k)+suffixLen(ts), sizeValue(value, by))
	storage.AppendVersion(op.Key[:0], k, ts)
	appendValue(op.Value[:0], value, deleted, by)
	return op.Finish()
}

// suffixLen is what AppendVersion adds to a key.
func suffixLen(ts clock.Timestamp) int {
	if ts.Logical == 0 {
		return 1 + 9
	}
	return 1 + 13
}

// ResolveIntent turns a transaction's intent on a key into a version or removes it, as the status says, and reports
// whether there was one. The status is a decision: Committed or Aborted.
//
// The intent may be a late copy: a message delivered again after the transaction was committed and its intents resolved.
// Then the version is there already, at the commit timestamp, and the copy may lie above it; it just goes.
func (v *View) ResolveIntent(b *storage.Batch, k kv.Key, id kv.TxnID, s kv.TxnStatus) (bool, error) {
	if !s.State.Final() {
		return false, assertionf("%s: resolving the intent of %s, which is %s", k, id, s.State)
	}
	in, err := v.Intent(k)
	if err != nil || in == nil || in.Txn != id {
		return false, err
	}
	if s.State == kv.Committed {
		value, deleted, ok := in.Visible(math.MaxUint64, s.Ignored)
		if !ok {
			return true, RemoveIntent(b, k) // all that the transaction wrote there it has taken back
		}
		in.Value, in.Delete = value, deleted
		if err := v.commitIntent(b, k, in, s.CommitTS); err != nil {
			return false, err
		}
	}
	return true, RemoveIntent(b, k)
}

func (v *View) commitIntent(b *storage.Batch, k kv.Key, in *kv.Intent, ts clock.Timestamp) error {
	newest, _, err := v.NewestVersion(k)
	if err != nil {
		return err
	}
	if newest.Less(ts) && in.TS.LessEq(ts) {
		return PutVersion(b, k, newest, ts, in.Value, in.Delete)
	}
	late, err := v.hasVersion(k, ts)
	if err == nil && !late {
		err = assertionf("%s: %s committed at %s, but its intent is at %s and the newest version at %s",
			k, in.Txn, ts, in.TS, newest)
	}
	return err
}
