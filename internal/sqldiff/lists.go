package sqldiff

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
)

// differs.txt says where the reference is not what MySQL 8 is, or where the answer is not determinate: it is no fault of ours.
//
//go:embed testdata/differs.txt
var differsText string

// known.txt says what is wrong here and not mended yet.
//
//go:embed testdata/known.txt
var knownText string

// Entry excuses the findings whose cause or fingerprint it matches.
type Entry struct {
	Pattern *regexp.Regexp
	Reason  string
	Ours    bool // it is a fault of ours
	Maria   bool // it holds only if the reference is MariaDB
	Met     int  // findings that it has excused
}

// Lists are the two lists. Both may only shrink: TestListsOnlyShrink.
type Lists struct {
	Entries []*Entry
	Maria   bool // the reference is MariaDB
}

// ReadLists reads the lists that are part of the program.
func ReadLists() (*Lists, error) {
	l := &Lists{}
	for _, of := range []struct {
		text string
		ours bool
	}{{differsText, false}, {knownText, true}} {
		es, err := parseList(of.text, of.ours)
		if err != nil {
			return nil, err
		}
		l.Entries = append(l.Entries, es...)
	}
	return l, nil
}

// parseList reads entries of two lines: the pattern, and the reason behind two blanks. Lines that begin with # are comments; a pattern that
// begins with maria! holds for MariaDB only.
func parseList(text string, ours bool) (out []*Entry, err error) {
	var last *Entry
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "  "):
			if last == nil {
				return nil, fmt.Errorf("line %d is a reason without a pattern", i+1)
			}
			last.Reason = strings.TrimSpace(last.Reason + " " + strings.TrimSpace(line))
		default:
			if last != nil && last.Reason == "" {
				return nil, fmt.Errorf("%q has no reason", last.Pattern)
			}
			pattern, maria := strings.CutPrefix(line, "maria! ")
			re, err := regexp.Compile(pattern)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
			last = &Entry{Pattern: re, Ours: ours, Maria: maria}
			out = append(out, last)
		}
	}
	if last != nil && last.Reason == "" {
		return nil, fmt.Errorf("%q has no reason", last.Pattern)
	}
	return out, nil
}

// Excuse finds the entry that a finding falls under; nil if none does.
func (l *Lists) Excuse(f *Finding) *Entry {
	if l == nil {
		return nil
	}
	for _, e := range l.Entries {
		if e.Maria && !l.Maria {
			continue
		}
		if e.Pattern.MatchString(f.Cause) || e.Pattern.MatchString(f.Fingerprint) {
			e.Met++
			return e
		}
	}
	return nil
}

// Learn gives entries for known.txt: one for each cause of the report that no list excuses, with what was expected and what came as the
// reason.
func (r *Report) Learn() string {
	var b strings.Builder
	for _, c := range r.Causes() {
		if c.Excused != nil {
			continue
		}
		e := c.Example
		fmt.Fprintf(&b, "^%s$\n  `%s`: MySQL %s; here %s\n", regexp.QuoteMeta(c.Name), oneLine(e.Reduced, 160), oneLine(e.Diff.Want, 110), oneLine(e.Diff.Got, 110))
	}
	return b.String()
}

func oneLine(s string, most int) string {
	s = strings.ToValidUTF8(strings.NewReplacer("\n", " ", "\r", " ", "`", "'", "\x00", "?").Replace(s), "?")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Unmet are the entries that have excused nothing in the run: if it was a long one, they may be out of date.
func (l *Lists) Unmet() (out []*Entry) {
	for _, e := range l.Entries {
		if e.Met == 0 && (!e.Maria || l.Maria) {
			out = append(out, e)
		}
	}
	return out
}
