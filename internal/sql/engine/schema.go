package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/sql/catalog"
	"github.com/longitude-db/longitude/internal/txn"
)

// schema is one version of the catalog, with what is derived from it.
type schema struct {
	snap    *catalog.Snapshot
	layouts sync.Map // table id to *layout
	base    *schema  // the same version without temporary tables; nil: this one has none
}

// with is a snapshot of the same version with temporary tables in front.
func (s *schema) with(snap *catalog.Snapshot) *schema { return &schema{snap: snap, base: s} }

func newSchema(s *catalog.Snapshot) *schema { return &schema{snap: s} }

// after is a version that follows another one: what is derived from tables that are the same is kept.
func (s *schema) after(old *schema) *schema {
	if old == nil {
		return s
	}
	old.layouts.Range(func(id, l any) bool {
		t := s.snap.TableByID(id.(uint64))
		if t != nil && t == l.(*layout).desc {
			if db := s.snap.Databases()[t.Database]; db != nil && old.snap.Databases()[t.Database] != nil && db.Name == old.snap.Databases()[t.Database].Name {
				s.layouts.Store(id, l)
			}
		}
		return true
	})
	return s
}

func (s *schema) layout(db *catalog.Database, t *catalog.Table) (*layout, error) {
	if s.base != nil && !t.Temporary() {
		return s.base.layout(db, t)
	}
	if l, ok := s.layouts.Load(t.ID); ok && l.(*layout).desc == t {
		return l.(*layout), nil
	}
	l, err := newLayout(db.Name, t)
	if err != nil {
		return nil, err
	}
	s.layouts.Store(t.ID, l)
	return l, nil
}

// schemas is this node's cache of the catalog.
//
//	H1  An entry says: at every timestamp in [from, until] the catalog is this version. It is known by a read at until,
//	    where from is the newest version that the read met. Reading at a time to come is what makes the cache useful: the
//	    timestamp caches of the catalog's ranges then force every change that is not seen yet above until.
//	H2  A statement uses an entry that covers its whole window [r, g]. A transaction commits at c only if c <= until of
//	    the version that it was planned with (guard).
//	H3  A change of the catalog is acknowledged after its timestamp is past (rule 2), which lies beyond until of every
//	    entry on every node: a statement that starts later, on any node, has to look again.
//	H4  What a statement learned from an entry is owed like any other read (rule 2): nothing that depends on it, neither rows
//	    nor an error, leaves before the entry's from is past. The transaction pays (txn.ReadElsewhere), or latest does for a reader
//	    without one.
//	H5  A transaction that was planned with one version may commit where another holds, if in both of them all is the same that its
//	    statements have looked at (uses): in that it is as if it had been planned there. What they have not looked at is none of
//	    their business.
//	H6  Changes of the catalog take turns: each locks the meta entry, at its leaseholder, before it reads the catalog, and gives the
//	    lock up when its commit is decided, before that is past. So none is lost to another one, and those of several sessions wait
//	    for their timestamps (H3) at the same time. The lock is for speed alone: what keeps changes apart is that they conflict (K1).
//
// HAZARD: H4 waits by the clock, see txn.waitPast. None of the rest leans on the clock being right. A wrong clock makes entries expire too early or be read too far
// ahead; it cannot make an entry cover a timestamp at which the catalog was another.
type schemas struct {
	e    *Engine
	lead time.Duration

	mu      sync.Mutex
	entries []entry // by from; the newest last
	flight  *renewal
	used    time.Time
	rests   rt.Signal // the task that keeps the cache fresh waits for the next use; nil: it does not
	stop    rt.Signal
	tasks   *rt.Group
}

// entry is H1.
type entry struct {
	schema      *schema
	from, until clock.Timestamp
}

type renewal struct {
	done rt.Signal
	err  error
}

// keepEntries is how many versions of the catalog are remembered for transactions that are older than the newest.
const keepEntries = 8

func newSchemas(e *Engine, lead time.Duration) *schemas {
	return &schemas{e: e, lead: lead, stop: e.o.RT.NewSignal(), tasks: rt.NewGroup(e.o.RT)}
}

func (c *schemas) find(r, g clock.Timestamp) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = c.e.now()
	c.wakeLocked()
	for i := len(c.entries) - 1; i >= 0; i-- {
		if en := c.entries[i]; en.from.LessEq(g) && g.LessEq(en.until) {
			return en, true
		}
	}
	return entry{}, false
}

// at returns an entry that covers the window, or at least its end: then the reader has to move r up to from.
func (c *schemas) at(ctx context.Context, r, g clock.Timestamp) (entry, error) {
	for range 3 {
		if en, ok := c.find(r, g); ok {
			return en, nil
		}
		c.mu.Lock()
		ahead := len(c.entries) == 0 || c.entries[len(c.entries)-1].until.Less(g)
		c.mu.Unlock()
		if !ahead { // between what is remembered: an old reader
			return c.load(ctx, g)
		}
		if err := c.renew(ctx); err != nil {
			return entry{}, err
		}
	}
	return c.load(ctx, g)
}

