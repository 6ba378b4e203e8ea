package bind

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/exec"
	"github.com/longitude-db/longitude/internal/sql/optimize"
	"github.com/longitude-db/longitude/internal/sql/rel"
	"github.com/longitude-db/longitude/internal/sqldiff"
)

func num(v *sqlparser.SQLVal, d int) int {
	if v == nil {
		return d
	}
	n, _ := strconv.Atoi(string(v.Val))
	return n
}

func (m *memory) ddlType(c sqlparser.ColumnType) expr.Type {
	t := expr.Type{Collation: expr.BinaryCollation, Coerc: expr.Implicit, Length: -1, Unsigned: bool(c.Unsigned)}
	ints := map[string]expr.Name{"tinyint": expr.TinyInt, "smallint": expr.SmallInt, "mediumint": expr.MediumInt, "int": expr.IntType, "bigint": expr.BigInt}
	widths := map[string]int{"tinyint": 4, "smallint": 6, "mediumint": 9, "int": 11, "bigint": 20}
	coll := uint16(expr.DefaultCollation)
	if c.Collate != "" {
		coll, _ = m.Collation(c.Collate)
	}
	name := strings.ToLower(c.Type)
	if n, ok := ints[name]; ok {
		t.Name, t.Length = n, widths[name]
		return t
	}
	switch name {
	case "decimal":
		d := expr.TDecimal(num(c.Length, 10), num(c.Scale, 0))
		d.Coerc = expr.Implicit
		return d
	case "float":
		t.Name, t.Length, t.Scale = expr.FloatType, 12, expr.NotFixed
	case "double":
		t.Name, t.Length, t.Scale = expr.DoubleType, 22, expr.NotFixed
	case "year":
		t.Name, t.Length, t.Unsigned = expr.YearType, 4, true
	case "bit":
		t.Name, t.Length, t.Unsigned = expr.BitType, num(c.Length, 1), true
	case "date":
		t.Name, t.Length = expr.DateType, 10
	case "datetime", "timestamp":
		t.Name, t.Length, t.Scale = expr.DatetimeType, 19, num(c.Length, 0)
		if name == "timestamp" {
			t.Name = expr.TimestampType
		}
	case "time":
		t.Name, t.Length, t.Scale = expr.TimeType, 10, num(c.Length, 0)
	case "char", "varchar":
		t.Name, t.Length, t.Collation = expr.Char, num(c.Length, 1), coll
		if name == "varchar" {
			t.Name = expr.Varchar
		}
	case "text":
		t.Name, t.Length, t.Collation = expr.TextType, 65535, coll
	case "binary", "varbinary":
		t.Name, t.Length = expr.Binary, num(c.Length, 1)
		if name == "varbinary" {
			t.Name = expr.Varbinary
		}
	case "blob":
		t.Name, t.Length = expr.Blob, 65535
	case "enum", "set":
		t.Name, t.Collation, t.Elements = expr.EnumType, coll, nil
		for _, e := range c.EnumValues {
			t.Elements = append(t.Elements, strings.Trim(e, "'"))
			t.Length = max(t.Length, len(e))
		}
		if name == "set" {
			t.Name = expr.SetType
		}
	case "json":
		return expr.TJSON
	default:
		panic(name)
	}
	return t
}

type recTable struct {
	t    *table
	defs []*sqlparser.ColumnDefinition
}

func (m *memory) setup(text string, tabs map[string]*recTable) error {
	stmt, err := sqlparser.Parse(text)
	if err != nil {
		return err
	}
	switch s := stmt.(type) {
	case *sqlparser.DDL:
		tab := &table{database: "test", name: s.Table.Name.String()}
		rt := &recTable{t: tab}
		for _, c := range s.TableSpec.Columns {
			col := rel.TableColumn{Name: c.Name.String(), Type: m.ddlType(c.Type), Nullable: !bool(c.Type.NotNull)}
			if c.Type.KeyOpt == 1 {
				col.Nullable = false
				col.PrimaryKey = true
				tab.indexes = append(tab.indexes, &index{name: "PRIMARY", unique: true, primary: true, parts: []rel.IndexPart{{Place: len(tab.cols)}}})
			}
			tab.cols = append(tab.cols, col)
			rt.defs = append(rt.defs, c)
		}
		tabs[strings.ToLower(tab.name)] = rt
		m.relations["test."+tab.name] = Relation{Table: tab}
	case *sqlparser.Insert:
		rt := tabs[strings.ToLower(s.Table.Name.String())]
		for _, row := range s.Rows.(*sqlparser.AliasedValues).Values {
			vals := make([]expr.Value, len(rt.t.cols))
			done := map[int]bool{}
			set := func(at int, e sqlparser.Expr) error {
				rows, err := m.execute("select "+sqlparser.String(e), false)
				if err != nil {
					return fmt.Errorf("%s: %w", sqlparser.String(e), err)
				}
				v, err := expr.Assign(m.settings.Env, rows[0][0], &expr.Target{Type: rt.t.cols[at].Type, Name: rt.t.cols[at].Name})
				vals[at], done[at] = v, true
				return err
			}
			for i, c := range s.Columns {
				for at := range rt.t.cols {
					if strings.EqualFold(rt.t.cols[at].Name, c.String()) {
						if err := set(at, row[i]); err != nil {
							return err
						}
					}
				}
			}
			for at, d := range rt.defs {
				if !done[at] && d.Type.Default != nil {
					if err := set(at, d.Type.Default); err != nil {
						return err
					}
				}
			}
			one := &table{database: "test", name: "one", cols: rt.t.cols, rows: [][]expr.Value{vals}}
			m.relations["test.one"] = Relation{Table: one}
			for at, d := range rt.defs {
				if d.Type.GeneratedExpr != nil {
					rows, err := m.execute("select "+sqlparser.String(d.Type.GeneratedExpr)+" from one", false)
					if err != nil {
						return err
					}
					if vals[at], err = expr.Assign(m.settings.Env, rows[0][0], &expr.Target{Type: rt.t.cols[at].Type}); err != nil {
						return err
					}
				}
			}
			rt.t.rows = append(rt.t.rows, vals)
		}
	}
	return nil
}

