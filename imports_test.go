package longitude_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// layers is the order of docs/architecture.md, lowest first: a package imports only what stands above it in this list
// (and its own subpackages). What a lower layer needs from a higher one comes in as a value or a func in its options.
var layers = []struct{ pkg, why string }{
	{"clock", "clock can be used by other programs, so it depends on nothing of this module"},
	{"internal/kv", "kv is what the layers say to each other; it knows no behaviour"},
	{"internal/keys", "keys only lays out the key space"},
	{"internal/rt", "rt knows tasks and time; simulation replaces it as a whole"},
	{"internal/rpc", "rpc carries messages and does not read them"},
	{"internal/storage", "storage holds bytes; it does not know versions, ranges or transactions"},
	{"internal/mvcc", "mvcc is pure functions over storage: what is replicated, and where, is not its business"},
	{"internal/cluster", "cluster knows nodes, not ranges: support is given per store so that no range can be asked in the middle"},
	{"internal/replica", "replica is one range on one node; pushes and publications reach it as funcs in its options"},
	{"internal/route", "route finds ranges; it knows neither transactions nor rows"},
	{"internal/txn", "txn knows keys and timestamps; rows, indexes and sessions are sql's"},
	{"internal/node", "node is put together alike by server and by sim, so it knows neither sockets nor SQL"},
	{"internal/sql", "sql is used by server; listeners, flags and lifecycle are not its business"},
	{"internal/server", "server is one node put together; it is driven by commands and does not know them"},
	{"bench", "a workload is a client: commands and tests run it"},
	{"cmd", "a command is used by nobody"},
}

// bans are imports that are wrong for a reason of their own.
var bans = []struct{ pkg, not, why string }{
	{"", "github.com/dolthub/go-mysql-server", "go-mysql-server changes monthly: only internal/sql/engine may know its interfaces"},
	{"", "github.com/dolthub/vitess", "the parser and the wire protocol come with go-mysql-server: only internal/sql/engine, and bind, which reads syntax trees, may know them"},
	{"", "storj.io/drpc", "nodes talk through internal/rpc alone"},
	{"", "google.golang.org/grpc", "nodes talk through internal/rpc alone"},
	{"", "github.com/cockroachdb/pebble/v2", "Pebble belongs to storage: layers above it ask storage, so that both instances keep their durability rules"},
	{"", "github.com/spf13/cobra", "commands and flags live in cmd: a package gets an Options struct"},
	{"", module + "/internal/sim", "sim runs whole clusters for tests; nothing in a product binary may depend on it"},
	{"", module + "/internal/check", "check judges histories, for tests and for commands; nothing that serves may depend on it"},
	{"", module + "/internal/verify", "verify is a client; nothing that serves may depend on it"},
	{"internal/verify", module + "/internal/txn", "verify sees what a user sees: SQL connections"},
	{"internal/sql/exec", module + "/internal/sql/bind", "exec executes a tree of operators, whatever it was made of"},
	{"internal/sql/optimize", module + "/internal/sql/exec", "optimize changes trees; it neither executes nor binds"},
	{"internal/sql/optimize", module + "/internal/sql/bind", "optimize changes trees; it neither executes nor binds"},
	{"internal/sql/bind", module + "/internal/sql/optimize", "bind says what is asked for, not how to find it"},
	{"internal/sql/rel", module + "/internal/sql/bind", "rel is what the others share"},
	{"bench", module + "/internal/txn", "a workload sees what a user sees: SQL connections and metrics"},
	{"bench", module + "/internal/server", "a workload sees what a user sees: SQL connections and metrics"},
}

// excepted says which packages a ban does not hold for.
var excepted = map[string][]string{
	"github.com/dolthub/go-mysql-server": {"internal/sql/engine"},
	"github.com/dolthub/vitess":          {"internal/sql/engine", "internal/sql/bind", "internal/sql/sqltext"},
	"storj.io/drpc":                      {"internal/rpc"},
	"google.golang.org/grpc":             {"internal/rpc"},
	"github.com/cockroachdb/pebble/v2":   {"internal/storage", "internal/mvcc", "internal/sim"},
	"github.com/spf13/cobra":             {"cmd"},
	module + "/internal/sim":             {"internal/sim", "cmd"},
	module + "/internal/verify":          {"internal/verify", "cmd"},
	module + "/internal/check":           {"internal/check", "internal/sim", "internal/verify", "cmd"},
}

