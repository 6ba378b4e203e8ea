package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/client"
)

func newClockWatch() *cobra.Command {
	var l localClock
	var url string
	var every, length time.Duration
	c := &cobra.Command{
		Use:   "watch",
		Short: "show the bound as it changes: of this machine's clock, or with --url of all nodes of a cluster",
		Long: `Show the clock every second until Ctrl-C: a picture that stays in place on a terminal, a line a second otherwise (for
each node one, with --url).`,
		Args: noArgs,
	}
	l.flags(c)
	c.Flags().StringVar(&url, "url", "", "SQL address of a node: watch the clocks of its cluster")
	c.Flags().DurationVar(&every, "every", time.Second, "time between two looks")
	c.Flags().DurationVar(&length, "for", 0, "stop after this long (default: never)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if every < 10*time.Millisecond {
			return usagef(c, "--every %s: wanted: at least 10ms", every)
		}
		look, end, err := watchLocal(c, l)
		if url != "" {
			look, end, err = watchCluster(c, url)
		}
		if err != nil {
			return err
		}
		defer end()
		ctx, stop := interruptible(c.Context(), func(os.Signal) {})
		defer stop()
		return watch(ctx, c.OutOrStdout(), isTerminal(c.OutOrStdout()), every, length, look)
	}
	return c
}

// watch shows what look says, in place or line by line.
func watch(ctx context.Context, w io.Writer, inPlace bool, every, length time.Duration, look func(context.Context) []string) error {
	began := time.Now()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for shown := 0; ; {
		lines := look(ctx)
		if inPlace && shown > 0 {
			fmt.Fprintf(w, "\x1b[%dA\x1b[J", shown) // up, and clear to the end
		}
		shown = len(lines)
		if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")); err != nil {
			return err
		}
		if length > 0 && time.Since(began)+every/2 >= length {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// watchLocal looks at the clock of this machine. On a terminal there is a picture of the last minute as well.
func watchLocal(c *cobra.Command, l localClock) (look func(context.Context) []string, end func(), err error) {
	k, err := l.open(c)
	if err != nil {
		return nil, nil, err
	}
	_, _ = l.first(c.Context(), k) // if there is none yet, that is what is shown
	var history []time.Duration
	return func(context.Context) []string {
		iv, err := k.Now()
		st := k.Status()
		lines := []string{localLine(time.Now(), iv, err, st)}
		if !isTerminal(c.OutOrStdout()) {
			return lines
		}
		history = append(history, st.Bound)
		history = history[max(0, len(history)-60):]
		return append(lines, fmt.Sprintf("last minute, up to ±%s", maxOf(history)), sparkline(history), st.String())
	}, k.Stop, nil
}

// localLine is one second of a clock.
func localLine(at time.Time, iv clock.Interval, err error, st clock.Status) string {
	bound := "±" + (iv.Width() / 2).String()
	if err != nil {
		bound = "no reading"
	}
	source := st.Source
	if st.Chosen != "" {
		source = st.Chosen
	}
	line := fmt.Sprintf("%s  %-14s %-14s age %-10s %s", at.UTC().Format("15:04:05.000"), bound, st.State, ageText(st.Age), source)
	if err != nil || st.State != clock.Synchronized {
		line += ": " + st.Why
	} else if st.LastError != "" && st.LastErrorAge < st.Age {
		line += ": " + st.LastError
	}
	return strings.ReplaceAll(line, "\n", "; ")
}

func ageText(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return d.Round(time.Millisecond).String()
}

func maxOf(ds []time.Duration) (m time.Duration) {
	for _, d := range ds {
		m = max(m, d)
	}
	return m
}

// sparkline draws values from 0 to their maximum.
func sparkline(ds []time.Duration) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	most := max(maxOf(ds), 1)
	var b strings.Builder
	for _, d := range ds {
		b.WriteRune(bars[min(len(bars)-1, int(int64(d)*int64(len(bars))/int64(most)))])
	}
	return b.String()
}

// watchCluster looks at longitude.clock.
func watchCluster(c *cobra.Command, url string) (look func(context.Context) []string, end func(), err error) {
	cfg, err := client.Parse(url)
	if err != nil {
		return nil, nil, &usageError{c.CommandPath(), err}
	}
	db, err := client.Open(cfg)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) []string {
		lines, err := clusterLines(ctx, db, isTerminal(c.OutOrStdout()))
		if err != nil {
			return []string{fmt.Sprintf("%s  %v", time.Now().UTC().Format("15:04:05.000"), explainClock(err, cfg.Addr))}
		}
		return lines
	}, func() { db.Close() }, nil
}

func clusterLines(ctx context.Context, db *sql.DB, head bool) (lines []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, err := db.QueryContext(ctx, "SELECT node_id, source, state, bound_us, bound_p99_us, bound_max_us, age_ms, "+
		"interval_conflicts_by_peer, fenced FROM longitude.clock")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	at := time.Now().UTC().Format("15:04:05.000")
	if head {
		lines = append(lines, fmt.Sprintf("%-14s %4s  %-16s %12s %12s %12s %10s  %-16s %s", at, "node", "state", "bound ±µs", "p99 ±µs", "max ±µs", "age ms", "conflicts", "source"))
	}
	for rows.Next() {
		var id uint32
		var source, state, peers string
		var bound, p99, most, age sql.NullFloat64
		var fenced sql.NullString
		if err := rows.Scan(&id, &source, &state, &bound, &p99, &most, &age, &peers, &fenced); err != nil {
			return nil, err
		}
		figure := func(f sql.NullFloat64) string {
			if !f.Valid {
				return "-"
			}
			return fmt.Sprintf("%.1f", f.Float64)
		}
		start := at
		if head {
			start = ""
		}
		line := fmt.Sprintf("%-14s %4d  %-16s %12s %12s %12s %10s  %-16s %s", start, id, state, figure(bound), figure(p99), figure(most), figure(age), peers, source)
		if fenced.Valid {
			line += ": " + fenced.String
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}
