package check

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestTxnScripts judges the histories under testdata. They are written as reports print them, one transaction a line:
//
//	judge model=serializable
//	a [1,4] r x [], append x 1     client, ranks of beginning and end, micro-operations
//	b [2,?] w y 1, r z 5           of unknown outcome
//	c [3,5] r y nil, r z ? (failed)
func TestTxnScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/txn", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "judge" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			model := StrictSerializable
			if d.HasArg("model") {
				var s string
				d.ScanArgs(t, "model", &s)
				var err error
				if model, err = ParseModel(s); err != nil {
					d.Fatalf(t, "%v", err)
				}
			}
			h, err := parseTxns(d.Input)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			r, err := Analyze(h, TxnOptions{Model: model})
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			var b strings.Builder
			for _, a := range r.Anomalies {
				fmt.Fprintln(&b, a)
			}
			for _, a := range r.Others {
				fmt.Fprintf(&b, "permitted: %s\n", a)
			}
			if b.Len() == 0 {
				return "ok\n"
			}
			return b.String()
		})
	})
}

// parseTxns reads the notation of Txn.String.
func parseTxns(text string) (h []Txn, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		client, rest, _ := strings.Cut(line, " [")
		ranks, rest, ok := strings.Cut(rest, "] ")
		from, to, ok2 := strings.Cut(ranks, ",")
		if !ok || !ok2 {
			return nil, fmt.Errorf("%q: wanted: client [begin,end] micro-operations", line)
		}
		x := Txn{Op: Op{Client: client, Outcome: OK}}
		if x.Invoke, err = strconv.ParseInt(from, 10, 64); err != nil {
			return nil, err
		}
		if to == "?" {
			x.Outcome = Unknown
		} else if x.Return, err = strconv.ParseInt(to, 10, 64); err != nil {
			return nil, err
		}
		if s, failed := strings.CutSuffix(rest, " (failed)"); failed {
			rest, x.Outcome = s, Failed
		}
		for _, s := range strings.Split(rest, ", ") {
			m, err := parseMop(s)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			x.Mops = append(x.Mops, m)
		}
		h = append(h, x)
	}
	return h, nil
}

func parseMop(s string) (Mop, error) {
	fields := strings.Fields(s)
	if len(fields) < 3 {
		return Mop{}, fmt.Errorf("%q is no micro-operation", s)
	}
	key, arg := fields[1], strings.Join(fields[2:], " ")
	if fields[0] == "r" {
		switch {
		case arg == "?":
			return Mop{Kind: MopReadList, Key: key}, nil
		case arg == "nil":
			return ReadNil(key), nil
		case strings.HasPrefix(arg, "["):
			var list []int64
			for _, f := range strings.Fields(strings.Trim(arg, "[]")) {
				v, err := strconv.ParseInt(f, 10, 64)
				if err != nil {
					return Mop{}, err
				}
				list = append(list, v)
			}
			return ReadList(key, list...), nil
		}
	}
	v, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		return Mop{}, err
	}
	switch fields[0] {
	case "r":
		return ReadOf(key, v), nil
	case "w":
		return WriteTo(key, v), nil
	case "append":
		return Append(key, v), nil
	}
	return Mop{}, fmt.Errorf("%q is no micro-operation", s)
}
