package txn

import (
	"bytes"
	"context"
	"slices"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
)

// Counting asks for the number of rows of spans that do not overlap, by groups.
type Counting struct {
	Spans []kv.Span
	By    kv.Grouping
}

// Group is rows whose keys begin alike, as Counting.By says.
type Group struct {
	// Key begins as the keys of the group do. With Grouping.First it is that of the first row, and Value its value.
	Key   kv.Key
	Value []byte
	Count int64 // at least 1
}

// maxOwnWrites is how many of its own writes a transaction lays over groups one by one.
const maxOwnWrites = 4096

// Count counts rows where they are, in all their ranges at once, and reads the rows of other spans beside: all of it as of
// one timestamp. Groups and rows are in key order. It is a read like ScanMany: what was counted is refreshed, bumps the
// timestamp caches, and includes what this transaction has written.
func (t *Txn) Count(ctx context.Context, counts []Counting, spans []kv.Span) ([][]Group, [][]KeyValue, error) {
	if _, err := t.ready(ctx); err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	mark := t.writes.mark()
	own := make([][]*buffered, len(counts))
	whole := false
	for i := range counts {
		for _, sp := range counts[i].Spans {
			own[i] = append(own[i], t.writes.in(sp, mark)...)
		}
		// The first row of a group may be one that was deleted here, and the next one is not known.
		whole = whole || len(own[i]) > maxOwnWrites || len(own[i]) > 0 && counts[i].By.First
	}
	t.mu.Unlock()
	if whole {
		return t.countRows(ctx, counts, spans)
	}
	all := slices.Clone(spans)
	reqs, origin := scanRequests(spans)
	for i := range counts {
		more, from := scanRequests(counts[i].Spans)
		for j := range more {
			more[j].Groups = &counts[i].By
			for k := range from[j] {
				from[j][k] += len(all)
			}
		}
		reqs, origin, all = append(reqs, more...), append(origin, from...), append(all, counts[i].Spans...)
	}
	reqs, origin = appendKeys(reqs, origin, own)
	had := map[string]bool{}
	chunks := make([][]chunk, len(all))
	err := t.readAll(ctx, reqs, origin, all, chunks, func(k kv.Key, v []byte) { had[string(k)] = len(v) > 0 })
	if err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := make([][]KeyValue, len(spans))
	for i := range spans {
		rows[i] = t.writes.merge(joined(chunks[i]), spans[i], mark, false)
	}
	groups := make([][]Group, len(counts))
	chunks = chunks[len(spans):]
	for i := range counts {
		n := len(counts[i].Spans)
		g := grouping{by: &counts[i].By}
		err := g.chunks(slices.Concat(chunks[:n]...))
		chunks = chunks[n:]
		for _, w := range own[i] {
			if err == nil {
				v, _ := w.at(mark)
				err = g.change(w.key, had[string(w.key)], v.value != nil)
			}
		}
		if err != nil {
			return nil, nil, err
		}
		groups[i] = slices.DeleteFunc(g.groups, func(g Group) bool { return g.Count == 0 })
	}
	return groups, rows, nil
}

// appendKeys adds a read of the keys that were written here: whether they were there makes the difference.
func appendKeys(reqs []kv.ReadRequest, origin [][]int, own [][]*buffered) ([]kv.ReadRequest, [][]int) {
	var ks []kv.Key
	for _, list := range own {
		for _, w := range list {
			ks = append(ks, w.key)
		}
	}
	if len(ks) == 0 {
		return reqs, origin
	}
	slices.SortFunc(ks, kv.Key.Compare)
	ks = slices.CompactFunc(ks, kv.Key.Equal)
	return append(reqs, kv.ReadRequest{Keys: ks}), append(origin, nil)
}

// countRows is Count by reading all rows.
func (t *Txn) countRows(ctx context.Context, counts []Counting, spans []kv.Span) ([][]Group, [][]KeyValue, error) {
	all := slices.Clone(spans)
	for i := range counts {
		all = append(all, counts[i].Spans...)
	}
	rows, err := t.ScanMany(ctx, all)
	if err != nil {
		return nil, nil, err
	}
	groups := make([][]Group, len(counts))
	rest := rows[len(spans):]
	for i := range counts {
		n := len(counts[i].Spans)
		counted := slices.Concat(rest[:n]...)
		rest = rest[n:]
		slices.SortFunc(counted, func(a, b KeyValue) int { return a.Key.Compare(b.Key) })
		g := grouping{by: &counts[i].By}
		for _, row := range counted {
			if err := g.add(row, 1); err != nil {
				return nil, nil, err
			}
		}
		groups[i] = g.groups
	}
	return groups, rows[:len(spans):len(spans)], nil
}

// grouping puts groups together, in key order.
type grouping struct {
	by     *kv.Grouping
	groups []Group
	end    int // of the part that the last group's keys share
}

// chunks adds what ranges have counted. Groups go on over the ends of ranges and pages.
func (g *grouping) chunks(cs []chunk) error {
	slices.SortStableFunc(cs, byStart)
	for _, c := range cs {
		for i, row := range c.rows {
			if c.counts[i] < 1 {
				return kv.Errorf(kv.ErrInternal, "a group of %d rows at %s", c.counts[i], row.Key)
			}
			if err := g.add(row, c.counts[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds rows behind all those before.
func (g *grouping) add(first KeyValue, n int64) error {
	if at := len(g.groups) - 1; at >= 0 && bytes.HasPrefix(first.Key, g.groups[at].Key[:g.end]) {
		g.groups[at].Count += n
		return nil
	}
	end, err := keys.GroupEnd(first.Key, g.by)
	if err != nil {
		return kv.Errorf(kv.ErrInternal, "%v", err)
	}
	next := Group{Key: first.Key, Count: n}
	if g.by.First {
		next.Value = first.Value
	}
	g.groups, g.end = append(g.groups, next), end
	return nil
}

// change lays one of the transaction's writes over the groups. Those that it empties stay, with a count of 0.
func (g *grouping) change(k kv.Key, had, has bool) error {
	if had == has {
		return nil
	}
	end, err := keys.GroupEnd(k, g.by)
	if err != nil {
		return kv.Errorf(kv.ErrInternal, "%v", err)
	}
	at, found := slices.BinarySearchFunc(g.groups, k[:end], func(o Group, group kv.Key) int {
		return bytes.Compare(o.Key[:min(len(o.Key), len(group))], group)
	})
	switch {
	case has && !found:
		g.groups = slices.Insert(g.groups, at, Group{Key: k, Count: 1})
	case has:
		g.groups[at].Count++
	case !found || g.groups[at].Count == 0:
		return kv.Errorf(kv.ErrInternal, "%s was counted and is not in any group", k)
	default:
		g.groups[at].Count--
	}
	return nil
}
