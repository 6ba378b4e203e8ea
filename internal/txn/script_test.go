package txn

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/eventloop"
)

// TestScripts runs testdata/. Times are virtual; timestamps are printed as their distance from the beginning.
//
// Scripts under anomalies/ run in both orderings, which must show the same. Durations are left out there, and each transaction
// begins when what happened before is certainly past.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.Contains(filepath.ToSlash(path), "/anomalies/") {
			datadriven.RunTest(t, path, newScript().run)
			return
		}
		for _, o := range []Ordering{Wait, Uncertainty} {
			t.Run(o.String(), func(t *testing.T) {
				s := newScript()
				s.ordering, s.apart = o, true
				datadriven.RunTest(t, path, s.run)
			})
		}
	})
}

func newScript() *script {
	return &script{txns: map[string]*Txn{}, nodeOf: map[string]*fakeNode{}, points: map[string]Savepoint{}, scans: map[string]*Scanner{}}
}

type script struct {
	w      *world
	txns   map[string]*Txn
	nodeOf map[string]*fakeNode
	points map[string]Savepoint
	scans  map[string]*Scanner
	traces []string
	traced bool

	ordering Ordering // where begin names none
	apart    bool     // see TestScripts
}

// run executes one block: one command a line.
func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	var out strings.Builder
	lines := []string{d.Cmd + " " + argsOf(d)}
	if strings.TrimSpace(d.Input) != "" {
		lines = append(lines, strings.Split(d.Input, "\n")...)
	}
	for _, line := range lines {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "run" {
			continue
		}
		s.traces = nil
		res := s.command(t, f[0], f[1:])
		for _, tr := range s.traces {
			fmt.Fprintf(&out, "    %s\n", tr)
		}
		if res != "" {
			fmt.Fprintf(&out, "%s: %s\n", line, res)
		}
	}
	return out.String()
}

func argsOf(d *datadriven.TestData) string {
	var a []string
	for _, c := range d.CmdArgs {
		a = append(a, c.String())
	}
	return strings.Join(a, " ")
}

func key(s string) kv.Key { return append(kv.Key(nil), append(keys.DataPrefix, s...)...) }

func opt(args []string, name, def string) string {
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
	}
	return def
}

func dur(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		panic(err)
	}
	return d
}

func stamp(ts clock.Timestamp) string {
	d := time.Duration(ts.Wall - epoch).String()
	if ts.Logical > 0 {
		d += fmt.Sprintf(",%d", ts.Logical)
	}
	return d
}

func shown(err error) string {
	var e *kv.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	s := e.Code.String()
	if e.Code == kv.ErrInternal {
		s += ": " + e.Msg
	}
	if Retryable(err) {
		s += " (restart)"
	}
	return s
}

