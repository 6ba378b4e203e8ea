package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// CheckIndexes compares every index of every table with the rows, apart from the code that keeps them: each row has exactly its
// entries, there are no others, and no two rows have the same entry. It is for tests and simulations.
func CheckIndexes(ctx context.Context, db *txn.DB) error {
	return db.Run(ctx, txn.Options{ReadOnly: true}, func(ctx context.Context, tx *txn.Txn) error {
		snap, err := readCatalog(ctx, tx, nil)
		if err != nil {
			return err
		}
		dbs := snap.Databases()
		for _, id := range slices.Sorted(maps.Keys(dbs)) {
			db, tables := dbs[id], snap.Tables(id)
			for _, name := range slices.Sorted(maps.Keys(tables)) {
				d := tables[name]
				if err := checkTable(ctx, tx, db.Name, d); err != nil {
					if broken := (*BrokenIndex)(nil); errors.As(err, &broken) {
						broken.Table = db.Name + "." + d.Name
					}
					return err
				}
			}
		}
		return nil
	})
}

// BrokenIndex is what CheckIndexes finds.
type BrokenIndex struct{ Table, Index, What string }

func (b *BrokenIndex) Error() string {
	return fmt.Sprintf("%s: index %s: %s", b.Table, b.Index, b.What)
}

func broken(x *indexLayout, what string, args ...any) error {
	return &BrokenIndex{Index: x.desc.Name, What: fmt.Sprintf(what, args...)}
}

func checkTable(ctx context.Context, tx *txn.Txn, db string, d *catalog.Table) error {
	l, err := newLayout(db, d)
	if err != nil {
		return err
	}
	spans := []kv.Span{spanOf(l.primary)}
	for _, x := range l.indexes {
		spans = append(spans, spanOf(x))
	}
	found, err := tx.ScanMany(ctx, spans)
	if err != nil {
		return err
	}
	want := make([]map[string]bool, len(l.indexes))
	for i := range want {
		want[i] = map[string]bool{}
	}
	for _, r := range found[0] {
		row, err := l.decodeRow(r.Key, r.Value)
		if err != nil {
			return err
		}
		for i, x := range l.indexes {
			k, _, _, err := x.entry(row)
			if err != nil {
				return err
			}
			if want[i][string(k)] {
				return broken(x, "two rows have the entry %s", k)
			}
			want[i][string(k)] = true
		}
	}
	for i, x := range l.indexes {
		for _, e := range found[1+i] {
			if !want[i][string(e.Key)] {
				return broken(x, "the entry %s is of no row", e.Key)
			}
			delete(want[i], string(e.Key))
			if _, err := rowcodec.ReadValue(e.Value); err != nil {
				return err
			}
		}
		if len(want[i]) > 0 {
			if x.desc.State == catalog.Public { // an unfinished one may lack what was there before
				return broken(x, "%d entries are missing", len(want[i]))
			}
		}
	}
	return nil
}
