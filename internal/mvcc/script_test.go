package mvcc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/storage"
)

// TestScripts runs the scripts of testdata. Timestamps are written as small numbers, 7 or 7+2 (with a logical part),
// transactions as letters.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{e: openStore(t)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.run(d)
			if err != nil {
				return "error: " + strings.TrimPrefix(err.Error(), "mvcc: ") + "\n"
			}
			return out
		})
	})
}

func openStore(t testing.TB) *storage.Engines {
	t.Helper()
	e, err := storage.Open(storage.Options{FS: vfs.NewMem(), Dir: "store", Cache: 8 << 20, Deterministic: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

type script struct {
	e *storage.Engines
}

func (s *script) run(d *datadriven.TestData) (string, error) {
	switch d.Cmd {
	// setup: a list of commands that are of no interest in themselves
	case "setup":
		for line := range strings.Lines(d.Input) {
			cmd, args, err := datadriven.ParseLine(line)
			if err != nil {
				return "", err
			}
			if out, err := s.run(&datadriven.TestData{Cmd: cmd, CmdArgs: args}); err != nil || out != "ok\n" {
				return out, err
			}
		}
		return "", nil

	// put k1 value ts=10
	// del k1 ts=12
	case "put", "del":
		k, value := kv.Key(d.CmdArgs[0].Key), []byte(nil)
		if d.Cmd == "put" {
			value = []byte(d.CmdArgs[1].Key)
		}
		return s.write(func(b *storage.Batch) error {
			newest, _, err := s.newest(k)
			if err != nil {
				return err
			}
			return PutVersion(b, k, newest, tsArg(d, "ts"), value, d.Cmd == "del")
		})

	// intent k1 value txn=A ts=10
	case "intent":
		return s.write(func(b *storage.Batch) error {
			return PutIntent(b, kv.Key(d.CmdArgs[0].Key), &kv.Intent{Txn: txnArg(d, "txn"), TS: tsArg(d, "ts"), Value: []byte(d.CmdArgs[1].Key)}, false)
		})

	// resolve k1 txn=A commit=15
	// resolve k1 txn=A abort
	case "resolve":
		status := kv.TxnStatus{State: kv.Aborted}
		if d.HasArg("commit") {
			status = kv.TxnStatus{State: kv.Committed, CommitTS: tsArg(d, "commit")}
		}
		found := false
		out, err := s.write(func(b *storage.Batch) error {
			v, err := Open(s.e.State, Options{TS: clock.MaxTimestamp})
			if err != nil {
				return err
			}
			found, err = v.ResolveIntent(b, kv.Key(d.CmdArgs[0].Key), txnArg(d, "txn"), status)
			return errors.Join(err, v.Close())
		})
		if err == nil && !found {
			return "nothing to resolve\n", nil
		}
		return out, err

	// newest k1
	case "newest":
		ts, deleted, err := s.newest(kv.Key(d.CmdArgs[0].Key))
		switch {
		case err != nil:
			return "", err
		case ts.IsZero():
			return "none\n", nil
		case deleted:
			return short(ts) + " (deleted)\n", nil
		}
		return short(ts) + "\n", nil

	// get k1 r=8 g=12 txn=A pushed=B:9
	case "get":
		return s.view(d, func(v *View) (string, error) {
			value, err := v.Get(kv.Key(d.CmdArgs[0].Key))
			if value == nil {
				return "absent\n", err
			}
			return string(value) + "\n", err
		})

	// scan a..m r=8 g=12 rows=2 bytes=100 reverse
	case "scan":
		return s.view(d, func(v *View) (string, error) {
			b := Budget{Rows: intArg(d, "rows"), Bytes: intArg(d, "bytes"), Keys: intArg(d, "keys")}
			rows, read, err := v.Scan(spanArg(d), &b, d.HasArg("reverse"))
			var out strings.Builder
			for i := range rows.Keys {
				fmt.Fprintf(&out, "%s=%s\n", name(rows.Keys[i]), rows.Values[i])
			}
			if len(rows.Keys) == 0 {
				out.WriteString("no rows\n")
			}
			if rows.More {
				fmt.Fprintf(&out, "read %s, left %s\n", plain(read), plain(rows.Resume))
			}
			return out.String(), err
		})

	// count a..m prefix=1 r=8 g=12 rows=2 keys=2 first: by the first bytes of the keys
	case "count":
		return s.view(d, func(v *View) (string, error) {
			b := Budget{Rows: intArg(d, "rows"), Bytes: intArg(d, "bytes"), Keys: intArg(d, "keys")}
			g := kv.Grouping{First: d.HasArg("first")}
			if d.HasArg("prefix") {
				g.Prefix = intArg(d, "prefix")
			}
			groups, read, err := v.Count(spanArg(d), &b, &g)
			var out strings.Builder
			for i, k := range groups.Keys {
				fmt.Fprintf(&out, "%s: %d, from %s", k[:g.Prefix], groups.Counts[i], name(k))
				if g.First {
					fmt.Fprintf(&out, "=%s", groups.Values[i])
				}
				out.WriteString("\n")
			}
			if groups.More {
				fmt.Fprintf(&out, "read %s, left %s\n", plain(read), plain(groups.Resume))
			}
			return out.String(), err
		})

	// refresh a..m from=8 to=12 txn=A
	case "refresh":
		changed, intents, err := ChangedBetween(s.e.State, spanArg(d), tsArg(d, "from"), tsArg(d, "to"), optionsOf(d))
		switch {
		case err != nil:
			return "", err
		case changed != nil:
			return fmt.Sprintf("changed: %s@%s\n", name(changed.Key), short(changed.TS)), nil
		case len(intents) > 0:
			return inTheWay(intents), nil
		}
		return "unchanged\n", nil

	// flush: memtables become a table, so that its block filters are used
	case "flush":
		return "ok\n", s.e.FlushState()
	}
	return "", fmt.Errorf("no command %q", d.Cmd)
}

func (s *script) write(fn func(b *storage.Batch) error) (string, error) {
	b := s.e.State.NewBatch()
	defer b.Close()
	if err := fn(b); err != nil {
		return "", err
	}
	return "ok\n", s.e.ApplyState(b)
}

func (s *script) newest(k kv.Key) (ts clock.Timestamp, deleted bool, err error) {
	v, err := Open(s.e.State, Options{TS: clock.MaxTimestamp})
	if err != nil {
		return ts, false, err
	}
	defer v.Close()
	return v.NewestVersion(k)
}

func (s *script) view(d *datadriven.TestData, fn func(v *View) (string, error)) (string, error) {
	v, err := Open(s.e.State, optionsOf(d))
	if err != nil {
		return "", err
	}
	out, err := fn(v)
	if err := errors.Join(err, v.Close()); err != nil {
		return "", err
	}
	switch {
	case v.Uncertain != nil:
		return fmt.Sprintf("uncertain: %s@%s in (%s,%s]\n", name(v.Uncertain.Key), short(v.Uncertain.TS), short(v.o.TS), short(v.o.Limit)), nil
	case len(v.Intents) > 0:
		return inTheWay(v.Intents), nil
	}
	return out + "depends on " + short(v.Newest) + "\n", nil
}

func inTheWay(list []Found) string {
	var out strings.Builder
	for _, f := range list {
		fmt.Fprintf(&out, "in the way: %s's intent on %s@%s\n", f.Intent.Txn[:1], name(f.Key), short(f.Intent.TS))
	}
	return out.String()
}

func optionsOf(d *datadriven.TestData) Options {
	o := Options{TS: tsArg(d, "r"), Limit: tsArg(d, "g"), Txn: txnArg(d, "txn")}
	if s := stringArg(d, "pushed"); s != "" {
		o.Pushed = map[kv.TxnID]clock.Timestamp{{s[0]}: parseTS(s[2:])}
	}
	return o
}

func stringArg(d *datadriven.TestData, name string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name && len(a.Vals) > 0 {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

func tsArg(d *datadriven.TestData, name string) clock.Timestamp { return parseTS(stringArg(d, name)) }

func parseTS(s string) (ts clock.Timestamp) {
	if s == "" {
		return ts
	}
	wall, logical, _ := strings.Cut(s, "+")
	w, err := strconv.ParseInt(wall, 10, 64)
	if err != nil {
		panic(err)
	}
	l, _ := strconv.ParseUint(logical, 10, 32)
	return clock.Timestamp{Wall: w, Logical: uint32(l)}
}

func intArg(d *datadriven.TestData, name string) int {
	if s := stringArg(d, name); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(err)
		}
		return n
	}
	return math.MaxInt
}

func txnArg(d *datadriven.TestData, name string) (id kv.TxnID) {
	copy(id[:], stringArg(d, name))
	return id
}

// spanArg reads a span written a..m.
func spanArg(d *datadriven.TestData) kv.Span {
	text, err := strconv.Unquote(`"` + d.CmdArgs[0].Key + `"`)
	start, end, ok := strings.Cut(text, "..")
	if !ok || err != nil {
		panic("a span is written a..m")
	}
	return kv.Span{Start: kv.Key(start), End: kv.Key(end)}
}

func plain(s kv.Span) string { return name(s.Start) + ".." + name(s.End) }

func name(k kv.Key) string { return strings.Trim(k.String(), `"`) }

func short(ts clock.Timestamp) string {
	if ts.Logical == 0 {
		return strconv.FormatInt(ts.Wall, 10)
	}
	return fmt.Sprintf("%d+%d", ts.Wall, ts.Logical)
}
