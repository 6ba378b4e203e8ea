package engine

import (
	"fmt"
	"testing"
	"time"
)

func TestStatementsAreCountedByDigest(t *testing.T) {
	s := newStatements()
	var r repeats
	r.add("refresh failed", 2*time.Millisecond)
	r.add("uncertain", time.Millisecond)
	r.add("refresh failed", time.Millisecond)
	s.done(s.digest("SELECT a FROM t WHERE id = 1"), 10*time.Millisecond, 0, r, false)
	s.done(s.digest("SELECT a FROM t WHERE id = 2"), 30*time.Millisecond, 1213, repeats{}, false)
	s.done(s.digest("SELECT a FROM t WHERE id = 3"), 20*time.Millisecond, 1064, repeats{n: 1, why: map[string]uint64{"uncertain": 1}}, false)
	st := s.order.Front().Value.(*statementStats)
	if st.count != 3 || st.errors != 2 || st.given != 1 || st.total != 60*time.Millisecond || st.longest != 30*time.Millisecond {
		t.Errorf("%+v", st)
	}
	if got := st.repeats.reasons(); st.repeats.n != 4 || got != "refresh failed 2, uncertain 2" || st.repeats.lost != 4*time.Millisecond {
		t.Errorf("%d: %s, %s lost", st.repeats.n, got, st.repeats.lost)
	}

	// Memory is bounded: those used last are kept.
	for i := range 3 * keepStatements {
		s.done(s.digest(fmt.Sprintf("SELECT c%d FROM t WHERE id = ?", i)), time.Millisecond, 0, repeats{}, false)
		s.done(s.digest("SELECT a FROM t WHERE id = 4"), time.Millisecond, 0, repeats{}, false)
	}
	if len(s.byText) != keepStatements || s.order.Len() != keepStatements || len(s.known) > keepStatements {
		t.Errorf("%d digests, %d in order, %d texts", len(s.byText), s.order.Len(), len(s.known))
	}
	if s.byText["SELECT a FROM t WHERE id = ?"] == nil || s.byText["SELECT c0 FROM t WHERE id = ?"] != nil {
		t.Error("the wrong ones are kept")
	}
}
