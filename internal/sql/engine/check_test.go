package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// checkIndexes compares every index of every table with the rows, apart from the code that keeps them: each row has
// exactly its entries, and there are no others.
func (s *member) checkIndexes(t testing.TB) {
	t.Helper()
	err := s.node.DB.Run(context.Background(), txn.Options{ReadOnly: true}, func(ctx context.Context, tx *txn.Txn) error {
		snap, err := readCatalog(ctx, tx)
		if err != nil {
			return err
		}
		for _, db := range snap.Databases() {
			for _, d := range snap.Tables(db.ID) {
				if err := checkTable(ctx, tx, db.Name, d); err != nil {
					return fmt.Errorf("%s.%s: %w", db.Name, d.Name, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
				return fmt.Errorf("two rows have the entry %s of index %s", k, x.desc.Name)
			}
			want[i][string(k)] = true
		}
	}
	for i, x := range l.indexes {
		for _, e := range found[1+i] {
			if !want[i][string(e.Key)] {
				return fmt.Errorf("index %s has the entry %s for no row", x.desc.Name, e.Key)
			}
			delete(want[i], string(e.Key))
			if _, err := rowcodec.ReadValue(e.Value); err != nil {
				return err
			}
		}
		if len(want[i]) > 0 {
			return fmt.Errorf("index %s lacks %d entries", x.desc.Name, len(want[i]))
		}
	}
	return nil
}
