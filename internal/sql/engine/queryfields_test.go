package engine

import (
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// The lengths of columns of texts, as MySQL 9.7 tells them: drivers find out by them which TEXT a column is.
func TestTextLengths(t *testing.T) {
	for _, c := range []struct {
		t       expr.Type
		results sql.CharacterSetID
		want    uint32
	}{
		{expr.Type{Name: expr.TextType, Length: 63}, sql.CharacterSet_Unspecified, 255},
		{expr.Type{Name: expr.TextType, Length: 16383}, sql.CharacterSet_Unspecified, 65535},
		{expr.Type{Name: expr.TextType, Length: 16383}, sql.CharacterSet_binary, 65535},
		{expr.Type{Name: expr.TextType, Length: 16383}, sql.CharacterSet_utf8mb4, 262140},
		{expr.Type{Name: expr.TextType, Length: 4194303}, sql.CharacterSet_utf8mb4, 67108860},
		{expr.Type{Name: expr.TextType, Length: 1073741823}, sql.CharacterSet_utf8mb4, 1<<32 - 1},
		{expr.Type{Name: expr.TextType, Length: 1073741823}, sql.CharacterSet_Unspecified, 1<<32 - 1},
		{expr.Type{Name: expr.Varchar, Length: 10}, sql.CharacterSet_utf8mb4, 40},
		{expr.Type{Name: expr.Varchar, Length: 10}, sql.CharacterSet_Unspecified, 40},
		{expr.Type{Name: expr.Varchar, Length: 10}, sql.CharacterSet_binary, 10},
	} {
		c.t.Collation = expr.DefaultCollation
		if _, got := charsetAndLength(c.t, c.results, true); got != c.want {
			t.Errorf("%v of %d characters, results in %q: %d bytes, want %d", c.t.Name, c.t.Length, c.results.Name(), got, c.want)
		}
	}
}
