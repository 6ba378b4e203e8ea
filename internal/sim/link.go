package sim

import (
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
)

// conn names a connection: package rpc has one in each lane for each direction of dialling, which carries the messages and the
// calls of the machine that dialled, and the answers back.
type conn struct {
	from, to int // who dialled whom
	lane     kv.Lane
}

// links is what a Network has between each two machines beside their conditions.
type links struct {
	rate   float64       // bytes a second, in each direction and each lane; 0: no limit
	room   time.Duration // as much waits as the link carries in that time; what comes then is dropped
	one    bool          // everything is in one lane (a negative control)
	damage float64       // share of messages that arrive damaged
	rng    *rand.Rand    // for damage alone

	free map[pipe]time.Duration // when the last byte of what waits will have left
	// standing is what large transfers of a machine keep in its bulk queues, as the time that it takes to leave.
	standing map[int]time.Duration
	undials  map[conn]bool   // connections through which nothing passes, in the lane 0 for all lanes
	blocks   map[conn]*block // connections through which nothing bulk passes, in the lane 0
	epoch    map[conn]int    // how often each connection was reset
	calls    map[conn]map[uint64]func()
	lastID   uint64

	// Queued, Dropped and Damaged count messages: those that waited for others, found no room, and were damaged.
	Queued, Dropped, Damaged int
}

// pipe is one direction of one lane.
type pipe struct {
	from, to int
	lane     kv.Lane
}

func newLinks(cfg Config) links {
	return links{rate: cfg.Rate, room: cfg.Room, one: cfg.OneLane, rng: rand.New(rand.NewPCG(cfg.Seed, 0xdade)),
		free: map[pipe]time.Duration{}, standing: map[int]time.Duration{}, undials: map[conn]bool{}, blocks: map[conn]*block{}, epoch: map[conn]int{}, calls: map[conn]map[uint64]func(){}}
}

// frameBytes is what a message takes beyond its own bytes: frame, TCP and IP.
const frameBytes = 80

// laneOf is the lane of a message.
func (l *links) laneOf(m *kv.Message) kv.Lane {
	if l.one {
		return kv.Bulk
	}
	return kv.LaneOf(m)
}

// enqueue puts bytes into the queue of a direction and says how long they take to leave; false: there is no room. What must
// wait for room, as answers do, gets it.
func (l *links) enqueue(now time.Duration, p pipe, bytes int, must bool) (time.Duration, bool) {
	if l.rate == 0 {
		return 0, true
	}
	free := max(now, l.free[p])
	if p.lane == kv.Bulk {
		free = max(free, now+l.standing[p.from])
	}
	if free-now >= l.room && !must {
		l.Dropped++
		return 0, false
	}
	if free > now {
		l.Queued++
	}
	free += time.Duration(float64(bytes+frameBytes) / l.rate * float64(time.Second))
	l.free[p] = free
	return free - now, true
}

// clearQueues empties what a process that ended had still to send.
func (l *links) clearQueues(from int) {
	for p := range l.free {
		if p.from == from {
			delete(l.free, p)
		}
	}
}

// CutDial lets nothing through the connections that one machine dials to another: neither what is said on them nor what is
// answered. Those that the other dials are not concerned. So it is where a listener has run out of descriptors, or an address is
// wrong. MendDial undoes it.
func (l *links) CutDial(from, to int)  { l.undials[conn{from: from, to: to}] = true }
func (l *links) MendDial(from, to int) { delete(l.undials, conn{from: from, to: to}) }

// block is a path that lets small packets through and no large ones, or a connection that is stuck over and over. The machine
// that has dialled notices after a while, if it has something to say.
type block struct{ first, last time.Duration } // when something was lost in it; 0: nothing was

// Block lets nothing through the bulk connections that one machine dials to another, in either direction. Unblock undoes it.
func (l *links) Block(from, to int)   { l.blocks[conn{from: from, to: to}] = &block{} }
func (l *links) Unblock(from, to int) { delete(l.blocks, conn{from: from, to: to}) }

func (l *links) blocked(c conn) *block {
	if c.lane != kv.Bulk || l.one {
		return nil
	}
	return l.blocks[conn{from: c.from, to: c.to}]
}

// lose notes that something was lost.
func (b *block) lose(now time.Duration) {
	if b.first == 0 || now-b.last >= 2*connSilence {
		b.first = now
	}
	b.last = now
}

// reaches is what package rpc tells of it (N10).
func (l *links) reaches(now time.Duration, from, to int) bool {
	b := l.blocks[conn{from: from, to: to}]
	return b == nil || b.first == 0 || now-b.first < connSilence || now-b.last >= 2*connSilence
}

func (l *links) undialled(from, to int) bool { return l.undials[conn{from: from, to: to}] }

// await has fn called if the connection is reset, until the returned func is called.
func (l *links) await(c conn, fn func()) (forget func()) {
	if l.calls[c] == nil {
		l.calls[c] = map[uint64]func(){}
	}
	l.lastID++
	id := l.lastID
	l.calls[c][id] = fn
	return func() { delete(l.calls[c], id) }
}

// damaged draws whether a message arrives damaged.
func (l *links) damaged() bool {
	if l.damage == 0 || l.rng.Float64() >= l.damage {
		return false
	}
	l.Damaged++
	return true
}

// Connected reports whether two machines can say everything to each other: no cut is between them, whoever dials.
func (net *Network) Connected(a, b int) bool {
	return !net.cut[a][b] && !net.cut[b][a] && !net.undialled(a, b) && !net.undialled(b, a) &&
		net.blocked(conn{from: a, to: b}) == nil && net.blocked(conn{from: b, to: a}) == nil
}

// reset ends a connection on which something damaged arrived, as package rpc does (N8): what is on its way is lost, and calls fail.
func (net *Network) reset(c conn) {
	net.epoch[c]++
	net.w.Trace.Event(net.w.Loop.Now(), net.w.Machines[c.from].Name, "damaged: the %s connection to %s ends", c.lane, net.w.Machines[c.to].Name)
	for _, id := range sortedKeys(net.calls[c]) {
		net.calls[c][id]()
	}
}