func class(t expr.Type) string {
	switch t.Kind() {
	case expr.KindInt:
		return "integer"
	case expr.KindUint:
		if t.Name == expr.YearType {
			return "year"
		}
		return "integer"
	case expr.KindFloat:
		return "float"
	case expr.KindDecimal:
		return "decimal"
	case expr.KindText, expr.KindEnum, expr.KindSet, expr.KindBytes:
		return "text"
	case expr.KindDate:
		return "date"
	case expr.KindDatetime:
		if t.Name == expr.TimestampType {
			return "timestamp"
		}
		return "datetime"
	case expr.KindTime:
		return "time"
	case expr.KindBit:
		return "bit"
	case expr.KindJSON:
		return "json"
	case expr.KindNull:
		return "null"
	}
	return "other"
}

func wireClass(b byte) string {
	switch b {
	case 1, 2, 3, 8, 9:
		return "integer"
	case 4, 5:
		return "float"
	case 246, 0:
		return "decimal"
	case 13:
		return "year"
	case 10:
		return "date"
	case 12:
		return "datetime"
	case 7:
		return "timestamp"
	case 11:
		return "time"
	case 16:
		return "bit"
	case 245:
		return "json"
	case 6:
		return "null"
	}
	return "text"
}

func TestRecordedLight(t *testing.T) {
	total := map[string]int{}
	for _, fam := range strings.Fields(os.Getenv("FAM")) {
		f, err := os.Open("../../sqldiff/testdata/answers/" + fam + ".json.gz")
		if err != nil {
			t.Fatal(err)
		}
		z, _ := gzip.NewReader(f)
		rec := &sqldiff.Record{}
		if err := json.NewDecoder(z).Decode(rec); err != nil {
			t.Fatal(err)
		}
		for _, set := range rec.Sets {
			m := newMemory()
			tabs := map[string]*recTable{}
			for _, s := range set.Setup {
				if err := m.setup(s, tabs); err != nil {
					t.Log("SETUP", fam, set.Seed, err)
				}
			}
			for i, c := range set.Cases {
				why := m.compareCase(c)
				total[strings.SplitN(why, ":", 2)[0]]++
				if why != "ok" && !strings.HasPrefix(why, "host") {
					t.Logf("%s %d %d: %s\n   %s", fam, set.Seed, i+1, c.SQL, why)
				}
			}
		}
	}
	t.Log(total)
}

