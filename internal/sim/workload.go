package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/keys"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/route"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/txn"
)

// Workload is what clients do and how it is judged. One value serves one run and keeps its history, which Client.begin and
// Client.end guard.
type Workload interface {
	// Splits are the keys at which its data are cut into ranges before Setup.
	Splits() []kv.Key
	// Setup writes what must be there at first.
	Setup(c *Client) error
	// Step does one operation of a client and notes what became of it.
	Step(c *Client)
	// Final reads everything once more, after faults and clients have ended.
	Final(c *Client) error
	// Check returns the anomalies of the history.
	Check() []check.Anomaly
	// Ops counts operations by outcome.
	Ops() map[check.Outcome]int
}

// workloads is what a run draws from. To add one, add it here.
var workloads = []struct {
	name string
	make func() Workload
}{
	{"register", func() Workload { return newRegisters(6, 0) }},
	{"bank", func() Workload { return &bank{} }},
	{"order", func() Workload { return &order{} }},
	{"lists", func() Workload { return newMops(lists) }},
	{"rw-registers", func() Workload { return newMops(rwRegisters) }},
	{"write-skew", func() Workload { return newMops(writeSkew) }},
	{"long-fork", func() Workload { return newMops(longFork) }},
	{"causal", func() Workload { return newMops(causal) }},
	{"snapshots", func() Workload { return newMops(snapshots) }},
	{"ids", func() Workload { return &ids{} }},
	{"monotonic", func() Workload { return &monotonic{} }},
	{"social", func() Workload { return &social{} }},
	{"past", func() Workload { return &past{} }},
}

// laterWorkloads are drawn at the end, beside the others: known seeds stay what they are but for them.
var laterWorkloads = []struct {
	name string
	make func() Workload
}{
	{"jobs", func() Workload { return &jobs{} }},
	{"plans", func() Workload { return &plans{} }},
}

func workloadNames() (names []string) {
	for _, w := range workloads {
		names = append(names, w.name)
	}
	return names
}

func newWorkload(name string) Workload {
	for _, w := range workloads {
		if w.name == name {
			return w.make()
		}
	}
	for _, w := range laterWorkloads {
		if w.name == name {
			return w.make()
		}
	}
	if mk := forControls[name]; mk != nil {
		return mk()
	}
	if mk := fromOutside[name]; mk != nil {
		return mk()
	}
	panic("sim: no workload " + name)
}

// forControls are workloads that only negative controls use: they wait for one thing.
var forControls = map[string]func() Workload{
	"lately":      func() Workload { return &past{lately: true} },
	"local-reads": func() Workload { return newRegisters(6, 1) },
	"estate":      func() Workload { return newRegisters(300, 3) }, // so many keys that none is in another's way
	"paired-keys": func() Workload { return &monotonic{pairedKeys: true} },
}

// fromOutside are workloads of packages above this one, which link what this one must not.
var fromOutside = map[string]func() Workload{}

// Register makes a workload of another package known. It is called before any run.
func Register(name string, mk func() Workload) { fromOutside[name] = mk }

// History gives ranks to beginnings and ends of operations, and guards what workloads keep: on the event loop tasks take
// turns anyway, but the same workloads also run on goroutines.
type History struct {
	mu   sync.Mutex // never held while waiting
	rank int64
	// keeps: the operations and the time of each rank are kept, so that some can be excused (World.excuse).
	keeps bool
	ops   []*check.Op
	times []time.Duration
}

// next gives a rank to an operation of which it is the beginning or the end. The caller holds mu.
func (h *History) next(op *check.Op, now time.Duration) int64 {
	h.rank++
	if h.keeps {
		h.times = append(h.times, now)
		if op.Invoke == 0 {
			h.ops = append(h.ops, op)
		}
	}
	return h.rank
}

// Client is somebody who uses the database through one node. It ends with the node's process.
type Client struct {
	Name      string
	Machine   int // on which it runs
	Number    int // among the workload's clients there
	DB        *txn.DB
	RT        rt.Runtime
	Rand      *rand.Rand
	Orderings []txn.Ordering
	Locking   float64 // share of transactions that lock what they are going to write
	H         *History
	// Alive reports whether the process that the client is a part of still exists. What a client learns after its end
	// is not known to anybody.
	Alive func() bool
	// Time is that of the whole simulation; nil: RT's.
	Time func() time.Duration
	// Note tells the trace.
	Note func(format string, args ...any)

	// Node and Clock are the process's, for workloads that put more on top of it (package sqlsim).
	Node  *node.Node
	Clock *clock.Clock

	doing string        // for the report of what is pending; guarded by H
	since time.Duration // when that began
	state any           // the workload's own
}

// txn runs a transaction of one of the run's orderings.
func (c *Client) txn(readOnly bool, fn txn.Func) error {
	o := txn.Options{Ordering: c.Orderings[c.Rand.IntN(len(c.Orderings))], ReadOnly: readOnly, Name: c.Name}
	return c.DB.Run(context.Background(), o, fn)
}

// lock draws how a transaction locks what it reads in order to write it. hold is how long it keeps that before it goes on.
func (c *Client) lock() (l txn.Lock, hold time.Duration) {
	if c.Locking == 0 || c.Rand.Float64() >= c.Locking {
		return l, 0
	}
	l.Mode = kv.LockExclusive
	switch c.Rand.IntN(12) {
	case 0, 1:
		l.Mode = kv.LockShared
	case 2:
		l.Policy = kv.LockNoWait
	case 3:
		l.Policy = kv.LockSkip
	case 4:
		l.Wait = logUniform(c.Rand, 10*time.Millisecond, time.Second)
	}
	if c.Rand.IntN(8) == 0 {
		hold = logUniform(c.Rand, time.Millisecond, time.Second)
	}
	return l, hold
}

