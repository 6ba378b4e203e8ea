package sqldiff

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Record is what the reference answered to the statements of some seeds of a family. With it answers can be compared where there is no
// reference, and whatever becomes of the generator.
type Record struct {
	Family    string
	Reference string // version of the server
	Sets      []*RecordedSet
}

// RecordedSet is statements on the same tables. Each is executed on the tables as Setup makes them.
type RecordedSet struct {
	Seed  uint64
	Setup []string // CREATE TABLE and INSERT
	Reset []string // gives the tables their first rows again; none: the statements change nothing
	Show  []string // the queries that show all tables after a statement
	Cases []*RecordedCase
}

// RecordedCase is a statement with its answer.
type RecordedCase struct {
	SQL             string
	Ordered, Folded bool `json:",omitempty"`
	Goes            bool `json:",omitempty"` // it goes on from where the statement before it has left the tables and the session
	Want            RecordedAnswer
	After           []RecordedAnswer `json:",omitempty"` // answers to Show
}

// RecordedAnswer is an answer without what is not compared.
type RecordedAnswer struct {
	Code     int         `json:",omitempty"` // error
	Affected uint64      `json:",omitempty"`
	Types    []byte      `json:",omitempty"` // MYSQL_TYPE_* of the columns
	Rows     [][]*octets `json:",omitempty"`
}

// octets is a value as the server sent it. JSON knows only texts: what is no UTF-8 is written as {"base64": "..."}.
type octets string

// MarshalJSON implements json.Marshaler.
func (o octets) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(o)) {
		return json.Marshal(string(o))
	}
	return json.Marshal(map[string][]byte{"base64": []byte(o)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *octets) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var m map[string][]byte
		err := json.Unmarshal(b, &m)
		*o = octets(m["base64"])
		return err
	}
	return json.Unmarshal(b, (*string)(o))
}

