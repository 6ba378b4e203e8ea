package lock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// model is the same table, written for being obviously right: two lists, searched from end to end for everything.
type model struct {
	o       Options
	holds   []mHold
	waits   []mWait
	touched map[string]time.Duration
	changed map[string]time.Duration // per key: when it last changed hands
	last    Ticket
	events  []string
	// order is in which order an owner's keys are given back, where there is room for fewer locks than are waited for. It is
	// the table's own affair, and taken from there.
	order func(who string) []string
}

type mHold struct {
	who, key string
	mode     kv.LockMode
	passing  bool
}

type mWait struct {
	mHold
	ticket Ticket
	since  time.Duration
}

func (m *model) held(who, key string) kv.LockMode {
	for _, h := range m.holds {
		if h.who == who && h.key == key {
			return h.mode
		}
	}
	return kv.NoLock
}

func (m *model) waitsAnywhere(who string) bool {
	return slices.ContainsFunc(m.waits, func(w mWait) bool { return w.who == who })
}

// rank orders a queue: raisers of shared locks, then by age, then by arrival. Names sort by age.
func (m *model) rank(w mWait) string {
	front := "1"
	if m.held(w.who, w.key) != kv.NoLock {
		front = "0"
	}
	return fmt.Sprintf("%s/%s/%012d", front, w.who, w.ticket)
}

func (m *model) queue(key string) (q []mWait) {
	for _, w := range m.waits {
		if w.key == key {
			q = append(q, w)
		}
	}
	slices.SortFunc(q, func(a, b mWait) int {
		if m.rank(a) < m.rank(b) {
			return -1
		}
		return 1
	})
	return q
}

func (m *model) inTheWay(h mHold) (out []mHold) {
	for _, o := range m.holds {
		if o.key == h.key && o.who != h.who && (o.mode == kv.LockExclusive || h.mode == kv.LockExclusive) {
			out = append(out, o)
		}
	}
	return out
}

func (m *model) grant(now time.Duration, h mHold) {
	m.changed[h.key] = now
	m.touched[h.who] = max(m.touched[h.who], now)
	for i := range m.holds {
		if m.holds[i].who == h.who && m.holds[i].key == h.key {
			m.holds[i].mode = max(m.holds[i].mode, h.mode)
			m.holds[i].passing = m.holds[i].passing && h.passing
			return
		}
	}
	m.holds = append(m.holds, h)
}

// full reports whether a lock would be one too many.
func (m *model) full(h mHold) bool {
	own := 0
	for _, o := range m.holds {
		if o.who == h.who {
			own++
		}
	}
	return m.held(h.who, h.key) == kv.NoLock && (own >= m.o.MaxPerOwner || len(m.holds) >= m.o.MaxLocks)
}

func (m *model) let(now time.Duration, w mWait) {
	if m.full(w.mHold) {
		m.unwait(w.ticket, "unlocked")
		return
	}
	m.unwait(w.ticket, "granted")
	m.grant(now, w.mHold)
}

func (m *model) unwait(t Ticket, why string) {
	m.waits = slices.DeleteFunc(m.waits, func(w mWait) bool { return w.ticket == t })
	if why != "" {
		m.events = append(m.events, fmt.Sprint(t, " ", why))
	}
}

func (m *model) admit(now time.Duration, key string) {
	for {
		q := m.queue(key)
		if len(q) == 0 || len(m.inTheWay(q[0].mHold)) > 0 {
			return
		}
		m.let(now, q[0])
	}
}

func (m *model) lose(now time.Duration, who, key string) {
	m.holds = slices.DeleteFunc(m.holds, func(h mHold) bool { return h.who == who && h.key == key })
	m.changed[key] = now
}

func (m *model) end(now time.Duration, who string) {
	waited := slices.Clone(m.waits)
	waited = slices.DeleteFunc(waited, func(w mWait) bool { return w.who != who })
	for _, w := range waited {
		m.unwait(w.ticket, "ended")
	}
	for _, w := range waited {
		m.admit(now, w.key)
	}
	for _, key := range m.order(who) {
		if m.held(who, key) == kv.NoLock {
			panic(who + " does not hold " + key)
		}
		m.lose(now, who, key)
		m.admit(now, key)
	}
	if slices.ContainsFunc(m.holds, func(h mHold) bool { return h.who == who }) {
		panic(who + " holds more than the table knows")
	}
}

func (m *model) expire(now time.Duration, key string) {
	for _, h := range slices.Clone(m.holds) {
		if h.key == key && !m.waitsAnywhere(h.who) && now-m.touched[h.who] > m.o.Expiry && m.held(h.who, key) != kv.NoLock {
			m.end(now, h.who)
		}
	}
}

