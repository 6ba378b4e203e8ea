package bind

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// memory is a Host with tables that a test declares.
type memory struct {
	relations map[string]Relation
	settings  Settings
	warnings  []string
}

func newMemory() *memory {
	m := &memory{relations: map[string]Relation{}}
	env := &expr.Env{Mode: expr.StrictTables | expr.NoZeroDate | expr.NoZeroInDate | expr.ErrorForDivisionByZero,
		Collation: expr.DefaultCollation, DivPrecision: 4, GroupConcatMax: 1024, MaxPacket: 64 << 20}
	env.Warn = func(code uint16, msg string) {
		m.warnings = append(m.warnings, fmt.Sprintf("warning %d: %s", code, msg))
	}
	m.settings = Settings{Env: env, OnlyFullGroupBy: true, Arith: expr.ArithForm{DivPrecision: 4}, MaxRecursion: 1000}
	return m
}

// Relation implements Host.
func (m *memory) Relation(database, name string) (Relation, error) {
	if r, ok := m.relations[database+"."+name]; ok {
		return r, nil
	}
	return Relation{}, expr.Errorf(1146, "42S02", "Table '%s.%s' doesn't exist", database, name)
}

// Database implements Host.
func (m *memory) Database() string { return "test" }

// Settings implements Host.
func (m *memory) Settings() Settings { return m.settings }

// hostFunc is a function of the host.
type hostFunc struct {
	name string
	args []expr.Node
}

// Type implements expr.Node.
func (f *hostFunc) Type() expr.Type {
	if f.name == "regexp_like" {
		return expr.TBool
	}
	return expr.TText(-1, expr.DefaultCollation, expr.Implicit)
}

// Eval implements expr.Node.
func (f *hostFunc) Eval(*expr.Env) (expr.Value, error) { return expr.Null, nil }

// Args implements rel.Parent.
func (f *hostFunc) Args() []expr.Node { return f.args }

// SetArg implements rel.Parent.
func (f *hostFunc) SetArg(i int, n expr.Node) { f.args[i] = n }

// Function implements Host.
func (m *memory) Function(name, _ string, args []expr.Node) (expr.Node, error) {
	switch name {
	case "regexp_like", "database", "uuid":
		return &hostFunc{name: name, args: args}, nil
	}
	return nil, nil
}

type variable struct{ name string }

// Type implements expr.Node.
func (v *variable) Type() expr.Type { return expr.TText(-1, expr.DefaultCollation, expr.Implicit) }

// Eval implements expr.Node.
func (v *variable) Eval(*expr.Env) (expr.Value, error) { return expr.Null, nil }

// UserVariable implements Host.
func (m *memory) UserVariable(name string) (expr.Node, error) {
	return &variable{"@" + name}, nil
}

// SystemVariable implements Host.
func (m *memory) SystemVariable(scope, name string) (expr.Node, error) {
	return &variable{"@@" + scope + "." + name}, nil
}

// SetUserVariable implements Host.
func (m *memory) SetUserVariable(name string, _ expr.Node) (expr.Node, error) {
	return &variable{"@" + name}, nil
}

// Parameter implements Host.
func (m *memory) Parameter(string) (expr.Node, error) { return nil, nil }

// Collation implements Host.
func (m *memory) Collation(name string) (uint16, error) {
	c, err := collation.ByName(name)
	if err != nil {
		return 0, expr.Errorf(1273, "HY000", "Unknown collation: '%s'", name)
	}
	return c.ID, nil
}

// CharacterSet implements Host.
func (m *memory) CharacterSet(name string) (uint16, error) {
	switch name {
	case "utf8mb4":
		return expr.DefaultCollation, nil
	case "latin1":
		return 8, nil
	case "binary":
		return expr.BinaryCollation, nil
	}
	return 0, expr.Errorf(1115, "42000", "Unknown character set: '%s'", name)
}

// table is a table that a test declares.
type table struct {
	database, name string
	cols           []rel.TableColumn
	indexes        []rel.Index
	rows           [][]expr.Value
}

