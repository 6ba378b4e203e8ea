package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/longitude-db/longitude/internal/check"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// jobs is a queue: clients put jobs at its end, and workers take some from its head or its end, mostly those that nobody
// has locked. Who takes a job removes it and notes so in another range. And there are tickets: each goes to the first who
// inserts it, without looking. The transactions scan in small pages with limits, lay savepoints, and take back what they wrote.
//
//   - a job is taken once, and is either in the queue or taken
//   - who heard that a ticket is there, by whatever answer, finds it there afterwards; it is given out once
//   - nobody sees what was taken back, nor what he himself has removed
type jobs struct {
	ops     []*check.Op
	puts    []*jobOp // by job
	tickets []*ticketOp
	wrong   []check.Anomaly

	left, done map[int64]int64 // at the end: job by who has put it, and by the op that has taken it
	void       []string
}

type jobOp struct {
	check.Op
	taken []*takeOp
}

type takeOp struct {
	check.Op
	n int64
}

// ticketOp is somebody who inserts a ticket, or looks for one. saw: it is there.
type ticketOp struct {
	check.Op
	ticket      int
	insert, saw bool
}

func jobKey(n int64) kv.Key    { return dataKey('j', int(n)%2, fmt.Sprintf("job/%06d", n)) }
func doneKey(n int64) kv.Key   { return dataKey('j', 2, fmt.Sprintf("done/%06d", n)) }
func ticketKey(n int) kv.Key   { return dataKey('j', n%parts, fmt.Sprintf("ticket/%06d", n)) }
func voidKey(part int) kv.Key  { return dataKey('j', part, "void") }
func jobNumber(k kv.Key) int64 { return number([]byte(trimZeros(string(k[len(k)-6:])))) }

func trimZeros(s string) string {
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}

// queueSpan is one half of the queue: in one range, until that is split.
func queueSpan(half int) kv.Span {
	return kv.Span{Start: dataKey('j', half, "job/"), End: dataKey('j', half, "job0")}
}

func (j *jobs) Splits() []kv.Key { return splits('j') }

func (j *jobs) Setup(*Client) error { return nil }

func (j *jobs) Step(c *Client) {
	switch c.Rand.IntN(8) {
	case 0, 1, 2:
		j.put(c)
	case 3, 4, 5:
		j.take(c)
	case 6:
		j.ticket(c, true)
	default:
		j.ticket(c, false)
	}
}

// writeAndRollBack writes something and takes it back.
func writeAndRollBack(c *Client, t *txn.Txn, k kv.Key) {
	if c.Rand.IntN(2) == 0 {
		return
	}
	s := t.Savepoint()
	t.Put(k, []byte("never"))
	t.Put(voidKey(c.Rand.IntN(parts)), []byte("never"))
	t.RollbackTo(s)
}

func (j *jobs) put(c *Client) {
	p := &jobOp{}
	var n int64
	c.begin(&p.Op, func() string {
		n = int64(len(j.puts))
		j.puts, j.ops = append(j.puts, p), append(j.ops, &p.Op)
		return fmt.Sprintf("put job %d", n)
	})
	err := c.txn(false, func(_ context.Context, t *txn.Txn) error {
		writeAndRollBack(c, t, jobKey(n))
		return t.Insert(jobKey(n), digits(n))
	})
	c.end(&p.Op, err, func() string {
		if condition(err) {
			j.fault(check.FracturedRead, "%s: job %d is there already, and nobody has put it", &p.Op, n)
		}
		return ""
	})
}

func condition(err error) bool {
	var e *kv.Error
	return errors.As(err, &e) && e.Code == kv.ErrCondition
}

// fault notes an anomaly. The history's lock is held.
func (j *jobs) fault(k check.Kind, format string, args ...any) {
	if len(j.wrong) < 10 {
		j.wrong = append(j.wrong, check.Anomaly{Kind: k, Text: fmt.Sprintf(format, args...)})
	}
}

