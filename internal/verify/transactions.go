package verify

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/check/jepsen"
)

// A slot is where keys come from: one key after the other, each given up for a new one after some writes, because reading a
// list takes the longer the longer it is. Slots lie far apart, so that each can have a range of its own.
const (
	slots     = 6
	slotWidth = 1_000_000
)

// keys hands out the keys of a workload. The run's clock guards it.
type keys struct {
	base   int64 // of the first slot
	used   [slots]int
	writes int // per key
}

func (k *keys) current(slot int) int64 {
	return k.base + int64(slot)*slotWidth + int64(k.used[slot]/k.writes)
}

func (k *keys) all() (out []int64) {
	for slot := range slots {
		for g := range k.used[slot]/k.writes + 1 {
			out = append(out, k.base+int64(slot)*slotWidth+int64(g))
		}
	}
	return out
}

func (k *keys) split(table string) []split {
	var at []int64
	for slot := 0; slot < slots; slot += 2 {
		at = append(at, k.base+int64(slot)*slotWidth)
	}
	return []split{{table, at}}
}

// plan is a transaction as it is going to be done: runs of micro-operations that are one statement each.
type plan struct {
	txn   *check.Txn
	ids   []int64 // of each micro-operation's key
	batch []int   // how many micro-operations each statement covers
}

// draw plans a transaction. The caller holds the clock.
func (k *keys) draw(w *worker, list bool, next *int64) *plan {
	p := &plan{txn: &check.Txn{}}
	read, write := check.MopRead, check.MopWrite
	if list {
		read, write = check.MopReadList, check.MopAppend
	}
	add := func(kind check.MopKind, slot int) {
		id := k.current(slot)
		m := check.Mop{Kind: kind, Key: strconv.FormatInt(id, 10)}
		if kind == write {
			*next++
			m.Value = *next
			k.used[slot]++
		}
		p.txn.Mops, p.ids = append(p.txn.Mops, m), append(p.ids, id)
	}
	for range 1 + w.rng.IntN(4) {
		switch w.rng.IntN(8) {
		case 0: // several keys in one statement
			n := 2 + w.rng.IntN(slots-1)
			for _, slot := range w.rng.Perm(slots)[:n] {
				add(read, slot)
			}
			p.batch = append(p.batch, n)
		case 1, 2, 3:
			add(read, w.rng.IntN(slots))
			p.batch = append(p.batch, 1)
		default:
			add(write, w.rng.IntN(slots))
			p.batch = append(p.batch, 1)
		}
	}
	return p
}

// table is a table of keys and values, as transactions over lists and registers use it.
type table struct {
	r     *Run
	load  string // its name
	table string
	list  bool
	keys  keys
	next  int64
	txns  []*check.Txn
	tally tally
}

func (t *table) name() string { return t.load }

func (t *table) schema() []string {
	typ := "BIGINT NOT NULL"
	if t.list {
		typ = "LONGTEXT NOT NULL"
	}
	return []string{fmt.Sprintf("CREATE TABLE %s(id BIGINT PRIMARY KEY, val %s)", t.table, typ)}
}

func (t *table) step(w *worker) check.Outcome {
	var p *plan
	x := &check.Txn{}
	t.r.begin(&x.Op, w.name, func() {
		p = t.keys.draw(w, t.list, &t.next)
		x.Mops = p.txn.Mops
		p.txn = x
		t.txns = append(t.txns, x)
	})
	return t.run(w, p)
}

// run carries out a plan and notes what became of it.
func (t *table) run(w *worker, p *plan) check.Outcome {
	// What is read is kept aside until the end: the history is everybody's.
	got := slices.Clone(p.txn.Mops)
	body := func(ctx context.Context) error {
		at := 0
		for _, n := range p.batch {
			if err := t.statement(ctx, w, p.ids[at:at+n], got[at:at+n]); err != nil {
				return err
			}
			at += n
		}
		return nil
	}
	var o check.Outcome
	var err error
	if len(p.batch) == 1 && w.rng.IntN(2) == 0 {
		o, err = w.alone(body)
	} else {
		o, err = w.txn(body)
	}
	t.r.end(&p.txn.Op, &t.tally, o, err, func() {
		if o != check.Failed {
			p.txn.Mops = got
		}
	})
	return o
}

