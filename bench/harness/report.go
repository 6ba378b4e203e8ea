package harness

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/longitude-db/longitude/bench/estimate"
)

// WriteTable writes results for people: a row for each class of operations, and below them what does not fit into rows.
func WriteTable(w io.Writer, results []*Result) error {
	rows := [][]string{
		{"", "", "", "", "latency ms", "", "", "", "", "", "server", "data"},
		{"server", "workload", "class", "ops/s", "mean", "p50", "p95", "p99", "p99.9", "max", "µs CPU/op", "verified"},
	}
	for _, r := range results {
		verified := "yes"
		if !r.Verified {
			verified = "NO"
		}
		for i, c := range r.Classes {
			row := []string{r.Target, r.Workload, c.Name, figure(c.OpsPerSec)}
			if i > 0 {
				row[0], row[1] = "", ""
			}
			for _, v := range []float64{c.Mean, c.P50, c.P95, c.P99, c.P999, c.Max} {
				row = append(row, latency(v, c.Ops))
			}
			rows = append(rows, append(row, known(c.ServerCPU), verified))
			verified = ""
		}
		if len(r.Classes) > 1 && !r.Separate {
			rows = append(rows, []string{"", "", "all", figure(r.OpsPerSec), "", "", "", "", "", "", known(r.serverCPU()), ""})
		}
	}
	if err := WriteAligned(w, rows, 3); err != nil {
		return err
	}
	for _, r := range results {
		for _, line := range r.notes() {
			if _, err := fmt.Fprintf(w, "%s, %s: %s\n", r.Target, r.Workload, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// notes are the sentences below the table.
func (r *Result) notes() (out []string) {
	if r.CPU != nil {
		out = append(out, r.CPU.sentence(r.Separate))
	}
	if t := r.Txns; t != nil {
		out = append(out, fmt.Sprintf("commit wait needed %.3f ms, stood still for %.3f ms a transaction (%.0f%% hidden); uncertainty restarts %d (%d refreshed, %d retried) in %d commits",
			t.WaitNeeded, t.WaitMean, t.WaitHidden*100, t.UncertaintyRestarts, t.Refreshed, t.Retried, t.Commits))
	}
	if r.Missing != nil {
		out = append(out, "restarts and commit wait are not known: "+r.Missing.Error())
	}
	if r.Retries > 0 {
		out = append(out, fmt.Sprintf("%d operations begun again because the server asked for it", r.Retries))
	}
	if r.Errors > 0 {
		var kinds []string
		for _, k := range slices.Sorted(maps.Keys(r.ErrorKinds)) {
			kinds = append(kinds, fmt.Sprintf("%s: %d", k, r.ErrorKinds[k]))
		}
		out = append(out, fmt.Sprintf("%d operations failed (%s); the first error: %s", r.Errors, strings.Join(kinds, ", "), r.FirstError))
	}
	if r.Unserved > 0 {
		out = append(out, fmt.Sprintf("%d operations were due and never begun: the server, or %d workers, did not keep up with %g a second; the latencies lack them", r.Unserved, r.Workers, r.Rate))
	}
	return append(out, r.Violations...)
}

// known writes a figure that is 0 where it is not known.
func known(v float64) string {
	if v == 0 {
		return ""
	}
	return figure(v)
}

// serverCPU is the servers' processor time for each operation, µs; 0 where it is not known.
func (r *Result) serverCPU() float64 {
	if r.CPU == nil {
		return 0
	}
	return r.CPU.ServerPerOp
}

// WriteVersus writes the ratios of two sides, slice by slice in turns: below 1 for latencies and processor time, and above
// 1 for throughput, the first is better. Each is a trimmed mean of the ratios within rounds, with the interval that holds
// the true one with 95 % confidence.
func WriteVersus(w io.Writer, a, b []*Result) error {
	rows := [][]string{{a[0].Target + " / " + b[0].Target, "class", "ops/s", "mean", "p50", "p95", "p99", "CPU/op"}}
	paired := func(f func(*Result) float64) string {
		var x, y []float64
		for i := range min(len(a), len(b)) {
			x, y = append(x, f(a[i])), append(y, f(b[i]))
		}
		return estimate.Paired(x, y).String()
	}
	for i, c := range a[0].Classes {
		row := []string{"", c.Name}
		for _, f := range []func(ClassResult) float64{
			func(c ClassResult) float64 { return c.OpsPerSec }, func(c ClassResult) float64 { return c.Mean }, func(c ClassResult) float64 { return c.P50 },
			func(c ClassResult) float64 { return c.P95 }, func(c ClassResult) float64 { return c.P99 }, func(c ClassResult) float64 { return c.ServerCPU },
		} {
			row = append(row, paired(func(r *Result) float64 { return f(r.Classes[i]) }))
		}
		if i == 0 {
			row[0] = a[0].Workload
		}
		rows = append(rows, row)
	}
	if len(a[0].Classes) > 1 && !a[0].Separate {
		rows = append(rows, []string{"", "all", paired(func(r *Result) float64 { return r.OpsPerSec }), "", "", "", "", paired((*Result).serverCPU)})
	}
	return WriteAligned(w, rows, 2)
}

// figure writes a number with about three digits.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// percent writes a share.
func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

func latency(v float64, ops int64) string {
	if ops == 0 {
		return "-"
	}
	return figure(v)
}

// WriteAligned writes rows in columns: the first left of them aligned left, the others right.
func WriteAligned(w io.Writer, rows [][]string, left int) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range rows {
		line := ""
		for i, c := range row {
			if i > 0 {
				line += "  "
			}
			if i < left {
				line += fmt.Sprintf("%-*s", widths[i], c)
			} else {
				line += fmt.Sprintf("%*s", widths[i], c)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes results for programs: {"results": [{...}, ...]}, an object for each measurement, its series included.
func WriteJSON(w io.Writer, results []*Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"results": results})
}

// WriteCSV writes the time series of results: a line for each second and class. server_cpu_seconds are of all classes together,
// a second.
func WriteCSV(w io.Writer, results []*Result) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"target", "workload", "slice", "at_s", "warm_up", "class", "ops_per_sec", "p50_ms", "p99_ms", "errors", "retries", "server_cpu_seconds"}) // csv.Writer keeps the first error
	num := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
	slice := map[string]int{}
	for _, r := range results {
		key := r.Target + "\x00" + r.Workload
		slice[key]++
		for _, s := range r.Series {
			for i := range s.Ops {
				_ = c.Write([]string{r.Target, r.Workload, strconv.Itoa(slice[key]), num(s.At), strconv.FormatBool(s.WarmUp), r.Classes[i].Name,
					num(s.Ops[i]), num(s.P50[i]), num(s.P99[i]), strconv.FormatInt(s.Errors, 10), strconv.FormatInt(s.Retries, 10), num(s.ServerCPU)})
			}
		}
	}
	c.Flush()
	return c.Error()
}
