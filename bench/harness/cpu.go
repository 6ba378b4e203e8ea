package harness

import (
	"context"
	"runtime"
	"strconv"
	"time"

	"github.com/longitude-db/longitude/bench/proc"
)

// Usage is what the processors of the clients' machine did while Ops operations ended. What is not known is negative.
type Usage struct {
	Ops     int64
	Server  time.Duration // the servers' processes
	Client  time.Duration // this process: the clients
	Machine proc.Busy     // all processes
	Idle    time.Duration // what of Server the servers would have used anyway
}

const unknown = -1

// takeUsage reads what has been used so far, when so many operations had ended. server may be nil.
func takeUsage(server func() (time.Duration, error), ended int64) Usage {
	u := Usage{Ops: ended, Server: unknown, Client: unknown}
	if server != nil {
		if d, err := server(); err == nil {
			u.Server = d
		}
	}
	if d, err := proc.Own(); err == nil {
		u.Client = d
	}
	if b, err := proc.Machine(); err == nil {
		u.Machine = b
	}
	return u
}

func (u Usage) sub(o Usage) Usage {
	out := Usage{Ops: u.Ops - o.Ops, Server: unknown, Client: unknown, Machine: u.Machine.Sub(o.Machine)}
	if u.Server >= 0 && o.Server >= 0 {
		out.Server = u.Server - o.Server
	}
	if u.Client >= 0 && o.Client >= 0 {
		out.Client = u.Client - o.Client
	}
	return out
}

// add is both together.
func (u Usage) add(o Usage) Usage {
	out := Usage{Ops: u.Ops + o.Ops, Server: unknown, Client: unknown, Idle: u.Idle + o.Idle,
		Machine: proc.Busy{Used: u.Machine.Used + o.Machine.Used, All: u.Machine.All + o.Machine.All}}
	if u.Server >= 0 && o.Server >= 0 {
		out.Server = u.Server + o.Server
	}
	if u.Client >= 0 && o.Client >= 0 {
		out.Client = u.Client + o.Client
	}
	return out
}

// CPUResult is what an operation cost in processor time, user and system, and what else the machine did meanwhile.
type CPUResult struct {
	ServerPerOp float64 `json:"server_us_per_op,omitempty"` // µs of all servers together, without IdlePerOp; 0: not known
	// IdlePerOp is what idle servers use in the time of an operation, µs, as far as that was measured.
	IdlePerOp   float64 `json:"server_idle_us_per_op,omitempty"`
	ClientPerOp float64 `json:"clients_us_per_op,omitempty"` // µs of this process
	// MachineBusy is the share of this machine's processors that worked, OthersBusy that of processes that are neither
	// servers nor clients: 0 to 1. OthersBusy is 0 where the servers' share is not known.
	MachineBusy float64 `json:"machine_busy_share"`
	OthersBusy  float64 `json:"others_busy_share"`
}

// setUsage fills in what can be known.
func (r *Result) setUsage(u Usage) {
	r.Used, r.CPU = u, nil
	if u.Client < 0 && u.Server < 0 {
		return
	}
	perOp := func(d time.Duration) float64 {
		if d < 0 || u.Ops == 0 {
			return 0
		}
		return float64(d.Nanoseconds()) / 1000 / float64(u.Ops)
	}
	c := &CPUResult{ServerPerOp: max(0, perOp(u.Server)-perOp(u.Idle)), IdlePerOp: perOp(u.Idle), ClientPerOp: perOp(u.Client), MachineBusy: u.Machine.Share()}
	if all := u.Machine.All.Seconds(); u.Server >= 0 && u.Client >= 0 && all > 0 {
		c.OthersBusy = max(0, c.MachineBusy-(u.Server+u.Client).Seconds()/all)
	}
	r.CPU = c
	if len(r.Classes) == 1 {
		r.Classes[0].ServerCPU = c.ServerPerOp
	}
}

// MeasureIdle finds out what the servers of targets use while nobody asks them anything, all at once. What they do after the
// loading, like compactions, should be over.
func MeasureIdle(ctx context.Context, length time.Duration, targets ...*Target) {
	before := map[*Target]time.Duration{}
	from := time.Now()
	for _, t := range targets {
		if t.CPU != nil {
			if d, err := t.CPU(); err == nil {
				before[t] = d
			}
		}
	}
	pause(ctx, length)
	for t, b := range before {
		if d, err := t.CPU(); err == nil {
			t.Idle = (d - b).Seconds() / time.Since(from).Seconds()
		}
	}
}

// cpuMeter follows the servers' processor time through a run.
type cpuMeter struct {
	from, to Usage
	last     time.Duration
	begun    bool
}

// second is the share of a second, or several with several processors, that the servers used since the last call.
func (m *cpuMeter) second(cpu func() (time.Duration, error), length float64) float64 {
	d, err := cpu()
	if err != nil {
		return 0
	}
	used := (d - m.last).Seconds() / length
	if !m.begun {
		used = 0 // what was used before the run
	}
	m.last, m.begun = d, true
	return used
}

// saturated is where processors are so busy that latencies are mostly queueing for them.
const saturated = 0.85

// sentence says it. separate: operations of different kinds ran one kind at a time, and no figure is of all of them.
func (c *CPUResult) sentence(separate bool) string {
	s := "clients used " + figure(c.ClientPerOp) + " µs of processor time an operation"
	if separate {
		s = "one kind at a time"
	} else if c.ServerPerOp > 0 {
		s = "servers used " + figure(c.ServerPerOp) + " µs of processor time an operation, clients " + figure(c.ClientPerOp) + " µs"
		if c.IdlePerOp > 0 {
			s += "; " + figure(c.IdlePerOp) + " µs that idle servers use meanwhile are not in it"
		}
	}
	s += "; " + percent(c.MachineBusy) + " of " + processors() + " busy"
	if c.ServerPerOp > 0 {
		s += ", " + percent(c.OthersBusy) + " with other work"
	}
	if c.MachineBusy > saturated {
		s += ": latencies are mostly queueing for a processor"
	}
	return s
}

func processors() string {
	if runtime.NumCPU() == 1 {
		return "one processor"
	}
	return strconv.Itoa(runtime.NumCPU()) + " processors"
}