func (s *script) command(t *testing.T, cmd string, a []string) (res string) {
	switch cmd {
	// cluster n1=+3ms/5ms n2=0/5ms unsafe=nocommitwait spill=2 limit=9: nodes, each with its clock's offset and bound. With
	// spill writes are laid as intents when so many are buffered; a transaction may make as many as the limit says
	case "cluster":
		s.w = newWorld(eventloop.New(1))
		s.w.recover = true
		s.w.trace = func(f string, args ...any) {
			if s.traced && !strings.Contains(f, "lookup") {
				if line := fmt.Sprintf(f, args...); !strings.HasSuffix(line, "lookup") && !strings.Contains(line, "range mismatch") &&
					!(len(s.traces) > 0 && strings.Contains(line, "push") && s.traces[len(s.traces)-1] == line) {
					s.traces = append(s.traces, line)
				}
			}
		}
		var u Unsafe
		switch opt(a, "unsafe", "") {
		case "nocommitwait":
			u.NoCommitWait = true
		case "noreadwait":
			u.NoReadWait = true
		case "skiprefresh":
			u.SkipRefresh = true
		case "truststaged":
			u.TrustStaged = true
		case "tellnobody":
			u.TellNobody = true
		}
		for id := kv.NodeID(1); ; id++ {
			c := opt(a, fmt.Sprintf("n%d", id), "")
			if c == "" {
				break
			}
			off, eps, _ := strings.Cut(c, "/")
			o := DBOptions{Unsafe: u}
			_, _ = fmt.Sscan(opt(a, "spill", "0"), &o.SpillBytes)
			_, _ = fmt.Sscan(opt(a, "limit", "0"), &o.MaxWrites)
			o.SpillBytes *= overhead
			s.w.addNode(id, dur(off), dur(eps), o)
		}
		s.w.loop.Run(time.Second, func() bool { return s.w.loop.Now() >= time.Second })
	// split k n2: k begins a range led by node 2
	case "split":
		s.w.split(key(a[0]), node(a[1]))
	// lead k n2: the lease of k's range moves to node 2
	case "lead":
		s.w.lead(key(a[0]), node(a[1]))
	// lie n1 -200ms: true time is outside the intervals of node 1
	case "lie":
		s.w.nodes[node(a[0])].lie = dur(a[1])
	// latency 1ms: each way
	case "latency":
		d := dur(a[0])
		s.w.latency = func() time.Duration { return d }
	// without notes: nodes do not hear that an intent commits above where it was laid. resolves: intents stay as they are.
	// leases: no range evaluates a write. deadlines: a commit that was given up may be. calls: copies of refused ones are executed.
	// with leases takes it back.
	// placing, latest, marks, waits: leaseholders place no transactions; or below latest, or unmarked, or call what they have
	// read or written past without waiting.
	case "without", "with":
		s.w.refuse[a[0]] = cmd == "without"
	// hold q: writes to q are on their way until free q. hold notes: likewise what ranges are told of a higher commit
	case "hold", "free":
		s.w.held[string(key(a[0]))] = cmd == "hold"
	// copy h 50ms: the next write to h is delivered again, so much later
	case "copy":
		s.w.copied, s.w.copyAfter = string(key(a[0])), dur(a[1])
	// coordinators die: the next ones do, once they have acknowledged and before their record says so. coordinators live
	case "coordinators":
		dies := a[0] == "die"
		s.w.dies = func() bool { return dies }
	// sleep 10ms
	case "sleep":
		s.pause(dur(a[0]))
	case "trace":
		s.traced = a[0] == "on"
	// begin t1 n1 uncertainty read-only own: with own it is not placed by leaseholders. Begun with fresh it may be, and is
	// otherwise fixed where it begins
	case "begin":
		if s.apart {
			s.pause(10 * time.Millisecond)
		}
		n := s.w.nodes[node(a[1])]
		o := Options{Ordering: s.ordering}
		for _, f := range a[2:] {
			switch f {
			case "uncertainty":
				o.Ordering = Uncertainty
			case "read-only":
				o.ReadOnly = true
			case "wait":
				o.Ordering = Wait
			case "own":
				o.OwnReading = true
			case "fresh":
			default:
				if strings.HasPrefix(f, "floor=") {
					continue
				}
				o.AgeOf = s.txns[strings.TrimPrefix(f, "age=")].Age()
			}
		}
		s.txns[a[0]], s.nodeOf[a[0]] = n.db.Begin(o), n
		n.in(func(ctx context.Context) {
			if !slices.Contains(a, "fresh") && !slices.Contains(a, "own") {
				_, _ = s.txns[a[0]].ReadTimestamp(ctx)
				return
			}
			_, _, _ = s.txns[a[0]].Window(ctx)
			s.txns[a[0]].NotBelow(clock.Timestamp{Wall: epoch + int64(dur(opt(a, "floor", "0s")))})
		})
	// commit-later t1: the commit goes on beside the following commands
	case "commit-later":
		tx := s.txns[a[0]]
		s.nodeOf[a[0]].rt.Go("commit", func() { _ = tx.Commit(context.Background()) })
		s.w.loop.Run(time.Microsecond, nil)
	default:
		tx, n := s.txns[a[0]], s.nodeOf[a[0]]
		if tx == nil {
			t.Fatalf("unknown command or transaction: %s %v", cmd, a)
		}
		began := s.w.now()
		n.in(func(ctx context.Context) { res = s.on(ctx, cmd, tx, a) })
		if d := s.w.now() - began; d > 0 && res != "" && !s.apart {
			res += " after " + d.String()
		}
	}
	return res
}

func (s *script) pause(d time.Duration) {
	end := s.w.now() + d
	s.w.loop.Run(d, func() bool { return s.w.now() >= end })
}

func node(s string) (n kv.NodeID) {
	if _, err := fmt.Sscanf(s, "n%d", &n); err != nil {
		panic(err)
	}
	return n
}

