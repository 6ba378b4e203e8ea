package engine

import "testing"

func TestForShare(t *testing.T) {
	for _, c := range []struct{ query, executed, prepared string }{
		{"SELECT 1", "SELECT 1", "SELECT 1"},
		{"select * from t for share", "select * from t LOCK IN SHARE MODE", "select * from t LOCK IN SHARE MODE"},
		{"select * from t For  Share;", "select * from t LOCK IN SHARE MODE;", "select * from t LOCK IN SHARE MODE;"},
		{"select * from t FOR SHARE NOWAIT", "select * from t FOR UPDATE OF `longitude for share` NOWAIT", "select * from t FOR UPDATE NOWAIT"},
		{"select * from t a FOR SHARE OF a SKIP LOCKED", "select * from t a FOR UPDATE OF `longitude for share`, a SKIP LOCKED", "select * from t a FOR UPDATE OF a SKIP LOCKED"},
		{"select 'it''s for share', \"for share\", `for share` from t", "select 'it''s for share', \"for share\", `for share` from t", "select 'it''s for share', \"for share\", `for share` from t"},
		{"select '\\' for share' /* for share */ from t -- for share\n", "select '\\' for share' /* for share */ from t -- for share\n", "select '\\' for share' /* for share */ from t -- for share\n"},
		{"(select * from t for share) union (select * from u for share)", "(select * from t LOCK IN SHARE MODE) union (select * from u LOCK IN SHARE MODE)", "(select * from t LOCK IN SHARE MODE) union (select * from u LOCK IN SHARE MODE)"},
		{"select waits_for, share from t", "select waits_for, share from t", "select waits_for, share from t"},
		{"select 'for share", "select 'for share", "select 'for share"},
	} {
		if got := forShare(c.query, false); got != c.executed {
			t.Errorf("%q is executed as %q, not as %q", c.query, got, c.executed)
		}
		if got := forShare(c.query, true); got != c.prepared {
			t.Errorf("%q is prepared as %q, not as %q", c.query, got, c.prepared)
		}
	}
}
