package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/client"
	"github.com/longitude-db/longitude/internal/server"
	"github.com/longitude-db/longitude/internal/shell"
)

func newClock() *cobra.Command {
	c := &cobra.Command{
		Use:   "clock",
		Short: "look at clocks, measure them, change their sources",
		Long: `What time it is, and how sure this machine or a cluster is of it. now, watch, sources and measure need no cluster and no
privileges; they ask the machine's clock daemons as a node would.`,
		Args: cobra.ArbitraryArgs,
		RunE: needsCommand,
	}
	c.AddCommand(newClockNow(), newClockSources(), newClockWatch(), newClockMeasure(), newClockSet())
	return c
}

// localClock is the clock of this machine, as the flags choose it.
type localClock struct {
	spec string
	wait time.Duration
}

func (l *localClock) flags(c *cobra.Command) {
	c.Flags().StringVar(&l.spec, "source", server.AutoClock, "source of readings, as for start --clock")
	c.Flags().DurationVar(&l.wait, "wait", 5*time.Second, "how long to wait for the first reading")
}

// open starts the clock. It has no limit of width: what is measured here is not used to order anything.
func (l *localClock) open(c *cobra.Command) (*clock.Clock, error) {
	src, err := server.ParseClock(l.spec)
	if err != nil {
		return nil, &usageError{c.CommandPath(), err}
	}
	k := clock.New(src, clock.Options{MaxUncertainty: -1})
	k.Start()
	return k, nil
}

// first waits for the first reading; the error says why there is none. A source that nobody answers for is not waited for.
func (l *localClock) first(ctx context.Context, k *clock.Clock) (clock.Interval, error) {
	for end := time.Now().Add(l.wait); ; time.Sleep(20 * time.Millisecond) {
		iv, err := k.Now()
		if err == nil {
			return iv, nil
		}
		failed := k.Poll()
		if time.Now().After(end) || ctx.Err() != nil || failed != nil && clock.Absent(failed) {
			what, hint := k.Status().Refusal()
			return iv, fmt.Errorf("no reading: %s\nhint: %s", what, hint)
		}
	}
}

func newClockNow() *cobra.Command {
	var l localClock
	c := &cobra.Command{
		Use:   "now",
		Short: "take one reading of this machine's clock",
		Args:  noArgs,
	}
	l.flags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		k, err := l.open(c)
		if err != nil {
			return err
		}
		defer k.Stop()
		iv, err := l.first(c.Context(), k)
		if err != nil {
			return err
		}
		return printReading(c.OutOrStdout(), iv, k.Status())
	}
	return c
}

const instantFormat = "2006-01-02 15:04:05.000000000 UTC"

func instantText(i clock.Instant) string { return time.Unix(0, int64(i)).UTC().Format(instantFormat) }

func printReading(w io.Writer, iv clock.Interval, st clock.Status) error {
	source := st.Source
	if st.Chosen != "" {
		source += ", which chose " + st.Chosen + " (" + st.ChosenWhy + ")"
	}
	_, err := fmt.Fprintf(w, "earliest  %s\nlatest    %s\nwidth     %s (±%s)\nstate     %s\nsource    %s\nage       %s\nwhy       %s\n",
		instantText(iv.Earliest), instantText(iv.Latest), iv.Width(), iv.Width()/2, st.State, source, st.Age.Round(time.Microsecond), st.Why)
	return err
}

