package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/internal/clocklab"
)

func newClockMeasure() *cobra.Command {
	var l localClock
	var out string
	p := clocklab.Plan{}
	c := &cobra.Command{
		Use:   "measure",
		Short: "measure how wide readings are over time: a table, a CSV file and a plot",
		Long: `Take a reading of this machine's clock every 250 ms and sum up the widths (latest - earliest) of every five minutes: mean,
median, 95th and 99th percentile, maximum. A line is printed when its five minutes are over; Ctrl-C ends the measurement
and keeps what there is. With --out the directory gets bounds.csv, bounds.svg and bounds.png.`,
		Example: `  longitude clock measure --for 2m --bucket 30s
  longitude clock measure --for 24h --out bounds --source chrony`,
		Args: noArgs,
	}
	l.flags(c)
	c.Flags().DurationVar(&p.For, "for", 90*time.Minute, "how long to measure")
	c.Flags().DurationVar(&p.Bucket, "bucket", 5*time.Minute, "readings that are summed up in a line")
	c.Flags().DurationVar(&p.Every, "every", 250*time.Millisecond, "time between two readings")
	c.Flags().StringVar(&out, "out", "", "directory for bounds.csv, bounds.svg and bounds.png; made if it does not exist")
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case p.Every < time.Millisecond:
			return usagef(c, "--every %s: wanted: at least 1ms", p.Every)
		case p.Bucket < p.Every:
			return usagef(c, "--bucket %s is shorter than --every %s", p.Bucket, p.Every)
		case p.For < p.Every:
			return usagef(c, "--for %s is shorter than --every %s", p.For, p.Every)
		}
		if out != "" { // before the work, so that a bad name does not cost it
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
		}
		return measure(c, l, p, out)
	}
	return c
}

func measure(c *cobra.Command, l localClock, p clocklab.Plan, out string) error {
	k, err := l.open(c)
	if err != nil {
		return err
	}
	defer k.Stop()
	if _, err := l.first(c.Context(), k); err != nil {
		return err
	}
	w := c.OutOrStdout()
	ctx, stop := interruptible(c.Context(), func(os.Signal) {
		fmt.Fprintln(c.ErrOrStderr(), "interrupted; what was measured so far is kept")
	})
	defer stop()
	source := k.Status().Source
	if chosen := k.Status().Chosen; chosen != "" {
		source = chosen
	}
	fmt.Fprintf(w, "widths of readings of %s in µs, one every %s, summed up every %s\n%s\n", source, p.Every, p.Bucket, clocklab.Head())
	var bs []clocklab.Bucket
	clocklab.Run(ctx, k, p, func(b clocklab.Bucket) {
		bs = append(bs, b)
		fmt.Fprintln(w, clocklab.Line(b))
	})
	if out == "" || len(bs) == 0 {
		return nil
	}
	title := fmt.Sprintf("width of readings of %s, every %s", source, p.Every)
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"bounds.csv", func(w io.Writer) error { return clocklab.CSV(w, bs) }},
		{"bounds.svg", func(w io.Writer) error { return clocklab.Plot(w, "svg", title, bs) }},
		{"bounds.png", func(w io.Writer) error { return clocklab.Plot(w, "png", title, bs) }},
	} {
		if err := writeFile(filepath.Join(out, f.name), f.write); err != nil {
			return err
		}
		fmt.Fprintln(w, filepath.Join(out, f.name))
	}
	return nil
}

func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err = write(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.Close()
}
