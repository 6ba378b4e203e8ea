package mvcc

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// model is the same as state, in the simplest way.
type model struct {
	versions map[string]map[clock.Timestamp]string // "" is a tombstone
	intents  map[string]kv.Intent
}

func (m *model) newest(k string, limit clock.Timestamp) (at clock.Timestamp) {
	for ts := range m.versions[k] {
		if ts.LessEq(limit) {
			at = at.Forward(ts)
		}
	}
	return at
}

// blocked is M5: what of a key stands against an answer.
func (m *model) blocked(k string, o Options) (uncertain, intent bool) {
	for ts := range m.versions[k] {
		uncertain = uncertain || (o.TS.Less(ts) && ts.LessEq(o.Limit))
	}
	in, ok := m.intents[k]
	pushed, isPushed := o.Pushed[in.Txn]
	return uncertain, ok && in.Txn != o.Txn && in.TS.LessEq(o.Limit) && !(isPushed && o.TS.Less(pushed))
}

func (m *model) scan(s kv.Span, o Options, reverse bool) (rows []string, newest clock.Timestamp, blocked bool) {
	var ks []string
	for k := range m.versions {
		ks = append(ks, k)
	}
	for k := range m.intents {
		if !slices.Contains(ks, k) {
			ks = append(ks, k)
		}
	}
	slices.Sort(ks)
	if reverse {
		slices.Reverse(ks)
	}
	for _, k := range ks {
		if !s.Contains(kv.Key(k)) {
			continue
		}
		if u, i := m.blocked(k, o); u || i {
			blocked = true
		}
		at := m.newest(k, o.TS)
		newest = newest.Forward(at)
		if v := m.versions[k][at]; v != "" {
			rows = append(rows, k+"="+v)
		}
	}
	return rows, newest, blocked
}

var modelKeys = []string{"\x00", "a", "a\x00", "a\x00\x00", "a\x00b", "a\xff", "ab", "b", "b\x09", "b\x00\x09", "c", "c\x00\x01", "d", "e", "f"}

func randomTS(r *rand.Rand) clock.Timestamp {
	return clock.Timestamp{Wall: 1 + r.Int64N(30), Logical: uint32(r.IntN(8)) / 6}
}

func randomSpan(r *rand.Rand) kv.Span {
	a, b := kv.Key(modelKeys[r.IntN(len(modelKeys))]), kv.Key(modelKeys[r.IntN(len(modelKeys))])
	if r.IntN(3) == 0 {
		return kv.Span{End: kv.Key("g")}
	}
	if b.Less(a) {
		a, b = b, a
	}
	return kv.Span{Start: a, End: b}
}

func randomOptions(r *rand.Rand) (o Options) {
	o.TS = randomTS(r)
	o.Limit = o.TS
	if r.IntN(3) == 0 {
		o.Limit = o.TS.Forward(randomTS(r))
	}
	if r.IntN(2) == 0 {
		o.Txn = kv.TxnID{byte(r.IntN(3))}
	}
	if r.IntN(2) == 0 {
		o.Pushed = map[kv.TxnID]clock.Timestamp{{byte(1 + r.IntN(2))}: randomTS(r)}
	}
	return o
}

// TestAgainstModel makes random changes, with flushes and compactions in between, and compares every kind of reading
// with the model.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runModel(t, rand.New(rand.NewPCG(seed, 1)), 600) })
	}
}

func runModel(t *testing.T, r *rand.Rand, steps int) {
	e := openStore(t)
	m := &model{versions: map[string]map[clock.Timestamp]string{}, intents: map[string]kv.Intent{}}
	for step := range steps {
		b := e.State.NewBatch()
		k := modelKeys[r.IntN(len(modelKeys))]
		switch r.IntN(12) {
		case 0, 1, 2:
			m.put(t, r, b, k, step)
		case 3:
			in := kv.Intent{Txn: kv.TxnID{byte(1 + r.IntN(2))}, TS: m.newest(k, clock.MaxTimestamp).Next().Forward(randomTS(r)), Value: fmt.Append(nil, step)}
			if _, ok := m.intents[k]; !ok {
				check(t, PutIntent(b, kv.Key(k), &in, false))
				m.intents[k] = in
			}
		case 4:
			m.resolve(t, r, e, b, k)
		case 5:
			check(t, PutInline(b, kv.Key(k), fmt.Append(nil, step))) // readers of versions pass over it
		case 6:
			if step%7 == 0 {
				check(t, e.FlushState())
			}
			if step%29 == 0 {
				check(t, e.State.Compact(context.Background(), []byte("\x00"), []byte("\xff\x00"), false))
			}
		default:
			m.compare(t, r, e)
		}
		check(t, e.ApplyState(b))
		check(t, b.Close())
	}
}

