package engine

import (
	"errors"
	"io"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

const (
	// atOnce is how large a table may be, as far as known, to be read from all its ranges in parallel into memory. What is
	// larger is read page by page.
	atOnce = 4 << 20
	// keysPerRound and spansPerRound are how much of a lookup is asked for in one round.
	keysPerRound  = 1024
	spansPerRound = 128
)

// allRows reads the whole table.
func (t *table) allRows(ctx *sql.Context) (sql.RowIter, error) {
	p := t.l.primary.prefix
	whole := reach{span: kv.Span{Start: p, End: keys.PrefixEnd(p)}}
	it, err := newRowReader(ctx, t, t.l.primary, []reach{whole}, false)
	if err == nil {
		it.lock = it.stmt.lockFor(t, true)
		it.counts = it.lock.Policy != kv.LockSkip // what is skipped is not seen
		if it.lock.Mode == kv.NoLock {
			it.lockSome(t)
		}
	}
	return it, err
}

// lookupRows reads what a lookup asks for.
func (t *table) lookupRows(ctx *sql.Context, lookup sql.IndexLookup) (sql.RowIter, error) {
	i, ok := lookup.Index.(*index)
	if !ok || asksNothing(lookup) {
		return sql.RowsToRowIter(), nil
	}
	x := t.l.indexByName(i.ID())
	if x == nil {
		return nil, sql.ErrIndexNotFound.New(i.ID())
	}
	rs, err := x.reaches(ctx, lookup)
	if err != nil {
		return nil, err
	}
	return newRowReader(ctx, t, x, rs, lookup.IsReverse)
}

// rowReader yields the rows of spans of one index, in key order or in reverse.
type rowReader struct {
	t       *table
	tx      *tx
	stmt    *statement
	x       *indexLayout
	reaches []reach
	reverse bool
	covered bool // entries hold all columns that are wanted
	counts  bool // a whole scan: its size is worth remembering
	lock    txn.Lock
	some    uint64   // if not 0: only so many rows are locked (lockSome)
	limit   int      // if not 0: only so many rows are wanted, of one reach
	uses    int      // if not 0: probably no more rows than these will be asked for
	ahead   *fetched // if not nil: what was read ahead for it
	sink    *opened  // if not nil: it gets the rows, and next only says that they are over

	rowsFrom    *rowDecoder
	scanner     *txn.Scanner
	batch       []datums
	at          int
	rows, bytes uint64
}

func newRowReader(ctx *sql.Context, t *table, x *indexLayout, rs []reach, reverse bool) (*rowReader, error) {
	s, tx, err := txOf(ctx)
	if err != nil {
		return nil, err
	}
	r := &rowReader{t: t, tx: tx, stmt: s.stmt, x: x, reaches: slices.Clone(rs), reverse: reverse, covered: x.isPK || t.refOnly}
	r.rowsFrom = r.decoder()
	if reverse {
		slices.Reverse(r.reaches)
	}
	if !t.refOnly {
		r.lock = s.stmt.lockFor(t, false)
	}
	if !r.covered && r.lock.Mode == kv.NoLock && // what is locked is rows
		!(t.l.desc.Keyless() && s.stmt.kind == writing) { // there the row id must be known by the whole content
		r.covered = t.columns != nil
		for _, at := range t.columns {
			r.covered = r.covered && (slices.Contains(x.covering, at) || t.l.virtual[at])
		}
		for i := range rs {
			for _, b := range rs[i].bounds() {
				r.covered = r.covered && slices.Contains(x.covering, b.at)
			}
		}
	}
	return r, nil
}

// Next implements sql.RowIter.
func (r *rowReader) Next(ctx *sql.Context) (sql.Row, error) {
	d, err := r.next(ctx)
	if err != nil {
		return nil, err
	}
	row, err := r.t.l.row(d, r.t.columns)
	if err != nil {
		return nil, err
	}
	if r.t.l.desc.Keyless() && !r.t.refOnly {
		r.stmt.rememberRowID(r.t.l, d)
	}
	return row, nil
}

// next returns the next row as it is kept.
func (r *rowReader) next(ctx *sql.Context) (datums, error) {
	for r.at >= len(r.batch) {
		if len(r.reaches) == 0 {
			if r.counts {
				r.t.db.e.stats.scanned(r.t.l.desc.ID, r.rows, r.bytes)
				r.counts = false
			}
			return nil, io.EOF
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.batch, r.at = r.batch[:0], 0
		if err := r.fetch(ctx); err != nil {
			return nil, err
		}
	}
	d := r.batch[r.at]
	r.batch[r.at] = nil
	r.at++
	return d, nil
}

// Close implements sql.RowIter.
func (r *rowReader) Close(*sql.Context) error {
	r.reaches, r.batch = nil, nil
	return nil
}

// fetch reads the next rows. There may be none, though more follow.
func (r *rowReader) fetch(ctx *sql.Context) error {
	if r.scanner != nil {
		return r.page(ctx)
	}
	if f := r.readBefore(); f != nil {
		if rows, ok := f.spans[spanName(r.reaches[0].span)]; ok {
			if r.reverse {
				rows = slices.Clone(rows)
				slices.Reverse(rows)
			}
			from := r.reaches[0]
			r.reaches = r.reaches[1:]
			return r.take(ctx, &from, rows)
		}
	}
	if n := r.points(); n > 0 {
		return r.getPoints(ctx, n)
	}
	page := r.page1()
	if n := min(len(r.reaches), spansPerRound); page == 0 && r.limit == 0 && r.uses == 0 && (n > 1 || r.t.db.e.stats.small(r.t.l.desc.ID)) {
		err := r.scanAtOnce(ctx, n)
		if !tooLarge(err) {
			return err
		}
		r.t.db.e.stats.grew(r.t.l.desc.ID)
	}
	if page == 0 {
		page = r.uses
	}
	r.scanner = r.tx.attempt().Scan(ctx, r.reaches[0].span, txn.ScanOptions{Limit: r.limit, Reverse: r.reverse, Page: page, Lock: r.own()})
	return r.page(ctx)
}

// readBefore is what was read ahead for the reader, or for all of its table; nil: nothing.
func (r *rowReader) readBefore() *fetched {
	if r.ahead != nil {
		return r.ahead
	}
	return r.stmt.ahead[r.t.l.desc.ID]
}

// lockSome is for an UPDATE or DELETE that no index helps. Which of all rows it wants is known only after they have been read.
// It locks them all if the table is small. Of a table that nobody has looked at yet it locks as many as a small one may have,
// and goes on without if there are more.
func (r *rowReader) lockSome(t *table) {
	limit := r.stmt.scanLocks
	if n, known := t.db.e.stats.known(t.l.desc.ID); limit == 0 || known && n > limit {
		return
	}
	r.lock, r.some = r.stmt.lockFor(t, false), limit
}

// own is how the entries of this index are locked: only rows are, and they are in the primary one.
func (r *rowReader) own() txn.Lock {
	if r.x.isPK {
		return r.lock
	}
	return txn.Lock{}
}

// page1 is how many rows to read at first where a limit says how many may be locked; 0: as many as there are.
func (r *rowReader) page1() int {
	if r.lock.Mode == kv.NoLock {
		return 0
	}
	page := r.stmt.locks.page
	if r.some > 0 && (page == 0 || uint64(page) > r.some) {
		return int(r.some)
	}
	return page
}

// tooLarge reports that ScanMany would return more than it may.
func tooLarge(err error) bool {
	var e *kv.Error
	return errors.As(err, &e) && e.Code == kv.ErrInternal && !txn.Retryable(err)
}

func (r *rowReader) page(ctx *sql.Context) error {
	rows, err := r.scanner.Next(ctx)
	if err == nil && r.own().Mode != kv.NoLock {
		err = r.tx.moved(ctx)
	}
	if err != nil {
		return r.tx.note(err)
	}
	if len(rows) == 0 {
		r.scanner, r.reaches = nil, r.reaches[1:]
		return nil
	}
	if r.some > 0 && r.rows+uint64(len(rows)) >= r.some {
		r.lock = txn.Lock{}
		r.scanner.StopLocking()
	}
	return r.take(ctx, &r.reaches[0], rows)
}

// points is how many of the next reaches are single keys.
func (r *rowReader) points() (n int) {
	for n < len(r.reaches) && n < keysPerRound && r.reaches[n].point {
		n++
	}
	return n
}

func (r *rowReader) getPoints(ctx *sql.Context, n int) error {
	ks := make([]kv.Key, n)
	for i := range ks {
		ks[i] = r.reaches[i].span.Start
	}
	values, _, err := r.tx.getLocked(ctx, ks, r.own())
	if err != nil {
		return err
	}
	var rows []txn.KeyValue
	for i, v := range values { // those that are skipped have none
		if len(v) > 0 {
			rows = append(rows, txn.KeyValue{Key: ks[i], Value: v})
		}
	}
	first := r.reaches[0]
	r.reaches = r.reaches[n:]
	return r.take(ctx, &first, rows)
}

func (r *rowReader) scanAtOnce(ctx *sql.Context, n int) error {
	spans := make([]kv.Span, n)
	for i := range spans {
		spans[i] = r.reaches[i].span
	}
	found, err := r.tx.scanLocked(ctx, spans, r.own())
	if err != nil {
		return err
	}
	if r.reverse {
		for _, rows := range found {
			slices.Reverse(rows)
		}
	}
	if !r.covered && !slices.ContainsFunc(r.reaches[:n], func(re reach) bool { return len(re.rest) > 0 }) {
		first := r.reaches[0]
		r.reaches = r.reaches[n:]
		return r.take(ctx, &first, slices.Concat(found...)) // the rows of all entries are one round
	}
	for i, rows := range found {
		if err := r.take(ctx, &r.reaches[i], rows); err != nil {
			return err
		}
	}
	r.reaches = r.reaches[n:]
	return nil
}

// take decodes what was read, and where it is entries of an index that do not hold all that is wanted, gets the rows.
func (r *rowReader) take(ctx *sql.Context, from *reach, found []txn.KeyValue) error {
	for _, row := range found {
		r.rows++
		r.bytes += uint64(len(row.Key) + len(row.Value))
	}
	if r.sink != nil {
		return r.pour(ctx, found)
	}
	ds := make([]datums, 0, len(found))
	for i, row := range found {
		var d datums
		var err error
		if r.x.isPK {
			d, err = r.rowsFrom.row(row.Key, row.Value, len(found)-i)
		} else {
			d, err = r.x.decodeEntry(row.Key, row.Value)
		}
		if err != nil {
			return err
		}
		ds = append(ds, d)
	}
	if !r.covered {
		var err error
		if ds, err = r.rowsOf(ctx, ds, found); err != nil {
			return err
		}
	}
	for _, d := range ds {
		if len(from.rest) > 0 {
			ok, err := from.holds(ctx, r.t.l, d)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		r.batch = append(r.batch, d)
	}
	return nil
}

// pour gives what was read to the sink, or the rows that it stands for. Nothing is made of them on the way.
func (r *rowReader) pour(ctx *sql.Context, found []txn.KeyValue) error {
	if r.x.isPK {
		for _, row := range found {
			if err := r.sink.add(row.Key, row.Value); err != nil {
				return err
			}
		}
		return nil
	}
	d := make(datums, len(r.t.l.columns)+1)
	for len(found) > 0 {
		part := found[:min(len(found), keysPerRound)]
		found = found[len(part):]
		ks := make([]kv.Key, 0, len(part))
		for _, e := range part {
			err := r.x.decodeEntryInto(d, e.Key, e.Value)
			if err == nil && r.covered {
				err = r.sink.row(d)
			} else if err == nil {
				var k kv.Key
				k, err = r.t.l.primaryKey(d)
				ks = append(ks, k)
			}
			if err != nil {
				return err
			}
		}
		values, _, err := r.primaryValues(ctx, ks)
		if err != nil {
			return err
		}
		for i, v := range values {
			if len(v) == 0 {
				return r.t.l.corrupt(ks[i], errNoRow(r.x))
			}
			if err := r.sink.add(ks[i], v); err != nil {
				return err
			}
		}
	}
	return nil
}

func errNoRow(x *indexLayout) error {
	return errors.New("index " + x.desc.Name + " has an entry for a row that is not there")
}

// rowsOf gets the rows that index entries stand for, in one round for each keysPerRound of them.
func (r *rowReader) rowsOf(ctx *sql.Context, entries []datums, found []txn.KeyValue) ([]datums, error) {
	out := entries[:0]
	for from := 0; from < len(entries); from += keysPerRound {
		part := entries[from:min(from+keysPerRound, len(entries))]
		ks := make([]kv.Key, len(part))
		for i, d := range part {
			var err error
			if ks[i], err = r.t.l.primaryKey(d); err != nil {
				return nil, err
			}
		}
		values, skipped, err := r.primaryValues(ctx, ks)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if skipped != nil && skipped[i] {
				r.tx.attempt().Unread([]kv.Key{found[from+i].Key})
				continue
			}
			if len(v) == 0 && r.tx.wrote {
				continue // this transaction has deleted it since the entries were read
			}
			if len(v) == 0 {
				return nil, r.t.l.corrupt(ks[i], errNoRow(r.x))
			}
			d, err := r.rowsFrom.row(ks[i], v, len(values)-i)
			if err != nil {
				return nil, err
			}
			out = append(out, d)
		}
	}
	return out, nil
}

// primaryValues gets rows by their keys, from what was read ahead if they are there.
func (r *rowReader) primaryValues(ctx *sql.Context, ks []kv.Key) (values [][]byte, skipped []bool, err error) {
	if r.lock.Mode != kv.NoLock {
		return r.tx.getLocked(ctx, ks, r.lock)
	}
	if f := r.readBefore(); f != nil {
		out := make([][]byte, len(ks))
		for i, k := range ks {
			v, ok := f.rows[string(k)]
			if !ok {
				values, err = r.tx.getMany(ctx, ks)
				return values, nil, err
			}
			out[i] = v
		}
		return out, nil, nil
	}
	values, err = r.tx.getMany(ctx, ks)
	return values, nil, err
}
