package engine

import (
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

func TestParseQuery(t *testing.T) {
	for _, tt := range []struct{ in, want, name, rest string }{
		{in: "SELECT 1 > ANY (SELECT a FROM t)", want: "select 1 > (select /*any*/ a from t)", name: "1 > ANY (SELECT a FROM t)"},
		{in: "SELECT 1 >= some ((SELECT a FROM t))", want: "select 1 >= ((select /*any*/ a from t))", name: "1 >= some ((SELECT a FROM t))"},
		{in: "SELECT a FROM t WHERE a <> ALL(SELECT b FROM u)", want: "select a from t where a != (select /*all*/ b from u)", name: "a"},
		{in: "SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP", want: "select a, COUNT(*) from t group by a, with rollup()", name: "a"},
		{in: "SELECT a FROM t GROUP BY a, b WITH ROLLUP HAVING a IS NULL ORDER BY a", want: "select a from t group by a, b, with rollup() having a is null order by a asc", name: "a"},
		{in: "SELECT DATE'2024-02-29' + 0", want: "select date literal('2024-02-29') + 0", name: "DATE'2024-02-29' + 0"},
		{in: "SELECT TIME '10:11:12', 1 = ANY(SELECT 1)", want: "select time literal('10:11:12'), 1 = (select /*any*/ 1)", name: "TIME '10:11:12'"},
		{in: "TABLE t", want: "select * from t"},
		{in: "TABLE t ORDER BY a LIMIT 2", want: "select * from t order by a asc limit 2"},
		{in: "SELECT 1 UNION ALL TABLE t", want: "select 1 union all select * from t", name: "1"},
		{in: "SELECT a IS NOT UNKNOWN, (1, 2) = ROW(1, 2)", want: "select a is not null, (1, 2) = (1, 2)", name: "a IS NOT UNKNOWN"},
		{in: "VALUES ROW(1, 2), ROW(3, 4)", want: "select * from (values row(1, 2), row(3, 4))"},
		{in: "SELECT 'a' SOUNDS LIKE CONCAT(b, 'c') OR 1", want: "select soundex('a') = soundex(CONCAT(b, 'c')) or 1", name: "'a' SOUNDS LIKE CONCAT(b, 'c') OR 1"},
		{in: "SELECT 1 + 1 MEMBER OF('[1]') AND ~~~~~1", want: "select member of(1 + 1, ('[1]')) and ~ ~ ~ ~ ~1", name: "1 + 1 MEMBER OF('[1]') AND ~~~~~1"},
		{in: "SELECT 1; SELECT 2", want: "select 1", name: "1", rest: "SELECT 2"},
		{in: "\n\tSELECT 1;\n\tSELECT 2;\n\t", want: "select 1", name: "1", rest: "SELECT 2;\n\t"},
		{in: "SELECT 1 = ANY (SELECT 1); SELECT 2 = ALL (SELECT 3)", want: "select 1 = (select /*any*/ 1)", name: "1 = ANY (SELECT 1)", rest: "SELECT 2 = ALL (SELECT 3)"},
		{in: "SELECT `any` (SELECT 1)", want: ""},
		{in: "SELECT GROUPING(a) FROM t GROUP BY a WITH ROLLUP", want: "select GROUPING(a) from t group by a, with rollup()", name: "GROUPING(a)"},
		{in: "(SELECT 1) UNION (SELECT 2) ORDER BY 1", want: "(select 1) union (select 2) order by 1 asc", name: "1"},
		{in: "(SELECT 1)", want: "select 1", name: "1"},
		{in: "(SELECT 1) LIMIT 1", want: "select 1 limit 1", name: "1"},
		{in: "((SELECT a FROM t)) ORDER BY 1", want: "select a from t order by 1 asc", name: "a"},
		{in: "SELECT d + INTERVAL '1:30' HOUR_MINUTE FROM t", want: "select d + interval '1:30' HOUR_MINUTE from t", name: "d + INTERVAL '1:30' HOUR_MINUTE"},
		{in: "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3) SELECT n FROM c", name: "n",
			want: "with recursive c (n) as (select 1 union all select n + 1 from c where n < 3) select n from c"},
	} {
		stmt, rest, err := parseQuery(tt.in, sqlparser.ParserOptions{})
		got := ""
		if err == nil {
			got = sqlparser.String(stmt)
		}
		if got != tt.want || rest != tt.rest {
			t.Errorf("%s:\n got  %s (rest %q, %v)\n want %s (rest %q)", tt.in, got, rest, err, tt.want, tt.rest)
			continue
		}
		if tt.name == "" {
			continue
		}
		first := stmt
		for {
			if u, ok := first.(*sqlparser.SetOp); ok {
				first = u.Left
			} else if p, ok := first.(*sqlparser.ParenSelect); ok {
				first = p.Select
			} else {
				break
			}
		}
		if e, ok := first.(*sqlparser.Select).SelectExprs[0].(*sqlparser.AliasedExpr); !ok || outputName(e) != tt.name {
			t.Errorf("%s: the first column is called %q, want %q", tt.in, outputName(e), tt.name)
		}
	}
}
