// Package grid measures the social workload at many points (clocks, ordering, clients, read length, contention), on clusters
// that the caller starts, in an order that makes the points comparable, and keeps what it has on disk.
//
//	G1  What a block of points showed is on disk, whole, before the next block begins. A run that is started again skips it.
//	G2  The points of a block are measured in short slices, in turns that reverse and rotate (A B C, C B A, B C A, A C B), on
//	    clusters that are up together: what else the machine does hits all alike, and nobody is always first. A point keeps
//	    its clients' ledger over all its slices, and its data are verified after the last one.
//	G3  A directory belongs to one plan: results of another are refused, not mixed in.
//	G4  Each block has freshly made tables, one set for each cluster.
package grid

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/longitude-db/longitude/bench/social"
)

// Cluster says what cluster a point needs.
type Cluster struct {
	Name     string
	Ordering string        // of sessions that do not choose
	Clocks   []string      // source of each node
	Latency  time.Duration // added to each message between nodes
	Width    time.Duration // the widest reading that its clocks give, so that nodes do not fence themselves
}

// Point is one condition that is measured.
type Point struct {
	Cluster      string        `json:"cluster"`
	Ordering     string        `json:"ordering,omitempty"` // of the sessions; empty: the cluster's
	Workers      int           `json:"workers"`
	ReadFraction float64       `json:"read_fraction"`
	Posts        int           `json:"posts"`
	Likes        int           `json:"likes"`
	Hot          float64       `json:"hot"`
	Eps          time.Duration `json:"eps_ns,omitempty"` // half the width of the readings, where that is what is varied
}

// Timing says how the points of a block are measured.
type Timing struct {
	WarmUp time.Duration // of each point, once
	Ramp   time.Duration // before each slice, not measured
	Slice  time.Duration
	Slices int // of each point; fewer, but two or more, if the plan's budget does not allow them
}

// Block is points that are compared with each other.
type Block struct {
	Clusters []Cluster
	Points   []Point
	Timing   Timing
}

// names are those of its points.
func (b Block) names() string {
	var out []string
	for _, p := range b.Points {
		out = append(out, strings.TrimSuffix(p.Cluster+" "+p.Ordering, " "))
	}
	return strings.Join(out, ", ")
}

// key names a block's file.
func (b Block) key(at int) string {
	p := b.Points[0]
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	name := fmt.Sprintf("%03d-k%d-r%s-l%d-h%s", at, p.Workers, short(p.ReadFraction), p.Likes, short(p.Hot))
	if len(b.Clusters) == 1 {
		name += "-" + p.Cluster
	}
	return name
}

// Plan is all that is to be measured.
type Plan struct {
	Name   string
	Blocks []Block
	Budget time.Duration // 0: no limit
	Alone  bool          // each block gets clusters of its own; else one that the next block needs stays up
}

// Slice is what one slice showed.
type Slice struct {
	Round     int     `json:"round"`
	Seconds   float64 `json:"duration_s"`
	OpsPerSec float64 `json:"ops_per_sec"`
	Ops       int64   `json:"ops"`
	Restarts  uint64  `json:"uncertainty_restarts"`
	// ServerCPU and ClientCPU are processor time for each operation, µs; 0: not known.
	ServerCPU float64 `json:"server_cpu_us_per_op,omitempty"`
	ClientCPU float64 `json:"clients_cpu_us_per_op,omitempty"`
	// Shares of this machine's processors: all that worked; other processes, the idle clusters among them; those alone.
	Busy   float64 `json:"machine_busy_share"`
	Others float64 `json:"others_busy_share"`
	Idle   float64 `json:"idle_clusters_busy_share"`
	// Latencies in µs, as the HdrHistogram libraries exchange them.
	ReadHistogram string `json:"read_histogram"`
	LikeHistogram string `json:"like_histogram"`
}

// Result is a measured point.
type Result struct {
	Point  Point      `json:"point"`
	Row    social.Row `json:"result"` // over all slices
	Paired bool       `json:"paired"` // the slices of its block's points took turns, so that those of a round can be compared
	Slices []Slice    `json:"slices"`
	Load   string     `json:"machine_load"` // of the machine, as it says, at the end
	At     time.Time  `json:"at"`
}