func (m *model) acquire(now time.Duration, h mHold, noWait, claim bool) Result {
	if len(m.onKey(h.key)) == 0 && h.passing && !claim {
		return Granted
	}
	if m.held(h.who, h.key) < h.mode {
		m.touched[h.who] = now
		m.expire(now, h.key)
	}
	if m.held(h.who, h.key) >= h.mode {
		m.touched[h.who] = now
		m.grantQuietly(h)
		return Granted
	}
	w := mWait{h, m.last + 1, now}
	free := len(m.inTheWay(h)) == 0
	for _, v := range m.queue(h.key) {
		if m.rank(v) < m.rank(w) && v.who != h.who && (v.mode == kv.LockExclusive || h.mode == kv.LockExclusive) {
			free = false
		}
	}
	switch {
	case free && m.full(h):
		return Unlocked
	case free:
		m.grant(now, h)
		return Granted
	case noWait:
		return Busy
	}
	m.last++
	m.waits = append(m.waits, w)
	return Waiting
}

// grantQuietly notes that a lock that is held is wanted for more than passing.
func (m *model) grantQuietly(h mHold) {
	for i := range m.holds {
		if m.holds[i].who == h.who && m.holds[i].key == h.key {
			m.holds[i].passing = m.holds[i].passing && h.passing
		}
	}
}

func (m *model) onKey(key string) (out []mHold) {
	for _, h := range m.holds {
		if h.key == key {
			out = append(out, h)
		}
	}
	return out
}

func (m *model) retry(now time.Duration, t Ticket) {
	at := slices.IndexFunc(m.waits, func(w mWait) bool { return w.ticket == t })
	if at < 0 {
		return
	}
	key := m.waits[at].key
	m.expire(now, key)
	if !slices.ContainsFunc(m.waits, func(w mWait) bool { return w.ticket == t }) {
		return
	}
	seen := map[byte]bool{}
	for _, w := range m.queue(key) {
		kind := m.rank(w)[0]
		present := slices.ContainsFunc(m.waits, func(x mWait) bool { return x.ticket == w.ticket })
		if seen[kind] {
			continue
		}
		seen[kind] = true
		in := m.inTheWay(w.mHold)
		may, stuck := present, len(in) > 0
		for _, h := range in {
			may = may && w.who < h.who
			stuck = stuck && m.waitsAnywhere(h.who)
		}
		for _, v := range m.queue(key) {
			if m.rank(v) < m.rank(w) && v.who < w.who && (v.mode == kv.LockExclusive || w.mode == kv.LockExclusive) {
				may = false
			}
		}
		if may && (stuck || now-max(w.since, m.changed[key]) >= m.o.Patience) {
			for _, h := range in {
				m.lose(now, h.who, key)
			}
			m.let(now, w)
			m.admit(now, key)
		}
	}
}

func (m *model) state() []string {
	var out []string
	for _, h := range m.holds {
		out = append(out, fmt.Sprint(h.key, h.who, h.mode, h.passing))
	}
	for _, w := range m.waits {
		out = append(out, fmt.Sprint(w.key, " waits ", w.who, w.mode, w.ticket))
	}
	slices.Sort(out)
	return out
}

func (t *Table) state() []string {
	var out []string
	for k, q := range t.queues {
		for _, h := range q.holders {
			out = append(out, fmt.Sprint(k, nameOf(h.o), h.mode, h.passing))
		}
		for _, w := range q.waiters {
			out = append(out, fmt.Sprint(k, " waits ", nameOf(w.o), w.mode, w.ticket))
		}
	}
	slices.Sort(out)
	return out
}

// givenBack lists what each owner holds, in the order in which its end gives it back.
func (t *Table) givenBack() map[string][]string {
	out := map[string][]string{}
	for _, o := range t.owners {
		for _, h := range slices.Backward(o.held) {
			out[nameOf(o)] = append(out[nameOf(o)], h.q.key)
		}
	}
	return out
}

func nameOf(o *owner) string { return fmt.Sprintf("t%d", o.Start.Wall) }

