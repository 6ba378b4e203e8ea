package longitude_test

import (
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// pages are the documents by path.
func pages(t *testing.T, root fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := fs.ReadFile(root, name)
			if err != nil {
				t.Fatal(err)
			}
			out[name] = string(b)
		}
	}
	return out
}

// TestLinksLead checks that what the pages link to exists.
func TestLinksLead(t *testing.T) {
	root := os.DirFS(".")
	for page, text := range pages(t, root) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := fs.Stat(root, path.Join(path.Dir(page), target)); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

var (
	namedPath = regexp.MustCompile("`((?:clock|internal|cmd|e2e|bench|examples|docs)/[\\w/.-]*\\w)/?`")
	namedTest = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)\\w+)`")
)

// namedFaults lists the files and tests that the pages name and that are not there.
func namedFaults(root fs.FS, tr tree, pages map[string]string) (faults []string) {
	tests := map[string]bool{}
	for _, f := range tr {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
				tests[fn.Name.Name] = true
			}
		}
	}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		if page == "CHANGELOG.md" {
			continue // it tells what was
		}
		for _, m := range namedPath.FindAllStringSubmatch(pages[page], -1) {
			if _, err := fs.Stat(root, m[1]); err != nil && !strings.Contains(m[1], "...") {
				faults = append(faults, page+" names "+m[1]+", which is not there")
			}
		}
		for _, m := range namedTest.FindAllStringSubmatch(pages[page], -1) {
			if !tests[m[1]] {
				faults = append(faults, page+" names the test "+m[1]+", which is not there")
			}
		}
	}
	return faults
}

// TestWhatPagesNameIsThere: a page that names a file or a test as the place of something is worth no more than the name.
func TestWhatPagesNameIsThere(t *testing.T) {
	root := os.DirFS(".")
	for _, f := range namedFaults(root, load(t, root), pages(t, root)) {
		t.Error(f)
	}
}

// TestNamedCheckBites shows that each kind of fault is found.
func TestNamedCheckBites(t *testing.T) {
	root := fstest.MapFS{"clock/a.go": {Data: []byte("package clock")}, "clock/a_test.go": {Data: []byte("package clock\nfunc TestA() {}\n")}}
	for text, want := range map[string][]string{
		"see `clock/a.go` and `TestA`": nil,
		"see `clock/b.go`":             {"clock/b.go"},
		"see `internal/x/`":            {"internal/x"},
		"see `TestB`":                  {"TestB"},
		"`go test ./clock/...`":        nil,
	} {
		expectFaults(t, namedFaults(root, load(t, root), map[string]string{"docs/p.md": text}), want)
	}
}
