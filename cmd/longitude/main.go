// Command longitude is a distributed SQL database in one binary: it runs a node, a demonstration cluster, an SQL shell and
// benchmarks.
//
//	E1  Exit codes: 0 done; 1 it was tried and failed; 2 the command line was wrong and nothing was tried.
//	E2  Errors go to standard error and say what happened, why, and what to do. Results go to standard output.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set when the binary is linked (make build).
var version = "unknown"

func main() { os.Exit(run(os.Args[1:])) }

// run carries out a command line and gives its exit code.
func run(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "error: %s\n", err)
		fmt.Fprintf(os.Stderr, "see: %s --help\n", usage.command)
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "stopped")
		return 1
	}
	fmt.Fprintf(os.Stderr, "error: %s\n", err)
	return 1
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "longitude",
		Short: "a distributed SQL database that orders transactions by bounded clocks",
		Long: `Longitude is a distributed SQL database. Any MySQL client connects to any of its nodes.
It is strictly serializable on ordinary machines, as long as each node's clock knows its own error.

To see it:      longitude demo
To run a node:  longitude start --store DIR`,
		SilenceErrors: true,
		SilenceUsage:  true,
		// A command group without a command was left unfinished; an unknown command is a mistake.
		Args: cobra.ArbitraryArgs,
		RunE: needsCommand,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &usageError{c.CommandPath(), err} })
	root.AddCommand(newStart(), newDemo(), newSQL(), newBench(), newClock(), newVersion())
	root.AddCommand(newCheck(), newVerify())
	return root
}

// needsCommand is what a command that only groups others does when none of them is named.
func needsCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		text += ", did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef(c, "%s", text)
}

// noArgs refuses arguments that are not flags.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(c, "unexpected argument %q", args[0])
	}
	return nil
}

// usageError is a command line that cannot be carried out (E1).
type usageError struct {
	command string
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(c *cobra.Command, format string, args ...any) error {
	return &usageError{c.CommandPath(), fmt.Errorf(format, args...)}
}

// interruptible is a context that the first SIGINT or SIGTERM ends; the second one ends the process at once.
func interruptible(ctx context.Context, onFirst func(os.Signal)) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	sigs := make(chan os.Signal, 2)
	signal.Notify(sigs, os.Interrupt, syscall.SIGTERM)
	go func() {
		first, ok := <-sigs
		if !ok {
			return
		}
		if onFirst != nil {
			onFirst(first)
		}
		cancel()
		if _, ok := <-sigs; ok {
			fmt.Fprintln(os.Stderr, "stopped at once; what was acknowledged is on disk")
			os.Exit(1)
		}
	}()
	return ctx, func() {
		signal.Stop(sigs)
		close(sigs)
		cancel()
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this binary",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			goVersion := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				goVersion = info.GoVersion
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "longitude %s (%s)\n", version, goVersion)
			return err
		},
	}
}