func (j *jobs) take(c *Client) {
	o := &takeOp{}
	c.begin(&o.Op, func() string {
		j.ops = append(j.ops, &o.Op)
		o.n = int64(len(j.ops))
		return "take jobs"
	})
	half, reverse, want := c.Rand.IntN(2), c.Rand.IntN(3) == 0, 1+c.Rand.IntN(4)
	lock := txn.Lock{Mode: kv.LockExclusive, Policy: kv.LockSkip}
	switch c.Rand.IntN(8) {
	case 0:
		lock = txn.Lock{}
	case 1:
		lock.Policy = kv.LockNoWait
	case 2:
		lock.Policy = kv.LockQueue
	}
	wait := time.Duration(0)
	if c.Rand.IntN(6) == 0 {
		wait = logUniform(c.Rand, time.Millisecond, time.Second)
	}
	var got []int64
	var odd string
	err := c.txn(false, func(ctx context.Context, t *txn.Txn) error {
		got, odd = nil, ""
		t.WaitAtMost(wait)
		sc := t.Scan(ctx, queueSpan(half), txn.ScanOptions{Limit: want, Reverse: reverse, Page: 1 + c.Rand.IntN(want), Lock: lock})
		for {
			rows, err := sc.Next(ctx)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				break
			}
			for _, r := range rows { // while the scan goes on
				n := jobNumber(r.Key)
				got = append(got, n)
				writeAndRollBack(c, t, doneKey(n))
				t.Delete(r.Key)
				if err := t.Insert(doneKey(n), digits(o.n)); err != nil {
					return err
				}
			}
		}
		if len(got) == 0 || c.Rand.IntN(2) == 0 {
			return nil
		}
		// What it has removed is gone, for itself at once; what it has noted is there. Here the writes lie over what is read.
		left, err := t.ScanMany(ctx, []kv.Span{queueSpan(half), {Start: doneKey(got[0]), End: append(doneKey(got[0]), 0)}})
		if err != nil {
			return err
		}
		again := t.Scan(ctx, queueSpan(half), txn.ScanOptions{Reverse: !reverse, Limit: 3, Page: 2})
		for {
			rows, err := again.Next(ctx)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				break
			}
			left[0] = append(left[0], rows...)
		}
		for _, r := range left[0] {
			if slices.Contains(got, jobNumber(r.Key)) {
				odd = fmt.Sprintf("job %d is there after its removal", jobNumber(r.Key))
			}
		}
		if len(left[1]) != 1 || number(left[1][0].Value) != o.n {
			odd = fmt.Sprintf("its own note about job %d is %v", got[0], left[1])
		}
		if odd != "" { // who has been aborted may miss what it has written, and must not tell (txn's Z7)
			if err := t.Release(ctx); err != nil {
				odd = ""
				return err
			}
		}
		return nil
	})
	c.end(&o.Op, err, func() string {
		if odd != "" {
			j.fault(check.FracturedRead, "%s: %s", &o.Op, odd)
		}
		if condition(err) {
			j.fault(check.LostUpdate, "%s finds %v in the queue, and one of them is noted as taken", &o.Op, got)
		}
		for _, n := range got {
			j.puts[n].taken = append(j.puts[n].taken, o)
		}
		return fmt.Sprintf(": %v", got)
	})
}

// ticket inserts one of the next tickets, or looks for it.
func (j *jobs) ticket(c *Client, insert bool) {
	o := &ticketOp{insert: insert}
	c.begin(&o.Op, func() string {
		o.ticket = len(j.tickets)/6 + c.Rand.IntN(4)
		j.tickets, j.ops = append(j.tickets, o), append(j.ops, &o.Op)
		return fmt.Sprintf("ticket %d, insert %v", o.ticket, insert)
	})
	var there bool
	err := c.txn(!insert, func(ctx context.Context, t *txn.Txn) error {
		if insert {
			return t.Insert(ticketKey(o.ticket), []byte(c.Name))
		}
		v, err := t.Get(ctx, ticketKey(o.ticket))
		there = len(v) > 0
		return err
	})
	c.end(&o.Op, err, func() string {
		o.saw = err == nil && (insert || there) || condition(err)
		return fmt.Sprintf(": there %v", o.saw)
	})
}

