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
)

// WriteTable writes results for people: a row for each class of operations, and below them what does not fit into rows.
func WriteTable(w io.Writer, results []*Result) error {
	rows := [][]string{
		{"", "", "", "", "latency ms", "", "", "", "", "", "data"},
		{"server", "workload", "class", "ops/s", "mean", "p50", "p95", "p99", "p99.9", "max", "verified"},
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
			rows = append(rows, append(row, verified))
			verified = ""
		}
		if len(r.Classes) > 1 {
			rows = append(rows, []string{"", "", "all", figure(r.OpsPerSec), "", "", "", "", "", "", ""})
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

// WriteVersus writes the ratios of two sides: below 1 for latencies, and above 1 for throughput, the first is better.
func WriteVersus(w io.Writer, a, b *Result) error {
	rows := [][]string{{a.Target + " / " + b.Target, "class", "ops/s", "mean", "p50", "p95", "p99", "p99.9"}}
	for i, c := range a.Classes {
		d := b.Classes[i]
		row := []string{"", c.Name, ratio(c.OpsPerSec, d.OpsPerSec), ratio(c.Mean, d.Mean), ratio(c.P50, d.P50), ratio(c.P95, d.P95), ratio(c.P99, d.P99), ratio(c.P999, d.P999)}
		if i == 0 {
			row[0] = a.Workload
		}
		rows = append(rows, row)
	}
	if len(a.Classes) > 1 {
		rows = append(rows, []string{"", "all", ratio(a.OpsPerSec, b.OpsPerSec), "", "", "", "", ""})
	}
	return WriteAligned(w, rows, 2)
}

func ratio(a, b float64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
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
			widths[i] = max(widths[i], len(c))
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

// WriteCSV writes the time series of results: a line for each second and class.
func WriteCSV(w io.Writer, results []*Result) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"target", "workload", "slice", "at_s", "warm_up", "class", "ops_per_sec", "p50_ms", "p99_ms", "errors", "retries"}) // csv.Writer keeps the first error
	num := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
	slice := map[string]int{}
	for _, r := range results {
		key := r.Target + "\x00" + r.Workload
		slice[key]++
		for _, s := range r.Series {
			for i := range s.Ops {
				_ = c.Write([]string{r.Target, r.Workload, strconv.Itoa(slice[key]), num(s.At), strconv.FormatBool(s.WarmUp), r.Classes[i].Name,
					num(s.Ops[i]), num(s.P50[i]), num(s.P99[i]), strconv.FormatInt(s.Errors, 10), strconv.FormatInt(s.Retries, 10)})
			}
		}
	}
	c.Flush()
	return c.Error()
}
