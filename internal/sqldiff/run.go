package sqldiff

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Family is a kind of statements that can be run by itself.
type Family struct {
	Name     string
	About    string
	tables   shape
	generate func(source, *Schema) *Stmt
	count    int  // statements of a seed
	episode  int  // statements on the same tables before they are reset; 0: statements change nothing
	fresh    bool // tables are made anew for each episode, and their definitions are compared
}

var small = shape{tables: 3, minCols: 2, maxCols: 5, minRows: 0, maxRows: 8}

// Families are all families, in the order of reports.
var Families = []*Family{
	{Name: "expr", About: "scalar functions and operators, over constants and over columns of every type",
		tables: shape{tables: 1, all: true, minRows: 7, maxRows: 9}, generate: genExpr, count: 400},
	{Name: "where", About: "conditions, with and without indexes, ORDER BY and LIMIT", tables: small, generate: genWhere, count: 200},
	{Name: "join", About: "inner, left, right, cross and nested joins of two to four tables", tables: small, generate: genJoin, count: 200},
	{Name: "subquery", About: "scalar subqueries, IN, EXISTS, ANY and ALL, correlated or not", tables: small, generate: genSubquery,
		count: 200},
	{Name: "group", About: "aggregates, GROUP BY, HAVING, DISTINCT, ROLLUP", tables: small, generate: genGroup, count: 200},
	{Name: "window", About: "window functions, partitions, frames", tables: small, generate: genWindow, count: 200},
	{Name: "cte", About: "WITH, recursive too", tables: small, generate: genCTE, count: 200},
	{Name: "setop", About: "UNION, INTERSECT, EXCEPT", tables: small, generate: genSetop, count: 200},
	{Name: "dml", About: "INSERT, REPLACE, ON DUPLICATE KEY UPDATE, UPDATE and DELETE of one and several tables, IGNORE; all tables are compared after each",
		tables: shape{tables: 2, minCols: 2, maxCols: 5, minRows: 1, maxRows: 6}, generate: genDML, count: 150, episode: 6},
	{Name: "txn", About: "changes between BEGIN, SAVEPOINT, ROLLBACK and COMMIT on one connection",
		tables: shape{tables: 2, minCols: 1, maxCols: 3, minRows: 1, maxRows: 4}, generate: genTxn, count: 150, episode: 12},
	{Name: "limits", About: "functions asked for results that no server could hold",
		tables: shape{tables: 1, minCols: 1, maxCols: 1, minRows: 1, maxRows: 1}, generate: genLimits, count: 6},
	{Name: "ddl", About: "changes of definitions, then DESCRIBE, SHOW, information_schema and all rows",
		tables: shape{tables: 1, minCols: 2, maxCols: 5, minRows: 1, maxRows: 5, triggers: true}, generate: genDDL, count: 15, episode: 5,
		fresh: true},
}