// statement does the micro-operations of one statement.
func (t *table) statement(ctx context.Context, w *worker, ids []int64, ms []check.Mop) error {
	switch m := &ms[0]; m.Kind {
	case check.MopAppend:
		_, err := w.exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%d, '%d') ON DUPLICATE KEY UPDATE val = CONCAT(val, ',%d')", t.table, ids[0], m.Value, m.Value))
		return err
	case check.MopWrite:
		_, err := w.exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%d, %d) ON DUPLICATE KEY UPDATE val = %d", t.table, ids[0], m.Value, m.Value))
		return err
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	where := "= " + texts[0]
	if len(ids) > 1 {
		where = "IN (" + strings.Join(texts, ", ") + ")"
	}
	vals := map[int64]string{}
	err := w.rows(ctx, fmt.Sprintf("SELECT id, val FROM %s WHERE id %s", t.table, where), func(scan func(...any) error) error {
		var id int64
		var val string
		err := scan(&id, &val)
		vals[id] = val
		return err
	})
	if err != nil {
		return err
	}
	for i := range ms {
		m := &ms[i]
		val, ok := vals[ids[i]]
		if m.Known = true; !ok {
			m.Nil = !t.list
			continue
		}
		for s := range strings.SplitSeq(val, ",") {
			v, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return fmt.Errorf("the database returned %q for row %d of %s: %w", val, ids[i], t.table, err)
			}
			if t.list {
				m.List = append(m.List, v)
			} else {
				m.Value = v
			}
		}
	}
	return nil
}

// final reads all keys, some in each transaction.
func (t *table) final(w *worker) error {
	t.r.clock.mu.Lock()
	ids := t.keys.all()
	t.r.clock.mu.Unlock()
	for part := range slices.Chunk(ids, 50) {
		p := &plan{txn: &check.Txn{}, ids: part, batch: []int{len(part)}}
		for _, id := range part {
			m := check.Mop{Kind: check.MopRead, Key: strconv.FormatInt(id, 10)}
			if t.list {
				m.Kind = check.MopReadList
			}
			p.txn.Mops = append(p.txn.Mops, m)
		}
		var err error
		got := slices.Clone(p.txn.Mops)
		t.r.begin(&p.txn.Op, w.name, func() { t.txns = append(t.txns, p.txn) })
		o, err := w.alone(func(ctx context.Context) error { return t.statement(ctx, w, part, got) })
		t.r.end(&p.txn.Op, &t.tally, o, err, func() { p.txn.Mops = got })
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *table) done() []check.Txn {
	out := make([]check.Txn, len(t.txns))
	for i, x := range t.txns {
		out[i] = *x
	}
	return out
}

func (t *table) judge(m check.Model) ([]check.Anomaly, int) {
	return check.Transactions(t.done(), check.TxnOptions{Model: m}), 0
}

func (t *table) history(h *jepsen.History) { h.Txns = append(h.Txns, t.done()...) }
func (t *table) counts() *tally            { return &t.tally }

func (t *table) splits() []split { return t.keys.split(t.table) }

// newLists appends to lists, which are texts of numbers, and reads them: from a list its whole past can be told.
func newLists(r *Run) workload {
	return &table{r: r, load: "list-append", table: "lists", list: true, keys: keys{writes: 50}}
}

// newRegisters writes and reads single numbers in transactions.
func newRegisters(r *Run) workload {
	return &table{r: r, load: "rw-register", table: "registers", keys: keys{base: 100 * slotWidth, writes: 50}}
}
