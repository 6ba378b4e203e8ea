// Package scripttest runs the scripts of statements that test the packages of queries.
//
// A script is a file of lines. A line whose first word is a statement's is answered, and the lines "| ..." below it are the answer; other lines
// set something up or are comments.
package scripttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Do executes a line: its first word and the rest. It answers statements; is is false for other lines.
type Do func(t *testing.T, word, rest string) (answer string, is bool)

// Run runs each script of testdata/*.txt with what fresh makes for it. If rewrite is true the answers are written into the scripts.
func Run(t *testing.T, rewrite bool, fresh func() Do) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) { run(t, f, rewrite, fresh()) })
	}
}

func run(t *testing.T, file string, rewrite bool, do Do) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(line, "| ") {
			t.Fatalf("%s:%d: an answer without a statement", file, i+1)
		}
		fmt.Fprintln(&out, line)
		word, rest, _ := strings.Cut(line, " ")
		got, is := do(t, word, rest)
		if !is {
			continue
		}
		var want strings.Builder
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "| ") {
			i++
			fmt.Fprintln(&want, lines[i][2:])
		}
		if got != want.String() && !rewrite {
			t.Errorf("%s: %s\ngot\n%s\nwant\n%s", file, rest, got, want.String())
		}
		for _, l := range strings.Split(strings.TrimRight(got, "\n"), "\n") {
			fmt.Fprintln(&out, "| "+l)
		}
	}
	if rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