// importFaults lists what breaks the two tables, one text per fault.
func importFaults(tr tree) (faults []string) {
	g := tr.graph()
	level := func(pkg string) int {
		return slices.IndexFunc(layers, func(l struct{ pkg, why string }) bool { return under(pkg, l.pkg) })
	}
	for _, pkg := range slices.Sorted(maps.Keys(g)) {
		at := level(pkg)
		if at >= 0 {
			seen := deps(g, pkg)
			for _, dep := range slices.Sorted(maps.Keys(seen)) {
				to := level(dep)
				if to <= at && (at > 0 || to == 0) {
					continue // -1 is outside the layers: the bans say who may import it; clock may import nothing of ours
				}
				via := ""
				if seen[dep] != dep {
					via = " (through " + seen[dep] + ")"
				}
				faults = append(faults, fmt.Sprintf("%s imports %s%s\n\twhy not: %s", pkg, dep, via, layers[at].why))
			}
		}
		for _, b := range bans {
			if !under(pkg, b.pkg) && b.pkg != "" {
				continue
			}
			if b.pkg == "" && slices.ContainsFunc(excepted[b.not], func(e string) bool { return under(pkg, e) }) {
				continue
			}
			for _, imp := range slices.Sorted(maps.Keys(g[pkg])) {
				if under(imp, b.not) {
					faults = append(faults, fmt.Sprintf("%s imports %s\n\twhy not: %s", pkg, imp, b.why))
				}
			}
		}
	}
	return faults
}

func TestImportsPointDown(t *testing.T) {
	for _, f := range importFaults(load(t, os.DirFS("."))) {
		t.Error(f)
	}
}

// TestImportCheckBites shows that each kind of fault is found, with its reason.
func TestImportCheckBites(t *testing.T) {
	src := func(pkg string, imports ...string) *fstest.MapFile {
		s := "package " + pkg + "\n"
		for _, i := range imports {
			s += fmt.Sprintf("import _ %q\n", strings.Replace(i, "~", module, 1))
		}
		return &fstest.MapFile{Data: []byte(s)}
	}
	for _, c := range []struct {
		name string
		fs   fstest.MapFS
		want []string // parts of the only fault; none: no fault
	}{
		{"down", fstest.MapFS{"internal/txn/a.go": src("txn", "~/internal/route", "~/clock"), "internal/route/a.go": src("route", "~/internal/kv")}, nil},
		{"up", fstest.MapFS{"internal/replica/a.go": src("replica", "~/internal/route")},
			[]string{"internal/replica imports internal/route", "pushes and publications reach it as funcs"}},
		{"up through another", fstest.MapFS{
			"internal/replica/a.go": src("replica", "~/internal/helper"), "internal/helper/a.go": src("helper", "~/internal/txn")},
			[]string{"internal/replica imports internal/txn (through internal/helper)"}},
		{"a test may", fstest.MapFS{"internal/replica/a_test.go": src("replica_test", "~/internal/route")}, nil},
		{"subpackages of one layer", fstest.MapFS{"internal/replica/lease/a.go": src("lease", "~/internal/replica")}, nil},
		{"banned", fstest.MapFS{"internal/sql/row/a.go": src("row", "github.com/dolthub/go-mysql-server/sql")},
			[]string{"internal/sql/row imports github.com/dolthub/go-mysql-server/sql", "changes monthly"}},
		{"banned, excepted", fstest.MapFS{"internal/sql/engine/a.go": src("engine", "github.com/dolthub/go-mysql-server/sql")}, nil},
		{"clock", fstest.MapFS{"clock/a.go": src("clock", "~/internal/rt")}, []string{"clock imports internal/rt", "depends on nothing"}},
	} {
		t.Run(c.name, func(t *testing.T) { expectFaults(t, importFaults(load(t, c.fs)), c.want) })
	}
}

// expectFaults fails unless there is one fault that holds all the parts, or none if there are no parts.
func expectFaults(t *testing.T, got, parts []string) {
	t.Helper()
	if len(parts) == 0 {
		if len(got) != 0 {
			t.Fatalf("unexpected: %q", got)
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("got %d faults, want one: %q", len(got), got)
	}
	for _, p := range parts {
		if !strings.Contains(got[0], p) {
			t.Errorf("%q does not say %q", got[0], p)
		}
	}
}
