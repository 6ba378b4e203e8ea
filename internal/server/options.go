package server

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/txn"
)

// Options of a node. The zero value of a field that has a default means the default.
type Options struct {
	// Store is the directory of the node's data; made if it does not exist.
	Store string
	// RPCAddr, SQLAddr and HTTPAddr are host:port to listen on. Port 0: any free one (see Server.Addrs).
	RPCAddr, SQLAddr, HTTPAddr string
	// Advertise is the address under which other nodes reach RPCAddr, if it is not the address listened on.
	Advertise string
	// Join are RPC addresses of nodes of the cluster to join. Empty: an empty store begins a cluster of its own.
	Join []string
	// Clock is the source of readings, as clock.Parse takes it; default AutoClock. A wider source makes waits or restarts more frequent; a
	// source that claims more than it knows breaks rule 1 and rule 2.
	Clock string
	// MaxUncertainty is the width of a reading above which the node fences itself; default clock.DefaultMaxUncertainty.
	MaxUncertainty time.Duration
	// Ordering of sessions that do not choose one; default txn.Wait. txn.Uncertainty gives up strictness.
	Ordering txn.Ordering
	// ClosedLag is how far behind the present timestamps are closed in ranges that this node leads; default 3 s. ClosedEvery is how
	// often followers are told; default with each heartbeat. Both short, followers that are far serve reads of the present
	// themselves; writers that take longer than the lag are pushed (package replica).
	ClosedLag, ClosedEvery time.Duration
	// Unquarantine are ranges whose replicas on this node are to go on although they were quarantined (package replica).
	Unquarantine []uint
	// Cache is the size of the block cache in bytes; default 128 MiB.
	Cache int64
	// Delay is added to every message to another node, to stand in for distance; default none.
	Delay time.Duration
	// RemoteProfiles has /debug/pprof answer callers of other machines too; default: only those on a loopback address.
	RemoteProfiles bool
	// DrainLimit is how long statements under way may take to finish when the node stops; default 10 s.
	DrainLimit time.Duration
	Version    string
	Log        *slog.Logger
}

// check completes the options and reports all that is wrong with them.
func (o *Options) check() (clock.Source, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.DrainLimit == 0 {
		o.DrainLimit = 10 * time.Second
	}
	var faults []error
	if o.Store == "" {
		faults = append(faults, errors.New("no directory for the store\nhint: name one with --store DIR; it is made if it does not exist"))
	}
	if o.Clock == "" {
		o.Clock = AutoClock
	}
	src, err := ParseClock(o.Clock)
	if err != nil {
		faults = append(faults, err)
	}
	if o.ClosedLag < 0 || o.ClosedEvery < 0 || o.ClosedEvery > 0 && o.ClosedEvery < time.Millisecond {
		faults = append(faults, fmt.Errorf("closed lag %s and interval %s must not be negative, and the interval at least 1ms: each time every other node gets a message",
			o.ClosedLag, o.ClosedEvery))
	}
	if o.Delay < 0 || o.Cache < 0 || o.MaxUncertainty < 0 {
		faults = append(faults, fmt.Errorf("delay %s, cache %d and maximum uncertainty %s must not be negative", o.Delay, o.Cache, o.MaxUncertainty))
	}
	return src, errors.Join(faults...)
}

// Check reports all that is wrong with the options, without doing anything.
func (o Options) Check() error {
	_, err := o.check()
	return err
}
