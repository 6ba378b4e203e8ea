package eval

import (
	"fmt"
	"testing"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
)

// What each request latches, and whether it lies in the range [b, n).
func TestLatchesAndBounds(t *testing.T) {
	desc := &kv.RangeDescriptor{Span: kv.Span{Start: kv.Key("b"), End: kv.Key("n")}}
	id, ts := kv.TxnID{'A'}, clock.Timestamp{Wall: 5 * second}
	span := kv.Span{Start: kv.Key("c"), End: kv.Key("e")}
	record := fmt.Sprintf("w %q", []byte(keys.Record(kv.Key("b"), id)))
	for _, c := range []struct {
		name string
		q    kv.Request
		want string
		out  bool
	}{
		{"read up to g", kv.Request{Read: &kv.ReadRequest{Keys: []kv.Key{kv.Key("b")}, Spans: []kv.Span{span}, ReadTS: ts, Limit: ts, MaxLimit: ts.Next()}}, `r "b" up to 5+1, r ["c","e") up to 5+1`, false},
		{"read beyond", kv.Request{Read: &kv.ReadRequest{Keys: []kv.Key{kv.Key("n")}}}, `r "n"`, true},
		{"an empty span is in any range", kv.Request{Read: &kv.ReadRequest{Spans: []kv.Span{{Start: kv.Key("x"), End: kv.Key("x")}}}}, `r ["x","x")`, false},
		{"refresh", kv.Request{Refresh: &kv.RefreshRequest{Spans: []kv.Span{span}, To: ts}}, `r ["c","e") up to 5`, false},
		{"a word about a commit", kv.Request{Refresh: &kv.RefreshRequest{Spans: []kv.Span{span}, To: ts, Note: true}}, `r ["c","e") up to 5`, false},
		{"intents from the wanted timestamp", kv.Request{Write: &kv.WriteRequest{Txn: id, Anchor: kv.Key("z"), CommitTS: ts, Puts: []kv.Put{{Key: kv.Key("c")}}}}, `w "c" from 5`, false},
		{"one-phase", kv.Request{Write: &kv.WriteRequest{Txn: id, Anchor: kv.Key("b"), OnePhase: true, CommitTS: ts, Refresh: []kv.Span{span}, Puts: []kv.Put{{Key: kv.Key("c")}}}}, `w "c" from 5, r ["c","e"), ` + record, false},
		{"one-phase anchored elsewhere", kv.Request{Write: &kv.WriteRequest{Txn: id, Anchor: kv.Key("z"), OnePhase: true}}, fmt.Sprintf("w %q", []byte(keys.Record(kv.Key("z"), id))), true},
		{"end", kv.Request{EndTxn: &kv.EndTxnRequest{Txn: id, Anchor: kv.Key("b")}}, record, false},
		{"push", kv.Request{Push: &kv.PushRequest{Txn: id, Anchor: kv.Key("b")}}, record, false},
		{"heartbeat", kv.Request{Heartbeat: &kv.HeartbeatRequest{Txn: id, Anchor: kv.Key("b")}}, record, false},
		{"resolve", kv.Request{Resolve: &kv.ResolveRequest{Keys: []kv.Key{kv.Key("c"), kv.Key("m\xff")}}}, `w "c", w "m\xff"`, false},
		{"swap", kv.Request{Inline: &kv.InlineRequest{Swap: true, ID: id, Key: kv.Key("b")}}, `w "b", ` + record, false},
		{"inline read across the end", kv.Request{Inline: &kv.InlineRequest{Span: kv.Span{Start: kv.Key("c"), End: kv.Key("o")}}}, `r ["c","o")`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			for i, l := range Latches(&c.q) {
				if i > 0 {
					got += ", "
				}
				got += map[bool]string{true: "w ", false: "r "}[l.Write]
				if len(l.Span.End) == 0 {
					got += l.Span.Start.String()
				} else {
					got += l.Span.String()
				}
				if !l.TS.IsZero() {
					got += map[bool]string{true: " from ", false: " up to "}[l.Write] + short(l.TS)
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if in := InBounds(desc, &c.q); in == c.out {
				t.Errorf("in bounds: %t", in)
			}
		})
	}
}

// Malformed requests are refused, whatever sent them; nothing is written.
func TestMalformed(t *testing.T) {
	s := newScript(t)
	ts := clock.Timestamp{Wall: 5}
	for _, q := range []kv.Request{
		{},
		{Admin: &kv.AdminRequest{}},
		{Read: &kv.ReadRequest{Keys: []kv.Key{kv.Key("a")}}},
		{Refresh: &kv.RefreshRequest{From: ts.Next(), To: ts}},
		{Write: &kv.WriteRequest{Txn: kv.TxnID{1}, CommitTS: ts, ReadTS: ts.Next(), Puts: []kv.Put{{Key: kv.Key("a"), Value: []byte("x")}}}},
		{Write: &kv.WriteRequest{Txn: kv.TxnID{1}, CommitTS: ts, Puts: []kv.Put{{Key: kv.Key("a")}}}},
		{Write: &kv.WriteRequest{CommitTS: ts, Puts: []kv.Put{{Key: kv.Key("a"), Value: []byte("x")}}}},
		{Write: &kv.WriteRequest{Txn: kv.TxnID{1}, CommitTS: ts}},
		{EndTxn: &kv.EndTxnRequest{Txn: kv.TxnID{1}, Commit: true}},
		{Resolve: &kv.ResolveRequest{Txn: kv.TxnID{1}, Keys: []kv.Key{kv.Key("a")}}},
		{Resolve: &kv.ResolveRequest{Txn: kv.TxnID{1}, Keys: []kv.Key{kv.Key("a")}, Status: kv.TxnStatus{State: kv.Committed}}},
	} {
		r := Evaluate(s.env, &q)
		if r.Response.Err == nil || r.Response.Err.Code != kv.ErrInternal || len(r.Batch) > 0 {
			t.Errorf("%+v: %v, %d bytes", q, r.Response.Err, len(r.Batch))
		}
	}
}
