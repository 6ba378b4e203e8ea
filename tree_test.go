package longitude_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// module is the path of this module.
const module = "github.com/longitude-db/longitude"

// file is one Go file of the tree.
type file struct {
	name  string // from the module's root, with slashes
	src   string
	ast   *ast.File
	fset  *token.FileSet
	test  bool
	gen   bool // generated
	lines int
}

// dir is the folder of the file: the path of its package below the module's.
func (f *file) dir() string { return path.Dir(f.name) }

// pos is where a node is, for people: name:line.
func (f *file) pos(n ast.Node) string { return f.fset.Position(n.Pos()).String() }

// imports lists what the file imports.
func (f *file) imports() (out []string) {
	for _, i := range f.ast.Imports {
		out = append(out, strings.Trim(i.Path.Value, `"`))
	}
	return out
}

// tree is every Go file of a module, whatever its build tags.
type tree []*file

// load reads the Go files below the root, leaving out what the go command leaves out.
func load(t *testing.T, root fs.FS) tree {
	t.Helper()
	var out tree
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		b, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f := &file{name: name, src: string(b), fset: token.NewFileSet(), test: strings.HasSuffix(base, "_test.go")}
		f.ast, err = parser.ParseFile(f.fset, name, b, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f.gen, f.lines = ast.IsGenerated(f.ast), strings.Count(f.src, "\n")
		out = append(out, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// graph is what each package of the module imports directly, in files that are not tests.
func (tr tree) graph() map[string]map[string]bool {
	g := map[string]map[string]bool{}
	for _, f := range tr {
		if f.test {
			continue
		}
		if g[f.dir()] == nil {
			g[f.dir()] = map[string]bool{}
		}
		for _, p := range f.imports() {
			g[f.dir()][p] = true
		}
	}
	return g
}

// deps is what a package imports of this module, directly or through others, each with the first import on the way there.
func deps(g map[string]map[string]bool, pkg string) map[string]string {
	out := map[string]string{}
	var walk func(p, via string)
	walk = func(p, via string) {
		for _, imp := range slices.Sorted(maps.Keys(g[p])) {
			d, ours := strings.CutPrefix(imp, module+"/")
			if !ours || d == pkg {
				continue
			}
			first := via
			if first == "" {
				first = d
			}
			if _, seen := out[d]; !seen {
				out[d] = first
				walk(d, first)
			}
		}
	}
	walk(pkg, "")
	return out
}

// under reports whether a package is the given one or lies below it.
func under(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }
