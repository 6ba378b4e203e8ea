package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what one measurement showed. Latencies are the clients', in ms.
type Result struct {
	Target   string  `json:"target"`
	Server   string  `json:"server_version"`
	Workload string  `json:"workload"`
	Nodes    int     `json:"nodes"`
	Workers  int     `json:"workers"`
	Loop     string  `json:"loop"` // closed, or open
	Rate     float64 `json:"rate,omitempty"`
	Seconds  float64 `json:"duration_s"`

	OpsPerSec float64       `json:"ops_per_sec"`
	Classes   []ClassResult `json:"classes"`
	// Separate: the classes ran one at a time (Phased). What is of all of them together is then of no interest.
	Separate bool `json:"classes_ran_separately,omitempty"`

	Retries    int64            `json:"retries"` // operations begun again because the server asked for it
	Errors     int64            `json:"errors"`  // operations that failed
	ErrorKinds map[string]int64 `json:"error_kinds,omitempty"`
	FirstError string           `json:"first_error,omitempty"`
	Unserved   int64            `json:"unserved,omitempty"` // due in an open loop, and never begun

	Txns *ServerResult `json:"transactions,omitempty"` // what nodes of ours counted
	CPU  *CPUResult    `json:"cpu,omitempty"`          // absent where it cannot be known

	Verified   bool     `json:"verified"`
	Violations []string `json:"violations,omitempty"`

	Series []Second `json:"series,omitempty"`

	// Counted is what the nodes counted, for sums over slices; Missing says why it is not known. Used is likewise what the
	// processors did.
	Counted Stats `json:"-"`
	Missing error `json:"-"`
	Used    Usage `json:"-"`
}