func (m *model) put(t *testing.T, r *rand.Rand, b *storage.Batch, k string, step int) {
	newest := m.newest(k, clock.MaxTimestamp)
	ts := newest.Next()
	if r.IntN(2) == 0 {
		ts = ts.Forward(randomTS(r))
	}
	value := ""
	if r.IntN(4) > 0 {
		value = fmt.Sprint(step)
	}
	var by kv.TxnID // a name or none makes no difference to any reader
	if r.IntN(2) == 0 {
		by[0] = byte(1 + r.IntN(255))
	}
	check(t, PutSigned(b, kv.Key(k), newest, ts, []byte(value), value == "", by))
	if m.versions[k] == nil {
		m.versions[k] = map[clock.Timestamp]string{}
	}
	m.versions[k][ts] = value
}

func (m *model) resolve(t *testing.T, r *rand.Rand, e *storage.Engines, b *storage.Batch, k string) {
	in, ok := m.intents[k]
	id := kv.TxnID{byte(1 + r.IntN(2))}
	s := kv.TxnStatus{State: kv.Aborted}
	if r.IntN(2) == 0 {
		s = kv.TxnStatus{State: kv.Committed, CommitTS: in.TS.Forward(m.newest(k, clock.MaxTimestamp).Next()).Forward(randomTS(r))}
	}
	v, err := Open(e.State, Options{TS: clock.MaxTimestamp})
	check(t, err)
	found, err := v.ResolveIntent(b, kv.Key(k), id, s)
	check(t, err)
	check(t, v.Close())
	if found != (ok && in.Txn == id) {
		t.Fatalf("resolved %t, intent %v %v", found, ok, in.Txn)
	}
	if found {
		delete(m.intents, k)
		if s.State == kv.Committed {
			if m.versions[k] == nil {
				m.versions[k] = map[clock.Timestamp]string{}
			}
			m.versions[k][s.CommitTS] = string(in.Value)
		}
	}
}

func (m *model) compare(t *testing.T, r *rand.Rand, e *storage.Engines) {
	t.Helper()
	o := randomOptions(r)
	k := modelKeys[r.IntN(len(modelKeys))]

	v, err := Open(e.State, o)
	check(t, err)
	got, err := v.Get(kv.Key(k))
	check(t, err)
	uncertain, intent := m.blocked(k, o)
	if intent != (len(v.Intents) > 0) || uncertain != (v.Uncertain != nil) {
		t.Fatalf("get %q %+v: uncertain=%v intents=%v, want %t %t", k, o, v.Uncertain, v.Intents, uncertain, intent)
	}
	at := m.newest(k, o.TS)
	if want := m.versions[k][at]; !uncertain && (string(got) != want || v.Newest != at) {
		t.Fatalf("get %q %+v: %q@%v, want %q@%v", k, o, got, v.Newest, want, at)
	}
	newest, deleted, err := v.NewestVersion(kv.Key(k))
	check(t, err)
	if want := m.newest(k, clock.MaxTimestamp); newest != want || deleted != (!want.IsZero() && m.versions[k][want] == "") {
		t.Fatalf("newest %q: %v %t, want %v", k, newest, deleted, want)
	}
	check(t, v.Close())

	m.compareMany(t, r, e, o)
	m.compareScan(t, r, e, o)
	m.compareCount(t, r, e, o)
	m.compareRefresh(t, r, e, o)
}

