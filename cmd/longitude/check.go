package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/check/jepsen"
)

func newCheck() *cobra.Command {
	var (
		model   string
		asJSON  bool
		dotFile string
		limit   time.Duration
	)
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "judge a history of transactions: which anomalies does it show?",
		Long: `Judge a history in Jepsen's form, JSON or EDN: transactions over lists (append, r) or registers (w, r), and operations
on single registers (read, write, cas). FILE is - for standard input. Exit code 0: the history is explained by the
model; 1: it is not, and the anomalies are shown; 2: it cannot be read.

Models, the weaker ones first:
  ` + modelNames(),
		Example: `  longitude check history.json
  longitude check --model snapshot-isolation --dot cycles.dot history.edn
  longitude verify --history history.json && longitude check history.json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(c, "%d files named, wanted: one history, or - for standard input", len(args))
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&model, "model", string(check.StrictSerializable), "consistency model that the database promises")
	f.BoolVar(&asJSON, "json", false, "write the report as JSON")
	f.StringVar(&dotFile, "dot", "", "draw the cycles into this file, for Graphviz")
	f.DurationVar(&limit, "limit", time.Minute, "how long to search for an order of each single register's operations")
	c.RunE = func(c *cobra.Command, args []string) error {
		m, err := check.ParseModel(model)
		if err != nil {
			return usagef(c, "--model: %w", err)
		}
		in := c.InOrStdin()
		if args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return &usageError{c.CommandPath(), err}
			}
			defer file.Close()
			in = file
		}
		h, err := jepsen.Read(in)
		if err == nil {
			err = check.Malformed(h.Txns)
		}
		if err != nil {
			return usagef(c, "%s: %w", args[0], err)
		}
		v, err := judge(h, m, limit)
		if err != nil {
			return err
		}
		if dotFile != "" {
			if err := os.WriteFile(dotFile, []byte(v.dot(h)), 0o666); err != nil {
				return fmt.Errorf("--dot: %w", err)
			}
		}
		if asJSON {
			err = v.writeJSON(c.OutOrStdout(), h)
		} else {
			err = v.write(c.OutOrStdout(), h)
		}
		if err != nil {
			return err
		}
		return v.err()
	}
	return c
}

func modelNames() string {
	names := make([]string, len(check.Models))
	for i, m := range check.Models {
		names[i] = string(m)
	}
	return strings.Join(names, "\n  ")
}

// verdict is all that is found in a history.
type verdict struct {
	model     check.Model
	txns      *check.TxnReport
	registers []check.Anomaly // of operations on single registers
	undecided int             // registers that took too long
	unjudged  bool            // registers of which the model promises nothing
}

// judge looks at transactions and at single registers.
func judge(h *jepsen.History, m check.Model, limit time.Duration) (*verdict, error) {
	r, err := check.Analyze(h.Txns, check.TxnOptions{Model: m})
	if err != nil {
		return nil, err
	}
	v := &verdict{model: m, txns: r}
	if m.Forbids(check.GSingle + check.KeyRealtime) {
		v.registers, v.undecided = check.Registers(h.Registers, limit)
		for i := range v.registers {
			v.registers[i].Text = strings.ReplaceAll(v.registers[i].Text, fmt.Sprint(int64(jepsen.Zero)), "0")
		}
	} else {
		v.unjudged = len(h.Registers) > 0
	}
	return v, nil
}

// err is what the command ends with.
func (v *verdict) err() error {
	if n := v.counts(); n != "" {
		return fmt.Errorf("the history is not %s: %s", v.model, n)
	}
	if v.undecided > 0 {
		return fmt.Errorf("%d registers could not be judged within the limit\nhint: a longer --limit, or fewer operations for each key", v.undecided)
	}
	return nil
}

// counts sums up the anomalies that the model forbids; empty: none.
func (v *verdict) counts() string {
	var all []check.Anomaly
	for k, n := range v.txns.Count {
		for range n {
			if v.model.Forbids(k) {
				all = append(all, check.Anomaly{Kind: k})
			}
		}
	}
	return check.Count(append(all, v.registers...))
}

// permitted sums up those that it permits.
func (v *verdict) permitted() string {
	var all []check.Anomaly
	for k, n := range v.txns.Count {
		for range n {
			if !v.model.Forbids(k) {
				all = append(all, check.Anomaly{Kind: k})
			}
		}
	}
	return check.Count(all)
}

// write reports for people.
func (v *verdict) write(w io.Writer, h *jepsen.History) error {
	r := v.txns
	var b strings.Builder
	if len(h.Txns) > 0 {
		fmt.Fprintf(&b, "%d transactions: %d ok, %d failed, %d unknown (%d of these took effect); %d micro-operations on %d keys, %d dependencies\n",
			len(h.Txns), r.OK, r.Failed, r.Unknown, r.Happened, r.Mops, r.Keys, r.Edges)
	}
	if len(h.Registers) > 0 {
		fmt.Fprintf(&b, "%d operations on single registers", len(h.Registers))
		if v.unjudged {
			fmt.Fprintf(&b, ", not judged: %s promises nothing of them", v.model)
		}
		b.WriteString("\n")
	}
	for _, a := range r.Anomalies {
		fmt.Fprintf(&b, "\n%s\n    forbidden by: %s\n", a, joined(a.Kind.Violated()))
	}
	for _, a := range v.registers {
		fmt.Fprintf(&b, "\n%s\n", a)
	}
	if len(r.Anomalies)+len(v.registers) > 0 {
		b.WriteString("\n")
	}
	if p := v.permitted(); p != "" {
		fmt.Fprintf(&b, "permitted by %s, and not searched for to the end: %s\n", v.model, p)
	}
	if r.Incomplete {
		b.WriteString("So much hangs together that the search for short cycles was cut off: there are more anomalies, perhaps of worse kinds.\n")
	}
	if n := v.counts(); n != "" {
		fmt.Fprintf(&b, "NOT %s: %s\n", v.model, n)
	} else if v.undecided == 0 {
		fmt.Fprintf(&b, "%s: no anomaly found\n", v.model)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func joined(ms []check.Model) string {
	names := make([]string, len(ms))
	for i, m := range ms {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// anomalyJSON is an anomaly in the report for programs.
type anomalyJSON struct {
	Kind         string        `json:"kind"`
	Text         string        `json:"text"`
	Transactions []string      `json:"transactions,omitempty"` // T1, T2...
	Indices      []int         `json:"indices,omitempty"`      // of these, among the transactions of the history in order of their beginnings
	Edges        []edgeJSON    `json:"edges,omitempty"`
	ForbiddenBy  []check.Model `json:"forbidden_by,omitempty"`
}

type edgeJSON struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Type string `json:"type"`
	Key  string `json:"key,omitempty"`
	Why  string `json:"why"`
}

func (v *verdict) writeJSON(w io.Writer, h *jepsen.History) error {
	list := func(as []check.TxnAnomaly) []anomalyJSON {
		out := []anomalyJSON{}
		for _, a := range as {
			j := anomalyJSON{Kind: string(a.Kind), Text: a.Why, Indices: a.Txns, ForbiddenBy: a.Kind.Violated()}
			for _, t := range a.Txns {
				j.Transactions = append(j.Transactions, h.Txns[t].String())
			}
			for _, e := range a.Edges {
				j.Edges = append(j.Edges, edgeJSON{e.From, e.To, e.Type, e.Key, e.Why})
			}
			out = append(out, j)
		}
		return out
	}
	anomalies := list(v.txns.Anomalies)
	for _, a := range v.registers {
		anomalies = append(anomalies, anomalyJSON{Kind: string(a.Kind), Text: a.Text})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(map[string]any{
		"model": v.model, "clean": v.err() == nil, "ok": v.txns.OK, "failed": v.txns.Failed, "unknown": v.txns.Unknown,
		"happened": v.txns.Happened, "micro_operations": v.txns.Mops, "keys": v.txns.Keys, "dependencies": v.txns.Edges,
		"register_operations": len(h.Registers), "registers_undecided": v.undecided, "incomplete": v.txns.Incomplete,
		"count": v.txns.Count, "anomalies": anomalies, "permitted": list(v.txns.Others),
	})
}

// dot draws each cycle.
func (v *verdict) dot(h *jepsen.History) string {
	var b strings.Builder
	b.WriteString("digraph anomalies {\n  node [shape=box]\n")
	for i, a := range append(v.txns.Anomalies[:len(v.txns.Anomalies):len(v.txns.Anomalies)], v.txns.Others...) {
		if len(a.Edges) == 0 {
			continue
		}
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%q\n", i, a.Kind)
		for n, t := range a.Txns {
			fmt.Fprintf(&b, "    a%dt%d [label=%q]\n", i, t, fmt.Sprintf("T%d = %s", n+1, &h.Txns[t]))
		}
		for _, e := range a.Edges {
			fmt.Fprintf(&b, "    a%dt%d -> a%dt%d [label=%q]\n", i, e.From, i, e.To, strings.TrimSpace(e.Type+" "+e.Key))
		}
		b.WriteString("  }\n")
	}
	b.WriteString("}\n")
	return b.String()
}