func (j *jobs) Final(c *Client) error {
	return c.txn(true, func(ctx context.Context, t *txn.Txn) error {
		rows, err := t.ScanMany(ctx, []kv.Span{queueSpan(0), queueSpan(1), {Start: dataKey('j', 2, "done/"), End: dataKey('j', 2, "done0")},
			kv.Point(voidKey(0)), kv.Point(voidKey(1)), kv.Point(voidKey(2))})
		if err != nil {
			return err
		}
		c.H.mu.Lock()
		defer c.H.mu.Unlock()
		j.left, j.done, j.void = map[int64]int64{}, map[int64]int64{}, nil
		for _, r := range append(rows[0], rows[1]...) {
			j.left[jobNumber(r.Key)] = number(r.Value)
		}
		for _, r := range rows[2] {
			j.done[jobNumber(r.Key)] = number(r.Value)
		}
		for _, rs := range rows[3:] {
			for _, r := range rs {
				j.void = append(j.void, r.Key.String())
			}
		}
		return nil
	})
}

func (j *jobs) Check() []check.Anomaly {
	for _, k := range j.void {
		j.fault(check.AbortedRead, "%s was taken back by whoever wrote it, and is there", k)
	}
	if j.left != nil {
		for n, p := range j.puts {
			j.checkJob(int64(n), p)
		}
	}
	j.checkTickets()
	return j.wrong
}

func (j *jobs) checkJob(n int64, p *jobOp) {
	_, left := j.left[n]
	by, done := j.done[n]
	var takers []*takeOp
	for _, o := range p.taken {
		if o.Outcome == check.OK {
			takers = append(takers, o)
		}
	}
	switch {
	case left && done:
		j.fault(check.FracturedRead, "job %d is in the queue, and noted as taken by op %d", n, by)
	case (left || done) && p.Outcome == check.Failed:
		j.fault(check.AbortedRead, "job %d is there, and %s failed", n, &p.Op)
	case !left && !done && p.Outcome == check.OK:
		j.fault(check.LostWrite, "job %d of %s is neither in the queue nor taken", n, &p.Op)
	}
	if len(takers) > 1 {
		j.fault(check.LostUpdate, "job %d was taken by %s and by %s", n, &takers[0].Op, &takers[1].Op)
	}
	for _, o := range takers {
		if !done || by != o.n {
			j.fault(check.LostWrite, "job %d was taken by %s, and is noted as taken by op %d (%v)", n, &o.Op, by, done)
		}
	}
	for _, o := range p.taken {
		if done && by == o.n && o.Outcome == check.Failed {
			j.fault(check.AbortedRead, "job %d is noted as taken by %s, which failed", n, &o.Op)
		}
	}
}

func (j *jobs) checkTickets() {
	by := map[int][]*ticketOp{}
	most := 0
	for _, o := range j.tickets {
		by[o.ticket] = append(by[o.ticket], o)
		most = max(most, o.ticket)
	}
	for n := range most + 1 {
		var first, owner *ticketOp // whose answer was the first to tell of it
		for _, o := range by[n] {
			if o.saw && o.Return > 0 && (first == nil || o.Return < first.Return) {
				first = o
			}
		}
		for _, o := range by[n] {
			if o.Outcome != check.OK || first == nil {
				continue
			}
			if !o.insert && !o.saw && first.Return < o.Invoke {
				j.fault(check.StaleRead, "ticket %d is not there for %s, which began after %s was told of it", n, &o.Op, &first.Op)
			}
			if o.insert && owner != nil {
				j.fault(check.LostUpdate, "ticket %d was given to %s and to %s", n, &owner.Op, &o.Op)
			}
			if o.insert {
				owner = o
				if first.Return < o.Invoke {
					j.fault(check.StaleRead, "ticket %d was given to %s, which began after %s was told that it is taken", n, &o.Op, &first.Op)
				}
			}
		}
	}
}

func (j *jobs) Ops() (n map[check.Outcome]int) {
	for _, o := range j.ops {
		n = count(n, o.Outcome)
	}
	return n
}
