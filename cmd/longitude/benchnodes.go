package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/proc"
	"github.com/longitude-db/longitude/internal/demo"
)

// nodesSpec says what cluster a process of its own is to run.
type nodesSpec struct {
	Dir            string        // the nodes' stores lie below it
	Clocks         []string      // source of each node
	Ordering       string        // of sessions that do not choose
	Delay          time.Duration // added to each message between nodes
	MaxUncertainty time.Duration // as in server.Options
	Database       string
}

// nodesUp is what it answers when the nodes are up and every range has its replicas.
type nodesUp struct {
	SQL, HTTP []string
}

// newBenchNodes is the process that holds the nodes of a benchmark: apart from the clients, so that the processor time of both
// can be told apart, and neither's garbage collector works on the other's memory. It ends when its input does, whatever way
// the benchmark ended.
func newBenchNodes() *cobra.Command {
	return &cobra.Command{Use: "nodes", Hidden: true, Args: noArgs, Short: "hold the nodes of a benchmark; started by it",
		RunE: func(c *cobra.Command, _ []string) error {
			// A Ctrl-C is sent to all processes of a terminal. This one ends when the benchmark lets it.
			signal.Ignore(os.Interrupt)
			tuneMemory()
			in := bufio.NewReader(c.InOrStdin())
			var s nodesSpec
			line, err := in.ReadBytes('\n')
			if err == nil {
				err = json.Unmarshal(line, &s)
			}
			if err != nil {
				return usagef(c, "wanted on the input: what nodes to start: %w", err)
			}
			ctx, stop := context.WithCancel(c.Context())
			defer stop()
			go func() {
				_, _ = io.Copy(io.Discard, in)
				stop()
			}()
			return holdNodes(ctx, c.OutOrStdout(), s)
		}}
}

func holdNodes(ctx context.Context, out io.Writer, s nodesSpec) (err error) {
	cluster, err := demo.StartCluster(ctx, demo.ClusterOptions{Nodes: len(s.Clocks), Dir: s.Dir, Clock: func(i int) string { return s.Clocks[i] },
		Ordering: s.Ordering, Delay: s.Delay, MaxUncertainty: s.MaxUncertainty, Version: version})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	t, err := cluster.Target(ctx, harness.TargetOptions{Name: "nodes", Database: s.Database})
	if err != nil {
		return err
	}
	t.Close()
	var up nodesUp
	for _, n := range cluster.Nodes {
		up.SQL, up.HTTP = append(up.SQL, n.Addrs().SQL), append(up.HTTP, n.Addrs().HTTP)
	}
	if err := json.NewEncoder(out).Encode(up); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// nodesProcess is such a process, seen from the benchmark.
type nodesProcess struct {
	nodesUp
	cmd    *exec.Cmd
	input  io.Closer
	stderr *bytes.Buffer
}

// stopLimit is how long nodes may take to stop.
const stopLimit = 30 * time.Second

// startNodes starts a cluster in a process of its own. profile is where that writes a CPU profile, empty for none.
func startNodes(ctx context.Context, s nodesSpec, profile string) (*nodesProcess, error) {
	return startNodesOf(ctx, "", s, profile)
}

// startNodesOf is startNodes with another build of this program; empty: with this one.
func startNodesOf(ctx context.Context, program string, s nodesSpec, profile string) (*nodesProcess, error) {
	name := program
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding this program, to run the nodes: %w", err)
		}
		name = os.Args[0]
	}
	args := []string{"bench", "nodes"}
	if profile != "" {
		args = append(args, "--cpuprofile", profile)
	}
	p := &nodesProcess{cmd: exec.Command(program, args...), stderr: &bytes.Buffer{}}
	p.cmd.Args[0], p.cmd.Stderr = name, p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the nodes: %w", err)
	}
	p.input = in
	unwatch := context.AfterFunc(ctx, func() { in.Close() })
	defer unwatch()
	err = json.NewEncoder(in).Encode(s)
	if err == nil {
		err = json.NewDecoder(out).Decode(&p.nodesUp)
	}
	if err != nil {
		stopped := p.Stop()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errors.Join(fmt.Errorf("starting the nodes: %w", err), stopped)
	}
	return p, nil
}

// CPU is the processor time that the nodes have used so far.
func (p *nodesProcess) CPU() (time.Duration, error) { return proc.CPU(p.cmd.Process.Pid) }

// Target connects to the nodes.
func (p *nodesProcess) Target(ctx context.Context, o harness.TargetOptions) (*harness.Target, error) {
	o.URLs = p.SQL
	t, err := harness.Open(ctx, o)
	if err == nil {
		t.CPU = p.CPU
	}
	return t, err
}

// Stop ends the process.
func (p *nodesProcess) Stop() error {
	p.input.Close()
	late := time.AfterFunc(stopLimit, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the nodes' process: %w\n%s", err, strings.TrimSpace(p.stderr.String()))
	}
	return nil
}

// profileOf is where the process of a cluster writes its CPU profile.
func profileOf(c *cobra.Command, name string) string {
	f, err := c.Flags().GetString("cpuprofile")
	if err != nil || f == "" {
		return ""
	}
	ext := filepath.Ext(f)
	return strings.TrimSuffix(f, ext) + "." + name + ext
}