// latest is the catalog as a reader has to see it that starts now and is no part of a transaction. It is past (H4).
func (c *schemas) latest(ctx context.Context) (entry, error) {
	now, err := c.e.o.Clock.Now()
	if err != nil {
		return entry{}, err
	}
	en, err := c.at(ctx, now.Limit(), now.Limit())
	if err != nil {
		return entry{}, err
	}
	return en, c.e.o.DB.AwaitPast(ctx, en.from)
}

// renew reads the catalog in the future (H1). Callers that come together share one read.
func (c *schemas) renew(ctx context.Context) error {
	c.mu.Lock()
	if f := c.flight; f != nil {
		c.mu.Unlock()
		if err := awaitSignal(ctx, f.done); err != nil {
			return err
		}
		return f.err
	}
	f := &renewal{done: c.e.o.RT.NewSignal()}
	c.flight = f
	c.mu.Unlock()
	f.err = c.readAhead(c.e.background) // for all who wait, so not the caller's context
	c.mu.Lock()
	c.flight = nil
	c.mu.Unlock()
	f.done.Fire()
	return f.err
}

// After a change others often follow, and each of them waits until what was read ahead is over. So for a while after one the catalog
// is read less far ahead: burstLead instead of Options.CatalogLead. Shorter: statements of others wait for renewals more often.
const (
	burst     = 2 * time.Second
	burstLead = 10 * time.Millisecond
)

// leadNow is how far ahead the catalog is to be read at present.
func (c *schemas) leadNow() time.Duration {
	now, err := c.e.o.Clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.entries); n > 0 && err == nil {
		if from := c.entries[n-1].from; !from.IsZero() && now.Earliest.Sub(clock.Instant(from.Wall)) < burst {
			return min(burstLead, c.lead)
		}
	}
	return c.lead
}

func (c *schemas) readAhead(ctx context.Context) error {
	var en entry
	var err error
	en.from, en.until, err = c.e.o.DB.ReadAhead(ctx, c.leadNow(), c.into(&en))
	if err == nil {
		c.remember(en)
	}
	return err
}

// load reads the catalog as of a timestamp and remembers it.
func (c *schemas) load(ctx context.Context, ts clock.Timestamp) (entry, error) {
	en := entry{until: ts}
	var err error
	if en.from, err = c.e.o.DB.ReadAt(ctx, ts, c.into(&en)); err != nil {
		return entry{}, err
	}
	c.remember(en)
	return en, nil
}

// into reads the catalog into an entry. If the version is one that is known, only the meta entry is read.
func (c *schemas) into(en *entry) txn.Func {
	return func(ctx context.Context, t *txn.Txn) error {
		if err := c.read(ctx, t, en); err != nil {
			return fmt.Errorf("reading the catalog: %w", err)
		}
		return nil
	}
}

func (c *schemas) read(ctx context.Context, t *txn.Txn, en *entry) error {
	value, err := t.Get(ctx, catalog.MetaKey())
	if err != nil {
		return err
	}
	meta, err := catalog.ParseMeta(value)
	if err != nil {
		return err
	}
	if en.schema = c.known(meta.Version); en.schema != nil {
		return nil
	}
	latest := c.last()
	s, err := readCatalog(ctx, t, latest)
	if err != nil {
		return err
	}
	if s.Meta.Version != meta.Version {
		return fmt.Errorf("catalog: version %d and %d at one timestamp", meta.Version, s.Meta.Version)
	}
	en.schema = newSchema(s).after(latest)
	return nil
}

// last is the newest version that is known; nil: none.
func (c *schemas) last() *schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) == 0 {
		return nil
	}
	return c.entries[len(c.entries)-1].schema
}

// readCatalog reads all of it. What is as in another version, which may be nil, is taken from there.
func readCatalog(ctx context.Context, t *txn.Txn, like *schema) (*catalog.Snapshot, error) {
	rows, err := t.ScanMany(ctx, []kv.Span{catalog.Span()})
	if err != nil {
		return nil, err
	}
	var old *catalog.Snapshot
	if like != nil {
		old = like.snap
	}
	return catalog.BuildLike(old, catalog.Entries(rows[0], func(r txn.KeyValue) (kv.Key, []byte) { return r.Key, r.Value }))
}

// newest is the newest version of the catalog that is known.
func (c *schemas) newest() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) == 0 {
		return 0
	}
	return c.entries[len(c.entries)-1].schema.snap.Meta.Version
}

func (c *schemas) known(version uint64) *schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, en := range c.entries {
		if en.schema.snap.Meta.Version == version {
			return en.schema
		}
	}
	return nil
}

func (c *schemas) remember(en entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := en.schema.snap.Meta.Version
	for i := range c.entries {
		switch v := c.entries[i].schema.snap.Meta.Version; {
		case v == version: // the same version at two timestamps is the same in between
			c.entries[i].until = c.entries[i].until.Forward(en.until)
			return
		case v > version:
			c.entries = append(c.entries[:i], append([]entry{en}, c.entries[i:]...)...)
			return
		}
	}
	c.entries = append(c.entries, en)
	if len(c.entries) > keepEntries {
		c.entries = c.entries[1:]
	}
}
