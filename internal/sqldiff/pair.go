package sqldiff

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// mariaNames gives MariaDB's collations for MySQL's.
var mariaNames = strings.NewReplacer("utf8mb4_0900_ai_ci", "utf8mb4_uca1400_nopad_ai_ci", "utf8mb4_0900_as_cs",
	"utf8mb4_uca1400_nopad_as_cs", "utf8mb4_0900_bin", "utf8mb4_nopad_bin")

// side is one of the two servers with a connection to it.
type side struct {
	server   *Server
	conn     *Conn
	maria    bool
	ready    []string // what a new connection executes
	suffix   string   // of its databases' names, if both sides are one server
	prepared bool     // statements are executed by the binary protocol
	repeat   int      // how often a statement that changes nothing is executed; the last answer counts
	inTxn    bool     // each statement is executed within a transaction
	keyless  bool     // tables have no indexes besides the primary and the unique keys
	split    bool     // tables are split after they are filled, and the parts' leases moved
}

func (s *side) connect(database string) error {
	s.conn.Close()
	c, err := Dial(s.server.Addr, database, s.server.Limit)
	if err != nil {
		if err = s.server.Restart(); err != nil {
			return err
		}
		if c, err = Dial(s.server.Addr, database, s.server.Limit); err != nil {
			return err
		}
	}
	s.conn, s.maria = c, strings.Contains(c.Version, "MariaDB")
	set := append([]string{"SET sql_mode = '" + modeForAll + "'", "SET time_zone = '+00:00'", "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci"},
		s.ready...)
	for _, q := range set {
		if r := s.query(q); r.Err != nil || r.Lost != nil {
			return fmt.Errorf("%s: %s", q, show(r))
		}
	}
	return nil
}

// query executes a statement and asks for its warnings. Those that only say that something is deprecated are left out.
func (s *side) query(sql string) *Answer {
	if s.maria {
		sql = mariaNames.Replace(sql)
	}
	a := &Answer{Result: s.conn.Query(sql)}
	if a.Warnings > 0 && a.Lost == nil && a.Err == nil {
		w := s.conn.Query("SHOW WARNINGS")
		for _, r := range w.Rows {
			if len(r) < 2 || r[0].Text == "Note" && r[1].Text == "1051" {
				continue
			}
			switch r[1].Text {
			case "1287", "1681", "1235", "3719", "3778", "4166", "1003":
				continue
			}
			a.Codes = append(a.Codes, r[0].Text+" "+r[1].Text)
		}
		slices.Sort(a.Codes)
		a.Codes = slices.Compact(a.Codes)
	}
	return a
}

// pair is the reference and the server under test, on databases with the same content.
type pair struct {
	want, got *side
	database  string
	schema    *Schema
	twin      func(*Node) (want, got string) // the two statements whose answers are to be the same; nil: one
	loose     bool                           // only values are compared
	executed  int                            // statements
}

// both executes a statement on both servers at the same time.
func (p *pair) both(sql string) (want, got *Answer) {
	p.executed++
	var wg sync.WaitGroup
	wg.Go(func() { want = p.want.query(sql) })
	wg.Go(func() { got = p.got.query(sql) })
	wg.Wait()
	return want, got
}

// bothOf executes a statement on each.
func (p *pair) bothOf(want, got func(*side) *Answer) (w, g *Answer) {
	p.executed++
	var wg sync.WaitGroup
	wg.Go(func() { w = want(p.want) })
	wg.Go(func() { g = got(p.got) })
	wg.Wait()
	return w, g
}

// pose executes a generated statement in the side's way.
func (s *side) pose(sql string, changes bool) *Answer {
	if s.inTxn {
		if r := s.query("BEGIN"); r.Err != nil || r.Lost != nil {
			return r
		}
		a := s.query(sql)
		end := "ROLLBACK"
		if changes {
			end = "COMMIT"
		}
		if r := s.query(end); a.Lost == nil && (r.Err != nil || r.Lost != nil) {
			return r
		}
		return a
	}
	for range s.repeat - 1 {
		if !changes {
			s.query(sql)
		}
	}
	if s.prepared {
		return &Answer{Result: s.conn.Prepared(sql)}
	}
	return s.query(sql)
}

