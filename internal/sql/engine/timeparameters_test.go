package engine

import (
	"testing"

	"github.com/dolthub/vitess/go/vt/proto/query"
)

// TestMendTimes: microseconds of parameters keep their value; texts stay as they are.
func TestMendTimes(t *testing.T) {
	for _, c := range []struct {
		kind        query.Type
		value, want string
	}{
		{query.Type_VARCHAR, "2024-2-29 10:11:12.5000", "2024-02-29 10:11:12.005000"},
		{query.Type_VARCHAR, "2024-2-29 10:11:12.1", "2024-02-29 10:11:12.000001"},
		{query.Type_VARCHAR, "2024-2-29 10:11:12.0", "2024-02-29 10:11:12.000000"},
		{query.Type_VARCHAR, "2024-2-29 10:11:12.345678", "2024-02-29 10:11:12.345678"},
		{query.Type_VARCHAR, "-34:0:0.45000", "-34:0:0.045000"},
		{query.Type_VARCHAR, "2024-2-29 1:2:3", "2024-02-29 01:02:03"},
		{query.Type_VARCHAR, "2024-2-29", "2024-02-29"},
		{query.Type_VARCHAR, " ", "0000-00-00 00:00:00"},
		{query.Type_VARBINARY, "2024-02-29 10:11:12.5", "2024-02-29 10:11:12.5"},
		{query.Type_VARBINARY, " ", " "},
		{query.Type_FLOAT64, "0.5", "0.5"},
	} {
		p := map[string]*query.BindVariable{"v1": {Type: c.kind, Value: []byte(c.value)}, "v2": nil}
		mendTimes(p)
		if got := string(p["v1"].Value); got != c.want {
			t.Errorf("%s %q becomes %q, want %q", c.kind, c.value, got, c.want)
		}
	}
}
