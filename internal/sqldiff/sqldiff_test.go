package sqldiff

import (
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestSameSeedSameStatements is D1.
func TestSameSeedSameStatements(t *testing.T) {
	for _, f := range Families {
		texts := func(seed uint64) string {
			src := newSource(seed, f.Name)
			s := genSchema(src, f.tables)
			out := strings.Join(s.Script(), "\n")
			for range 200 {
				out += "\n" + f.generate(src, s).String()
			}
			return out
		}
		if a, b := texts(7), texts(7); a != b {
			t.Errorf("%s: seed 7 gives two lists of statements", f.Name)
		}
		if a, b := texts(7), texts(8); a == b {
			t.Errorf("%s: seeds 7 and 8 give the same statements", f.Name)
		}
	}
}

// TestEveryFunctionIsReached looks for each line of functionLines among the statements of the family expr.
func TestEveryFunctionIsReached(t *testing.T) {
	seen := map[string]bool{}
	src := newSource(1, "expr")
	s := genSchema(src, FamilyNamed("expr").tables)
	for range 20000 {
		for _, n := range genExpr(src, s).Root.names() {
			seen[n] = true
		}
	}
	for _, f := range allFunctions {
		if !seen[f.name] {
			t.Errorf("%s is in no statement", f.name)
		}
	}
}

func answerOf(rows ...string) *Answer {
	a := &Answer{Result: &Result{Cols: []Col{{Type: 253}}}}
	for _, r := range rows {
		a.Rows = append(a.Rows, []Value{{Text: r, Null: r == "NULL"}})
	}
	return a
}

func TestCompare(t *testing.T) {
	refused := func(code int) *Answer { return &Answer{Result: &Result{Err: &SQLError{Code: code}}} }
	changed := func(n uint64) *Answer { return &Answer{Result: &Result{Affected: n}} }
	typed := func(typ byte, rows ...string) *Answer {
		a := answerOf(rows...)
		a.Cols[0].Type = typ
		return a
	}
	warned := func(codes ...string) *Answer { a := answerOf("1"); a.Codes = codes; return a }
	all := how{warnings: true, types: true}
	for _, c := range []struct {
		name      string
		want, got *Answer
		how       how
		harm      Harm
		kind      string
	}{
		{"same", answerOf("a", "b"), answerOf("a", "b"), all, None, ""},
		{"another order, which is free", answerOf("a", "b"), answerOf("b", "a"), all, None, ""},
		{"another order, which is not", answerOf("a", "b"), answerOf("b", "a"), how{ordered: true}, Rows, "order"},
		{"a row less", answerOf("a", "b"), answerOf("a"), all, Rows, "number"},
		{"another value", answerOf("a"), answerOf("b"), all, Rows, ""},
		{"NULL", answerOf("NULL"), answerOf(""), all, Rows, ""},
		{"case", answerOf("a"), answerOf("A"), all, Rows, ""},
		{"case, folded", answerOf("é"), answerOf("E "), how{folded: true}, None, ""},
		{"the same number", answerOf("1.50"), answerOf("1.5"), all, Form, ""},
		{"floating point", typed(typeDouble, "0.1"), typed(typeDouble, "0.10000000000000001"), all, None, ""},
		{"floating point, far", typed(typeDouble, "0.1"), typed(typeDouble, "0.1001"), all, Rows, ""},
		{"the last digit of a text", answerOf("-0.9092974268256817"), answerOf("-0.9092974268256816"), how{nearly: true}, None, ""},
		{"the last digit of any text", answerOf("-0.9092974268256817"), answerOf("-0.9092974268256816"), all, Rows, ""},
		{"another digit", answerOf("x 0.909297426825"), answerOf("x 0.909297426824"), how{nearly: true}, Rows, ""},
		{"times", typed(typeTime, "10:00:00"), typed(typeTime, "10:00:00.000000"), all, Form, ""},
		{"other types", typed(typeLong, "1"), typed(typeDouble, "1"), all, ColumnType, "floating point not integer"},
		{"widths of integers", typed(typeLong, "1"), typed(typeLongLong, "1"), all, None, ""},
		{"refused", answerOf("a"), refused(1064), all, Refused, "1064"},
		{"accepted", refused(1690), answerOf("a"), all, Accepted, "1690"},
		{"another code", refused(1690), refused(1105), all, ErrorCode, "1105 not 1690"},
		{"the same code", refused(1690), refused(1690), all, None, ""},
		{"affected", changed(1), changed(2), all, AffectedNum, ""},
		{"warnings", warned("Warning 1292"), warned(), all, WarningSet, " not Warning 1292"},
		{"gone", answerOf("a"), &Answer{Result: &Result{Lost: errors.New("EOF")}}, all, Died, ""},
		{"no answer", answerOf("a"), &Answer{Result: &Result{Lost: errors.New("i/o timeout")}}, all, Hung, ""},
	} {
		d := compare(c.want, c.got, c.how)
		if d == nil {
			d = &Diff{}
		}
		if d.Harm != c.harm || d.Kind != c.kind {
			t.Errorf("%s: %v %q, want %v %q", c.name, d.Harm, d.Kind, c.harm, c.kind)
		}
	}
}

// TestReduce takes a statement apart that fails whenever there is a column below FLOOR.
func TestReduce(t *testing.T) {
	fails := regexp.MustCompile(`FLOOR\(.*c0_\d+`)
	f := tmpl(expression, "FLOOR", "FLOOR($)", tmpl(expression, "COALESCE", "COALESCE($, $)", atom("c0_2"), atom("17")))
	p := parts{
		items: []*Node{atom("id0"), tmpl(expression, "+", "($ + $)", f, atom("4.5"))}, from: tmpl(relation, "", "t0"),
		where: tmpl(expression, "AND", "($ AND $)", atom("c0_1"), atom("TRUE")), order: []*Node{atom("id0")},
	}
	st := &Stmt{Root: p.node()}
	m := &reducer{tries: 200, like: &Diff{Harm: Rows}, fails: func(s *Stmt) *Diff {
		if fails.MatchString(s.String()) {
			return &Diff{Harm: Rows}
		}
		return nil
	}}
	best, _ := m.reduce(st)
	if got, want := best.String(), "SELECT FLOOR(c0_2)"; got != want {
		t.Errorf("reduced to %q, want %q", got, want)
	}
	if strings.Contains(st.String(), "SELECT FLOOR(c0_2)") {
		t.Error("the reducer has changed the statement it was given")
	}
}

// TestReduceColumns drops a column of an INSERT with its values.
func TestReduceColumns(t *testing.T) {
	cols := columnList([]*Column{{Name: "id0"}, {Name: "c0_1"}, {Name: "c0_2"}})
	row := func(v ...string) *Node {
		n := list(len(v), "(", ", ", ")")
		for _, s := range v {
			n.Kids = append(n.Kids, atom(s))
		}
		return n
	}
	st := &Stmt{Root: tmpl(clause, "INSERT", "INSERT INTO t0 ($) $", cols,
		list(1, "VALUES ", ", ", "", row("1", "2", "3.5"), row("4", "5", "6")))}
	m := &reducer{tries: 200, like: &Diff{Harm: State}, fails: func(s *Stmt) *Diff {
		if strings.Contains(s.String(), "c0_2") && strings.Contains(s.String(), "3.5") {
			return &Diff{Harm: State}
		}
		return nil
	}}
	best, _ := m.reduce(st)
	if got, want := best.String(), "INSERT INTO t0 (c0_2) VALUES (3.5)"; got != want {
		t.Errorf("reduced to %q, want %q", got, want)
	}
}

func TestFingerprintsGroup(t *testing.T) {
	print := func(e *Node) *Finding {
		f := &Finding{Diff: &Diff{Harm: Rows}}
		f.fingerprint(&Stmt{Root: parts{items: []*Node{e}, from: tmpl(relation, "", "t0 AS x")}.node()}, nil,
			map[string]string{"c0_1": "decimal(8,2)", "c0_7": "decimal(8,2)"})
		return f
	}
	a, b := print(tmpl(expression, "FLOOR", "FLOOR($)", atom("x.c0_1"))), print(tmpl(expression, "FLOOR", "FLOOR($)", atom("c0_7")))
	if a.Cause != "rows: FLOOR" || a.Cause != b.Cause || a.Fingerprint != b.Fingerprint ||
		a.Fingerprint != "rows: SELECT FLOOR(<decimal(8,2)>) FROM t AS x" {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// The lists may only shrink: whoever mends a cause takes its entry out and lowers the number. It is raised only together with a new part of
// the generator that finds more.
const (
	mostDiffers = 35
	mostKnown   = 79
)

func TestListsOnlyShrink(t *testing.T) {
	l, err := ReadLists()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := 0, 0
	for _, e := range l.Entries {
		if e.Ours {
			ours++
		} else {
			theirs++
		}
	}
	if ours != mostKnown || theirs != mostDiffers {
		t.Errorf("known.txt has %d entries, differs.txt %d; the numbers here are %d and %d", ours, theirs, mostKnown, mostDiffers)
	}
}

func TestListsExcuse(t *testing.T) {
	es, err := parseList("# comment\n^rows: FLOOR$\n  because\n  of that\nmaria! UNION\n  another server\n", true)
	if err != nil || len(es) != 2 || es[0].Reason != "because of that" {
		t.Fatalf("%v %v", es, err)
	}
	l := &Lists{Entries: es}
	if l.Excuse(&Finding{Cause: "rows: FLOOR"}) != es[0] || l.Excuse(&Finding{Cause: "rows: FLOOR, WHERE"}) != nil ||
		l.Excuse(&Finding{Cause: "rows: UNION"}) != nil {
		t.Error("excuses the wrong findings")
	}
	if l.Maria = true; l.Excuse(&Finding{Cause: "rows: UNION"}) != es[1] {
		t.Error("an entry for MariaDB does not hold for MariaDB")
	}
	for _, wrong := range []string{"  a reason alone\n", "a pattern alone\n", "a pattern\nanother\n  a reason\n", "(\n  a reason\n"} {
		if _, err := parseList(wrong, true); err == nil {
			t.Errorf("%q is taken for a list", wrong)
		}
	}
}

// TestPageIsCurrent compares the page with what it is made from.
func TestPageIsCurrent(t *testing.T) {
	l, err := ReadLists()
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadCounts()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseCounts(c.Text()); err != nil || again.Text() != c.Text() {
		t.Errorf("counts.txt cannot be read as it is written: %v", err)
	}
	page, err := os.ReadFile("../../docs/mysql-compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != Page(c, l) {
		t.Error("docs/mysql-compatibility.md is not what its sources give: go run ./internal/sqldiff/sqldiffrun -page docs/mysql-compatibility.md")
	}
}

func TestTwins(t *testing.T) {
	p := parts{items: []*Node{atom("id0")}, from: tmpl(relation, "", "t0"), where: tmpl(expression, "=", "$ = $", atom("c0_1"), atom("1"))}
	whole, parts := partition(p.node())
	if whole != "SELECT id0 FROM t0" ||
		parts != "SELECT id0 FROM t0 WHERE c0_1 = 1 UNION ALL SELECT id0 FROM t0 WHERE NOT (c0_1 = 1) UNION ALL SELECT id0 FROM t0 WHERE (c0_1 = 1) IS NULL" {
		t.Errorf("%s\n%s", whole, parts)
	}
	p.limit = "1"
	if a, _ := partition(p.node()); a != "" {
		t.Errorf("a statement with LIMIT has the partition %q", a)
	}
}

// What a server has sent is recorded as it is, also if it is no text.
func TestRecordedOctets(t *testing.T) {
	for _, s := range []string{"", "ä", "a\x00b", "\xff\x00", "{\"base64\": 1}"} {
		o := octets(s)
		b, err := json.Marshal([]*octets{&o, nil})
		if err != nil {
			t.Fatal(err)
		}
		var back []*octets
		if err := json.Unmarshal(b, &back); err != nil || len(back) != 2 || back[0] == nil || *back[0] != o || back[1] != nil {
			t.Errorf("%q became %v (%v)", s, back, err)
		}
	}
}
