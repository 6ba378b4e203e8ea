package route

import (
	"testing"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// What a replica at hand may answer, if its state is complete up to the read's timestamp.
func TestOfThePresent(t *testing.T) {
	at := func(n int64) clock.Timestamp { return clock.Timestamp{Wall: n} }
	for _, c := range []struct {
		what string
		req  kv.Request
		want bool
	}{
		{"a read of the state at a timestamp", kv.Request{Read: &kv.ReadRequest{ReadTS: at(5), Limit: at(5)}}, true},
		{"a write", kv.Request{Write: &kv.WriteRequest{}}, false},
		{"versions above the timestamp concern it", kv.Request{Read: &kv.ReadRequest{ReadTS: at(5), Limit: at(7)}}, false},
		{"so they do if its lease has moved", kv.Request{Read: &kv.ReadRequest{ReadTS: at(5), Limit: at(5), MaxLimit: at(7)}}, false},
		{"locks are the leaseholder's", kv.Request{Read: &kv.ReadRequest{ReadTS: at(5), Limit: at(5), Lock: &kv.ReadLock{}}}, false},
		// Its own intents may have landed above the timestamp, and the replica may not have them yet.
		{"a large transaction has intents", kv.Request{Read: &kv.ReadRequest{ReadTS: at(5), Limit: at(5), Own: &kv.Own{Seq: 1}}}, false},
		{"it is for any replica anyway", kv.Request{Read: &kv.ReadRequest{ReadTS: at(5), Limit: at(5), AnyReplica: true}}, false},
	} {
		if got := ofThePresent(&c.req); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