// Database implements rel.Table.
func (t *table) Database() string { return t.database }

// Name implements rel.Table.
func (t *table) Name() string { return t.name }

// Columns implements rel.Table.
func (t *table) Columns() []rel.TableColumn { return t.cols }

// Indexes implements rel.Table.
func (t *table) Indexes() []rel.Index { return t.indexes }

// Rows implements rel.Table.
func (t *table) Rows() float64 { return 1000 }

type index struct {
	name            string
	unique, primary bool
	parts           []rel.IndexPart
}

// Name implements rel.Index.
func (x *index) Name() string { return x.name }

// Unique implements rel.Index.
func (x *index) Unique() bool { return x.unique }

// Primary implements rel.Index.
func (x *index) Primary() bool { return x.primary }

// Parts implements rel.Index.
func (x *index) Parts() []rel.IndexPart { return x.parts }

// Suffix implements rel.Index.
func (x *index) Suffix() []rel.IndexPart { return nil }

// Covers implements rel.Index.
func (x *index) Covers([]int) bool { return false }

// declare makes a table: name(column type [notnull] [hidden] [collate=...], ..., primary(a b), unique(a b)).
func (m *memory) declare(t *testing.T, text string) {
	name, rest, _ := strings.Cut(strings.TrimSpace(text), "(")
	tab := &table{database: "test", name: name}
	if db, n, ok := strings.Cut(name, "."); ok {
		tab.database, tab.name = db, n
	}
	at := map[string]int{}
	for _, part := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
		words := strings.Fields(strings.TrimSpace(part))
		switch words[0] {
		case "primary", "unique", "key":
			x := &index{name: words[1], primary: words[0] == "primary", unique: words[0] != "key"}
			for _, c := range words[2:] {
				x.parts = append(x.parts, rel.IndexPart{Place: at[c]})
				if x.primary {
					tab.cols[at[c]].Nullable, tab.cols[at[c]].PrimaryKey = false, true
				}
			}
			tab.indexes = append(tab.indexes, x)
			continue
		}
		c := rel.TableColumn{Name: words[0], Type: typeOf(t, words[1]), Nullable: true}
		for _, w := range words[2:] {
			c.Nullable = c.Nullable && w != "notnull"
			c.Hidden = c.Hidden || w == "hidden"
			c.Type.Unsigned = c.Type.Unsigned || w == "unsigned"
			if name, ok := strings.CutPrefix(w, "collate="); ok {
				c.Type.Collation, _ = m.Collation(name)
			}
		}
		at[c.Name] = len(tab.cols)
		tab.cols = append(tab.cols, c)
	}
	m.relations[tab.database+"."+tab.name] = Relation{Table: tab}
}

// declareView makes a view: name = query.
func (m *memory) declareView(t *testing.T, text string) {
	name, query, _ := strings.Cut(text, "=")
	stmt, err := sqlparser.Parse(strings.TrimSpace(query))
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Database: "test", Name: strings.TrimSpace(name), Query: stmt.(sqlparser.SelectStatement)}
	m.relations["test."+v.Name] = Relation{View: v}
}

func typeOf(t *testing.T, s string) expr.Type {
	base, arg, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	n, _ := strconv.Atoi(arg)
	out := expr.TInt
	switch base {
	case "int":
		out.Name, out.Length = expr.IntType, 11
	case "bigint":
	case "decimal":
		out = expr.TDecimal(n, 2)
	case "double":
		out = expr.TFloat
	case "varchar":
		out = expr.TText(n, expr.DefaultCollation, expr.Implicit)
	case "date":
		out = expr.TDate
	case "time":
		out = expr.TTime(0)
	case "datetime":
		out = expr.TDatetime(0)
	case "json":
		out = expr.TJSON
	case "year":
		out.Name, out.Length, out.Unsigned = expr.YearType, 4, true
	default:
		t.Fatalf("no type %s", s)
	}
	out.Coerc = expr.Implicit
	return out
}
