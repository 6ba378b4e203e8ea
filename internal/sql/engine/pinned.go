package engine

import (
	"context"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// schema is the catalog as the session's statement sees it: shared, with the session's temporary tables in front (M1). A statement that
// changes tables sees what it has made of them; one that changes those of the catalog sees no others.
func (s *Session) schema(ctx *sql.Context) (*schema, error) {
	base, err := s.shared(ctx)
	if err != nil {
		return nil, err
	}
	t := s.transaction()
	switch {
	case t == nil || t.edit == nil || s.temporary.plain > 0:
		return s.temporary.inFront(base), nil
	case t.temporary:
		if t.edited == nil || t.edited.snap != t.edit.Snapshot() {
			t.edited = base.with(t.edit.Snapshot())
		}
		return t.edited, nil
	}
	return base, nil
}

// shared is the catalog that the session's transaction sees, without temporary tables: the one that holds over its window, pinned at the
// first look (S4); or, in a transaction that changes the catalog, what it has made of it.
func (s *Session) shared(ctx *sql.Context) (*schema, error) {
	t, ok := s.GetTransaction().(*tx)
	if !ok || t == nil {
		en, err := s.e.schemas.latest(ctx)
		return en.schema, err
	}
	if t.changesCatalog() {
		if t.schema == nil || t.schema.snap != t.edit.Snapshot() {
			t.schema = newSchema(t.edit.Snapshot())
		}
		return t.schema, nil
	}
	if t.schema != nil {
		return t.schema, nil
	}
	r, g, err := t.look().Window(ctx)
	if err != nil {
		return nil, t.note(err)
	}
	en, err := s.e.schemas.at(ctx, r, g)
	if err != nil {
		return nil, t.note(err)
	}
	if r.Less(en.from) { // uncertainty ordering, just after a change: it must be observed (rule 1)
		if err := t.look().MoveUp(ctx, en.from); err != nil {
			return nil, t.note(err)
		}
	}
	t.look().ReadElsewhere(en.from) // H4
	t.look().NotBelow(en.from)      // H2 also holds if the transaction stands lower than it seems now, down to there
	t.schema = en.schema
	return t.schema, nil
}

// release pays for what the session's transaction has learned, of the catalog above all (H4), where no statement ends that would
// do it: before the answer to a command that is none.
func (s *Session) release(ctx context.Context) error {
	t := s.transaction()
	if t == nil || t.kv == nil || t.retry != nil {
		return nil
	}
	return t.note(t.kv.Release(context.WithoutCancel(ctx)))
}

// ddl returns the session's transaction for changing the catalog. It has read the catalog itself, so that a change by
// somebody else in between is a conflict.
func ddl(ctx *sql.Context) (*tx, error) {
	s, t, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	if t.edit != nil {
		return t, nil
	}
	if s.stmt.temporary {
		base, err := s.shared(ctx)
		if err != nil {
			return nil, err
		}
		t.edit, t.temporary = catalog.NewEdit(base.snap.With(s.temporary.tables)), true
		t.base = t.edit.Snapshot()
		return t, nil
	}
	if t.readOnly {
		return nil, sql.ErrReadOnlyTransaction.New()
	}
	if err := t.lockCatalog(ctx); err != nil {
		return nil, err
	}
	snap, err := readCatalog(ctx, t.attempt(), t.e.schemas.last())
	if err != nil {
		return nil, t.note(err)
	}
	t.base, t.edit = snap, catalog.NewEdit(snap)
	return t, nil
}

// lockCatalog waits for its turn to change the catalog (H6). It reads nothing else before, so that the transaction stands where the
// change before it was made, and is planned with that.
func (t *tx) lockCatalog(ctx *sql.Context) error {
	if t.hasCatalog || t.readOnly {
		return nil
	}
	_, _, err := t.getLocked(ctx, []kv.Key{catalog.MetaKey()}, txn.Lock{Mode: kv.LockExclusive, Wait: lockWait(ctx)})
	t.hasCatalog = err == nil
	return err
}

// table looks a table up in what the transaction has made of the catalog, and returns a copy to be changed and put.
func (t *tx) table(id uint64) (*catalog.Table, error) {
	old := t.edit.Snapshot().TableByID(id)
	if old == nil {
		return nil, fmt.Errorf("the table was dropped meanwhile")
	}
	return catalog.Clone(old), nil
}
