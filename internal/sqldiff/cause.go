package sqldiff

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Finding is a case in which the two servers differ, made as small as it could be.
type Finding struct {
	Family  string
	Seed    uint64
	Number  int // of the statement within the seed
	Diff    *Diff
	Script  []string // all that has to be executed, the failing statement last
	Reduced string   // the failing statement
	// Cause groups findings: the harm, the error codes and the constructs that the reduced statement still needs.
	Cause string
	// Fingerprint is finer: the reduced statement with classes in the place of constants and columns.
	Fingerprint string
	replay      *replayable
}

// replayable is what executing a finding again takes.
type replayable struct {
	family    *Family
	schema    *Schema
	history   []*Stmt
	statement *Stmt
}

// fingerprint names the cause of a reduced statement's difference.
func (f *Finding) fingerprint(st *Stmt, history []*Stmt, columns map[string]string) {
	head := f.Diff.Harm.String()
	if f.Diff.Kind != "" && f.Diff.Harm != Rows {
		head += " " + f.Diff.Kind
	}
	shape := st.Root.clone()
	shape.walk(func(n *Node) {
		if n.isAtom() {
			n.Parts = []string{shapeOf(n.Parts[0], columns)}
			return
		}
		for i, p := range n.Parts {
			n.Parts[i] = identifier.ReplaceAllStringFunc(p, func(name string) string {
				if t, ok := columns[name]; ok {
					return "<" + t + ">"
				}
				return strings.TrimRight(name, "0123456789")
			})
		}
	})
	f.Fingerprint = head + ": " + shape.String()
	names := telling(st.Root.names(), f.Diff.Harm == Refused || f.Diff.Harm >= ErrorCode)
	f.Cause = head + ": " + strings.Join(names, ", ")
	switch {
	case len(names) == 0:
		f.Cause = f.Fingerprint
	case oneCause[strings.TrimPrefix(f.Diff.Kind, "accepted ")], f.Diff.Harm == Refused && strings.HasPrefix(f.Diff.Kind, "1105 ") &&
		len(f.Diff.Kind) > 15:
		f.Cause = head
	}
	for i := len(history) - 1; i >= 0; i-- {
		f.Cause += " after " + strings.Join(history[i].Root.names(), ", ")
	}
}

var identifier = regexp.MustCompile(`\b(?:[cg]\d\w*|id\d|t\d)\b`)

// oneCause are the codes of errors that one check finds, whatever the construct: mixed collations, invalid constants beside columns.
var oneCause = map[string]bool{"1267": true, "1270": true, "1271": true, "1525": true, "3995": true}

// telling leaves out the clauses in which a failing expression happens to stand. If the statement was refused, or only codes, types or
// warnings differ, these are also joins and the like, unless nothing else is left.
func telling(names []string, refused bool) []string {
	var inner, out []string
	for _, n := range names {
		switch n {
		case "WHERE", "ORDER BY", "DESC", "LIMIT", "INSERT", "UPDATE", "REPLACE", "INSERT SET", "REPLACE SET", "INSERT SELECT", "GROUP BY",
			"DEFAULT":
			continue
		}
		out = append(out, n)
		if !structural.MatchString(n) {
			inner = append(inner, n)
		}
	}
	if refused && len(inner) > 0 {
		return inner
	}
	return out
}

var structural = regexp.MustCompile(`JOIN|^join |derived|IGNORE|REPLACE|DELETE|UPDATE|DISTINCT|^AND$|^OR$|^NOT$|^UNION|^WITH$|^INSERT`)

// Cause is a group of findings.
type Cause struct {
	Name     string
	Count    int // statements of the run
	Harm     Harm
	Example  *Finding // the shortest
	Prints   map[string]int
	Families map[string]int
	Excused  *Entry // in the lists; nil: it fails the run
}

// Report is what a run found.
type Report struct {
	Reference string         // version of the reference
	Executed  map[string]int // statements by family
	Differs   map[string]int // of those, how many differ
	Excused   map[string]int // of those, how many the lists excuse
	Findings  []*Finding
	Lists     *Lists
}

// Causes groups the findings, the most harmful and frequent first; those that the lists excuse come last.
func (r *Report) Causes() []*Cause {
	byName := map[string]*Cause{}
	for _, f := range r.Findings {
		c := byName[f.Cause]
		if c == nil {
			c = &Cause{Name: f.Cause, Harm: f.Diff.Harm, Example: f, Prints: map[string]int{}, Families: map[string]int{},
				Excused: r.Lists.Excuse(f)}
			byName[f.Cause] = c
		}
		c.Count++
		c.Prints[f.Fingerprint]++
		c.Families[f.Family]++
		if size(f) < size(c.Example) {
			c.Example = f
		}
	}
	var out []*Cause
	for _, c := range byName {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Cause) int {
		if (a.Excused == nil) != (b.Excused == nil) {
			if a.Excused == nil {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Harm, b.Harm), cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return out
}

func size(f *Finding) int {
	n := 0
	for _, s := range f.Script {
		n += len(s)
	}
	return n
}

// Text is the report for people: a table of families, then the causes with the smallest case of each.
func (r *Report) Text(excused bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %10s %8s %8s %12s\n", "family", "statements", "differ", "excused", "unexplained")
	for _, f := range Families {
		if n := r.Executed[f.Name]; n > 0 {
			fmt.Fprintf(&b, "%-10s %10d %8d %8d %12d\n", f.Name, n, r.Differs[f.Name], r.Excused[f.Name], r.Differs[f.Name]-r.Excused[f.Name])
		}
	}
	for _, c := range r.Causes() {
		if c.Excused != nil && !excused {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n%d times (%s), %d forms", c.Name, c.Count, counts(c.Families), len(c.Prints))
		if c.Excused != nil {
			fmt.Fprintf(&b, "; excused: %s", c.Excused.Reason)
		}
		fmt.Fprintf(&b, "\nseed %d of %s, statement %d; fingerprint %s\n", c.Example.Seed, c.Example.Family, c.Example.Number,
			c.Example.Fingerprint)
		for _, s := range c.Example.Script {
			fmt.Fprintf(&b, "    %s;\n", s)
		}
		fmt.Fprintf(&b, "    -- want: %s\n    -- got:  %s\n", c.Example.Diff.Want, c.Example.Diff.Got)
	}
	return b.String()
}

func counts(m map[string]int) string {
	var out []string
	for k, n := range m {
		out = append(out, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Unexplained counts the findings that no list excuses.
func (r *Report) Unexplained() (n int) {
	for _, f := range r.Findings {
		if r.Lists.Excuse(f) == nil {
			n++
		}
	}
	return n
}
