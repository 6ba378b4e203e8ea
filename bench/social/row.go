package social

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/longitude-db/longitude/bench/harness"
)

// Row is what one run under one regime of clocks showed, with the figures that the thesis compares.
type Row struct {
	Regime    string  `json:"regime"`
	Workers   int     `json:"workers"`
	OpsPerSec float64 `json:"ops_per_sec"`

	ReadP50 float64 `json:"read_p50_ms"`
	ReadP95 float64 `json:"read_p95_ms"`
	ReadP99 float64 `json:"read_p99_ms"`
	LikeP50 float64 `json:"like_p50_ms"`
	LikeP95 float64 `json:"like_p95_ms"`
	LikeP99 float64 `json:"like_p99_ms"`

	// UncertaintyRestarts are all; the next two say which were mended by a refresh and which began again.
	UncertaintyRestarts uint64 `json:"uncertainty_restarts"`
	Refreshed           uint64 `json:"uncertainty_refreshed"`
	Retried             uint64 `json:"uncertainty_retried"`

	// CommitWaitMean is what a transaction stood still for, lists included: they owe rule 2 for what they read.
	// CommitWaitNeeded is what that would have been with nothing else to do.
	CommitWaitMean   float64 `json:"commit_wait_ms_mean"`
	CommitWaitNeeded float64 `json:"commit_wait_needed_ms_mean"`
	// CommitWaitHidden is the share of the needed wait that passed under other work; 1 if none was needed.
	CommitWaitHidden float64 `json:"commit_wait_hidden_share"`

	// ServerCPU is the servers' processor time for each operation, µs; 0 where it is not known.
	ServerCPU float64 `json:"server_cpu_us_per_op,omitempty"`

	ClientErrors  int64    `json:"client_errors"`
	ClientRetries int64    `json:"client_retries"`
	Verified      bool     `json:"verified"`
	Violations    []string `json:"violations,omitempty"`

	ReadFraction    float64 `json:"read_fraction"`
	DurationSeconds float64 `json:"duration_s"`
	Reads           int64   `json:"reads"`
	Likes           int64   `json:"likes"`
}

// RowOf is the row of a result of this workload.
func RowOf(regime string, o Options, r *harness.Result) *Row {
	rd, lk := r.Class("read"), r.Class("like")
	row := &Row{
		Regime: regime, Workers: r.Workers, OpsPerSec: r.OpsPerSec, ReadFraction: o.ReadFraction, DurationSeconds: r.Seconds,
		ReadP50: rd.P50, ReadP95: rd.P95, ReadP99: rd.P99, LikeP50: lk.P50, LikeP95: lk.P95, LikeP99: lk.P99, Reads: rd.Ops, Likes: lk.Ops,
		CommitWaitHidden: 1, ClientErrors: r.Errors, ClientRetries: r.Retries, Verified: r.Verified, Violations: r.Violations,
	}
	if r.CPU != nil {
		row.ServerCPU = r.CPU.ServerPerOp
	}
	if t := r.Txns; t != nil {
		row.UncertaintyRestarts, row.Refreshed, row.Retried = t.UncertaintyRestarts, t.Refreshed, t.Retried
		row.CommitWaitMean, row.CommitWaitNeeded, row.CommitWaitHidden = t.WaitMean, t.WaitNeeded, t.WaitHidden
	}
	return row
}

// WriteTable writes rows for people.
func WriteTable(w io.Writer, results []*Row) error {
	rows := [][]string{
		{"", "", "read ms", "", "", "like ms", "", "", "uncertainty", "refreshed", "commit wait", "", "client", "data"},
		{"regime", "ops/s", "p50", "p95", "p99", "p50", "p95", "p99", "restarts", "+ retried", "mean ms", "hidden", "errors", "verified"},
	}
	ms := func(v float64) string { return fmt.Sprintf("%.1f", v) }
	for _, r := range results {
		verified := "yes"
		if !r.Verified {
			verified = "NO"
		}
		rows = append(rows, []string{r.Regime, fmt.Sprintf("%.0f", r.OpsPerSec), ms(r.ReadP50), ms(r.ReadP95), ms(r.ReadP99), ms(r.LikeP50), ms(r.LikeP95), ms(r.LikeP99),
			fmt.Sprint(r.UncertaintyRestarts), fmt.Sprintf("%d + %d", r.Refreshed, r.Retried),
			fmt.Sprintf("%.3f", r.CommitWaitMean), fmt.Sprintf("%.0f%%", r.CommitWaitHidden*100), fmt.Sprint(r.ClientErrors), verified})
	}
	if err := harness.WriteAligned(w, rows, 1); err != nil {
		return err
	}
	for _, r := range results {
		for _, v := range r.Violations {
			if _, err := fmt.Fprintf(w, "%s: %s\n", r.Regime, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteJSON writes rows for programs: {"regimes": [{...}, ...]}, an object for each run.
func WriteJSON(w io.Writer, results []*Row) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"regimes": results})
}
