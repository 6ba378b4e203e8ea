package main

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/server"
	"github.com/longitude-db/longitude/internal/txn"
)

func newStart() *cobra.Command {
	var (
		o        server.Options
		ordering string
		cache    = bytesFlag(128 << 20)
		logLevel string
	)
	c := &cobra.Command{
		Use:   "start",
		Short: "run a node",
		Long: `Run a node until SIGTERM or Ctrl-C, which hand its leases over first; the second one ends it at once.

An empty store begins a cluster of its own, or with --join becomes a new node of an existing one. A store that belongs
to a cluster goes on as what it was.

Sources for --clock:
` + clock.Accepted,
		Example: `  longitude start --store n1
  longitude start --store n2 --rpc-addr :26268 --sql-addr :26267 --http-addr :8081 --join db1:26258`,
		Args: noArgs,
	}
	f := c.Flags()
	f.StringVar(&o.Store, "store", "", "directory of the node's data; made if it does not exist (required)")
	f.StringVar(&o.RPCAddr, "rpc-addr", "127.0.0.1:26258", "address to listen on for other nodes")
	f.StringVar(&o.SQLAddr, "sql-addr", "127.0.0.1:26257", "address to listen on for MySQL clients")
	f.StringVar(&o.HTTPAddr, "http-addr", "127.0.0.1:8080", "address to listen on for the console, /metrics and /healthz")
	f.StringVar(&o.Advertise, "advertise-addr", "", "address under which other nodes reach --rpc-addr (default: the same)")
	f.StringSliceVar(&o.Join, "join", nil, "RPC address of any node of the cluster to join; several with commas, or given more than once")
	f.StringVar(&o.Clock, "clock", server.AutoClock, "source of clock readings, see above; auto: the best bounded one of this machine, or the node does not start, unless it is alone")
	f.DurationVar(&o.MaxUncertainty, "max-uncertainty", clock.DefaultMaxUncertainty, "width of a clock reading above which the node refuses to serve")
	f.StringVar(&ordering, "ordering", "wait", "ordering of sessions that do not set longitude_ordering: wait (strictly serializable) or uncertainty")
	f.DurationVar(&o.ClosedLag, "closed-lag", 0, "how far behind the present every replica can be read (default 3s); shorter than the way to another node, with --closed-every, nodes that are far from a leaseholder read the present from their own replicas; the same on all nodes")
	f.DurationVar(&o.ClosedEvery, "closed-every", 0, "how often replicas are told what can be read from them (default: with each heartbeat)")
	f.UintSliceVar(&o.Unquarantine, "unquarantine", nil, "range ids (longitude.ranges) whose replicas on this node are to go on although they were quarantined: with a version that can apply what they could not")
	f.Var(&cache, "cache", "size of the block cache, like 256MiB")
	f.DurationVar(&o.DrainLimit, "drain-limit", 0, "how long statements under way may take to finish when the node stops (default 10s)")
	f.BoolVar(&o.RemoteProfiles, "remote-profiles", false, "answer /debug/pprof on --http-addr to other machines too; without it only to callers on a loopback address of this one")
	f.StringVar(&logLevel, "log-level", "info", "least severe lines to log: debug, info, warn or error")
	c.RunE = func(c *cobra.Command, _ []string) error {
		var err error
		if o.Ordering, err = txn.ParseOrdering(ordering); err != nil {
			return usagef(c, "--ordering: %w", err)
		}
		var level slog.Level
		if err := level.UnmarshalText([]byte(logLevel)); err != nil {
			return usagef(c, "--log-level %q: wanted: debug, info, warn or error", logLevel)
		}
		addrs := [][2]string{{"rpc-addr", o.RPCAddr}, {"sql-addr", o.SQLAddr}, {"http-addr", o.HTTPAddr}}
		for _, j := range o.Join {
			addrs = append(addrs, [2]string{"join", j})
		}
		if o.Advertise != "" {
			addrs = append(addrs, [2]string{"advertise-addr", o.Advertise})
		}
		for _, a := range addrs {
			if err := checkAddr(a[0], a[1]); err != nil {
				return &usageError{c.CommandPath(), err}
			}
		}
		o.Cache, o.Version = int64(cache), version
		o.Log = slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
		if err := o.Check(); err != nil {
			return &usageError{c.CommandPath(), err}
		}
		return runNode(c, o)
	}
	return c
}

func runNode(c *cobra.Command, o server.Options) error {
	tuneMemory()
	ctx, stop := interruptible(c.Context(), func(s os.Signal) {
		o.Log.Info("stopping; the leases go to other nodes first, a second signal ends the process at once", "signal", s.String())
	})
	defer stop()
	s, err := server.Open(ctx, o)
	if err != nil {
		if ctx.Err() != nil {
			return nil // it was asked to stop while it started
		}
		return err
	}
	a := s.Addrs()
	fmt.Fprintf(c.OutOrStdout(), "node %d of cluster %s\nsql:     mysql -h %s\nrpc:     %s\nconsole: http://%s/\n",
		s.ID(), s.ClusterID(), mysqlArgs(a.SQL), a.RPC, a.HTTP)
	select {
	case <-ctx.Done():
		return s.Stop(true)
	case err := <-s.Failed():
		_ = s.Stop(false) // what failed is told below
		return err
	}
}

// tuneMemory sets the garbage collector for a server, unless the environment does. The heap that lives is small and the
// garbage of statements is large: at Go's default the collector would run all the time.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		if total := machineMemory(); total > 0 && total < math.MaxInt64 {
			debug.SetMemoryLimit(total / 2)
		}
	}
}
