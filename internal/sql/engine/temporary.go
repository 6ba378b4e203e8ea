package engine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// A temporary table is one that a session has for itself. Its rows lie in the key-value store, under an id of its own (catalog/K5), so that
// statements, indexes, transactions and savepoints work as with every other table. Its descriptor is in the session alone.
//
//	M1  A session sees the catalog with its temporary tables in front (Session.schema). Every other session, information_schema, SHOW TABLES,
//	    foreign keys, triggers and the queries of views see it without them (Session.shared).
//	M2  CREATE, ALTER and DROP of a temporary table take no lock of the catalog and write nothing into it. They count once their statement
//	    has succeeded, and no ROLLBACK takes them back, as in MySQL.
//	M3  What a transaction has learned of a temporary table is no part of what has to hold at its commit (H5): nobody else can change it.
//	M4  A plan that was compiled (P3) knows no temporary tables, and is not used by a session in which one of them has the name of a table
//	    of the plan.
//	M5  Rows of a table that is gone are removed when no transaction of the session is open any more: it may have written some of them. What
//	    a process that has crashed has left is removed when its node starts again.

// temporaryTables are those of a session. Only the session's statements touch them, and its end.
type temporaryTables struct {
	tables []*catalog.Table // never changed in place
	seen   *schema          // the catalog with them in front
	over   *schema          // which seen is made of
	gone   []kv.Span        // of rows that have to be removed
	// plain is above zero while the catalog is looked at without them.
	plain int
}

// set puts other tables in the place of those that there are.
func (t *temporaryTables) set(tables []*catalog.Table) { t.tables, t.seen, t.over = tables, nil, nil }

// has reports whether there is one of that name.
func (t *temporaryTables) has(database uint64, name string) bool {
	return slices.ContainsFunc(t.tables, func(d *catalog.Table) bool { return d.Database == database && strings.EqualFold(d.Name, name) })
}

// inFront is a version of the catalog with the session's temporary tables in front.
func (t *temporaryTables) inFront(base *schema) *schema {
	if len(t.tables) == 0 || t.plain > 0 {
		return base
	}
	if t.over != base {
		t.seen, t.over = base.with(base.snap.With(t.tables)), base
	}
	return t.seen
}

// without looks at the catalog as every other session sees it.
func (t *temporaryTables) without(fn func()) {
	t.plain++
	defer func() { t.plain-- }()
	fn()
}

// hides reports whether a temporary table stands in front of one that a plan uses (M4).
func (t *temporaryTables) hides(u *uses, s *schema) bool {
	if len(t.tables) == 0 {
		return false
	}
	if u == nil || u.all {
		return true
	}
	for _, id := range u.tables {
		if d := s.snap.TableByID(id); d == nil || t.has(d.Database, d.Name) {
			return true
		}
	}
	return false
}

// temporaryNamed is the temporary table that a statement of the session means by a name; nil: there is none.
func (s *Session) temporaryNamed(ctx *sql.Context, database, name string) (*catalog.Table, error) {
	if len(s.temporary.tables) == 0 {
		return nil, nil
	}
	now, err := s.schema(ctx)
	if err != nil {
		return nil, err
	}
	if database == "" {
		database = ctx.GetCurrentDatabase()
	}
	db := now.snap.Database(database)
	if db == nil {
		return nil, nil
	}
	return now.snap.Temporary(db.ID, name), nil
}

// adopt makes what a statement has done to temporary tables the session's (M2). The statement has succeeded.
func (s *Session) adopt(t *tx) {
	if !t.temporary {
		return
	}
	before := len(s.temporary.tables)
	s.temporary.set(t.edit.Snapshot().Temporaries())
	t.gaveTemporary = t.gaveTemporary || len(s.temporary.tables) > before
	for _, x := range t.edit.DiscardedTemporary() {
		s.temporary.gone = append(s.temporary.gone, catalog.IndexSpan(x.Table, x.Index))
	}
	t.edit, t.edited, t.temporary = nil, nil, false
}

// forgetEdit is adopt of a statement that has failed.
func (t *tx) forgetEdit() {
	if t.temporary {
		t.edit, t.edited, t.temporary = nil, nil, false
	}
}

// lose lets go of what is kept for a temporary table that is gone.
func (s *Session) lose(d *catalog.Table) {
	s.e.ids.forget(d)
	s.e.stats.forget(d.ID)
	s.temporary.gone = append(s.temporary.gone, catalog.TablesSpan(d.ID, 1))
}

// clearTemporary has rows removed that no transaction can touch any more (M5).
func (s *Session) clearTemporary() {
	if len(s.temporary.gone) > 0 && s.transaction() == nil {
		s.e.garbage.add(s.temporary.gone)
		s.temporary.gone = nil
	}
}

// endTemporary is the end of the session, whose transaction is over.
func (s *Session) endTemporary() {
	for _, d := range s.temporary.tables {
		s.lose(d)
	}
	s.temporary.set(nil)
	s.clearTemporary()
}

// temporaryIDs gives out the ids of the node's temporary tables.
type temporaryIDs struct {
	e         *Engine
	mu        taskMutex
	next, end uint64

	ownMu sync.Mutex
	own   map[uint64]bool // blocks of this process, by their first ids
}

// temporaryBlock is how many ids a node reserves at once.
const temporaryBlock = 1024

// temporarySequence counts them in the cluster.
const temporarySequence = "sql/temporary"

func newTemporaryIDs(e *Engine) *temporaryIDs { return &temporaryIDs{e: e, own: map[uint64]bool{}} }

// take returns an id. The block that it is of is written down before (K5).
func (n *temporaryIDs) take(ctx context.Context) (uint64, error) {
	n.mu.lock(n.e.o.RT)
	defer n.mu.unlock()
	if n.next >= n.end {
		first, err := n.e.o.Router.Increment(ctx, temporarySequence, temporaryBlock)
		if err != nil {
			return 0, err
		}
		id := catalog.TemporaryID(first)
		n.ownMu.Lock()
		n.own[id] = true
		n.ownMu.Unlock()
		err = n.e.o.DB.Run(ctx, txn.Options{Name: "temporary ids"}, func(_ context.Context, t *txn.Txn) error {
			t.Put(catalog.TemporaryBlockKey(n.e.o.NodeID, id), catalog.TemporaryBlock(temporaryBlock))
			return nil
		})
		if err != nil {
			return 0, err
		}
		n.next, n.end = id, id+temporaryBlock
	}
	n.next++
	return n.next - 1, nil
}

// isOwn reports whether a block was reserved by this process.
func (n *temporaryIDs) isOwn(first uint64) bool {
	n.ownMu.Lock()
	defer n.ownMu.Unlock()
	return n.own[first]
}

// clearCrashed removes what an earlier process of the node has left (M5).
func (c *collector) clearCrashed(ctx context.Context) error {
	var blocks []txn.KeyValue
	err := c.e.o.DB.Run(ctx, txn.Options{Name: "list temporary ids", ReadOnly: true}, func(ctx context.Context, t *txn.Txn) error {
		rows, err := t.ScanMany(ctx, []kv.Span{catalog.TemporaryBlocks(c.e.o.NodeID)})
		if err == nil {
			blocks = rows[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, b := range blocks {
		first, n, err := catalog.ParseTemporaryBlock(b.Key, b.Value)
		if err != nil {
			return err
		}
		if c.e.temporary.isOwn(first) {
			continue
		}
		if err := c.clearSpan(ctx, b.Key, catalog.TablesSpan(first, n)); err != nil {
			return err
		}
	}
	return nil
}
