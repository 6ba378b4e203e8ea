package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/sqldiff"
)

// answersDir holds what MySQL answered to generated statements (make sql-answers).
const answersDir = "../internal/sqldiff/testdata/answers"

// TestRecordedAnswers asks a node the statements to which MySQL's answers are recorded. Those that failing.txt names are known to be answered otherwise; one
// of them that is answered right has to be taken out, so that the file only shrinks. FAILING=write writes it, FAILING=show prints what they give.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(answersDir, "*.json.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded answers: %v", err)
	}
	list, err := os.ReadFile(filepath.Join(answersDir, "failing.txt"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		known[strings.TrimSpace(line)] = true
	}
	n := newNode(t, 1, "")
	n.start()
	n.healthy()
	node := sqldiff.Running(n.sql, 30*time.Second)
	var failing []string
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := sqldiff.ReadRecord(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		begun := time.Now()
		run, failures, err := rec.Replay(node)
		if err != nil {
			t.Fatalf("%s: %v", rec.Family, err)
		}
		told := 0
		now := map[string]bool{}
		for _, x := range failures {
			failing, now[x.ID] = append(failing, x.ID), true
			if told++; os.Getenv("FAILING") == "show" || !known[x.ID] && told < 20 {
				t.Errorf("%s: %v\n  %s;\n  MySQL:     %s\n  Longitude: %s", x.ID, x.Diff.Harm, strings.Join(x.Script, ";\n  "), x.Diff.Want, x.Diff.Got)
			}
		}
		for id := range known {
			if strings.HasPrefix(id, rec.Family+" ") && !now[id] && os.Getenv("FAILING") == "" {
				t.Errorf("%s is answered as MySQL does: take it out of failing.txt", id)
			}
		}
		t.Logf("%-10s %4d statements, %4d answered otherwise than by MySQL %s, %.1f s", rec.Family, run, len(failures), rec.Reference, time.Since(begun).Seconds())
	}
	if os.Getenv("FAILING") == "write" {
		slices.Sort(failing)
		if err := os.WriteFile(filepath.Join(answersDir, "failing.txt"), []byte(strings.Join(failing, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("failing.txt has %d statements now", len(failing))
	}
}