// TestRandomOperations compares the table with the model after each of many random operations.
func TestRandomOperations(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		o := Options{}
		if seed%2 == 1 {
			o.MaxLocks, o.MaxPerOwner = 2+r.IntN(4), 1+r.IntN(3)
		}
		tab := New(o)
		o.fill()
		tab.swept = 1 << 60 // sweeping all that has expired has a test of its own
		m := &model{o: o, touched: map[string]time.Duration{}, changed: map[string]time.Duration{}}
		now := time.Duration(0)
		var done []string
		for step := range 300 {
			before := tab.givenBack()
			m.order = func(who string) []string { return before[who] }
			now += time.Duration(r.IntN(60)) * time.Millisecond
			if r.IntN(60) == 0 {
				now += 6 * time.Second
			}
			who := fmt.Sprintf("t%d", 1+r.IntN(6))
			key := string(rune('a' + r.IntN(3)))
			var got, want Result
			what := ""
			switch r.IntN(10) {
			case 0, 1, 2, 3, 4:
				h := mHold{who: who, key: key, mode: kv.LockMode(1 + r.IntN(2)), passing: r.IntN(4) == 0}
				if h.passing {
					h.mode = kv.LockExclusive
				}
				noWait := r.IntN(5) == 0
				claim := r.IntN(3) == 0
				what = fmt.Sprint("acquire ", h, noWait, claim)
				got, _ = tab.Acquire(now, Request{Owner: whoIs(who), Key: kv.Key(key), Mode: h.mode, Passing: h.passing, NoWait: noWait, Claim: claim})
				want = m.acquire(now, h, noWait, claim)
			case 5:
				what = "end " + who
				tab.Release(now, whoIs(who).ID)
				m.end(now, who)
			case 6:
				what = "touch " + who
				tab.Touch(now, whoIs(who).ID)
				if slices.ContainsFunc(m.holds, func(h mHold) bool { return h.who == who }) || m.waitsAnywhere(who) {
					m.touched[who] = now
				}
			case 7, 8:
				tick := Ticket(1 + r.IntN(int(tab.last)+1))
				what = fmt.Sprint("retry ", tick)
				tab.Retry(now, tick)
				m.retry(now, tick)
			case 9:
				if r.IntN(2) == 0 {
					what = "drop " + who + key
					tab.Drop(now, whoIs(who).ID, kv.Key(key))
					if slices.ContainsFunc(m.holds, func(h mHold) bool { return h.who == who && h.key == key && h.passing }) {
						m.lose(now, who, key)
						m.admit(now, key)
					}
				} else if w := tab.inOrder(); len(w) > 0 {
					w := w[r.IntN(len(w))]
					what = fmt.Sprint("cancel ", w.ticket)
					tab.Cancel(now, w.ticket)
					m.unwait(w.ticket, "")
					m.admit(now, w.q.key)
				}
			}
			var events []string
			for _, e := range tab.Take() {
				events = append(events, fmt.Sprint(uint64(e.Ticket), " ", e.Result))
			}
			slices.Sort(events) // those of several keys come in an order of their own
			slices.Sort(m.events)
			done = append(done, fmt.Sprint(now, " ", what))
			if err := tab.checkInvariants(); err != nil {
				t.Fatalf("seed %d, step %d: %v after\n%v", seed, step, err, done)
			}
			if got != want || !slices.Equal(events, m.events) || !slices.Equal(tab.state(), m.state()) {
				t.Fatalf("seed %d, step %d %s: %s %v %v, the model says %s %v %v\nbefore: %v", seed, step, what, got, events, tab.state(), want, m.events, m.state(), done)
			}
			m.events = nil
		}
	}
}

func whoIs(name string) kv.LockOwner { return who(name) }

// TestNobodyWaitsForEver lets transactions lock keys of two ranges in random order, each for long, and requires that all of
// them come through: no deadlock, no starvation.
func TestNobodyWaitsForEver(t *testing.T) {
	type transaction struct {
		who    kv.LockOwner
		wants  []int // keys; the range is key % 2
		got    int
		ticket Ticket
		in     int
	}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 8))
		tabs := []*Table{New(Options{}), New(Options{})}
		var live []*transaction
		begun, now := 0, time.Duration(0)
		for step := 0; begun < 60 || len(live) > 0; step++ {
			if step > 20_000 {
				t.Fatalf("seed %d: %d transactions wait for ever", seed, len(live))
			}
			now += time.Duration(1+r.IntN(10)) * time.Millisecond
			if begun < 60 && len(live) < 8 {
				begun++
				x := &transaction{who: who(fmt.Sprintf("t%d", begun))}
				for range 2 + r.IntN(3) {
					x.wants = append(x.wants, r.IntN(5))
				}
				live = append(live, x)
			}
			x := live[r.IntN(len(live))]
			tab := tabs[x.in]
			switch {
			case x.ticket != 0:
				tab.Retry(now, x.ticket)
			case x.got == len(x.wants):
				for _, tab := range tabs {
					tab.Release(now, x.who.ID)
				}
				live = slices.DeleteFunc(live, func(y *transaction) bool { return x == y })
			default:
				k := x.wants[x.got]
				x.in = k % 2
				mode := kv.LockMode(1 + r.IntN(2))
				res, ticket := tabs[x.in].Acquire(now, Request{Owner: x.who, Key: kv.Key(fmt.Sprint(k)), Mode: mode})
				if x.ticket = ticket; res == Granted {
					x.got++
				}
			}
			for in, tab := range tabs {
				for _, y := range live {
					tab.Touch(now, y.who.ID)
				}
				for _, e := range tab.Take() {
					for _, y := range live {
						if y.in == in && y.ticket == e.Ticket {
							y.ticket = 0
							y.got++
						}
					}
				}
				if err := tab.checkInvariants(); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
			}
		}
	}
}