func (m *memory) compareCase(c *sqldiff.RecordedCase) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = fmt.Sprint("panic: ", r)
		}
	}()
	stmt, err := sqlparser.Parse(rewritten(c.SQL))
	if err != nil {
		return "host: " + err.Error()
	}
	sel, ok := stmt.(sqlparser.SelectStatement)
	if !ok {
		return "host: no query"
	}
	m.warnings = nil
	var rows [][]expr.Value
	q, err := Bind(m, sel)
	if err == nil {
		if os.Getenv("PLAIN") == "" {
			err = optimize.Optimize(q, m.settings.Env, optimize.Options{NoAccess: true})
		}
		if err == nil {
			x := exec.New(q, m.settings.Env, m, exec.Options{MaxRecursion: 1000})
			err = x.Open()
			for err == nil {
				out := make([]expr.Value, len(q.Out))
				var ok bool
				if ok, err = x.Next(out); !ok {
					break
				}
				rows = append(rows, out)
			}
			x.Close()
		}
	}
	if errors.Is(err, ErrUnsupported) {
		return "unsupported: " + err.Error()
	}
	var e *expr.Error
	if errors.As(err, &e) {
		if e.Code == 1235 || e.Code == 1305 {
			return "host: " + e.Error()
		}
		if int(e.Code) != c.Want.Code {
			return fmt.Sprintf("error: %d %s, want %d %v", e.Code, e.Message, c.Want.Code, show(c.Want.Rows))
		}
		return "ok"
	}
	if err != nil {
		return "broken: " + err.Error()
	}
	if c.Want.Code != 0 {
		return fmt.Sprintf("accepted: want %d", c.Want.Code)
	}
	if len(c.Want.Types) != len(q.Out) {
		return "rows: other columns"
	}
	isFloat := make([]bool, len(q.Out))
	for i, b := range c.Want.Types {
		isFloat[i] = b == 4 || b == 5
	}
	norm := func(s *string, i int) string {
		if s == nil {
			return "NULL"
		}
		v := *s
		if isFloat[i] {
			if f, err := strconv.ParseFloat(v, 64); err == nil {
				if f == 0 {
					f = 0
				}
				digits := 11
				if c.Want.Types[i] == 4 {
					digits = 4
				}
				return strconv.FormatFloat(f, 'e', digits, 64)
			}
		}
		if c.Folded {
			v = strings.ToLower(strings.TrimRight(v, " "))
			v = strings.NewReplacer("é", "e", "É", "e", "ß", "ss").Replace(v)
		}
		return "'" + v + "'"
	}
	var want, got []string
	for _, r := range c.Want.Rows {
		var vs []string
		for i, v := range r {
			vs = append(vs, norm((*string)(v), i))
		}
		want = append(want, strings.Join(vs, ","))
	}
	for _, r := range rows {
		var vs []string
		for i, v := range r {
			if v.IsNull() {
				vs = append(vs, "NULL")
				continue
			}
			k := q.Meta.Columns[q.Out[i].Col].Type.Kind()
			if v.Kind() != k {
				return fmt.Sprintf("kind: column %d is %d, holds %d", i, k, v.Kind())
			}
			s, err := expr.ToText(m.settings.Env, v)
			if err != nil {
				return "broken: " + err.Error()
			}
			vs = append(vs, norm(&s, i))
		}
		got = append(got, strings.Join(vs, ","))
	}
	if !c.Ordered {
		sort.Strings(want)
		sort.Strings(got)
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		return fmt.Sprintf("rows: got %v\n  want %v", got, want)
	}
	for i, b := range c.Want.Types {
		ct := q.Meta.Columns[q.Out[i].Col].Type
		if class(ct) != wireClass(b) {
			return fmt.Sprintf("type: column %d is %s, want %s (%d)", i, class(ct), wireClass(b), b)
		}
	}
	return "ok"
}

func show(rows any) string {
	b, _ := json.Marshal(rows)
	return string(b)
}

var typedLiterals = regexp.MustCompile(`\b(DATE|TIMESTAMP|TIME)('[^']*')`)
var rollup = regexp.MustCompile(`(?i) WITH ROLLUP`)
var anyAll = regexp.MustCompile(`[=<>] (ANY|ALL|SOME) ?\(SELECT`)

func rewritten(q string) string {
	q = typedLiterals.ReplaceAllStringFunc(q, func(s string) string {
		at := strings.Index(s, "'")
		return "`" + strings.ToLower(s[:at]) + " literal`(" + s[at:] + ")"
	})
	q = rollup.ReplaceAllString(q, ", `with rollup`()")
	q = anyAll.ReplaceAllStringFunc(q, func(s string) string {
		w := strings.ToLower(s[2:5])
		if w == "som" {
			w = "any"
		}
		return s[:2] + "(SELECT /*" + w + "*/"
	})
	return q
}

type doc struct{ v any }

func jsonText(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var ks []string
		for k := range v {
			ks = append(ks, k)
		}
		sort.Slice(ks, func(i, j int) bool {
			return len(ks[i]) < len(ks[j]) || len(ks[i]) == len(ks[j]) && ks[i] < ks[j]
		})
		var out []string
		for _, k := range ks {
			out = append(out, jsonText(k)+": "+jsonText(v[k]))
		}
		return "{" + strings.Join(out, ", ") + "}"
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, jsonText(e))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func init() {
	expr.JSONText = func(d any) (string, error) { return jsonText(d.(doc).v), nil }
	expr.JSONAssign = func(env *expr.Env, v expr.Value, to *expr.Target) (expr.Value, error) {
		if v.Kind() == expr.KindJSON {
			return v, nil
		}
		s, _ := expr.ToText(env, v)
		var x any
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if err := dec.Decode(&x); err != nil {
			return expr.Null, expr.Errorf(3140, "22032", "%s", err)
		}
		return expr.JSON(doc{x}), nil
	}
	expr.JSONNumber = func(d any) (*apd.Decimal, bool) {
		switch v := d.(doc).v.(type) {
		case json.Number:
			x, _, err := apd.NewFromString(string(v))
			return x, err == nil
		case bool:
			if v {
				return apd.New(1, 0), true
			}
			return apd.New(0, 0), true
		case string:
			x, _, err := apd.NewFromString(v)
			return x, err == nil
		}
		return nil, false
	}
}

var _ = math.Inf
