package collation

import (
	"database/sql"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the driver
)

// theirs are MariaDB's names of what MySQL calls otherwise, or names alike but means otherwise.
var theirs = map[string]string{"utf8mb4_croatian_ci": "utf8mb4_croatian_mysql561_ci", "utf8mb3_croatian_ci": "utf8mb3_croatian_mysql561_ci"}

// TestAgainstMariaDB compares with a MariaDB 10.11 the collations that it has too: set COLLATION_MARIADB to a data source name, like
// root@unix(/run/mysqld/mysqld.sock)/test. Comparison, LIKE, LOCATE, UPPER and LOWER.
func TestAgainstMariaDB(t *testing.T) {
	dsn := os.Getenv("COLLATION_MARIADB")
	if dsn == "" {
		t.Skip("COLLATION_MARIADB is not set")
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("SET NAMES utf8mb4"); err != nil {
		t.Fatal(err)
	}
	compared, faults := 0, 0
	for _, c := range supported() {
		name := c.Name
		if n := theirs[name]; n != "" {
			name = n
		}
		if c.modern() || c.Name == "binary" {
			continue
		}
		r := rand.New(rand.NewSource(int64(c.ID)))
		text := func(s string) string {
			return fmt.Sprintf("CONVERT(_utf8mb4 0x%x USING %s) COLLATE %s", s, c.Charset.Name, name)
		}
		for range 40 {
			var cols []string
			var pairs [][2]string
			for len(pairs) < 40 {
				a, b := draw(r), draw(r)
				if r.Intn(3) == 0 {
					b = a + draw(r)
				}
				if _, ok := c.Charset.Valid(a); !ok || a == "" || b == "" {
					continue
				}
				if _, ok := c.Charset.Valid(b); !ok {
					continue
				}
				pairs = append(pairs, [2]string{a, b})
				cols = append(cols, fmt.Sprintf("CONCAT_WS('/', STRCMP(%[1]s, %[2]s), %[1]s LIKE %[2]s, LOCATE(%[2]s, %[1]s), HEX(CONVERT(UPPER(%[1]s) USING utf8mb4)),"+
					" HEX(CONVERT(LOWER(%[1]s) USING utf8mb4)))", text(a), text(b)))
			}
			got := make([]string, len(pairs))
			ptrs := make([]any, len(pairs))
			for i := range got {
				ptrs[i] = &got[i]
			}
			if err := db.QueryRow("SELECT " + strings.Join(cols, ",")).Scan(ptrs...); err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			for i, p := range pairs {
				like, at := 0, 0
				if c.Like(p[0], p[1], '\\') {
					like = 1
				}
				if n := c.Index(p[0], p[1]); n >= 0 {
					at = c.Length(p[0][:n]) + 1
				}
				want := fmt.Sprintf("%d/%d/%d/%X/%X", c.Compare(p[0], p[1]), like, at, c.Upper(p[0]), c.Lower(p[0]))
				if compared++; got[i] != want {
					if faults++; faults < 40 {
						t.Errorf("%s: %q, %q: MariaDB gives %s, this package %s", c, p[0], p[1], got[i], want)
					}
				}
			}
		}
	}
	t.Logf("%d pairs, %d of them otherwise", compared, faults)
}

// TestLetterCaseAgainstMariaDB compares UPPER and LOWER of every character of the Basic Multilingual Plane.
func TestLetterCaseAgainstMariaDB(t *testing.T) {
	dsn := os.Getenv("COLLATION_MARIADB")
	if dsn == "" {
		t.Skip("COLLATION_MARIADB is not set")
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range []string{"utf8mb4_general_ci", "utf8mb4_unicode_520_ci", "utf8mb4_turkish_ci", "latin1_swedish_ci"} {
		c := Must(name)
		rows, err := db.Query(fmt.Sprintf("SELECT seq, CONVERT(UPPER(CONVERT(x USING %[1]s) COLLATE %[2]s) USING utf8mb4), CONVERT(LOWER(CONVERT(x USING %[1]s)"+
			" COLLATE %[2]s) USING utf8mb4) FROM (SELECT seq, CONVERT(CHAR(seq USING utf32) USING utf8mb4) AS x FROM seq_1_to_65533"+
			" WHERE seq NOT BETWEEN 0xd800 AND 0xdfff) AS chars ORDER BY seq", c.Charset.Name, name))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var r rune
			var upper, lower string
			if err := rows.Scan(&r, &upper, &lower); err != nil {
				t.Fatal(err)
			}
			if _, ok := c.Charset.Valid(string(r)); ok && (c.Upper(string(r)) != upper || c.Lower(string(r)) != lower) {
				t.Errorf("%s: %U has %U and %U, here %U and %U", c, r, []rune(upper), []rune(lower), []rune(c.Upper(string(r))), []rune(c.Lower(string(r))))
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRootAgainstMariaDB compares the root of 9.0.0 with MariaDB's of Unicode 14.0.0, in scripts whose order has stayed: letters of
// Latin, Greek and Cyrillic, digits, marks, ideographs. (Hangul syllables are no letters to MariaDB; MySQL 8 takes them apart.)
func TestRootAgainstMariaDB(t *testing.T) {
	dsn := os.Getenv("COLLATION_MARIADB")
	if dsn == "" {
		t.Skip("COLLATION_MARIADB is not set")
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var letters []rune
	for _, span := range [][2]rune{{' ', '~'}, {0xa1, 0x24f}, {0x300, 0x33f}, {0x391, 0x3ce}, {0x410, 0x44f}, {0x1e00, 0x1eff}, {0x4e00, 0x4e40}, {0xfb00, 0xfb06}} {
		for r := span[0]; r <= span[1]; r++ {
			if r != 0x3a2 && (r < 0x30a || r > 0x30f) {
				letters = append(letters, r)
			}
		}
	}
	for _, level := range []string{"ai_ci", "as_ci", "as_cs"} {
		c, r := Must("utf8mb4_0900_"+level), rand.New(rand.NewSource(9))
		word := func() string {
			var b []rune
			for range 1 + r.Intn(3) {
				b = append(b, letters[r.Intn(len(letters))])
			}
			return string(b)
		}
		faults := 0
		for range 200 {
			var cols []string
			var pairs [][2]string
			for range 50 {
				a, b := word(), word()
				if r.Intn(2) == 0 {
					b = c.Upper(a) + string([]rune(word())[:1])
				}
				pairs = append(pairs, [2]string{a, b})
				cols = append(cols, fmt.Sprintf("STRCMP(_utf8mb4 0x%x COLLATE utf8mb4_uca1400_nopad_%[3]s, _utf8mb4 0x%[2]x COLLATE utf8mb4_uca1400_nopad_%[3]s)", a, b, level))
			}
			got := make([]int, len(pairs))
			ptrs := make([]any, len(pairs))
			for i := range got {
				ptrs[i] = &got[i]
			}
			if err := db.QueryRow("SELECT " + strings.Join(cols, ",")).Scan(ptrs...); err != nil {
				t.Fatal(err)
			}
			for i, p := range pairs {
				if want := c.Compare(p[0], p[1]); got[i] != want {
					if faults++; faults < 20 {
						t.Errorf("%s: %q, %q: MariaDB gives %d, this package %d", c, p[0], p[1], got[i], want)
					}
				}
			}
		}
		t.Logf("%s: %d of 10000 pairs are otherwise", c, faults)
	}
}
