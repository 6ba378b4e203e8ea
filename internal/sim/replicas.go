package sim

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/replica"
	"github.com/longitude-db/longitude/internal/storage"
)

// copyOf is one machine's replica of a range.
type copyOf struct {
	m    *Machine
	info replica.RangeInfo
}

// replicas gathers what every machine says of its replicas, by range.
func (w *World) replicas() map[kv.RangeID][]copyOf {
	out := map[kv.RangeID][]copyOf{}
	for _, m := range w.Machines {
		if m.Serving() && !m.RT.Paused() {
			for _, i := range m.Node.Store.Ranges() {
				out[i.Desc.ID] = append(out[i.Desc.ID], copyOf{m, i})
			}
		}
	}
	return out
}

// replicated reports whether leaders of ranges that cover the key space have all their replicas.
func (r *run) replicated() bool {
	var led []replica.RangeInfo
	for _, cs := range r.replicas() {
		for _, c := range cs {
			if c.info.Leads {
				led = append(led, c.info)
			}
		}
	}
	return covered(led, min(r.Config.Factor, len(r.present())))
}

// replicatedOn asks one node alone, which has a replica of every range.
func replicatedOn(p *node.Node, factor int) bool { return covered(p.Store.Ranges(), factor) }

func covered(infos []replica.RangeInfo, factor int) bool {
	slices.SortFunc(infos, func(a, b replica.RangeInfo) int { return a.Desc.Span.Start.Compare(b.Desc.Span.Start) })
	at := keys.Min
	for _, i := range infos {
		if !i.Desc.Span.Start.Equal(at) || i.Desc.Voters() < factor {
			return false
		}
		at = i.Desc.Span.End
	}
	return at.Equal(keys.Max)
}

// compareReplicas waits until the replicas of each range have applied the same, and requires that they are then the same.
func (r *run) compareReplicas() error {
	var differ error
	err := r.runUntil(settleLimit, "replicas have applied the same", func() bool {
		ids := r.replicas()
		sorted := make([]kv.RangeID, 0, len(ids))
		for id, cs := range ids {
			if !level(cs) {
				return false
			}
			sorted = append(sorted, id)
		}
		slices.Sort(sorted)
		for _, id := range sorted {
			if differ = compare(ids[id]); differ != nil {
				// What replicas say of themselves may be older than their state.
				return !errors.Is(differ, errNotLevel)
			}
		}
		return true
	})
	if err == nil {
		err = differ
	}
	return err
}

// level reports whether all replicas of a range are there and are equally far.
func level(cs []copyOf) bool {
	desc := cs[0].info.Desc
	for _, c := range cs {
		if c.info.Desc.Generation > desc.Generation {
			desc = c.info.Desc
		}
	}
	if len(cs) != len(desc.Replicas) {
		return false
	}
	for _, c := range cs {
		if c.info.Desc.Generation != desc.Generation || c.info.Applied != cs[0].info.Applied || c.info.Applied != c.info.Last {
			return false
		}
	}
	return true
}

var errNotLevel = errors.New("a replica is behind")

// compare reads all that state has of a range on each machine.
func compare(cs []copyOf) error {
	first := dump(cs[0])
	for _, c := range cs[1:] {
		for i, other := 0, dump(c); i < max(len(first), len(other)); i++ {
			var a, b row
			if i < len(first) {
				a = first[i]
			}
			if i < len(other) {
				b = other[i]
			}
			if !bytes.Equal(a.key, b.key) || !bytes.Equal(a.value, b.value) {
				if bytes.HasSuffix(a.key, []byte("applied\x00")) {
					return errNotLevel
				}
				return fmt.Errorf("replicas of r%d differ at applied index %d: %s has %s, %s has %s",
					c.info.Desc.ID, c.info.Applied, cs[0].m.Name, a, c.m.Name, b)
			}
		}
	}
	return nil
}

type row struct{ key, value []byte }

func (r row) String() string {
	k, ts, err := storage.Decode(r.key)
	switch {
	case r.key == nil:
		return "nothing more"
	case err != nil:
		return fmt.Sprintf("%x=%x", r.key, r.value)
	}
	return fmt.Sprintf("%s@%s=%q", k, ts, r.value)
}

func dump(c copyOf) (rows []row) {
	d := c.info.Desc
	data := d.Span
	if len(data.Start) == 0 {
		data.Start = keys.MetaPrefix
	}
	own := keys.RangeState(d.ID, "")
	for _, s := range []kv.Span{{Start: own, End: keys.PrefixEnd(own)}, keys.LockSpan(d.Span), keys.RecordSpan(d.Span), data} {
		lo, hi := storage.Span(s)
		it, err := c.m.Engines.State.NewIter(&storage.IterOptions{LowerBound: lo, UpperBound: hi})
		if err != nil {
			panic(err)
		}
		for ok := it.First(); ok; ok = it.Next() {
			v, err := it.ValueAndErr()
			if err != nil {
				panic(err)
			}
			rows = append(rows, row{bytes.Clone(it.Key()), bytes.Clone(v)})
		}
		if err := it.Close(); err != nil {
			panic(err)
		}
	}
	return rows
}

// ranges says what every machine knows of its replicas, for a run that does not come to its end.
func (w *World) ranges() string {
	var b strings.Builder
	for _, m := range w.Machines {
		if !m.Serving() {
			continue
		}
		for _, i := range m.Node.Store.Ranges() {
			until := "none"
			if i.LeaseUntil != 0 {
				until = i.LeaseUntil.Sub(w.Truth()).String()
			}
			fmt.Fprintf(&b, "  %s r%d gen %d replicas %v leader n%d leads=%v term %d applied %d committed %d last %d lease %s\n", m.Name,
				i.Desc.ID, i.Desc.Generation, i.Desc.Replicas, i.Leader, i.Leads, i.Term, i.Applied, i.Committed, i.Last, until)
		}
	}
	return b.String()
}
