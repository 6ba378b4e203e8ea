package engine

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// CREATE INDEX on a table with rows, while others go on writing:
//
//	1  The index is put into the catalog as write-only, and that is committed: from this timestamp on every transaction
//	   that commits keeps the index (H2: one planned with the catalog before is refused).
//	2  The rows that are older get their entries, in transactions of backfillRows rows each. A row that changes meanwhile
//	   is a conflict of that transaction, and is read again.
//	3  The index is made public, in the statement's own transaction.
//
// If the second step finds a duplicate, or is killed, the index is dropped again. If the node that does it stops, it stays write-only
// until the same CREATE INDEX is given again, or DROP INDEX (builds.go); nothing reads it.

var (
	_ sql.IndexAlterableTable = (*table)(nil)
	_ sql.IndexBuildingTable  = (*table)(nil)
)

const backfillRows = 500

// fillOnline is steps 1 to 3.
func (t *table) fillOnline(ctx *sql.Context, name string) error {
	s, err := sessionOf(ctx)
	if err != nil {
		return err
	}
	if err := s.checkpoint(ctx); err != nil {
		return err
	}
	if err := t.reload(ctx); err != nil {
		return err
	}
	x := t.l.indexByName(name)
	if x == nil {
		return sql.ErrIndexNotFound.New(name)
	}
	err = t.backfill(ctx, x)
	if err != nil {
		if derr := t.abandon(ctx, s, name); derr != nil {
			return fmt.Errorf("%w (and the unfinished index could not be dropped: %v)", err, derr)
		}
		return err
	}
	s.another(ctx) // the one that has looked at the catalog before all this would see changes since as conflicts
	return t.alter(ctx, func(d *catalog.Table) error {
		for i := range d.Indexes {
			if strings.EqualFold(d.Indexes[i].Name, name) {
				d.Indexes[i].State = catalog.Public
				return nil
			}
		}
		return sql.ErrIndexNotFound.New(name)
	})
}

// checkpoint commits what the statement has made of the catalog so far, and goes on with another transaction.
func (s *Session) checkpoint(ctx *sql.Context) error {
	_, x, err := txOf(ctx)
	if err != nil {
		return err
	}
	if err := x.commit(ctx); err != nil {
		return err
	}
	s.SetTransaction(&tx{e: s.e, ordering: x.ordering})
	return nil
}

// backfill writes the entries of all rows.
func (t *table) backfill(ctx *sql.Context, x *indexLayout) error {
	k := buildKey{t.l.desc.ID, x.desc.ID}
	progress := t.db.e.builds.begin(k, ctx.Session.ID())
	defer t.db.e.builds.end(k)
	rest := spanOf(t.l.primary)
	for !rest.Empty() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var next kv.Key
		if t.db.e.o.Unsafe.BlindBackfill {
			var err error
			if next, err = t.backfillBlindly(ctx, x, rest); err != nil || next == nil {
				return err
			}
			rest.Start = next
			continue
		}
		err := t.db.e.o.DB.Run(ctx, txn.Options{Name: "fill index"}, func(rc context.Context, tx *txn.Txn) (err error) {
			next, err = t.backfillChunk(rc, ctx, tx, x, rest)
			return err
		})
		if err != nil {
			return err
		}
		progress.rows.Add(backfillRows)
		if next == nil {
			return nil
		}
		rest.Start = next
	}
	return nil
}

func (t *table) backfillChunk(ctx context.Context, sc *sql.Context, tx *txn.Txn, x *indexLayout, rest kv.Span) (next kv.Key, err error) {
	var rows []txn.KeyValue
	scan := tx.Scan(ctx, rest, txn.ScanOptions{Limit: backfillRows})
	for {
		page, err := scan.Next(ctx)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		rows = append(rows, page...)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	if err := t.backfillRows(ctx, sc, tx, x, rows); err != nil {
		return nil, err
	}
	return keys.Next(rows[len(rows)-1].Key), nil
}

// backfillRows writes the entries of some rows.
func (t *table) backfillRows(ctx context.Context, sc *sql.Context, tx *txn.Txn, x *indexLayout, rows []txn.KeyValue) error {
	type entry struct {
		key    kv.Key
		value  []byte
		unique bool
		d      datums
	}
	var entries []entry
	var ks []kv.Key
	s, err := sessionOf(sc)
	if err != nil {
		return err
	}
	exprs, err := newRowExpressions(sc, s, t.db, t.l, false)
	if err != nil {
		return err
	}
	for _, r := range rows {
		d, err := t.l.decodeRow(r.Key, r.Value)
		if err != nil {
			return err
		}
		if exprs != nil { // the rows are to have the values, too
			if err := exprs.fill(d); err != nil {
				return err
			}
			if v := t.l.rowValue(d); !bytes.Equal(v, r.Value) {
				tx.Put(r.Key, v)
			}
		}
		e := entry{d: d}
		if e.key, e.value, e.unique, err = x.entry(d); err != nil {
			return err
		}
		entries, ks = append(entries, e), append(ks, e.key)
	}
	have, err := tx.GetMany(ctx, ks)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, e := range entries {
		taken := len(have[i]) > 0 && !bytes.Equal(have[i], e.value) || seen[string(e.key)]
		if e.unique && taken {
			return sql.NewUniqueKeyErr(duplicateText(sc, x, e.d), false, nil)
		}
		seen[string(e.key)] = true
		if len(have[i]) == 0 {
			tx.Put(e.key, e.value)
		}
	}
	return nil
}

// backfillBlindly is Unsafe.BlindBackfill.
func (t *table) backfillBlindly(ctx *sql.Context, x *indexLayout, rest kv.Span) (next kv.Key, err error) {
	var rows []txn.KeyValue
	err = t.db.e.o.DB.Run(ctx, txn.Options{Name: "fill index", ReadOnly: true}, func(rc context.Context, tx *txn.Txn) error {
		rows, err = tx.Scan(rc, rest, txn.ScanOptions{Limit: backfillRows}).Next(rc)
		return err
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	err = t.db.e.o.DB.Run(ctx, txn.Options{Name: "fill index"}, func(rc context.Context, tx *txn.Txn) error {
		return t.backfillRows(rc, ctx, tx, x, rows)
	})
	return keys.Next(rows[len(rows)-1].Key), err
}
