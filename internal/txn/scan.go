package txn

import (
	"context"
	"slices"

	"github.com/longitude-db/longitude/internal/kv"
)

// chunk is the rows, or the groups, of a stretch of the key space.
type chunk struct {
	span   kv.Span
	rows   []KeyValue
	counts []int64 // of groups
}

func keyValues(r *kv.Rows) []KeyValue {
	out := make([]KeyValue, len(r.Keys))
	for i := range r.Keys {
		out[i].Key = r.Keys[i]
		if len(r.Values) > 0 { // groups may have none
			out[i].Value = r.Values[i]
		}
	}
	return out
}

// ScanMany reads spans, from all their ranges at once, and returns the rows of each, in key order and all of them in
// memory. It is meant for what fits there: beyond DBOptions.MaxBytes it fails, and Scan is the way.
func (t *Txn) ScanMany(ctx context.Context, spans []kv.Span) ([][]KeyValue, error) {
	return t.scanMany(ctx, spans, Lock{})
}

func (t *Txn) scanMany(ctx context.Context, spans []kv.Span, l Lock) ([][]KeyValue, error) {
	if _, err := t.ready(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	mark := t.writes.mark()
	t.mu.Unlock()
	chunks := make([][]chunk, len(spans))
	reqs, origin := scanRequests(spans)
	for i := range reqs {
		reqs[i].Lock = t.readLock(l)
	}
	if err := t.readAll(ctx, reqs, origin, spans, chunks, nil); err != nil {
		return nil, err
	}
	out := make([][]KeyValue, len(spans))
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range chunks {
		out[i] = t.writes.merge(joined(chunks[i]), spans[i], mark, false)
	}
	return out, nil
}

// joined is the rows of a span, in order.
func joined(cs []chunk) (rows []KeyValue) {
	slices.SortStableFunc(cs, byStart)
	if len(cs) == 1 {
		return cs[0].rows
	}
	for _, c := range cs {
		rows = append(rows, c.rows...)
	}
	return rows
}

// readAll reads the spans of requests to their ends, page by page. origin lists, for each request, the indexes of its spans
// among all. Keys, and what is found there, are given to single.
func (t *Txn) readAll(ctx context.Context, reqs []kv.ReadRequest, origin [][]int, spans []kv.Span, chunks [][]chunk, single func(kv.Key, []byte)) error {
	bytes := 0
	for len(reqs) > 0 {
		parts, err := t.fetch(ctx, reqs)
		if err != nil {
			return err
		}
		var rest []kv.ReadRequest
		var restOrigin [][]int
		for _, p := range parts {
			for i, k := range p.req.Keys {
				single(k, p.resp.Values[i])
			}
			more, from := collect(p, spans, origin[p.index], chunks, &bytes)
			if len(more) > 0 {
				next := kv.ReadRequest{Spans: more, Groups: p.req.Groups, Lock: reqs[p.index].Lock}
				rest, restOrigin = append(rest, next), append(restOrigin, from)
			}
		}
		if bytes > t.db.o.MaxBytes {
			return kv.Errorf(kv.ErrInternal, "the result is larger than %d MiB, the most that is read at once: read it in pages, or less of it", t.db.o.MaxBytes>>20)
		}
		reqs, origin = rest, restOrigin
	}
	return nil
}

// scanRequests puts spans that do not overlap into one request, so that each range is asked once; others get one each.
// origin lists, for each request, the indexes of its spans.
func scanRequests(spans []kv.Span) (reqs []kv.ReadRequest, origin [][]int) {
	order := make([]int, 0, len(spans))
	for i := range spans {
		if !spans[i].Empty() {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return spans[a].Start.Compare(spans[b].Start) })
	for _, i := range order {
		if len(reqs) > 0 && !spans[i].Start.Less(reqs[0].Spans[len(reqs[0].Spans)-1].End) {
			reqs[0].Spans, origin[0] = append(reqs[0].Spans, spans[i]), append(origin[0], i)
			continue
		}
		reqs, origin = append(reqs, kv.ReadRequest{Spans: []kv.Span{spans[i]}}), append(origin, []int{i})
	}
	return reqs, origin
}

// collect deals the rows of one part out to the spans that they were read for, and returns what is left to read.
func collect(p part, spans []kv.Span, origin []int, chunks [][]chunk, bytes *int) (more []kv.Span, from []int) {
	for i, s := range p.req.Spans {
		// The spans of a request are in order and do not overlap: the piece belongs to the last one that begins before it.
		j, exact := slices.BinarySearchFunc(origin, s.Start, func(o int, k kv.Key) int { return spans[o].Start.Compare(k) })
		if !exact {
			j--
		}
		o := origin[j]
		read, rest := p.split(i, s)
		rows := keyValues(&p.resp.Rows[i])
		for _, kv := range rows {
			*bytes += len(kv.Key) + len(kv.Value)
		}
		chunks[o] = append(chunks[o], chunk{span: read, rows: rows, counts: p.resp.Rows[i].Counts})
		if !rest.Empty() {
			more, from = append(more, rest), append(from, o)
		}
	}
	return more, from
}

// Pages of a Scanner begin small, because many scans end early, and grow.
const (
	firstPage = 256
	lastPage  = 16384
)

// Scanner reads a span page by page, range by range. It shows the writes that the transaction had buffered when the scan
// began, and none since: a statement that writes what it scans does not meet its own writes.
type Scanner struct {
	t       *Txn
	rest    kv.Span
	reverse bool
	left    int // rows still wanted; -1: all
	page    int
	lock    Lock
	mark    uint64
	pieces  []kv.Span // reverse: the ranges' parts of the span, by key
}

// Scan begins to read a span. Nothing is read before Next.
func (t *Txn) Scan(_ context.Context, span kv.Span, o ScanOptions) *Scanner {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &Scanner{t: t, rest: span, reverse: o.Reverse, left: -1, page: firstPage, lock: o.Lock, mark: t.writes.mark()}
	if o.Limit > 0 {
		s.left = o.Limit
	}
	if o.Page > 0 {
		s.page = o.Page
	}
	return s
}

// StopLocking has the pages to come read without locks.
func (s *Scanner) StopLocking() { s.lock = Lock{} }

// Next returns the next rows in order, and none at the end.
func (s *Scanner) Next(ctx context.Context) ([]KeyValue, error) {
	if _, err := s.t.ready(ctx); err != nil {
		return nil, err
	}
	for s.left != 0 && !s.rest.Empty() {
		rows, err := s.next(ctx)
		if err != nil {
			return nil, err
		}
		if s.left > 0 {
			rows = rows[:min(len(rows), s.left)]
			s.left -= len(rows)
		}
		if len(rows) > 0 {
			return rows, nil
		}
	}
	return nil, nil
}

// next reads one page; it may be empty before the end.
func (s *Scanner) next(ctx context.Context) ([]KeyValue, error) {
	piece, err := s.piece(ctx)
	if err != nil {
		return nil, err
	}
	limit := s.page
	if s.left > 0 {
		limit = min(limit, s.left)
	}
	if s.lock.Mode == kv.NoLock {
		s.page = min(s.page*4, lastPage)
	} else {
		s.page = min(s.page*2, lastPage) // what is locked and not wanted is in the way of others
	}
	parts, err := s.t.fetch(ctx, []kv.ReadRequest{{Spans: []kv.Span{piece}, MaxRows: limit, Reverse: s.reverse, Lock: s.t.readLock(s.lock)}})
	if err != nil {
		return nil, err
	}
	// Usually there is one part; there are more if the range was split just now. Rows behind a gap are read again.
	slices.SortFunc(parts, func(a, b part) int { return a.req.Spans[0].Start.Compare(b.req.Spans[0].Start) })
	if s.reverse {
		slices.Reverse(parts)
	}
	var rows []KeyValue
	covered := piece
	for _, p := range parts {
		for i := range p.req.Spans {
			rows = append(rows, keyValues(&p.resp.Rows[i])...)
			_, rest := p.split(i, p.req.Spans[i])
			if rest.Empty() {
				continue
			}
			if s.reverse {
				covered.Start = rest.End
			} else {
				covered.End = rest.Start
			}
			return s.advance(rows, covered), nil
		}
	}
	return s.advance(rows, covered), nil
}

// advance notes how far reading has come and merges the transaction's writes in.
func (s *Scanner) advance(rows []KeyValue, covered kv.Span) []KeyValue {
	if s.reverse {
		s.rest.End = covered.Start
	} else {
		s.rest.Start = covered.End
	}
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return s.t.writes.merge(rows, covered, s.mark, s.reverse)
}

// piece is the part of what is left that lies in the next range.
func (s *Scanner) piece(ctx context.Context) (kv.Span, error) {
	if !s.reverse {
		return s.t.db.within(ctx, s.rest)
	}
	if s.pieces == nil {
		for at := s.rest; !at.Empty(); {
			p, err := s.t.db.within(ctx, at)
			if err != nil {
				return kv.Span{}, err
			}
			s.pieces = append(s.pieces, p)
			at.Start = p.End
		}
	}
	for len(s.pieces) > 0 {
		p := s.pieces[len(s.pieces)-1]
		if p.Start.Less(s.rest.End) {
			if s.rest.End.Less(p.End) {
				p.End = s.rest.End
			}
			return p, nil
		}
		s.pieces = s.pieces[:len(s.pieces)-1]
	}
	return s.rest, nil
}

// within cuts a span at the end of the range that holds its start.
func (db *DB) within(ctx context.Context, span kv.Span) (kv.Span, error) {
	d, err := db.o.Router.Lookup(ctx, span.Start)
	if err != nil {
		return span, err
	}
	if d.Span.Contains(span.Start) && d.Span.End.Less(span.End) {
		span.End = d.Span.End
	}
	return span, nil
}