// FamilyNamed finds a family; nil if there is none of this name.
func FamilyNamed(name string) *Family {
	for _, f := range Families {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Options of a run.
type Options struct {
	Families []*Family
	First    uint64
	Seeds    int
	Count    int       // statements of a seed and family; 0: the family's
	Reduce   int       // executions that making one case smaller may take
	PerCause int       // cases of the same outer form that are reduced; the others are counted with them
	Until    time.Time // no new seed is begun after it; zero: no limit
	Progress io.Writer
	// Mode asks one question in two ways instead of two servers: see Modes.
	Mode *Mode
}

// Run executes the families' statements on both servers and tells what differs.
func Run(reference, node *Server, o Options) (*Report, error) {
	lists, err := ReadLists()
	if err != nil {
		return nil, err
	}
	r := &runner{pair: &pair{want: &side{server: reference}, got: &side{server: node}}, options: o,
		report: &Report{Executed: map[string]int{}, Differs: map[string]int{}, Excused: map[string]int{}, Lists: lists}}
	if o.Mode != nil {
		o.Mode.apply(r.pair)
		r.want.suffix, r.got.suffix = "_a", "_b"
	}
	for seed := o.First; seed < o.First+uint64(o.Seeds); seed++ {
		for _, f := range o.Families {
			if !o.Until.IsZero() && time.Now().After(o.Until) {
				return r.report, nil
			}
			begun := time.Now()
			if err := r.seed(f, seed); err != nil {
				return r.report, fmt.Errorf("seed %d of %s: %w", seed, f.Name, err)
			}
			if o.Progress != nil {
				fmt.Fprintf(o.Progress, "%s %d: %d statements, %d differ so far, %d executions, %.1fs\n", f.Name, seed, r.report.Executed[f.Name],
					r.report.Differs[f.Name],
					r.pair.executed, time.Since(begun).Seconds())
			}
		}
	}
	return r.report, r.shrinkExamples()
}

// shrinkExamples makes the example of each unexcused cause smaller.
func (r *runner) shrinkExamples() error {
	for _, c := range r.report.Causes() {
		if c.Excused == nil && c.Harm < ErrorCode {
			r.shrink(c.Example)
			if err := r.reconnect(); err != nil {
				return err
			}
		}
	}
	return nil
}

type runner struct {
	*pair
	options Options
	report  *Report
	family  *Family
	number  int
	at      uint64
	reduced map[string]*reducedCases
}

// reducedCases are the findings of one outer form.
type reducedCases struct {
	count int
	last  *Finding
}

// seed runs one seed of a family.
func (r *runner) seed(f *Family, seed uint64) error {
	r.family, r.at = f, seed
	if r.reduced == nil {
		r.reduced = map[string]*reducedCases{}
	}
	src := newSource(seed, f.Name)
	r.report.Lists.Maria = r.want.maria
	if err := r.use(fmt.Sprintf("d_%s_%d", f.Name, seed)); err != nil {
		return err
	}
	if r.report.Reference = "MySQL " + r.want.conn.Version; r.want.maria {
		r.report.Reference = "MariaDB " + r.want.conn.Version
	}
	defer r.drop()
	if err := r.create(genSchema(src, f.tables), r.setupFailed); err != nil {
		return err
	}
	count := f.count
	if r.options.Count > 0 {
		count = r.options.Count
	}
	var history []*Stmt
	for i := range count {
		r.number = i
		if f.episode > 0 && i%f.episode == 0 && i > 0 {
			history = nil
			if f.fresh {
				if err := r.use(r.database); err != nil {
					return err
				}
				if err := r.create(genSchema(src, f.tables), r.setupFailed); err != nil {
					return err
				}
			} else {
				r.reset()
			}
		}
		if f.fresh && len(history) == 0 && i%f.episode == 0 {
			r.definitions("")
		}
		st := f.generate(src, r.schema)
		r.report.Executed[f.Name]++
		d := r.try(st)
		if d != nil {
			r.found(st, history, d)
			if f.episode > 0 {
				history = nil
				if err := r.again(); err != nil {
					return err
				}
			}
			continue
		}
		if f.fresh {
			r.definitions(st.String())
		}
		if f.episode > 0 {
			history = append(history, st)
		}
	}
	return nil
}

// definitions compares what the servers say of the tables' definitions. A difference is reported by query and column, and the run goes on:
// the answers to later statements do not depend on it.
func (r *runner) definitions(last string) {
	for _, t := range r.schema.Tables {
		for _, q := range describe(t) {
			want, got := r.both(q)
			if strings.HasPrefix(q, "SHOW INDEX") {
				withoutColumn(want, "Cardinality")
				withoutColumn(got, "Cardinality")
			}
			d := compare(want, got, how{})
			if d == nil {
				continue
			}
			name := strings.Join(strings.Fields(q)[:2], " ")
			if _, table, ok := strings.Cut(q, "information_schema."); ok {
				name, _, _ = strings.Cut(table, " ")
			}
			name = strings.TrimSuffix(name, " "+t.Name)
			if d.Harm == Rows {
				d.Harm, d.Kind = Form, name+" "+firstDifference(want, got)
			}
			r.add(&Finding{Family: r.family.Name, Seed: r.at, Number: r.number, Diff: d, Script: []string{t.Create(), last, q}, Reduced: q,
				Cause: d.Harm.String() + " " + d.Kind + ": " + name, Fingerprint: d.Harm.String() + " " + d.Kind + ": " + name})
		}
	}
}

func withoutColumn(a *Answer, name string) {
	for j, c := range a.Cols {
		if c.Name != name {
			continue
		}
		a.Cols = slices.Delete(slices.Clone(a.Cols), j, j+1)
		for i, row := range a.Rows {
			if j < len(row) {
				a.Rows[i] = slices.Delete(slices.Clone(row), j, j+1)
			}
		}
		return
	}
}

// firstDifference names the column of the first value that differs.
func firstDifference(want, got *Answer) string {
	if len(want.Rows) != len(got.Rows) {
		return "number of rows"
	}
	for i, row := range want.Rows {
		for j, v := range row {
			if j < len(got.Rows[i]) && v != got.Rows[i][j] {
				return want.Cols[j].Name
			}
		}
	}
	return "columns"
}

// again gives the tables their first state.
func (r *runner) again() error {
	if !r.family.fresh {
		r.reset()
		return nil
	}
	if err := r.use(r.database); err != nil {
		return err
	}
	return r.create(r.schema, func(string, *Diff) {})
}

// setupFailed records that a table or row could not be made alike.
func (r *runner) setupFailed(sql string, d *Diff) {
	if d.Harm == None {
		return // both refuse it
	}
	st := &Stmt{Root: tmpl(clause, "CREATE TABLE or its rows", strings.ReplaceAll(sql, "$", "＄")), Changes: true}
	f := &Finding{Family: r.family.Name, Seed: r.at, Number: -1, Diff: d, Script: []string{sql}, Reduced: sql}
	f.fingerprint(st, nil, nil)
	if types := r.schemaTypes(sql); types != "" {
		f.Cause += " " + types
	}
	r.add(f)
}

// schemaTypes names the type of the last column of a CREATE TABLE that could not be made: create tries one column after the other.
func (r *runner) schemaTypes(sql string) string {
	if !strings.HasPrefix(sql, "CREATE TABLE") {
		return ""
	}
	for i := len(columnTypes) - 1; i >= 0; i-- {
		if j := strings.LastIndex(sql, " "+columnTypes[i].sql); j > 0 && strings.Count(sql[j:], "_") < 3 {
			return columnTypes[i].sql
		}
	}
	return ""
}

func (r *runner) add(f *Finding) {
	r.report.Findings = append(r.report.Findings, f)
	r.report.Differs[f.Family]++
	if r.report.Lists.Excuse(f) != nil {
		r.report.Excused[f.Family]++
	}
}

// found makes a case smaller and records it. Cases of an outer form that was reduced often enough already are counted with those.
func (r *runner) found(st *Stmt, history []*Stmt, d *Diff) {
	outer := fmt.Sprintf("%s|%s|%s|%s|%s", r.family.Name, d.Harm, d.Kind, strings.Join(st.Root.names(), ","), typesIn(st, r.schema.columns()))
	c := r.reduced[outer]
	if c == nil {
		c = &reducedCases{}
		r.reduced[outer] = c
	}
	c.count++
	if c.count > r.options.PerCause && c.last != nil {
		f := *c.last
		f.Seed, f.Number = r.at, r.number
		r.add(&f)
		return
	}
	f := r.reduceCase(st, history, d)
	c.last = f
	r.add(f)
}

// typesIn lists the types of the columns that a statement names.
func typesIn(st *Stmt, columns map[string]string) string {
	var out []string
	for _, name := range identifier.FindAllString(st.String(), -1) {
		if t := columns[name]; t != "" && t != "int" {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ",")
}

func (r *runner) reduceCase(st *Stmt, history []*Stmt, d *Diff) *Finding {
	fails := func(c *Stmt) *Diff { return r.try(c) }
	if r.family.episode > 0 {
		replay := func(h []*Stmt, c *Stmt) *Diff {
			if r.again() != nil {
				return nil
			}
			for _, s := range h {
				r.both(s.String())
			}
			return r.try(c)
		}
		if o := replay(nil, st); d.same(o) {
			history = nil
		} else {
			for i := len(history) - 1; i >= 0 && len(history) > 1; i-- {
				without := append(slices.Clone(history[:i]), history[i+1:]...)
				if o := replay(without, st); d.same(o) {
					history = without
				}
			}
		}
		fails = func(c *Stmt) *Diff { return replay(history, c) }
	}
	tries := r.options.Reduce
	if r.family.episode > 0 {
		tries = (tries + 1) / 2 // each takes the tables' rows to be made anew
	}
	if r.family.fresh {
		tries = 0
	}
	m := &reducer{tries: tries, fails: fails, like: d}
	if d.Harm == Hung || d.Harm == Died {
		m.tries = min(m.tries, 15)
	}
	best, diff := m.reduce(st)
	f := &Finding{Family: r.family.Name, Seed: r.at, Number: r.number, Diff: diff, Reduced: best.String()}
	f.replay = &replayable{family: r.family, schema: r.schema, history: history, statement: best}
	f.fingerprint(best, history, r.schema.columns())
	all := f.Reduced
	for _, h := range history {
		all += "\n" + h.String()
	}
	f.Script = script(r.schema, history, f.Reduced, all)
	return f
}

// List writes the statements of seeds without executing them: family, seed, number, statement.
func List(w io.Writer, o Options) error {
	for _, f := range o.Families {
		for seed := o.First; seed < o.First+uint64(o.Seeds); seed++ {
			src := newSource(seed, f.Name)
			schema := genSchema(src, f.tables)
			count := f.count
			if o.Count > 0 {
				count = o.Count
			}
			for i := range count {
				if f.fresh && i > 0 && i%f.episode == 0 {
					schema = genSchema(src, f.tables)
				}
				if _, err := fmt.Fprintf(w, "%s %d %d: %s\n", f.Name, seed, i, f.generate(src, schema)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