// get reads keys with such a lock. A transaction that finds them locked, and does not wait, gives up.
func (c *Client) get(ctx context.Context, t *txn.Txn, ks []kv.Key, l txn.Lock, hold time.Duration) ([][]byte, error) {
	vs, skipped, err := t.GetLocked(ctx, ks, l)
	if err != nil {
		return nil, err
	}
	for _, skip := range skipped {
		if skip {
			return nil, errGaveUp
		}
	}
	if hold > 0 {
		c.RT.Sleep(hold)
	}
	return vs, nil
}

func (c *Client) time() time.Duration {
	if c.Time == nil {
		return c.RT.Now()
	}
	return c.Time()
}

// begin notes the beginning of an operation; add puts it into the workload's history.
func (c *Client) begin(op *check.Op, add func() (what string)) {
	c.H.mu.Lock()
	defer c.H.mu.Unlock()
	op.Client, op.Invoke = c.Name, c.H.next(op, c.time())
	c.doing, c.since = add(), c.RT.Now()
}

// Begin is begin for workloads of other packages.
func (c *Client) Begin(op *check.Op, add func() (what string)) { c.begin(op, add) }

// End is end for workloads of other packages, which know what their errors say.
func (c *Client) End(op *check.Op, became check.Outcome, err error, fill func() string) {
	c.endAs(op, became, err, fill)
}

// end notes what became of it; fill adds what was learned and returns a text of that.
func (c *Client) end(op *check.Op, err error, fill func() string) {
	c.endAs(op, outcome(err), err, fill)
}

func (c *Client) endAs(op *check.Op, became check.Outcome, err error, fill func() string) {
	c.H.mu.Lock()
	defer c.H.mu.Unlock()
	if !c.Alive() {
		return
	}
	op.Outcome, op.Return = became, c.H.next(op, c.time())
	learned := fill()
	if err != nil {
		c.Note("%s [%d,%d] %s%s in %s: %s: %v", c.Name, op.Invoke, op.Return, c.doing, learned, c.RT.Now()-c.since, op.Outcome, err)
	} else {
		c.Note("%s [%d,%d] %s%s in %s", c.Name, op.Invoke, op.Return, c.doing, learned, c.RT.Now()-c.since)
	}
	c.doing = ""
}

// now says what the client is at.
func (c *Client) now(doing string) {
	c.H.mu.Lock()
	defer c.H.mu.Unlock()
	c.doing = doing
}

func (c *Client) busy() string {
	c.H.mu.Lock()
	defer c.H.mu.Unlock()
	if !c.Alive() {
		return ""
	}
	return c.doing
}

// errGaveUp is returned by a transaction's own body: it has no effect.
var errGaveUp = errors.New("the client gave up")

// outcome is what an error says about its operation. Only a plain refusal says that nothing happened.
func outcome(err error) check.Outcome {
	var e *kv.Error
	switch {
	case err == nil:
		return check.OK
	case errors.Is(err, errGaveUp):
		return check.Failed
	case !errors.As(err, &e) || e.Code == kv.ErrAmbiguous || e.Code == kv.ErrInternal:
		return check.Unknown
	}
	return check.Failed
}

// insist repeats an operation of setup or of the end until it succeeds.
func (c *Client) insist(limit time.Duration, what string, fn func() error) error {
	end := c.RT.Now() + limit
	for {
		c.now(what)
		err := fn()
		c.now("")
		if err == nil {
			return nil
		}
		if c.RT.Now() > end {
			return fmt.Errorf("%s: %s: %w", c.Name, what, err)
		}
		c.Note("%s again: %v", what, err)
		c.RT.Sleep(100 * time.Millisecond)
	}
}

func count(n map[check.Outcome]int, o check.Outcome) map[check.Outcome]int {
	if n == nil {
		n = map[check.Outcome]int{}
	}
	n[o]++
	return n
}

// dataKey is a key of a workload: its letter, the range that it is meant for, and a name.
func dataKey(letter byte, part int, name string) kv.Key {
	return append(append(kv.Key{}, keys.DataPrefix...), fmt.Sprintf("%c%d/%s", letter, part, name)...)
}

// parts is how many ranges each workload's data are cut into.
const parts = 3

func splits(letter byte) (ks []kv.Key) {
	for p := range parts {
		ks = append(ks, dataKey(letter, p, ""))
	}
	return ks
}

func dataSpan(letter byte) kv.Span {
	return kv.Span{Start: dataKey(letter, 0, ""), End: dataKey(letter, parts, "")}
}

func partSpan(letter byte, part int) kv.Span {
	return kv.Span{Start: dataKey(letter, part, ""), End: dataKey(letter, part+1, "")}
}

func number(v []byte) int64 {
	if len(v) == 0 {
		return 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("sim: the database returned %q for a number", v))
	}
	return n
}

func digits(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// cut splits a workload's ranges off, spreads their leases over the nodes, if any are given, and sets the workload up.
func (c *Client) cut(r *route.Router, l Workload, nodes []kv.NodeID) error {
	ctx := context.Background()
	for i, k := range l.Splits() {
		if err := c.insist(20*time.Second, fmt.Sprintf("split at %s", k), func() error { return r.Split(ctx, k) }); err != nil {
			return err
		}
		if len(nodes) == 0 {
			continue
		}
		to := nodes[i%len(nodes)]
		move := func() error { return r.TransferLease(ctx, k, to) }
		if err := c.insist(20*time.Second, fmt.Sprintf("lease of %s to n%d", k, to), move); err != nil {
			return err
		}
	}
	return c.insist(20*time.Second, "setup", func() error { return l.Setup(c) })
}