func (m *model) compareMany(t *testing.T, r *rand.Rand, e *storage.Engines, o Options) {
	t.Helper()
	var ks []kv.Key
	for _, k := range modelKeys {
		if r.IntN(2) == 0 {
			ks = append(ks, kv.Key(k))
		}
	}
	if r.IntN(2) == 0 {
		r.Shuffle(len(ks), func(i, j int) { ks[i], ks[j] = ks[j], ks[i] })
	}
	v, err := Open(e.State, o)
	check(t, err)
	defer v.Close()
	got, err := v.GetMany(ks)
	check(t, err)
	anyUncertain, anyIntent := false, false
	var newest clock.Timestamp
	for i, k := range ks {
		uncertain, intent := m.blocked(string(k), o)
		anyUncertain, anyIntent = anyUncertain || uncertain, anyIntent || intent
		at := m.newest(string(k), o.TS)
		newest = newest.Forward(at)
		if want := m.versions[string(k)][at]; !anyUncertain && !anyIntent && string(got[i]) != want {
			t.Fatalf("get %q of %q %+v: %q, want %q", k, ks, o, got[i], want)
		}
	}
	if anyUncertain != (v.Uncertain != nil) || !anyUncertain && (anyIntent != (len(v.Intents) > 0) || v.Newest != newest) {
		t.Fatalf("get %q %+v: uncertain=%v intents=%v newest %v, want %t %t %v", ks, o, v.Uncertain, v.Intents, v.Newest, anyUncertain, anyIntent, newest)
	}
}

func (m *model) compareScan(t *testing.T, r *rand.Rand, e *storage.Engines, o Options) {
	t.Helper()
	s, reverse := randomSpan(r), r.IntN(2) == 0
	rows, newest, blocked := m.scan(s, o, reverse)
	budget := Budget{Rows: math.MaxInt, Bytes: math.MaxInt, Keys: math.MaxInt}
	switch r.IntN(4) {
	case 0:
		budget.Rows = 1 + r.IntN(3)
	case 1:
		budget.Bytes = 1 + r.IntN(6)
	case 2:
		budget.Keys = 1 + r.IntN(3)
	}
	v, err := Open(e.State, o)
	check(t, err)
	defer v.Close()
	var got []string
	left := s
	for !left.Empty() {
		b := budget
		page, read, err := v.Scan(left, &b, reverse)
		check(t, err)
		if v.Uncertain != nil || len(v.Intents) > 0 {
			if !blocked {
				t.Fatalf("scan %s %+v: uncertain=%v intents=%v, want neither", s, o, v.Uncertain, v.Intents)
			}
			return
		}
		for i := range page.Keys {
			got = append(got, string(page.Keys[i])+"="+string(page.Values[i]))
			if !read.Contains(page.Keys[i]) {
				t.Fatalf("row %q outside of what was read, %s", page.Keys[i], read)
			}
		}
		if !page.More {
			if read.Start.Compare(left.Start) != 0 || read.End.Compare(left.End) != 0 {
				t.Fatalf("all of %s read, it says %s", left, read)
			}
			break
		}
		if joined := slices.Equal(read.End, page.Resume.Start) || slices.Equal(read.Start, page.Resume.End); !joined {
			t.Fatalf("read %s, left %s: a gap", read, page.Resume)
		}
		left = page.Resume
	}
	if blocked || !slices.Equal(got, rows) || v.Newest != newest {
		t.Fatalf("scan %s reverse=%t %+v:\n got %q newest %v\nwant %q newest %v blocked=%t", s, reverse, o, got, v.Newest, rows, newest, blocked)
	}
}

// compareCount groups keys by their first bytes.
func (m *model) compareCount(t *testing.T, r *rand.Rand, e *storage.Engines, o Options) {
	t.Helper()
	s, g := randomSpan(r), kv.Grouping{Prefix: r.IntN(2), First: r.IntN(2) == 0}
	rows, newest, blocked := m.scan(s, o, false)
	var want []string // group, first row, count
	counts := map[string]int64{}
	for _, row := range rows {
		if group := row[:g.Prefix]; counts[group] == 0 {
			want = append(want, row)
		}
		counts[row[:g.Prefix]]++
	}
	for i, row := range want {
		key, value, _ := strings.Cut(row, "=")
		if !g.First {
			value = ""
		}
		want[i] = fmt.Sprint(key, "=", value, " ", counts[row[:g.Prefix]])
	}
	budget := Budget{Rows: 1 + r.IntN(3), Bytes: 1 + r.IntN(20), Keys: 1 + r.IntN(6)}
	v, err := Open(e.State, o)
	check(t, err)
	defer v.Close()
	var firsts []string
	var sums []int64
	group := ""
	for left := s; !left.Empty(); {
		b := budget
		page, read, err := v.Count(left, &b, &g)
		check(t, err)
		if v.Uncertain != nil || len(v.Intents) > 0 {
			if !blocked {
				t.Fatalf("count %s %+v: uncertain=%v intents=%v, want neither", s, o, v.Uncertain, v.Intents)
			}
			return
		}
		for i, k := range page.Keys {
			if !read.Contains(k) {
				t.Fatalf("group of %q outside of what was read, %s", k, read)
			}
			if n := len(sums); n > 0 && string(k[:g.Prefix]) == group {
				sums[n-1] += page.Counts[i]
				continue
			}
			group = string(k[:g.Prefix])
			first := string(k) + "="
			if g.First {
				first += string(page.Values[i])
			}
			firsts, sums = append(firsts, first), append(sums, page.Counts[i])
		}
		if !page.More {
			break
		}
		if !slices.Equal(read.End, page.Resume.Start) {
			t.Fatalf("read %s, left %s: a gap", read, page.Resume)
		}
		left = page.Resume
	}
	var got []string
	for i := range firsts {
		got = append(got, fmt.Sprint(firsts[i], " ", sums[i]))
	}
	if blocked || !slices.Equal(got, want) || v.Newest != newest {
		t.Fatalf("count %s %+v %+v:\n got %q newest %v\nwant %q newest %v blocked=%t", s, g, o, got, v.Newest, want, newest, blocked)
	}
}