func newClockSources() *cobra.Command {
	return &cobra.Command{
		Use:   "sources",
		Short: "list the clock sources that this machine has, and which one auto would take",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			w := c.OutOrStdout()
			vmclock := ""
			for _, spec := range server.BoundedSources() {
				src, err := clock.Parse(spec)
				if err != nil {
					return err
				}
				text, page := describeSource(spec, src)
				fmt.Fprintln(w, text)
				vmclock = cmp.Or(vmclock, page)
			}
			if vmclock != "" {
				fmt.Fprintf(w, "the hypervisor's disruption marker: %s\n", vmclock)
			}
			auto, err := server.ParseClock(server.AutoClock)
			if err != nil {
				return err
			}
			k := clock.New(auto, clock.Options{MaxUncertainty: -1})
			defer k.Stop()
			err = k.Poll()
			st := k.Status()
			switch {
			case err == nil:
				fmt.Fprintf(w, "\nauto takes %s: %s\n", st.Chosen, st.ChosenWhy)
			case clock.Absent(err):
				fmt.Fprintf(w, "\nauto takes none: nothing on this machine bounds the clock's error\n")
			default:
				fmt.Fprintf(w, "\nauto takes none yet: it waits up to %s for the best that is there\n", clock.DefaultPatience)
			}
			for _, f := range st.PassedOver {
				fmt.Fprintf(w, "  not %s: %s\n", f.Source, oneLine(f.Why))
			}
			_, err = fmt.Fprintf(w, "always there, and never taken by auto because nothing measures it: static:D\n")
			return err
		},
	}
}

// describeSource asks a source a few times: some need a second answer. vmclock is what it says of the hypervisor's marker.
func describeSource(spec string, src clock.Source) (text, vmclock string) {
	k := clock.New(src, clock.Options{MaxUncertainty: -1})
	defer k.Stop()
	var err error
	for try := 0; try < 3; try++ {
		if try > 0 {
			time.Sleep(100 * time.Millisecond)
		}
		if err = k.Poll(); err == nil {
			break
		}
	}
	st := k.Status()
	switch {
	case err == nil:
		return fmt.Sprintf("%-11s %s, ±%s: %s", spec, st.State, st.Bound, st.Why), st.VMClock
	case clock.Absent(err):
		return fmt.Sprintf("%-11s not there: %s", spec, oneLine(err.Error())), st.VMClock
	}
	return fmt.Sprintf("%-11s there, and not usable now: %s", spec, oneLine(err.Error())), st.VMClock
}

// oneLine is the text of several errors in a line.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", "; ") }

func newClockSet() *cobra.Command {
	var url, spec string
	var node uint32
	c := &cobra.Command{
		Use:   "set",
		Short: "change the clock source of a running cluster, or of one of its nodes",
		Long: `Change the clock source of all nodes, one after the other, or of one node, while they serve. At no moment do the rules
of time not hold: each node checks that the new source agrees with the old one before it takes it. Sources that mean
different true times (static:D the fastest clock of the cluster, all others UTC) are changed over a third one that contains both.
A node that is started again with the same --clock as before keeps the source that was set.

Sources:
` + clock.Accepted,
		Example: `  longitude clock set --clock chrony
  longitude clock set --clock clockbound --node 3 --url db1:26257`,
		Args: noArgs,
	}
	c.Flags().StringVar(&url, "url", "127.0.0.1:"+client.DefaultPort, "SQL address of any node whose clock is good")
	c.Flags().StringVar(&spec, "clock", "", "the source, see above (required)")
	c.Flags().Uint32Var(&node, "node", 0, "id of the node to change; without it all nodes")
	c.RunE = func(c *cobra.Command, _ []string) error {
		src, err := clock.Parse(spec)
		if err != nil {
			return &usageError{c.CommandPath(), fmt.Errorf("--clock: %w", err)}
		}
		if cl, ok := src.(io.Closer); ok {
			_ = cl.Close()
		}
		cfg, err := client.Parse(url)
		if err != nil {
			return &usageError{c.CommandPath(), err}
		}
		db, err := client.Open(cfg)
		if err != nil {
			return err
		}
		defer db.Close()
		call := "CALL longitude_set_clock(" + client.Quote(spec)
		if node != 0 {
			call += fmt.Sprintf(", %d", node)
		}
		rows, err := db.QueryContext(c.Context(), call+")")
		if err != nil {
			return explainClock(err, cfg.Addr)
		}
		defer rows.Close()
		for rows.Next() {
			var id uint32
			var source, done string
			if err := rows.Scan(&id, &source, &done); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "node %d: %s (%s)\n", id, source, done)
		}
		return explainClock(rows.Err(), cfg.Addr)
	}
	return c
}

// explainClock says what to do about a node that cannot be asked.
func explainClock(err error, addr string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return shell.Explain(err, addr)
}
