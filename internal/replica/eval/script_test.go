package eval

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/mvcc"
	"github.com/longitude-db/longitude/internal/replica/tscache"
	"github.com/longitude-db/longitude/internal/storage"
)

// TestScripts runs the scripts of testdata. They are the documentation of what a leaseholder answers. Times are in
// seconds, with a logical part after a plus: 10+1 is the first timestamp after 10. What an evaluation writes is applied
// at once, and what it reads is recorded.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newScript(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.run(args{d})
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return out
		})
	})
}

type script struct {
	e       *storage.Engines
	env     *Env
	start   map[string]clock.Timestamp // of transactions
	anchor  map[string]kv.Key
	refused bool // the last request
	swaps   int  // without a name
}

func newScript(t *testing.T) *script {
	e, err := storage.Open(storage.Options{FS: vfs.NewMem(), Dir: "store", Cache: 1 << 20, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return &script{e: e, start: map[string]clock.Timestamp{}, anchor: map[string]kv.Key{}, env: &Env{
		Reader: e.State, Cache: tscache.New(clock.Timestamp{}, 0), Node: 1, Observed: &Highest{},
		Desc:   &kv.RangeDescriptor{ID: 7, Span: kv.Span{Start: keys.DataPrefix, End: keys.Max}},
		Pushed: map[kv.TxnID]clock.Timestamp{},
	}}
}

func (s *script) run(d args) (string, error) {
	switch d.Cmd {
	// setup: a list of commands whose answers are of no interest; their errors are
	case "setup":
		s.refused = false // by what came before
		for line := range strings.Lines(d.Input) {
			cmd, list, err := datadriven.ParseLine(line)
			if err != nil {
				return "", err
			}
			out, err := s.run(args{&datadriven.TestData{Cmd: cmd, CmdArgs: list}})
			if err != nil || strings.Contains(out, "in the way") || s.refused {
				return out, err
			}
		}
		return "", nil

	// txn A start=1 anchor=k: a transaction, its age, and where its record is
	case "txn":
		s.start[d.first()], s.anchor[d.first()] = d.ts("start"), parseKey(d.str("anchor"))
		return "", nil

	// clock 10..12: the leaseholder's reading from here on
	case "clock":
		lo, hi, _ := strings.Cut(d.first(), "..")
		s.env.Now = clock.Interval{Earliest: clock.Instant(parseTS(lo).Wall), Latest: clock.Instant(parseTS(hi).Wall)}
		return "", nil

	// gone node=2: that node's process has ended
	case "gone":
		n := kv.NodeID(d.num("node"))
		s.env.Gone = func(p kv.Process) bool { return p.Node == n }
		return "", nil

	// lease start=20: a new lease begins with this low water
	case "lease":
		s.env.LeaseStart = d.ts("start")
		s.env.Cache = tscache.New(d.ts("start"), 0)
		s.env.Observed.Forward(d.ts("start"))
		return "", nil

	// pushed A ts=9: what the conflict loop learned of A
	case "pushed":
		s.env.Pushed[txnID(d.first())] = d.ts("ts")
		return "", nil

	// finished A commit=9 ignored=(1-2), finished A abort: likewise
	case "finished":
		st := kv.TxnStatus{State: kv.Aborted}
		if d.HasArg("commit") {
			st = kv.TxnStatus{State: kv.Committed, CommitTS: d.ts("commit"), Ignored: d.ranges("ignored")}
		}
		s.env.Finished = map[kv.TxnID]kv.TxnStatus{txnID(d.first()): st}
		return "", nil

	// state: all versions, intents and records
	case "state":
		return s.state()

	// collect: what is old enough goes
	case "collect":
		return s.collect()
	}
	q, err := s.request(d)
	if err != nil {
		return "", err
	}
	r := Evaluate(s.env, q)
	s.refused = r.Response.Err != nil
	if err := s.apply(&r); err != nil {
		return "", err
	}
	return describe(q, &r), nil
}

// apply does what the shell would do with a result.
func (s *script) apply(r *Result) error {
	r.Reads.Record(s.env.Cache)
	if len(r.Batch) == 0 {
		return nil
	}
	b := s.e.State.NewBatch()
	return errors.Join(b.SetRepr(r.Batch), s.e.ApplyState(b), b.Close())
}

func (s *script) request(d args) (*kv.Request, error) {
	name := d.str("txn")
	id, start, anchor := txnID(name), s.start[name], s.anchor[name]
	switch d.Cmd {
	// read k l m..p txn=A r=5 g=7 max=9 rows=2 reverse canbump own=4 ignored=(2-3): with own it sees its intents up to number 4
	// count a..p prefix=1 ...: the rows of the spans by the first bytes of their keys
	case "read", "count":
		q := &kv.ReadRequest{Txn: id, Start: start, ReadTS: d.ts("r"), Limit: d.ts("g").Forward(d.ts("r")), MaxLimit: d.ts("max"),
			CanBump: d.HasArg("canbump"), Reverse: d.HasArg("reverse"), MaxRows: d.num("rows")}
		q.Keys, q.Spans = d.keysAndSpans()
		if d.Cmd == "count" {
			q.Groups = &kv.Grouping{Prefix: d.num("prefix"), First: d.HasArg("first")}
		}
		if d.HasArg("own") {
			q.Own = &kv.Own{Seq: uint64(d.num("own")), Ignored: d.ranges("ignored")}
		}
		return &kv.Request{Read: q}, nil

	// refresh a..k txn=A from=5 to=9
	case "refresh":
		_, spans := d.keysAndSpans()
		return &kv.Request{Refresh: &kv.RefreshRequest{Txn: id, Start: start, From: d.ts("from"), To: d.ts("to"), Spans: spans}}, nil

	// write k=v l=deleted m=v!new txn=A r=5 c=5 laid=6 refresh=a..c canforward until=9: intents
	// ... seq=3 ignored=(1-2) marks=(2,3): the number of these writes, of a transaction that sends them in several parts
	// commit ... since=4: the same in one phase
	case "write", "commit":
		q := &kv.WriteRequest{Txn: id, Start: start, Anchor: anchor, ReadTS: d.ts("r"), CommitTS: d.ts("c").Forward(d.ts("r")),
			OnePhase: d.Cmd == "commit", CanForward: d.HasArg("canforward"), Until: d.ts("until"), Laid: clock.Instant(d.ts("laid").Wall), Puts: d.puts(),
			NotAfter: clock.Instant(d.ts("notafter").Wall), Since: d.ts("since"), Ignored: d.ranges("ignored")}
		for i := range q.Puts {
			q.Puts[i].Seq = uint64(d.num("seq"))
		}
		for _, m := range d.list("marks") {
			n, _ := strconv.ParseUint(m, 10, 64)
			q.Marks = append(q.Marks, n)
		}
		if r := d.str("refresh"); r != "" {
			q.Refresh = []kv.Span{parseSpan(r)}
		}
		return &kv.Request{Write: q}, nil

	// end txn=A commit=9 until=12 intents=(k,l)
	// end txn=A stage=9 intents=(k,l)
	// end txn=A abort; and seq=3 spans=(a..c) ignored=(1-2)
	case "end":
		q := &kv.EndTxnRequest{Txn: id, Start: start, Anchor: anchor, Commit: d.HasArg("commit"), Stage: d.HasArg("stage"),
			CommitTS: d.ts("commit").Forward(d.ts("stage")), Until: d.ts("until"), Now: s.env.Now.Earliest}
		for _, k := range d.list("intents") {
			q.Intents = append(q.Intents, parseKey(k))
		}
		q.Seq, q.Ignored = uint64(d.num("seq")), d.ranges("ignored")
		for _, sp := range d.list("spans") {
			q.Spans = append(q.Spans, parseSpan(sp))
		}
		return &kv.Request{EndTxn: q}, nil

	// resolve k l txn=A commit=9
	// resolve k txn=A abort
	case "resolve":
		q := &kv.ResolveRequest{Txn: id, Status: kv.TxnStatus{State: kv.Aborted}}
		if d.HasArg("commit") {
			q.Status = kv.TxnStatus{State: kv.Committed, CommitTS: d.ts("commit"), Ignored: d.ranges("ignored")}
		}
		q.Keys, _ = d.keysAndSpans()
		return &kv.Request{Resolve: q}, nil

	// push txn=A by=B kind=abort laid=3
	// push txn=A by=B kind=timestamp to=9 laid=3 intent=10
	// recover txn=A by=B kind=abort laid=3 at=9 missing
	case "push", "recover":
		kind := map[string]kv.PushKind{"query": kv.PushQuery, "timestamp": kv.PushTimestamp, "abort": kv.PushAbort}[d.str("kind")]
		p := &kv.PushRequest{Txn: id, Start: start, Anchor: anchor, Kind: kind, To: d.ts("to"), TS: d.ts("intent"),
			Coord: kv.Process{Node: kv.NodeID(d.num("coord"))},
			Laid:  clock.Instant(d.ts("laid").Wall), Pusher: txnID(d.str("by")), PusherStart: s.start[d.str("by")]}
		if d.Cmd == "recover" {
			return &kv.Request{Recover: &kv.RecoverRequest{Push: *p, TS: d.ts("at"), Missing: d.HasArg("missing")}}, nil
		}
		return &kv.Request{Push: p}, nil

	// query k l txn=A at=9: have the writes landed there?
	case "query":
		q := &kv.QueryRequest{Txn: id, TS: d.ts("at"), Seq: uint64(d.num("seq"))}
		q.Keys, _ = d.keysAndSpans()
		return &kv.Request{Query: q}, nil

	// heartbeat txn=A now=60
	case "heartbeat":
		q := &kv.HeartbeatRequest{Txn: id, Start: start, Anchor: anchor, Now: clock.Instant(d.ts("now").Wall)}
		for _, sp := range d.list("spans") {
			q.Spans = append(q.Spans, parseSpan(sp))
		}
		return &kv.Request{Heartbeat: q}, nil

	// inline a..z rows=2
	case "inline":
		_, spans := d.keysAndSpans()
		return &kv.Request{Inline: &kv.InlineRequest{Span: spans[0], Limit: d.num("rows")}}, nil

	// swap k from=old to=new (either may be left out: absent)
	case "swap":
		return &kv.Request{Inline: &kv.InlineRequest{Swap: true, ID: s.swapID(d.str("id")), Start: d.ts("start"), Key: parseKey(d.first()), Expect: []byte(d.str("from")), Value: []byte(d.str("to"))}}, nil
	}
	return nil, fmt.Errorf("no command %q", d.Cmd)
}

// swapID is the name given, or one of its own.
func (s *script) swapID(name string) kv.TxnID {
	if name == "" {
		s.swaps++
		name = fmt.Sprintf("swap %d", s.swaps)
	}
	return txnID(name)
}

func describe(q *kv.Request, r *Result) string {
	var out strings.Builder
	for _, c := range r.Conflicts {
		ask := map[kv.PushKind]string{kv.PushQuery: "ask whether it is pending", kv.PushTimestamp: "push it above " + short(c.To), kv.PushAbort: "push it to abort"}[c.Kind]
		if c.Yield {
			ask += ", and give up if so"
		}
		fmt.Fprintf(&out, "in the way: %s's intent on %s@%s: %s\n", letter(c.Intent.Txn), name(c.Key), short(c.Intent.TS), ask)
	}
	if len(r.Conflicts) > 0 {
		return out.String()
	}
	a := &r.Response
	switch {
	case a.Err != nil:
		describeError(&out, a.Err)
	case a.Read != nil:
		describeRead(&out, q.Read, a.Read)
	case q.Refresh != nil:
		fmt.Fprintf(&out, "unchanged up to %s\n", short(q.Refresh.To))
	case a.Write != nil && q.Write.OnePhase:
		fmt.Fprintf(&out, "committed at %s\n", short(a.Write.CommitTS))
	case a.Write != nil:
		fmt.Fprintf(&out, "intents at %s\n", short(a.Write.CommitTS))
	case a.EndTxn != nil:
		out.WriteString(a.EndTxn.State.String())
		if !a.EndTxn.CommitTS.IsZero() {
			fmt.Fprintf(&out, " at %s", short(a.EndTxn.CommitTS))
		}
		if len(a.EndTxn.Recover) > 0 {
			out.WriteString(", ask")
			for _, k := range a.EndTxn.Recover {
				out.WriteString(" " + name(k))
			}
			if a.EndTxn.RecoverSeq > 0 {
				fmt.Fprintf(&out, " from number %d on", a.EndTxn.RecoverSeq)
			}
		}
		for _, i := range a.EndTxn.Ignored {
			fmt.Fprintf(&out, ", without %d to %d", i.After+1, i.To)
		}
		out.WriteString("\n")
	case a.Query != nil && len(a.Query.Missing) > 0:
		fmt.Fprintf(&out, "%s is missing\n", name(a.Query.Missing))
	case a.Query != nil:
		out.WriteString("all there\n")
	case q.Resolve != nil:
		fmt.Fprintf(&out, "resolved %d\n", len(r.Released))
	case a.Inline != nil && q.Inline.Swap:
		out.WriteString(map[bool]string{true: "swapped\n"}[a.Inline.Swapped])
		for _, v := range a.Inline.Values {
			fmt.Fprintf(&out, "not swapped: it is %q\n", v)
		}
	case a.Inline != nil:
		for i := range a.Inline.Keys {
			fmt.Fprintf(&out, "%s=%s\n", name(a.Inline.Keys[i]), a.Inline.Values[i])
		}
	}
	return out.String()
}

func describeError(out *strings.Builder, e *kv.Error) {
	fmt.Fprint(out, e.Code)
	if len(e.Key) > 0 {
		fmt.Fprintf(out, ": %s", name(e.Key))
	}
	if !e.TS.IsZero() {
		fmt.Fprintf(out, " @%s", short(e.TS))
	}
	if !e.Observed.IsZero() {
		fmt.Fprintf(out, ", observed %s", short(e.Observed))
	}
	if e.Msg != "" {
		fmt.Fprintf(out, " (%s)", e.Msg)
	}
	out.WriteString("\n")
}

func describeRead(out *strings.Builder, q *kv.ReadRequest, a *kv.ReadResponse) {
	var parts []string
	for i, v := range a.Values {
		if v == nil {
			v = []byte("absent")
		}
		parts = append(parts, fmt.Sprintf("%s=%s", name(q.Keys[i]), v))
	}
	for _, rows := range a.Rows {
		for i := range rows.Keys {
			if q.Groups == nil {
				parts = append(parts, fmt.Sprintf("%s=%s", name(rows.Keys[i]), rows.Values[i]))
				continue
			}
			first := name(rows.Keys[i])
			if q.Groups.First {
				first += "=" + string(rows.Values[i])
			}
			parts = append(parts, fmt.Sprintf("%d from %s", rows.Counts[i], first))
		}
		if rows.More {
			parts = append(parts, fmt.Sprintf("more in %s..%s", name(rows.Resume.Start), name(rows.Resume.End)))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no rows"}
	}
	fmt.Fprintf(out, "%s\n", strings.Join(parts, " "))
	if a.Bumped > 0 {
		fmt.Fprintf(out, "read at %s instead\n", short(a.ReadTS))
	}
}

func (s *script) state() (string, error) {
	var out strings.Builder
	it, err := s.e.State.NewIter(nil)
	if err != nil {
		return "", err
	}
	var locks, records []string
	for valid := it.First(); valid; valid = it.Next() {
		k, ts, err := storage.Decode(it.Key())
		if err != nil {
			return "", err
		}
		switch {
		case strings.HasPrefix(string(k), "\x01s"): // of the store, not of a range
		case !ts.IsZero():
			v := it.Value()
			text, by := "deleted", ""
			if v[0]&2 != 0 {
				by, v = fmt.Sprintf(", signed by %s", letter(kv.TxnID(v[1:17]))), v[16:]
			}
			if len(v) > 1 {
				text = string(v[1:])
			}
			fmt.Fprintf(&out, "%s@%s=%s%s\n", name(k), short(ts), text, by)
		case strings.HasPrefix(string(k), string(keys.Lock(nil))):
			var in kv.Intent
			if _, err := in.UnmarshalMsg(it.Value()[1:]); err != nil {
				return "", err
			}
			line := fmt.Sprintf("%s's intent on %s@%s", letter(in.Txn), name(keys.LockedKey(k)), short(in.TS))
			if in.Seq > 0 {
				line += fmt.Sprintf(", number %d", in.Seq)
			}
			for _, e := range in.Earlier {
				line += fmt.Sprintf(", before it %d: %s", e.Seq, e.Value)
			}
			locks = append(locks, line)
		case keys.IsLocal(k):
			rec, err := mvcc.GetRecordAt(s.e.State, k)
			if err != nil {
				return "", err
			}
			line := fmt.Sprintf("%s is %s", letter(keys.RecordTxn(k)), rec.State)
			if !rec.CommitTS.IsZero() {
				line += " at " + short(rec.CommitTS)
			}
			line += ", touched " + short(clock.Timestamp{Wall: int64(rec.Touched)})
			for _, sp := range rec.Spans {
				line += fmt.Sprintf(", %s..%s", name(sp.Start), name(sp.End))
			}
			records = append(records, line)
		}
	}
	sort.Strings(records)
	for _, l := range append(locks, records...) {
		fmt.Fprintln(&out, l)
	}
	return out.String(), it.Close()
}

func (s *script) collect() (string, error) {
	var out strings.Builder
	d := &kv.RangeDescriptor{Span: kv.Span{Start: kv.Key{}, End: keys.Max}}
	for from, first := kv.Key(nil), true; first || from != nil; first = false {
		old, next, err := OldRecords(s.e.State, d, from, s.env.Now, 1)
		if err != nil {
			return "", err
		}
		for _, o := range old {
			if o.Push != nil {
				fmt.Fprintf(&out, "%s, anchored at %s, has to be recovered\n", letter(o.Push.Txn), name(o.Push.Anchor))
				continue
			}
			what := map[bool]string{false: "goes", true: "stays"}[o.Keep]
			fmt.Fprintf(&out, "%s %s", letter(keys.RecordTxn(o.Key)), what)
			if o.Resolve != nil && len(o.Resolve.Spans) > 0 {
				fmt.Fprintf(&out, ", after its intents in %s", o.Resolve.Spans)
				b := mvcc.Budget{Rows: 100, Bytes: 1000, Keys: 100}
				for _, sp := range o.Resolve.Spans {
					ks, _, err := mvcc.IntentsOf(s.e.State, sp, o.Resolve.Txn, &b)
					if err != nil {
						return "", err
					}
					o.Resolve.Keys = append(o.Resolve.Keys, ks...)
				}
			} else if o.Resolve != nil {
				fmt.Fprintf(&out, ", after its intents on %s", o.Resolve.Keys)
			}
			if o.Resolve != nil {
				r := Evaluate(s.env, &kv.Request{Resolve: o.Resolve})
				if err := s.apply(&r); err != nil {
					return "", err
				}
			}
			out.WriteString("\n")
		}
		r := CollectRecords(s.env, old)
		if r.Response.Err != nil {
			return "", r.Response.Err
		}
		if err := s.apply(&r); err != nil {
			return "", err
		}
		from = next
	}
	if out.Len() == 0 {
		return "nothing\n", nil
	}
	return out.String(), nil
}
