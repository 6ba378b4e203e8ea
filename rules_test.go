package longitude_test

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// replayed are the packages that must replay from a seed (package rt, R1): they block, wait and draw only through rt.
var replayed = []string{"clock", "internal/cluster", "internal/replica", "internal/route", "internal/txn", "internal/node"}

// shell is what a file of a replayed package may do all the same.
type shell struct {
	allow []string
	why   string // what keeps it out of simulation
}

// shells are the files that meet the operating system.
var shells = map[string]shell{
	"clock/start.go":  {[]string{"go statement", "channel", "select", "time.NewTicker"}, "production polls from a goroutine; simulation calls Poll"},
	"clock/clock.go":  {[]string{"time.Now", "time.Since"}, "the machine's monotonic clock, unless Options.Mono replaces it"},
	"clock/host.go":   {[]string{"time.Now", "time.Since"}, "the machine's clocks as sources read them, unless Options replace them"},
	"clock/chrony.go": {[]string{"time.Now"}, "the deadline of a socket; simulated clusters have no chronyd"},
}

// bannedCalls maps import path and name to what to write instead. The name "*" bans the import as a whole.
var bannedCalls = map[string]map[string]string{
	"time": {
		"Now":       "clock.Clock.Now for order between nodes, rt.Runtime.Now for durations",
		"Since":     "the difference of two rt.Runtime.Now",
		"Until":     "the difference of two rt.Runtime.Now",
		"Sleep":     "rt.Runtime.Sleep",
		"After":     "rt.Signal.Wait with a limit",
		"AfterFunc": "rt.Runtime.After",
		"Tick":      "a loop around rt.Runtime.Sleep",
		"NewTimer":  "rt.Runtime.After, or rt.Signal.Wait with a limit",
		"NewTicker": "a loop around rt.Runtime.Sleep",
	},
	"context": {
		"WithTimeout":  "a limit on the wait itself: rt.Signal.Wait, rt.Future.Get, kv.Transport.Call",
		"WithDeadline": "a limit on the wait itself: rt.Signal.Wait, rt.Future.Get, kv.Transport.Call",
		"AfterFunc":    "ctx.Err() at loop heads",
	},
	"sync": {
		"WaitGroup": "rt.Group",
		"Cond":      "rt.Signal or rt.Queue",
		"NewCond":   "rt.Signal or rt.Queue",
	},
	"math/rand":                      {"*": "rt.Runtime.Uint64, which draws from the seed in simulation"},
	"crypto/rand":                    {"*": "rt.Runtime.Uint64, which draws from the seed in simulation"},
	"github.com/google/uuid":         {"*": "ids made of rt.Runtime.Uint64"},
	"golang.org/x/sync/errgroup":     {"*": "rt.Group"},
	"golang.org/x/sync/semaphore":    {"*": "rt.Queue or a counter under a mutex"},
	"golang.org/x/sync/singleflight": {"*": "an rt.Future kept in a map"},
	"math/rand/v2": {
		"*": "rt.Runtime.Uint64, or rand.New over a source seeded from it",
	},
}

// allowedNames are exceptions to a ban of a whole import: types and constructors that take their randomness from outside.
var allowedNames = map[string][]string{"math/rand/v2": {"Rand", "New", "NewPCG", "PCG", "Source", "NewChaCha8", "ChaCha8"}}

// taskFaults lists what a replayed package does behind the runtime's back.
func taskFaults(tr tree, exempt map[string]shell) (faults []string) {
	used := map[string]bool{}
	for _, f := range tr {
		if f.test || !slices.ContainsFunc(replayed, func(r string) bool { return under(f.dir(), r) }) {
			continue
		}
		names := map[string]string{} // local name of an import -> its path
		for _, i := range f.ast.Imports {
			p := strings.Trim(i.Path.Value, `"`)
			name := path.Base(p)
			if p == "math/rand/v2" {
				name = "rand"
			}
			if i.Name != nil {
				name = i.Name.Name
			}
			names[name] = p
		}
		add := func(n ast.Node, what, instead string) {
			if slices.Contains(exempt[f.name].allow, what) {
				used[f.name+": "+what] = true
				return
			}
			faults = append(faults, fmt.Sprintf("%s: %s; write instead: %s", f.pos(n), what, instead))
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				add(n, "go statement", "rt.Runtime.Go or rt.Group.Go")
			case *ast.SelectStmt:
				add(n, "select", "rt.Signal.Wait with a limit")
				return false
			case *ast.ChanType:
				add(n, "channel", "rt.Queue, rt.Future or rt.Signal")
				return false
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if !ok || names[x.Name] == "" {
					return true
				}
				p := names[x.Name]
				instead, banned := bannedCalls[p][n.Sel.Name]
				if !banned && !slices.Contains(allowedNames[p], n.Sel.Name) {
					instead, banned = bannedCalls[p]["*"]
				}
				if banned {
					add(n, x.Name+"."+n.Sel.Name, instead)
				}
			}
			return true
		})
	}
	for _, name := range slices.Sorted(maps.Keys(exempt)) {
		for _, what := range exempt[name].allow {
			if !used[name+": "+what] {
				faults = append(faults, fmt.Sprintf("%s no longer has a %s: take it out of shells", name, what))
			}
		}
	}
	return faults
}

