package processes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/longitude-db/longitude/bench/distance"
	"github.com/longitude-db/longitude/bench/harness"
	"github.com/longitude-db/longitude/bench/proc"
)

// Options of a cluster.
type Options struct {
	Program        string
	Flags          Flags         // that may be used: see Common
	Dir            string        // stores and logs lie below it
	Clocks         []string      // source of each node
	Ordering       string        // of sessions that do not choose
	Delay          time.Duration // added to each message between nodes
	MaxUncertainty time.Duration
}

// Withheld says what of the options cannot be had with these flags, "" if nothing is.
func (o Options) Withheld() string {
	var out []string
	if o.Delay > 0 && !o.Flags["advertise-addr"] {
		out = append(out, "no delay between nodes (--advertise-addr)")
	}
	if !o.Flags["ordering"] {
		out = append(out, "the ordering of each build's default (--ordering)")
	}
	if !o.Flags["max-uncertainty"] {
		out = append(out, "the uncertainty of each build's default (--max-uncertainty)")
	}
	return strings.Join(out, ", ")
}

// Cluster is the processes of one build.
type Cluster struct {
	SQL   []string // addresses
	nodes []*node
	lines []*distance.Line
}

// node is one process.
type node struct {
	id             int
	rpc, sql, http string
	log            string
	cmd            *exec.Cmd
	gone           chan struct{} // closed when it has ended
	err            error         // how it ended; read after gone
}

// patience is how long a node may take to become healthy.
const patience = 90 * time.Second

// Start starts the nodes, one after the other, each when the one before it is healthy.
func Start(ctx context.Context, o Options) (_ *Cluster, err error) {
	c := &Cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	join := ""
	for i, clock := range o.Clocks {
		n := &node{id: i + 1, log: filepath.Join(o.Dir, fmt.Sprintf("node%d.log", i+1))}
		if err := n.addresses(); err != nil {
			return nil, err
		}
		args := []string{"start", "--store", filepath.Join(o.Dir, fmt.Sprintf("node%d", n.id)), "--rpc-addr", n.rpc, "--sql-addr", n.sql, "--http-addr", n.http, "--clock", clock}
		optional := func(flag, value string) {
			if o.Flags[flag] {
				args = append(args, "--"+flag, value)
			}
		}
		if o.Ordering != "" {
			optional("ordering", o.Ordering)
		}
		if o.MaxUncertainty > 0 {
			optional("max-uncertainty", o.MaxUncertainty.String())
		}
		known := n.rpc
		if o.Delay > 0 && o.Flags["advertise-addr"] {
			line, err := distance.Listen(n.rpc, o.Delay)
			if err != nil {
				return nil, err
			}
			c.lines, known = append(c.lines, line), line.Addr()
			optional("advertise-addr", known)
		}
		if i == 0 {
			join = known
		} else {
			args = append(args, "--join", join)
		}
		if err := n.start(o.Program, o.Dir, args); err != nil {
			return nil, err
		}
		c.nodes, c.SQL = append(c.nodes, n), append(c.SQL, n.sql)
		if err := n.healthy(ctx); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// addresses chooses loopback addresses that nobody listens on. HAZARD: somebody may until the node does; it then ends, and says so.
func (n *node) addresses() error {
	for _, to := range []*string{&n.rpc, &n.sql, &n.http} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("an address for node %d: %w", n.id, err)
		}
		defer l.Close()
		*to = l.Addr().String()
	}
	return nil
}

func (n *node) start(program, dir string, args []string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	log, err := os.Create(n.log)
	if err != nil {
		return err
	}
	defer log.Close()
	n.cmd, n.gone = exec.Command(program, args...), make(chan struct{})
	n.cmd.Stdout, n.cmd.Stderr = log, log
	bind(n.cmd)
	if err := n.cmd.Start(); err != nil {
		return fmt.Errorf("starting node %d: %w", n.id, err)
	}
	go func() {
		n.err = n.cmd.Wait()
		close(n.gone)
	}()
	return nil
}

// healthy waits until the node says that it is.
func (n *node) healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("node %d is not healthy after %s", n.id, patience))
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.http+"/healthz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		again := time.NewTimer(50 * time.Millisecond)
		select {
		case <-again.C:
		case <-n.gone:
			return n.ended()
		case <-ctx.Done():
			again.Stop()
			return fmt.Errorf("%w\n%s", context.Cause(ctx), n.said())
		}
	}
}

// ended says how a process ended that should not have.
func (n *node) ended() error {
	return fmt.Errorf("node %d ended by itself: %s\n%s", n.id, n.cmd.ProcessState, n.said())
}

// said is the end of the node's log.
func (n *node) said() string {
	b, err := os.ReadFile(n.log)
	if err != nil {
		return err.Error()
	}
	const most = 2000
	return strings.TrimSpace(string(b[max(0, len(b)-most):]))
}

// PIDs are those of the processes.
func (c *Cluster) PIDs() (out proc.Set) {
	for _, n := range c.nodes {
		out = append(out, n.cmd.Process.Pid)
	}
	return out
}

// Target connects to the nodes.
func (c *Cluster) Target(ctx context.Context, o harness.TargetOptions) (*harness.Target, error) {
	o.URLs = c.SQL
	t, err := harness.Open(ctx, o)
	if err == nil {
		t.CPU = c.PIDs().CPU
	}
	return t, err
}

// Stop ends the processes at once: their data are about to be thrown away (N3).
func (c *Cluster) Stop() (err error) {
	for _, n := range c.nodes {
		select {
		case <-n.gone:
			err = errors.Join(err, n.ended())
		default:
			_ = n.cmd.Process.Kill() // it has ended meanwhile
		}
	}
	for _, n := range c.nodes {
		<-n.gone
	}
	for _, l := range c.lines {
		err = errors.Join(err, l.Close())
	}
	c.nodes, c.lines = nil, nil
	return err
}