// use makes an empty database of this name on both servers and new connections to it.
func (p *pair) use(database string) error {
	p.database = database
	for _, s := range []*side{p.want, p.got} {
		if err := s.connect(""); err != nil {
			return err
		}
		name := database + s.suffix
		for _, q := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name + " COLLATE utf8mb4_0900_ai_ci", "USE " + name} {
			if r := s.query(q); r.Err != nil || r.Lost != nil {
				return fmt.Errorf("%s: %s", q, show(r))
			}
		}
	}
	return nil
}

// reconnect connects a side anew that has lost its connection.
func (p *pair) reconnect() error {
	for _, s := range []*side{p.want, p.got} {
		if s.conn.broken != nil {
			if err := s.connect(p.database + s.suffix); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop removes the database.
func (p *pair) drop() {
	drop := func(s *side) *Answer { return s.query("DROP DATABASE " + p.database + s.suffix) }
	p.bothOf(drop, drop)
}

// create makes and fills the tables of the schema. What one of the servers cannot make is taken out of the schema, and reported with the
// difference.
func (p *pair) create(s *Schema, report func(sql string, d *Diff)) error {
	p.schema = s
	for _, t := range s.Tables {
		if d := p.createTable(t); d != nil {
			report(t.Create(), d)
			kept := t.Cols[:1:1]
			full := t.Cols
			keys := t.Keys
			t.Keys = nil
			for _, c := range full[1:] {
				t.Cols = append(kept, c)
				if d := p.createTable(t); d != nil {
					report(t.Create(), d)
					dropColumn(t, full, c)
					continue
				}
				p.both("DROP TABLE " + t.Name)
				kept = t.Cols
			}
			t.Cols = kept
			for _, k := range keys {
				t.Keys = append(t.Keys, k)
				if p.createTable(t) != nil {
					t.Keys = t.Keys[:len(t.Keys)-1]
					continue
				}
				p.both("DROP TABLE " + t.Name)
			}
			if d := p.createTable(t); d != nil {
				return fmt.Errorf("cannot make a table: %s: %s instead of %s", t.Create(), d.Got, d.Want)
			}
		}
		p.fill(t, report)
		for _, s := range []*side{p.want, p.got} {
			if s.split && len(t.Rows) > 2 && !t.NoKey {
				for i, q := range []string{"CALL longitude_split('%[1]s', 'PRIMARY', 3)", "CALL longitude_split('%[1]s', 'PRIMARY', 5)",
					"CALL longitude_move_lease('%[1]s', 'PRIMARY', 3, 2)", "CALL longitude_move_lease('%[1]s', 'PRIMARY', 5, 3)"} {
					if r := s.query(fmt.Sprintf(q, t.Name)); r.Err != nil && i < 2 {
						return fmt.Errorf("%s: %s", q, show(r))
					}
				}
			}
		}
	}
	for _, q := range s.After {
		want, got := p.both(q)
		if d := compare(want, got, how{}); d != nil {
			report(q, d)
		}
	}
	return nil
}

// createTable makes a table on both servers, or on neither.
func (p *pair) createTable(t *Table) *Diff {
	create := func(s *side) *Answer {
		one := *t
		if s.keyless { // unique keys and checks refuse rows: they stay
			one.Keys = slices.DeleteFunc(slices.Clone(t.Keys), func(k string) bool { return strings.HasPrefix(k, "KEY ") })
		}
		return s.query(one.Create())
	}
	want, got := p.bothOf(create, create)
	d := compare(want, got, how{})
	if want.Err != nil || got.Err != nil {
		p.both("DROP TABLE IF EXISTS " + t.Name)
		if d == nil {
			d = &Diff{Harm: None, Want: show(want), Got: show(got)}
		}
	}
	return d
}

// dropColumn takes the values of a column out of the rows.
func dropColumn(t *Table, all []*Column, c *Column) {
	if c.fixed() {
		return
	}
	at := 0
	for _, o := range all {
		if o == c {
			break
		}
		if !o.fixed() && (slices.Contains(t.Cols, o)) {
			at++
		}
	}
	for i, r := range t.Rows {
		if at < len(r) {
			t.Rows[i] = slices.Delete(slices.Clone(r), at, at+1)
		}
	}
}

// fill inserts the rows one by one and keeps in the schema those that both servers have alike.
func (p *pair) fill(t *Table, report func(sql string, d *Diff)) {
	rows := t.Rows
	t.Rows = nil
	for _, r := range rows {
		one := *t
		one.Rows = [][]string{r}
		want, got := p.both(one.Fill())
		d := compare(want, got, how{})
		if want.Err == nil && got.Err == nil {
			where := " WHERE " + t.Cols[0].Name + " = " + r[0]
			want, got = p.both("SELECT * FROM " + t.Name + where)
			if d = compare(want, got, how{}); d == nil || d.Harm >= Form {
				t.Rows = append(t.Rows, r)
				continue
			}
			d.Harm = State
		}
		if d != nil {
			report(one.Fill(), d)
			p.both("DELETE FROM " + t.Name + " WHERE " + t.Cols[0].Name + " = " + r[0])
		}
	}
}

// reset gives the tables the rows that they began with.
func (p *pair) reset() {
	for _, q := range []string{"ROLLBACK", "SET autocommit = 1"} {
		p.both(q)
	}
	for _, t := range p.schema.Tables {
		p.both("DELETE FROM " + t.Name)
		if fill := t.Fill(); fill != "" {
			p.both(fill)
		}
	}
}

// try executes a statement and compares all that there is to compare.
func (p *pair) try(st *Stmt) *Diff {
	a, b := st.String(), ""
	if b = a; p.twin != nil {
		a, b = p.twin(st.Root)
	}
	if a == "" {
		return nil
	}
	want, got := p.bothOf(func(s *side) *Answer { return s.pose(a, st.Changes) }, func(s *side) *Answer { return s.pose(b, st.Changes) })
	if p.twin != nil && (want.Err != nil || got.Err != nil) {
		return nil // the condition itself is an error for some row
	}
	d := compare(want, got, how{ordered: st.ordered() && p.twin == nil, folded: st.Folded, warnings: !p.loose && !p.got.prepared,
		types:  !p.loose,
		nearly: slices.ContainsFunc(st.Root.names(), func(name string) bool { return mathematical[name] })})
	if d != nil && p.loose && d.Harm == Form {
		d = nil
	}
	if d != nil && d.Harm == Hung {
		p.got.server.Abandon()
	}
	if p.want.conn.broken != nil || p.got.conn.broken != nil {
		if p.reconnect() != nil {
			return d
		}
	}
	if !st.Changes || d != nil && (d.Harm < Rows || d.Harm == Refused) {
		return d
	}
	if d != nil && d.Harm == Accepted && want.Err.Code != 1064 {
		d.Harm, d.Kind = State, "accepted "+d.Kind // what should have been refused has been stored
		return d
	}
	if s := p.states(); s != nil {
		if d == nil || s.Harm < d.Harm {
			if d != nil {
				s.Want, s.Got = d.Want+"; then "+s.Want, d.Got+"; then "+s.Got
			}
			return s
		}
	}
	return d
}

// states compares the content of all tables.
func (p *pair) states() *Diff {
	for _, t := range p.schema.Tables {
		want, got := p.both(t.State())
		if d := compare(want, got, how{}); d != nil {
			if d.Harm == Rows || d.Harm == Form {
				d.Harm = State
			}
			d.Want, d.Got = t.Name+": "+d.Want, t.Name+": "+d.Got
			return d
		}
	}
	return nil
}