// maxLines is where a file no longer fits in the head.
const maxLines = 700

// sizeFaults lists the files that are too long. Generated ones are nobody's reading.
func sizeFaults(tr tree) (faults []string) {
	for _, f := range tr {
		if !f.gen && f.lines > maxLines {
			faults = append(faults, fmt.Sprintf("%s has %d lines, more than %d: cut it by concept", f.name, f.lines, maxLines))
		}
	}
	return faults
}

// commentFaults lists the packages that do not say what they are.
func commentFaults(tr tree) (faults []string) {
	doc := map[string]bool{}
	for _, f := range tr {
		if f.test {
			continue
		}
		want := "Package " + f.ast.Name.Name + " "
		if f.ast.Name.Name == "main" {
			want = "Command " + path.Base(f.dir()) + " "
		}
		doc[f.dir()] = doc[f.dir()] || f.ast.Doc != nil && strings.HasPrefix(f.ast.Doc.Text(), want)
	}
	for _, d := range slices.Sorted(maps.Keys(doc)) {
		if !doc[d] {
			faults = append(faults, d+" has no package comment: say what the package is for and number its invariants")
		}
	}
	return faults
}

func TestPackagesBlockOnlyThroughTheRuntime(t *testing.T) {
	for _, f := range taskFaults(load(t, os.DirFS(".")), shells) {
		t.Error(f)
	}
}

func TestFilesFitInTheHead(t *testing.T) {
	for _, f := range sizeFaults(load(t, os.DirFS("."))) {
		t.Error(f)
	}
}

func TestPackagesSayWhatTheyAre(t *testing.T) {
	for _, f := range commentFaults(load(t, os.DirFS("."))) {
		t.Error(f)
	}
}

// TestRuleChecksBite shows that each check finds its fault and says what to do.
func TestRuleChecksBite(t *testing.T) {
	one := func(name, src string) tree { return load(t, fstest.MapFS{name: {Data: []byte(src)}}) }
	inTxn := func(imp, body string) []string {
		if imp != "" {
			imp = "import " + imp
		}
		return taskFaults(one("internal/txn/a.go", "package txn\n"+imp+"\nfunc f() {\n"+body+"\n}\n"), nil)
	}
	poll := one("clock/poll.go", "package clock\nfunc f() { go f() }\n")
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"go", inTxn("", "go f()"), []string{"internal/txn/a.go:4", "rt.Runtime.Go"}},
		{"select", inTxn("", "select {}"), []string{"rt.Signal.Wait"}},
		{"channel", inTxn("", "_ = make(chan int)"), []string{"rt.Queue"}},
		{"now", inTxn(`"time"`, "_ = time.Now()"), []string{"time.Now", "clock.Clock.Now"}},
		{"now as a value", inTxn(`"time"`, "_ = time.Now"), []string{"time.Now"}},
		{"renamed import", inTxn(`t "time"`, "t.Sleep(1)"), []string{"t.Sleep", "rt.Runtime.Sleep"}},
		{"duration", inTxn(`"time"`, "_ = time.Second"), nil},
		{"timeout", inTxn(`"context"`, "context.WithTimeout(nil, 1)"), []string{"a limit on the wait itself"}},
		{"global random", inTxn(`"math/rand/v2"`, "_ = rand.IntN(3)"), []string{"rt.Runtime.Uint64"}},
		{"seeded random", inTxn(`"math/rand/v2"`, "_ = rand.New(rand.NewPCG(1, 2))"), nil},
		{"elsewhere", taskFaults(one("internal/server/a.go", "package server\nfunc f() { go f() }\n"), nil), nil},
		{"in a test", taskFaults(one("internal/txn/a_test.go", "package txn\nfunc f() { go f() }\n"), nil), nil},
		{"in a shell", taskFaults(poll, map[string]shell{"clock/poll.go": {allow: []string{"go statement"}}}), nil},
		{"more than the shell may", taskFaults(poll, map[string]shell{"clock/poll.go": {}}), []string{"go statement"}},
		{"no longer a shell", taskFaults(poll, map[string]shell{"clock/poll.go": {allow: []string{"go statement", "select"}}}),
			[]string{"clock/poll.go no longer has a select"}},

		{"long", sizeFaults(one("a/a.go", "package a\n"+strings.Repeat("\n", maxLines))), []string{"701 lines"}},
		{"long, generated", sizeFaults(one("a/a.go", "// Code generated by x. DO NOT EDIT.\n\npackage a\n"+strings.Repeat("\n", maxLines))), nil},
		{"no comment", commentFaults(one("a/a.go", "package a\n")), []string{"a has no package comment"}},
		{"comment", commentFaults(one("a/a.go", "// Package a is one.\npackage a\n")), nil},
		{"command", commentFaults(one("cmd/x/a.go", "// Command x is one.\npackage main\n")), nil},
	} {
		t.Run(c.name, func(t *testing.T) { expectFaults(t, c.got, c.want) })
	}
}