func (s *script) on(ctx context.Context, cmd string, tx *Txn, a []string) string {
	switch cmd {
	// get t1 a b: one parallel read
	case "get":
		var ks []kv.Key
		for _, k := range a[1:] {
			ks = append(ks, key(k))
		}
		vs, err := tx.GetMany(ctx, ks)
		if err != nil {
			return shown(err)
		}
		var out []string
		for _, v := range vs {
			if v == nil {
				v = []byte("-")
			}
			out = append(out, string(v))
		}
		return strings.Join(out, " ")
	// scan t1 a z limit=2 reverse
	case "scan":
		o := ScanOptions{Reverse: slices.Contains(a, "reverse")}
		_, _ = fmt.Sscan(opt(a, "limit", "0"), &o.Limit)
		sc := tx.Scan(ctx, kv.Span{Start: key(a[1]), End: key(a[2])}, o)
		var out []string
		for {
			rows, err := sc.Next(ctx)
			if err != nil {
				return shown(err)
			}
			if rows == nil {
				return strings.Join(out, " ")
			}
			out = append(out, rowsOf(rows))
		}
	// open t1 a z: a scan that is read with next
	case "open":
		s.scans[a[0]] = tx.Scan(ctx, kv.Span{Start: key(a[1]), End: key(a[2])}, ScanOptions{})
		s.scans[a[0]].page = 1
		return ""
	case "next":
		rows, err := s.scans[a[0]].Next(ctx)
		s.scans[a[0]].page = 1
		if err != nil {
			return shown(err)
		}
		return rowsOf(rows)
	// scan-many t1 a-c x-z
	case "scan-many":
		var spans []kv.Span
		for _, sp := range a[1:] {
			lo, hi, _ := strings.Cut(sp, "-")
			spans = append(spans, kv.Span{Start: key(lo), End: key(hi)})
		}
		all, err := tx.ScanMany(ctx, spans)
		if err != nil {
			return shown(err)
		}
		var out []string
		for _, rows := range all {
			out = append(out, "("+rowsOf(rows)+")")
		}
		return strings.Join(out, " ")
	// count t1 a-c+k-m x-z prefix=1 rows=m-n first: the rows of each (or of several together) by the first letters of their keys, and beside that rows
	case "count":
		by := kv.Grouping{Prefix: 1, First: slices.Contains(a, "first")}
		n := 0
		_, _ = fmt.Sscan(opt(a, "prefix", "0"), &n)
		by.Prefix += n
		parse := func(s string) kv.Span {
			lo, hi, _ := strings.Cut(s, "-")
			return kv.Span{Start: key(lo), End: key(hi)}
		}
		var counts []Counting
		var spans []kv.Span
		for _, sp := range a[1:] {
			if strings.Contains(sp, "-") && !strings.Contains(sp, "=") {
				counts = append(counts, Counting{By: by})
				for _, part := range strings.Split(sp, "+") {
					counts[len(counts)-1].Spans = append(counts[len(counts)-1].Spans, parse(part))
				}
			}
		}
		if sp := opt(a, "rows", ""); sp != "" {
			spans = append(spans, parse(sp))
		}
		groups, rows, err := tx.Count(ctx, counts, spans)
		if err != nil {
			return shown(err)
		}
		var out []string
		for _, gs := range groups {
			var parts []string
			for _, g := range gs {
				text := fmt.Sprintf("%s:%d", string(g.Key[1:by.Prefix]), g.Count)
				if by.First {
					text += fmt.Sprintf(" from %s=%s", string(g.Key[1:]), g.Value)
				}
				parts = append(parts, text)
			}
			out = append(out, "("+strings.Join(parts, ", ")+")")
		}
		for _, r := range rows {
			out = append(out, "("+rowsOf(r)+")")
		}
		return strings.Join(out, " ")
	case "put":
		tx.Put(key(a[1]), []byte(a[2]))
	case "insert":
		if err := tx.Insert(key(a[1]), []byte(a[2])); err != nil {
			return shown(err)
		}
	case "del":
		tx.Delete(key(a[1]))
	case "savepoint":
		s.points[a[0]+a[1]] = tx.Savepoint()
	case "rollback-to":
		tx.RollbackTo(s.points[a[0]+a[1]])
	case "rollback":
		tx.Rollback(ctx)
	// settled t1: what is under way has landed
	case "settled":
		tx.settled()
	case "release":
		if err := tx.Release(ctx); err != nil {
			return shown(err)
		}
		return "released"
	case "commit":
		if err := tx.Commit(ctx); err != nil {
			return shown(err)
		}
		return "committed"
	// commit-for t1 1s: the caller goes away after so long
	case "commit-for":
		ctx, cancel := context.WithCancel(ctx)
		tx.db.o.RT.After(dur(a[1]), cancel)
		if err := tx.Commit(ctx); err != nil {
			return shown(err)
		}
		return "committed"
	case "read-ts":
		ts, err := tx.ReadTimestamp(ctx)
		if err != nil {
			return shown(err)
		}
		return stamp(ts)
	case "commit-ts":
		return stamp(tx.CommitTimestamp())
	default:
		return "unknown command"
	}
	return ""
}

func rowsOf(rows []KeyValue) string {
	var out []string
	for _, r := range rows {
		out = append(out, string(r.Key[1:])+"="+string(r.Value))
	}
	return strings.Join(out, " ")
}
