package route

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
)

// TestScripts runs testdata/: what each node was asked, and the outcome.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var f *fleet
		var r *Router
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				a := strings.Fields(line)
				if len(a) == 0 {
					continue
				}
				if a[0] == "ranges" {
					f = newFleet()
					r = nil
				}
				f.trace = nil
				began := f.loop.Now()
				res := command(t, f, &r, a)
				for i, tr := range f.trace {
					if i == 8 && len(f.trace) > 16 {
						out.WriteString("    and so on\n")
						break
					}
					fmt.Fprintf(&out, "    %s\n", tr)
				}
				if res != "" {
					fmt.Fprintf(&out, "%s: %s", line, res)
					if d := f.loop.Now() - began; d.Milliseconds() >= 100 {
						fmt.Fprintf(&out, " after %.1fs", d.Seconds())
					}
					out.WriteByte('\n')
				}
			}
			return out.String()
		})
	})
}

func key(s string) kv.Key {
	if s == "min" {
		return keys.Min
	}
	if s == "max" {
		return keys.Max
	}
	return append(kv.Key(nil), append(keys.DataPrefix, s...)...)
}

func nodeID(s string) (n kv.NodeID) {
	if _, err := fmt.Sscanf(s, "n%d", &n); err != nil {
		panic(err)
	}
	return n
}

func shown(err *kv.Error) string {
	if err.Code == kv.ErrUnavailable || err.Code == kv.ErrAmbiguous {
		return err.Code.String()
	}
	return err.Code.String() + ": " + err.Msg
}

func command(t *testing.T, f *fleet, r **Router, a []string) (res string) {
	ctx := context.Background()
	switch a[0] {
	// ranges min-g@n1:123 g-max@n2:123: bounds, leader, nodes with replicas; all published. The router is on node 1.
	case "ranges":
		for i, s := range a[1:] {
			bounds, at, _ := strings.Cut(s, "@")
			lo, hi, _ := strings.Cut(bounds, "-")
			lead, nodes, _ := strings.Cut(at, ":")
			h := &held{leader: nodeID(lead), hint: nodeID(lead)}
			h.desc = kv.RangeDescriptor{ID: kv.RangeID(i + 1), Span: kv.Span{Start: key(lo), End: key(hi)}, Generation: 1}
			for _, n := range nodes {
				id := kv.NodeID(n - '0')
				h.desc.Replicas = append(h.desc.Replicas, kv.Replica{Node: id, ID: kv.ReplicaID(id)})
			}
			f.ranges = append(f.ranges, h)
			f.publish(&h.desc)
		}
		*r = f.router(1)
	// split k r9 unpublished: a split that the router has not heard of
	case "split":
		for _, h := range f.ranges {
			if h.desc.Span.Contains(key(a[1])) {
				var id kv.RangeID
				_, _ = fmt.Sscanf(a[2], "r%d", &id)
				for _, d := range f.split(h, key(a[1]), id) {
					if len(a) < 4 || (a[3] == "right-only" && d.ID == id) {
						f.publish(&d)
					}
				}
				break
			}
		}
	// lead k n2 hint=n3: the leaseholder, and what the others believe
	case "lead":
		for _, h := range f.ranges {
			if h.desc.Span.Contains(key(a[1])) {
				h.leader, h.hint = nodeID(a[2]), nodeID(a[2])
				if len(a) > 3 {
					h.hint = nodeID(strings.TrimPrefix(a[3], "hint="))
				}
			}
		}
	case "silent":
		f.silent[nodeID(a[1])] = true
	case "dead":
		f.silent[nodeID(a[1])], f.dead[nodeID(a[1])] = true, true
	case "back":
		f.silent[nodeID(a[1])], f.dead[nodeID(a[1])] = false, false
	case "busy":
		_, _ = fmt.Sscan(a[2], new(int))
		n := 0
		_, _ = fmt.Sscan(a[2], &n)
		f.busy[nodeID(a[1])] = n
	// early n3 2: its lease does not reach as far as the next two requests
	case "early":
		n := 0
		_, _ = fmt.Sscan(a[2], &n)
		f.early[nodeID(a[1])] = n
	case "lose-answer":
		f.mute[nodeID(a[1])]++
	case "forget":
		*r = f.router(1)
	default:
		f.in(func() { res = onRouter(ctx, f, *r, a) })
	}
	return res
}

func onRouter(ctx context.Context, f *fleet, r *Router, a []string) string {
	fail := func(err error) string {
		var e *kv.Error
		if errors.As(err, &e) {
			return shown(e)
		}
		return err.Error()
	}
	switch a[0] {
	// get a b: one read of several keys, one request each; get-now: by a caller that rather asks for another timestamp than waits
	case "get", "get-now":
		if a[0] == "get-now" {
			ctx = WithoutWaiting(ctx)
		}
		var reqs []Addressed
		for _, k := range a[1:] {
			reqs = append(reqs, Addressed{Request: kv.Request{Read: &kv.ReadRequest{Keys: []kv.Key{key(k)}}}})
		}
		return outcomes(r.DoMany(ctx, reqs))
	// scan a z: one read, cut at the ranges' bounds
	case "scan":
		var spans []kv.Span
		for _, s := range a[1:] {
			lo, hi, _ := strings.Cut(s, "-")
			spans = append(spans, kv.Span{Start: key(lo), End: key(hi)})
		}
		return outcomes(r.Spread(ctx, []Addressed{{Request: kv.Request{Read: &kv.ReadRequest{Spans: spans}}}}))
	// write a b: intents; one-phase a b: a commit of one range
	case "write", "one-phase":
		q := &kv.WriteRequest{OnePhase: a[0] == "one-phase", Anchor: key(a[1])}
		for _, k := range a[1:] {
			q.Puts = append(q.Puts, kv.Put{Key: key(k), Value: []byte("v")})
		}
		return outcomes(r.Spread(ctx, []Addressed{{Request: kv.Request{Write: q}}}))
	// many n key: the same key by n tasks at once
	case "many":
		n := 0
		_, _ = fmt.Sscan(a[1], &n)
		left := n
		for range n {
			f.rt.Go("reader", func() {
				_, err := r.Do(ctx, nil, kv.Request{Read: &kv.ReadRequest{Keys: []kv.Key{key(a[2])}}})
				if err == nil {
					left--
				}
			})
		}
		for left > 0 {
			f.rt.Sleep(1e6)
		}
		return fmt.Sprintf("%d ok", n)
	case "split-at":
		if err := r.Split(ctx, key(a[1])); err != nil {
			return fail(err)
		}
		return "ok"
	case "transfer":
		if err := r.TransferLease(ctx, key(a[1]), nodeID(a[2])); err != nil {
			return fail(err)
		}
		return "ok"
	case "increment":
		var n uint64
		_, _ = fmt.Sscan(a[2], &n)
		v, err := r.Increment(ctx, a[1], n)
		if err != nil {
			return fail(err)
		}
		return fmt.Sprint(v)
	case "list":
		var out []string
		ds, err := r.Ranges(ctx, kv.Span{Start: keys.Min, End: keys.Max})
		if err != nil {
			return fail(err)
		}
		for _, d := range ds {
			out = append(out, strings.ReplaceAll(d.String(), `\x04`, ""))
		}
		return strings.Join(out, " ")
	}
	return "unknown command"
}

func outcomes(rs []Result) string {
	var out []string
	for i := range rs {
		s := fmt.Sprintf("n%d", rs[i].Node)
		if e := rs[i].Err; e != nil {
			s = shown(e)
			if rs[i].Maybe && e.Code != kv.ErrAmbiguous {
				s += " (maybe executed)"
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}
