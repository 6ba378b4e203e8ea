package optimize_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/bind"
	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// host is what statements of tests are bound against: tables in memory.
type host struct {
	tables map[string]*memTable
	env    *expr.Env
}

func newHost() *host { return &host{tables: map[string]*memTable{}, env: newEnv()} }

func (h *host) Relation(database, name string) (bind.Relation, error) {
	if t := h.tables[name]; t != nil {
		return bind.Relation{Table: t}, nil
	}
	return bind.Relation{}, expr.Errorf(1146, "42S02", "Table '%s.%s' doesn't exist", database, name)
}
func (h *host) Database() string { return "d" }
func (h *host) Settings() bind.Settings {
	return bind.Settings{Env: h.env, OnlyFullGroupBy: true, Arith: expr.ArithForm{DivPrecision: 4}, MaxRecursion: 1000}
}
func (h *host) Function(string, string, []expr.Node) (expr.Node, error) { return nil, nil }
func (h *host) UserVariable(name string) (expr.Node, error)             { return &variable{name}, nil }
func (h *host) SystemVariable(_, name string) (expr.Node, error) {
	return &variable{"@" + name}, nil
}
func (h *host) SetUserVariable(name string, _ expr.Node) (expr.Node, error) {
	return &variable{name}, nil
}
func (h *host) Parameter(string) (expr.Node, error) { return nil, nil }
func (h *host) Collation(name string) (uint16, error) {
	c, err := collation.ByName(name)
	if err != nil {
		return 0, err
	}
	return c.ID, nil
}
func (h *host) CharacterSet(string) (uint16, error) { return expr.DefaultCollation, nil }

// variable is a user variable: a leaf of the host that is not constant.
type variable struct{ name string }

func (v *variable) Type() expr.Type                    { return expr.TText(-1, expr.DefaultCollation, expr.Implicit) }
func (v *variable) Eval(*expr.Env) (expr.Value, error) { return expr.Null, nil }

// declare makes a table: name(column type [notnull], ..., primary p column ..., unique u column ..., key k column ...) rows.
func (h *host) declare(t testing.TB, text string) *memTable {
	head, size, _ := strings.Cut(text, ") ")
	name, rest, _ := strings.Cut(strings.TrimSpace(head), "(")
	tab := &memTable{name: name}
	tab.size, _ = strconv.ParseFloat(size, 64)
	at := map[string]int{}
	for _, part := range strings.Split(rest, ",") {
		words := strings.Fields(part)
		switch words[0] {
		case "primary", "unique", "key":
			x := &memIndex{t: tab, name: words[1], primary: words[0] == "primary", unique: words[0] != "key"}
			for _, c := range words[2:] {
				x.parts = append(x.parts, at[c])
				if x.primary {
					tab.columns[at[c]].Nullable, tab.columns[at[c]].PrimaryKey = false, true
				}
			}
			if x.primary && (len(x.parts) != 1 || x.parts[0] != 0) {
				t.Fatalf("%s: the primary key is the first column", name)
			}
			tab.indexes = append(tab.indexes, x)
			continue
		}
		at[words[0]] = len(tab.columns)
		tab.columns = append(tab.columns, rel.TableColumn{Name: words[0], Type: typeOf(t, words[1]), Nullable: len(words) < 3})
	}
	h.tables[name] = tab
	return tab
}

// insert adds a row of whole numbers to a table: name value ...
func (h *host) insert(t testing.TB, text string) {
	words := strings.Fields(text)
	var row []expr.Value
	for _, w := range words[1:] {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			row = append(row, expr.Null)
			continue
		}
		row = append(row, expr.Int(n))
	}
	tab := h.tables[words[0]]
	if len(row) != len(tab.columns) {
		t.Fatalf("not so many columns: %s", text)
	}
	tab.rows = append(tab.rows, row)
}

func typeOf(t testing.TB, s string) expr.Type {
	base, arg, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	n, _ := strconv.Atoi(arg)
	switch base {
	case "int":
		return expr.Type{Name: expr.IntType, Length: 11, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	case "bigint":
		return tInt
	case "tinyint":
		return expr.Type{Name: expr.TinyInt, Length: 4, Collation: expr.BinaryCollation, Coerc: expr.Implicit}
	case "decimal":
		out := expr.TDecimal(n, 2)
		out.Coerc = expr.Implicit
		return out
	case "double":
		return tDbl
	case "varchar":
		return expr.TText(n, expr.DefaultCollation, expr.Implicit)
	case "general":
		return expr.TText(n, 45, expr.Implicit)
	case "date":
		return tDate
	case "datetime":
		out := expr.TDatetime(0)
		out.Coerc = expr.Implicit
		return out
	}
	t.Fatalf("no type %s", s)
	return expr.Type{}
}