func recordAnswer(a *Answer) (out RecordedAnswer) {
	if a.Err != nil {
		out.Code = a.Err.Code
		return out
	}
	out.Affected = a.Affected
	for _, c := range a.Cols {
		out.Types = append(out.Types, c.Type)
	}
	for _, r := range a.Rows {
		row := make([]*octets, len(r))
		for i, v := range r {
			if !v.Null {
				row[i] = (*octets)(&r[i].Text)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// answer is the recorded answer as a server would have given it.
func (a *RecordedAnswer) answer() *Answer {
	r := &Result{Affected: a.Affected}
	if a.Code != 0 {
		r.Err = &SQLError{Code: a.Code}
	}
	for _, t := range a.Types {
		r.Cols = append(r.Cols, Col{Type: t})
	}
	for _, row := range a.Rows {
		out := make([]Value, len(row))
		for i, v := range row {
			if out[i].Null = v == nil; v != nil {
				out[i].Text = string(*v)
			}
		}
		r.Rows = append(r.Rows, out)
	}
	return &Answer{Result: r}
}

// RecordFamily asks the reference the statements of some seeds. Statements that it does not answer the same twice are left out.
func RecordFamily(reference *Server, f *Family, first uint64, seeds, count int) (*Record, error) {
	s := &side{server: reference}
	rec := &Record{Family: f.Name}
	for seed := first; seed < first+uint64(seeds); seed++ {
		if err := s.connect(""); err != nil {
			return nil, err
		}
		rec.Reference = s.conn.Version
		src := newSource(seed, f.Name)
		schema := genSchema(src, f.tables)
		set := &RecordedSet{Seed: seed}
		ask := func(q string) (*Answer, error) {
			r := s.query(q)
			if r.Lost != nil {
				return nil, fmt.Errorf("%s: %w", q, r.Lost)
			}
			return r, nil
		}
		for _, q := range []string{"DROP DATABASE IF EXISTS recorded", "CREATE DATABASE recorded COLLATE utf8mb4_0900_ai_ci", "USE recorded"} {
			if r, err := ask(q); err != nil || r.Err != nil {
				return nil, fmt.Errorf("%s: %s", q, show(r))
			}
		}
		for _, t := range schema.Tables {
			if r, err := ask(t.Create()); err != nil || r.Err != nil {
				return nil, fmt.Errorf("%s: %s", t.Create(), show(r))
			}
			rows := t.Rows
			t.Rows = nil
			for _, row := range rows {
				one := *t
				one.Rows = [][]string{row}
				if r, err := ask(one.Fill()); err != nil {
					return nil, err
				} else if r.Err == nil {
					t.Rows = append(t.Rows, row)
				}
			}
			set.Setup = append(set.Setup, t.Create())
			if fill := t.Fill(); fill != "" {
				set.Setup = append(set.Setup, fill)
			}
			if f.episode > 0 {
				set.Reset = append(set.Reset, "DELETE FROM "+t.Name)
				if fill := t.Fill(); fill != "" {
					set.Reset = append(set.Reset, fill)
				}
				set.Show = append(set.Show, t.State())
			}
		}
		cases, err := recordCases(f, src, schema, set, count, ask)
		if err != nil {
			return nil, err
		}
		set.Cases = cases
		rec.Sets = append(rec.Sets, set)
	}
	return rec, nil
}

// recordCases asks the statements of a set. In the family txn they come in episodes, because most of them mean nothing alone.
func recordCases(f *Family, src source, schema *Schema, set *RecordedSet, count int,
	ask func(string) (*Answer, error)) (out []*RecordedCase, err error) {
	for len(out) < count {
		n := 1
		if f.Name == "txn" {
			n = f.episode
		}
		var sts []*Stmt
		for range n {
			sts = append(sts, f.generate(src, schema))
		}
		var got [2][]*RecordedCase
		for i := range got {
			for j, st := range sts {
				c := &RecordedCase{SQL: st.String(), Ordered: st.ordered(), Folded: st.Folded, Goes: j > 0}
				if err := recordCase(c, set, ask); err != nil {
					return nil, err
				}
				got[i] = append(got[i], c)
			}
		}
		a, _ := json.Marshal(got[0])
		b, _ := json.Marshal(got[1])
		if slices.Equal(a, b) && !today.Match(a) {
			out = append(out, got[0]...)
		}
	}
	return out, nil
}

// today is what answers hold that depend on the day on which they were given.
var today = regexp.MustCompile(time.Now().UTC().Format("2006-01"))

func recordCase(c *RecordedCase, set *RecordedSet, ask func(string) (*Answer, error)) error {
	if !c.Goes {
		for _, q := range set.reset() {
			if _, err := ask(q); err != nil {
				return err
			}
		}
	}
	r, err := ask(c.SQL)
	if err != nil {
		return err
	}
	c.Want = recordAnswer(r)
	for _, q := range set.Show {
		if r, err = ask(q); err != nil {
			return err
		}
		c.After = append(c.After, recordAnswer(r))
	}
	return nil
}

// reset are the statements that undo what a case has done.
func (set *RecordedSet) reset() []string {
	if len(set.Reset) == 0 {
		return nil
	}
	return append([]string{"ROLLBACK", "SET autocommit = 1"}, set.Reset...)
}

// Write writes the record, compressed.
func (rec *Record) Write(w io.Writer) error {
	z := gzip.NewWriter(w)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(rec); err != nil {
		return err
	}
	return z.Close()
}

// ReadRecord reads what Write has written.
func ReadRecord(r io.Reader) (*Record, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	rec := &Record{}
	return rec, json.NewDecoder(z).Decode(rec)
}

// Failure is a recorded statement that a node answers otherwise than the reference.
type Failure struct {
	ID   string // family, seed and number of the statement
	SQL  string
	Diff *Diff
	// Script makes the tables and ends with the statement.
	Script []string
}

// Replay asks a node the statements of a record.
func (rec *Record) Replay(node *Server) (run int, out []*Failure, err error) {
	s := &side{server: node}
sets:
	for _, set := range rec.Sets {
		name := fmt.Sprintf("r_%s_%d", rec.Family, set.Seed)
		if err := s.connect(""); err != nil {
			return run, nil, err
		}
		for _, q := range append([]string{"CREATE DATABASE " + name + " COLLATE utf8mb4_0900_ai_ci", "USE " + name}, set.Setup...) {
			r := s.query(q)
			if r.Lost != nil {
				return run, nil, fmt.Errorf("%s: %s", q, show(r))
			}
			if r.Err != nil {
				out = append(out, &Failure{ID: fmt.Sprintf("%s %d setup", rec.Family, set.Seed), SQL: q,
					Diff: &Diff{Harm: Refused, Want: "ok", Got: show(r)}, Script: []string{q}})
				continue sets
			}
		}
		lost := false // the episode has taken another course
		for i, c := range set.Cases {
			run++
			if lost = lost && c.Goes; lost {
				continue
			}
			d := s.replay(set, c)
			if s.conn.broken != nil {
				if err := s.connect(name); err != nil {
					return run, out, err
				}
			}
			if d != nil {
				lost = true
				out = append(out, &Failure{ID: fmt.Sprintf("%s %d %d", rec.Family, set.Seed, i), SQL: c.SQL, Diff: d,
					Script: append(slices.Clone(set.Setup), c.SQL)})
			}
		}
		s.query("DROP DATABASE " + name)
	}
	return run, out, nil
}

func (s *side) replay(set *RecordedSet, c *RecordedCase) *Diff {
	if !c.Goes {
		for _, q := range set.reset() {
			if r := s.query(q); r.Err != nil {
				return &Diff{Harm: State, Want: q, Got: show(r)}
			}
		}
	}
	got := s.query(c.SQL)
	d := compare(c.Want.answer(), got, how{ordered: c.Ordered, folded: c.Folded})
	if got.Lost != nil || d != nil && d.Harm < Rows {
		return d
	}
	for i, q := range set.Show {
		if e := compare(c.After[i].answer(), s.query(q), how{}); e != nil {
			e.Want = strings.TrimPrefix(q, "SELECT * FROM ") + ": " + e.Want
			if e.Harm == Rows || e.Harm == Form {
				e.Harm = State
			}
			return e
		}
	}
	return d
}
