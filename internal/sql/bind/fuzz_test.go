package bind

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
)

// fuzzPacket is max_allowed_packet while expressions are fuzzed, in bytes.
const fuzzPacket = 1 << 16

// fuzzSeeds are expressions over the columns of fuzzTable.
var fuzzSeeds = []string{"1", "i + 1", "i / 0", "s = 'a'", "s like '%a_' escape '!'", "x'41' + b'1'", "case i when 1 then s else f end", "case when i then d end", "i in (1, 'a', null)",
	"(i, s) in ((1, 'a'), (2, null))", "(1, (i, 2)) = (1, (1, 2))", "i between 1 and '2'", "cast(s as decimal(65,30))", "cast(d as char(3))", "convert(s using latin1)",
	"s collate utf8mb4_bin", "date_add(dt, interval 1 month)", "da + interval s day", "extract(year_month from dt)", "timestampdiff(week, da, dt)", "date_format(dt, '%Y %j %U')",
	"str_to_date(s, '%Y-%m-%d')", "greatest(i, s, d)", "least(da, s)", "interval(i, 1, 2, 3)", "concat_ws(',', s, i, null)", "lpad(s, 100000, 'xy')", "repeat(s, 1000000000)",
	"space(1e20)", "elt(i, s, d)", "field(s, 'a', 1)", "find_in_set(s, 'a,b')", "make_set(i, s, 'b')", "export_set(i, 'a', 'b', ',', 64)", "conv(s, 36, -2)", "format(d, 30)",
	"trim(both 'a' from s)", "substring_index(s, 'a', -1)", "insert(s, 1, 1, 'x')", "char(i, 256 using utf8mb4)", "hex(s)", "unhex(s)", "to_base64(s)", "aes_encrypt(s, 'k')",
	"json_extract(j, '$.a')", "j->'$[0]'", "json_set(j, '$.a', i)", "json_object('k', s)", "1 member of (j)", "json_contains(j, '1')", "json_table", "weight_string(s)",
	"i & 255 | 1 ^ 2", "~i << 3 >> 1", "not i is true", "i xor s", "s <=> null", "- - i", "!s", "i div 2 mod 3", "pow(i, 1000)", "round(d, -2)", "truncate(f, 400)", "exp(1000)",
	"coalesce(null, s)", "nullif(i, s)", "if(i, s, d)", "ifnull(j, 1)", "inet6_aton(s)", "uuid_to_bin(s)", "crc32(s)", "bit_count(x'ff')", "soundex(s)", "quote(s)",
	"from_unixtime(i, '%f')", "unix_timestamp(dt)", "convert_tz(dt, '+00:00', s)", "maketime(i, i, f)", "sec_to_time(f)", "period_add(i, 1)", "week(da, i)", "timediff(s, dt)",
	"@a := 1", "exists (select 1 from t)", "i = any (select i from t)", "(select max(s) from t)", "default(i)", "values(i)", "count(*)", "row_number() over ()"}

// notFuzzed give another value each time, or wait.
var notFuzzed = regexp.MustCompile(`(?i)rand|uuid\s*\(|uuid_short|sleep|benchmark|sysdate|_lock|random_bytes|:=|@|last_insert_id|found_rows|row_count|connection_id|limit|procedure`)

// fuzzTable declares t with a column of each kind and three rows.
func fuzzTable(t *testing.T, m *memory) {
	m.declare(t, "t(id int,i int,d decimal(10),f double,s varchar(20),da date,dt datetime,j json)")
	m.insert(t, "t (1,1,1.5,1.5,'a','2024-02-29','2024-02-29 10:11:12','{\"a\": [1]}'),(2,-1,-2.5,1e20,'12abc','9999-12-31','1970-01-01 00:00:00','[1, \"x\"]'),(3,null,null,null,null,null,null,null)")
}

// FuzzExpression parses, binds and evaluates any text as an expression over three rows. It does not panic; values are of their types' kinds (execute
// looks); what constants give does not depend on when they are evaluated: the optimized query, the query as it was bound, and a query of each
// row by itself have the same values; a text is no longer than max_allowed_packet; an interruption ends it.
func FuzzExpression(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 200 || notFuzzed.MatchString(text) || strings.ContainsAny(text, ";#\x00") || strings.Contains(text, "--") || strings.Contains(text, "/*") {
			return
		}
		stmt, err := sqlparser.Parse("select (" + text + ") from t")
		if err != nil {
			return
		}
		sel, ok := stmt.(*sqlparser.Select)
		if !ok || len(sel.SelectExprs) != 1 || sel.GroupBy != nil || sel.Where != nil || sel.Having != nil || sel.With != nil || len(sel.From) != 1 {
			return // the text closes the parenthesis
		}
		m := newMemory()
		fuzzTable(t, m)
		m.settings.Env.MaxPacket = fuzzPacket
		m.settings.OnlyFullGroupBy = false
		polls := 0
		m.settings.Env.Interrupted = func() error {
			if polls++; polls > 200_000 {
				return errFuzzed
			}
			return nil
		}
		query := "select id, (" + text + ") from t order by id"
		plain, err1 := m.execute(query, false)
		optimized, err2 := m.execute(query, true)
		if errors.Is(err1, errFuzzed) || errors.Is(err2, errFuzzed) {
			return
		}
		if err1 == nil && err2 != nil || err1 == nil && fmt.Sprint(m.texts(plain)) != fmt.Sprint(m.texts(optimized)) {
			t.Fatalf("%s\nas it was bound %v (%v)\noptimized      %v (%v)", query, m.texts(plain), err1, m.texts(optimized), err2)
		}
		if err1 != nil {
			if e := (*expr.Error)(nil); !errors.As(err1, &e) && !errors.Is(err1, ErrUnsupported) {
				t.Fatalf("%s: an error without a code: %v", query, err1)
			}
			return
		}
		for _, row := range plain {
			if s := row[1].RawText(); len(s) > fuzzPacket {
				t.Fatalf("%s: %d bytes", query, len(s))
			}
		}
		if len(plain) != 3 || strings.Contains(strings.ToLower(text), "select") || strings.Contains(strings.ToLower(text), "over") {
			return
		}
		for i, row := range plain {
			one, err := m.execute(fmt.Sprintf("select id, (%s) from t where id = %d", text, i+1), true)
			if err != nil || len(one) != 1 || fmt.Sprint(m.texts(one)) != fmt.Sprint(m.texts(plain[i:i+1])) {
				t.Fatalf("%s: row %d is %v, by itself %v (%v)", query, i+1, m.texts(plain[i:i+1]), m.texts(one), err)
			}
			_ = row
		}
		m.settings.Env.Interrupted = func() error { return errFuzzed }
		if _, err := m.execute(query, true); err != nil && !errors.Is(err, errFuzzed) {
			t.Fatalf("%s: interrupted: %v", query, err)
		}
	})
}

var errFuzzed = errors.New("interrupted")
