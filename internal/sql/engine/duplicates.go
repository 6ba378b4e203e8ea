package engine

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// pendingKey is a key that the commit will refuse if it is taken.
type pendingKey struct {
	x         *indexLayout
	d         datums
	generated bool
}

// expectations are the keys that the commit, or a large transaction's early writes, may be refused for. Those of writes that
// have become intents are decided, and go.
type expectations struct {
	young, old map[string]pendingKey
	upTo       uint64 // the last write that one in old is about
}

// forgetEvery is how many keys are remembered before it is asked which of them are decided.
const forgetEvery = 4096

func (x *expectations) add(t *txn.Txn, key kv.Key, p pendingKey) {
	if x.young == nil {
		x.young = map[string]pendingKey{}
	}
	if len(x.young) >= forgetEvery && len(x.young)%forgetEvery == 0 && t.Decided() >= x.upTo {
		x.young, x.old, x.upTo = map[string]pendingKey{}, x.young, t.Writes()
	}
	x.young[string(key)] = p
}

// of is what was noted of a key; the zero value if nothing was.
func (x *expectations) of(key kv.Key) pendingKey {
	if p, ok := x.young[string(key)]; ok {
		return p
	}
	return x.old[string(key)]
}

// lookupBatch is how many rows wait for their keys to be looked up.
const lookupBatch = 1000

// maxWaiting is about how much memory the rows of a statement that moves keys may take while they wait. Those of a larger
// one are looked up before all have been moved, so that it cannot give a row a key that another is about to leave.
const (
	maxWaiting  = 64 << 20
	rowOverhead = 200
)

// otherUnique reports whether an index other than the generated key's own says that something is unique.
func (e *editor) otherUnique(ws []write) bool {
	for _, w := range ws {
		if w.unique && !(len(w.x.parts) == 1 && w.x.parts[0].at == e.t.l.autoInc) {
			return true
		}
	}
	return false
}

// conditional leaves it to the commit to find out whether keys are taken.
func (e *editor) conditional(ctx *sql.Context, r newRow, generated bool) error {
	for _, w := range r.writes {
		if !w.unique {
			e.tx.put(w.key, w.value)
			continue
		}
		p := pendingKey{x: w.x, d: r.d, generated: generated && len(w.x.parts) == 1 && w.x.parts[0].at == e.t.l.autoInc}
		e.tx.expect(w.key, p)
		if err := e.tx.insert(w.key, w.value); err != nil {
			if isCondition(err) {
				return e.duplicate(ctx, w.x, r.d, nil)
			}
			return err
		}
	}
	return nil
}

// add takes a row, new or moved, whose keys have to be looked up.
func (e *editor) add(ctx *sql.Context, r newRow) error {
	e.rows = append(e.rows, r)
	for _, w := range r.writes {
		e.waiting += len(w.key) + len(w.value) + rowOverhead
	}
	if e.s.stmt.deferred && (e.moves && e.waiting < maxWaiting || !e.moves && len(e.rows) < lookupBatch) {
		return nil
	}
	return e.flush(ctx)
}

// flush looks the keys of the waiting rows up and writes them.
func (e *editor) flush(ctx *sql.Context) error {
	rows := e.rows
	e.rows, e.waiting = nil, 0
	if len(rows) == 0 || e.err != nil {
		return e.err
	}
	var ks []kv.Key
	for _, r := range rows {
		for _, w := range r.writes {
			if w.unique {
				ks = append(ks, w.key)
			}
		}
	}
	found, _, err := e.tx.getLocked(ctx, ks, e.s.stmt.lockFor(e.t, false))
	if err != nil {
		return err
	}
	seen := make(map[string]bool, len(ks))
	i := 0
	for _, r := range rows {
		for _, w := range r.writes {
			if !w.unique {
				continue
			}
			if len(found[i]) > 0 || seen[string(w.key)] {
				return e.duplicate(ctx, w.x, r.d, found[i])
			}
			seen[string(w.key)] = true
			i++
		}
	}
	for _, r := range rows {
		for _, w := range r.writes {
			e.tx.put(w.key, w.value)
		}
	}
	return nil
}

// duplicate is the error for a key that is taken. entry is what is there, as far as known.
func (e *editor) duplicate(ctx *sql.Context, x *indexLayout, d datums, entry []byte) error {
	var existing sql.Row
	if len(entry) > 0 && !e.s.stmt.deferred {
		var err error
		if existing, err = e.existing(ctx, x, d, entry); err != nil {
			return err
		}
	}
	return sql.NewUniqueKeyErr(duplicateText(ctx, x, d), x.isPK, existing)
}

// existing reads the row that has the key.
func (e *editor) existing(ctx *sql.Context, x *indexLayout, d datums, entry []byte) (sql.Row, error) {
	have, err := e.existingRow(ctx, x, d, entry)
	if err != nil {
		return nil, err
	}
	if e.t.l.desc.Keyless() {
		e.s.stmt.rememberRowID(e.t.l, have)
	}
	return e.t.l.row(have, nil)
}

// existingRow is the row that has the key as it is kept.
func (e *editor) existingRow(ctx *sql.Context, x *indexLayout, d datums, entry []byte) (datums, error) {
	l := e.t.l
	key, err := l.primaryKey(d)
	value := entry
	if err == nil && !x.isPK {
		var k kv.Key
		if k, _, _, err = x.entry(d); err != nil {
			return nil, err
		}
		var have datums
		if have, err = x.decodeEntry(k, entry); err != nil {
			return nil, err
		}
		if key, err = l.primaryKey(have); err == nil {
			var vs [][]byte
			if vs, _, err = e.tx.getLocked(ctx, []kv.Key{key}, e.s.stmt.lockFor(e.t, false)); err == nil {
				value = vs[0]
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if len(value) == 0 {
		return nil, l.corrupt(key, fmt.Errorf("index %s has an entry for a row that is not there", x.desc.Name))
	}
	return l.decodeRow(key, value)
}

// duplicateText is MySQL's message.
func duplicateText(ctx *sql.Context, x *indexLayout, d datums) string {
	var vs []string
	for _, p := range x.parts {
		typ := x.table.schema.Schema[p.at].Type
		v, err := x.table.decode[p.at](d[p.at])
		text := d[p.at].String()
		if d[p.at].Kind == rowcodec.Null {
			text = "NULL"
		} else if err == nil {
			if sv, err := typ.SQL(ctx, nil, v); err == nil {
				text = sv.ToString()
			}
		}
		vs = append(vs, text)
	}
	return fmt.Sprintf("Duplicate entry '%s' for key '%s.%s'", strings.Join(vs, "-"), x.table.desc.Name, x.desc.Name)
}