func (m *model) compareRefresh(t *testing.T, r *rand.Rand, e *storage.Engines, o Options) {
	t.Helper()
	s, to := randomSpan(r), o.TS.Forward(randomTS(r))
	changed, intents, err := ChangedBetween(e.State, s, o.TS, to, Options{Txn: o.Txn, Pushed: o.Pushed})
	check(t, err)
	wantChanged, wantIntent := false, false
	for k := range m.versions {
		if s.Contains(kv.Key(k)) {
			for ts := range m.versions[k] {
				wantChanged = wantChanged || (o.TS.Less(ts) && ts.LessEq(to))
			}
		}
	}
	for k := range m.intents {
		if s.Contains(kv.Key(k)) && o.TS.Less(to) {
			_, in := m.blocked(k, Options{TS: to, Limit: to, Txn: o.Txn, Pushed: o.Pushed})
			wantIntent = wantIntent || in
		}
	}
	if (changed != nil) != wantChanged || (!wantChanged && (len(intents) > 0) != wantIntent) {
		t.Fatalf("refresh %s (%v,%v]: %v %v, want %t %t", s, o.TS, to, changed, intents, wantChanged, wantIntent)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Inline values and records live beside versions without meeting them.
func TestInlineAndRecords(t *testing.T) {
	e := openStore(t)
	b := e.State.NewBatch()
	check(t, PutInline(b, kv.Key("a"), []byte("1")))
	check(t, PutInline(b, kv.Key("c"), []byte("3")))
	check(t, PutVersion(b, kv.Key("b"), clock.Timestamp{}, clock.Timestamp{Wall: 5}, []byte("x"), false))
	check(t, PutVersion(b, kv.Key("c"), clock.Timestamp{}, clock.Timestamp{Wall: 5}, []byte("x"), false))
	rec := &kv.Record{State: kv.Committed, CommitTS: clock.Timestamp{Wall: 7}, Intents: []kv.Key{kv.Key("k")}}
	check(t, PutRecord(b, kv.Key("a"), kv.TxnID{9}, rec, false))
	check(t, e.ApplyState(b))

	ks, vs, err := ScanInline(e.State, kv.Span{Start: kv.Key("a"), End: kv.Key("z")}, 10)
	check(t, err)
	if fmt.Sprintf("%s %s", ks, vs) != `["a" "c"] [1 3]` {
		t.Errorf("%s %s", ks, vs)
	}
	if ks, _, _ := ScanInline(e.State, kv.Span{Start: kv.Key("a"), End: kv.Key("z")}, 1); len(ks) != 1 {
		t.Errorf("limit 1: %s", ks)
	}
	v, err := GetInline(e.State, kv.Key("c"))
	check(t, err)
	if !bytes.Equal(v, []byte("3")) {
		t.Errorf("%q", v)
	}
	got, err := GetRecord(e.State, nil, kv.Key("a"), kv.TxnID{9})
	check(t, err)
	if got == nil || got.State != kv.Committed || got.CommitTS != rec.CommitTS || len(got.Intents) != 1 {
		t.Errorf("%+v", got)
	}
	if got, err := GetRecord(e.State, nil, kv.Key("a"), kv.TxnID{8}); got != nil || err != nil {
		t.Errorf("%+v %v", got, err)
	}
}