// ClassResult is what one kind of operations showed.
type ClassResult struct {
	Name      string  `json:"class"`
	Ops       int64   `json:"ops"` // due within the measurement and successful
	OpsPerSec float64 `json:"ops_per_sec"`
	Mean      float64 `json:"mean_ms"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
	P99       float64 `json:"p99_ms"`
	P999      float64 `json:"p999_ms"`
	Max       float64 `json:"max_ms"`
	// ServerCPU is the servers' processor time for each operation, µs; 0 where it is not known, as of a class that ran beside others.
	ServerCPU float64 `json:"server_cpu_us_per_op,omitempty"`

	hist *hdrhistogram.Histogram
}

// ServerResult is what nodes of ours counted during the measurement.
type ServerResult struct {
	Commits             uint64  `json:"commits"`
	UncertaintyRestarts uint64  `json:"uncertainty_restarts"`
	Refreshed           uint64  `json:"uncertainty_refreshed"`
	Retried             uint64  `json:"uncertainty_retried"`
	WaitNeeded          float64 `json:"commit_wait_needed_ms_mean"`
	WaitMean            float64 `json:"commit_wait_ms_mean"`
	WaitHidden          float64 `json:"commit_wait_hidden_share"`
}

// Second is one point of the time series: about a second of a run.
type Second struct {
	At      float64   `json:"at_s"` // its end, since the measurement began; negative in the warm-up
	Length  float64   `json:"length_s"`
	WarmUp  bool      `json:"warm_up,omitempty"`
	Ops     []float64 `json:"ops_per_sec"` // by class: ended within it, a second
	P50     []float64 `json:"p50_ms"`
	P99     []float64 `json:"p99_ms"`
	Errors  int64     `json:"errors"`  // since the measurement began
	Retries int64     `json:"retries"` // since the measurement began
	// ServerCPU is the servers' processor time, seconds a second; 0 where it is not known.
	ServerCPU float64 `json:"server_cpu,omitempty"`
}

// Total is the throughput of all classes.
func (s Second) Total() (sum float64) {
	for _, o := range s.Ops {
		sum += o
	}
	return sum
}

// Class finds what one kind of operations showed; zeros if there were none.
func (r *Result) Class(name string) ClassResult {
	for _, c := range r.Classes {
		if c.Name == name {
			return c
		}
	}
	return ClassResult{Name: name}
}

// Histogram holds the latencies, in µs; nil in a result that was not measured here.
func (c ClassResult) Histogram() *hdrhistogram.Histogram { return c.hist }

func ms(us float64) float64 { return us / 1000 }

// summarize fills the figures from the histogram.
func (c *ClassResult) summarize() {
	h := c.hist
	c.Ops, c.Mean, c.Max = h.TotalCount(), ms(h.Mean()), ms(float64(h.Max()))
	for p, to := range map[float64]*float64{50: &c.P50, 95: &c.P95, 99: &c.P99, 99.9: &c.P999} {
		*to = ms(float64(h.ValueAtPercentile(p)))
	}
}

// meter follows a run and makes its result.
type meter struct {
	t       *Target
	rec     *recorder
	live    func(Second)
	warmUp  time.Duration
	classes []string

	last          time.Time
	series        []Second
	before, after Stats
	statsErr      error
	cpu           cpuMeter
}

// tick ends one point of the series. At both ends of the measurement it also reads the nodes' counters.
func (m *meter) tick(ctx context.Context, now time.Time) {
	last := m.last
	if last.IsZero() {
		last = m.rec.win.from.Add(-m.warmUp)
	}
	if length := now.Sub(last).Seconds(); length > 0 {
		s := Second{At: now.Sub(m.rec.win.from).Seconds(), Length: length, WarmUp: !now.After(m.rec.win.from),
			Errors: m.rec.note.errors.Load(), Retries: m.rec.note.retries.Load()}
		for _, h := range m.rec.takeTick() {
			s.Ops = append(s.Ops, float64(h.TotalCount())/length)
			s.P50 = append(s.P50, ms(float64(h.ValueAtPercentile(50))))
			s.P99 = append(s.P99, ms(float64(h.ValueAtPercentile(99))))
		}
		if m.t.CPU != nil {
			s.ServerCPU = m.cpu.second(m.t.CPU, length)
		}
		m.series = append(m.series, s)
		m.live(s)
	}
	m.last = now
	// Asking for counters costs the servers something, so it is done outside of what their processor time is measured over.
	switch {
	case now.Equal(m.rec.win.from):
		m.before = m.stats(ctx)
		m.cpu.from = takeUsage(m.t.CPU, m.rec.ended.Load())
	case now.Equal(m.rec.win.to):
		m.cpu.to = takeUsage(m.t.CPU, m.rec.ended.Load())
		m.after = m.stats(ctx)
	}
}

func (m *meter) stats(ctx context.Context) (s Stats) {
	if m.t.Stats != nil && m.statsErr == nil {
		s, m.statsErr = m.t.Stats(ctx)
	}
	return s
}

func (m *meter) result(w Workload, l Load) *Result {
	r := &Result{
		Target: m.t.Name, Server: m.t.Version, Workload: w.Name(), Nodes: len(m.t.Nodes), Workers: l.Workers, Loop: "closed", Rate: l.Rate,
		Seconds: l.Duration.Seconds(), Series: m.series, Missing: m.statsErr,
		Retries: m.rec.note.retries.Load(), Errors: m.rec.note.errors.Load(), ErrorKinds: m.rec.note.kinds, Unserved: m.rec.note.unserved.Load(),
	}
	if l.Rate > 0 {
		r.Loop = "open"
	}
	if m.rec.note.first != nil {
		r.FirstError = m.rec.note.first.Error()
	}
	hists, done := m.rec.totals()
	for i, name := range w.Classes() {
		c := ClassResult{Name: name, OpsPerSec: float64(done[i]) / r.Seconds, hist: hists[i]}
		c.summarize()
		r.OpsPerSec += c.OpsPerSec
		r.Classes = append(r.Classes, c)
	}
	if m.t.Stats != nil && m.statsErr == nil {
		r.setServer(m.after.Sub(m.before))
	}
	u := m.cpu.to.sub(m.cpu.from)
	u.Idle = time.Duration(m.t.Idle * float64(l.Duration))
	r.setUsage(u)
	return r
}

func (r *Result) setServer(s Stats) {
	r.Counted = s
	inMS := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	r.Txns = &ServerResult{Commits: s.Commits, UncertaintyRestarts: s.Restarts(), Refreshed: s.Refreshed, Retried: s.Retried,
		WaitNeeded: inMS(s.NeededMean()), WaitMean: inMS(s.WaitMean()), WaitHidden: s.Hidden()}
}

// Fault says what is wrong with a result as evidence, "" if nothing is.
func (r *Result) Fault() string {
	switch {
	case len(r.Violations) > 0:
		return fmt.Sprintf("the data of %s on %s are wrong: %s", r.Workload, r.Target, r.Violations[0])
	case !r.Verified:
		return fmt.Sprintf("the data of %s on %s were not verified", r.Workload, r.Target)
	}
	return ""
}
