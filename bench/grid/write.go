package grid

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Write puts all results into results.json and results.csv of a directory.
func Write(dir string, results []Result) error {
	b, err := json.MarshalIndent(map[string]any{"points": results}, "", "  ")
	if err != nil {
		return err
	}
	if err := writeWhole(filepath.Join(dir, "results.json"), b); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "results.csv"))
	if err != nil {
		return err
	}
	defer f.Close()
	c := csv.NewWriter(f)
	_ = c.Write([]string{"cluster", "ordering", "slices", "workers", "read_fraction", "likes_loaded", "hot", "eps_us", "seconds", "ops_per_sec", "uncertainty_restarts", // csv.Writer keeps the first error
		"read_p50_ms", "read_p95_ms", "read_p99_ms", "like_p50_ms", "like_p95_ms", "like_p99_ms", "commit_wait_needed_ms", "commit_wait_ms", "commit_wait_hidden", "errors", "server_cpu_us_per_op", "machine_busy_share", "others_busy_share"})
	for _, r := range results {
		p, w := r.Point, r.Row
		busy, others := r.Shares()
		line := []string{p.Cluster, p.Ordering}
		for _, v := range []any{len(r.Slices), p.Workers, p.ReadFraction, p.Likes, p.Hot, p.Eps.Microseconds(), w.DurationSeconds, w.OpsPerSec, w.UncertaintyRestarts,
			w.ReadP50, w.ReadP95, w.ReadP99, w.LikeP50, w.LikeP95, w.LikeP99, w.CommitWaitNeeded, w.CommitWaitMean, w.CommitWaitHidden, w.ClientErrors, w.ServerCPU, busy, others} {
			line = append(line, fmt.Sprint(v))
		}
		_ = c.Write(line)
	}
	c.Flush()
	return c.Error()
}

// Shares are those of the machine's processors that were busy, and that others than clients and servers used, while the point was
// measured: 0 to 1.
func (r Result) Shares() (busy, others float64) {
	for _, s := range r.Slices {
		busy, others = busy+s.Busy/float64(len(r.Slices)), others+s.Others/float64(len(r.Slices))
	}
	return busy, others
}
