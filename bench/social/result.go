package social

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what one run showed. Latencies are the client's.
type Result struct {
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
	CommitWaitMean float64 `json:"commit_wait_ms_mean"`
	// CommitWaitHidden is the share of the needed wait that passed under other work; 1 if none was needed.
	CommitWaitHidden float64 `json:"commit_wait_hidden_share"`

	ClientErrors int64    `json:"client_errors"`
	Verified     bool     `json:"verified"`
	Violations   []string `json:"violations,omitempty"`

	ReadFraction    float64 `json:"read_fraction"`
	DurationSeconds float64 `json:"duration_s"`
	Reads           int64   `json:"reads"`
	Likes           int64   `json:"likes"`           // acknowledged, warm-up included
	LikesUncertain  int64   `json:"likes_uncertain"` // whose answer never came
}

func newResult(o *Options, t *tally, elapsed time.Duration, s Stats) *Result {
	ms := func(h *hdrhistogram.Histogram, p float64) float64 { return float64(h.ValueAtPercentile(p)) / 1000 }
	r := &Result{
		Regime: o.Regime, Workers: o.Workers, ReadFraction: o.ReadFraction, DurationSeconds: elapsed.Seconds(),
		OpsPerSec: float64(t.reads.TotalCount()+t.likes.TotalCount()) / elapsed.Seconds(),
		Reads:     t.reads.TotalCount(),
		ReadP50:   ms(t.reads, 50), ReadP95: ms(t.reads, 95), ReadP99: ms(t.reads, 99),
		LikeP50: ms(t.likes, 50), LikeP95: ms(t.likes, 95), LikeP99: ms(t.likes, 99),
		UncertaintyRestarts: s.Refreshed + s.Retried, Refreshed: s.Refreshed, Retried: s.Retried,
		CommitWaitHidden: 1, Violations: t.violations,
	}
	if s.Commits > 0 {
		r.CommitWaitMean = s.WaitActual.Seconds() * 1000 / float64(s.Commits)
	}
	if s.WaitNeeded > 0 {
		r.CommitWaitHidden = max(0, 1-s.WaitActual.Seconds()/s.WaitNeeded.Seconds())
	}
	return r
}

// WriteTable writes the results for people, a row each.
func WriteTable(w io.Writer, results []*Result) error {
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
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], len(c))
		}
	}
	for _, row := range rows {
		line := fmt.Sprintf("%-*s", widths[0], row[0])
		for i, c := range row[1:] {
			line += fmt.Sprintf("  %*s", widths[i+1], c)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
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

// WriteJSON writes the results for programs: {"regimes": [{...}, ...]}, an object for each run.
func WriteJSON(w io.Writer, results []*Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"regimes": results})
}
