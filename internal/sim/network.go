package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt"
)

// LinkConditions is how a link behaves.
type LinkConditions struct {
	Base   time.Duration // each message takes at least this
	Jitter time.Duration // and up to this much longer; messages overtake each other
	SpikeP float64       // share of messages that take up to Spike longer
	Spike  time.Duration
	Loss   float64 // share of messages that never arrive, calls and answers included
	Dup    float64 // share of one-way messages that arrive twice
	// DupCalls is the share of calls whose request is executed twice, the second time up to DupLate later: what a network
	// that repeats does, or a caller below that gave up too early. The second answer is lost.
	DupCalls float64
	DupLate  time.Duration
}

// Network carries messages between machines. Invariant: a message is bytes on the way (V2).
type Network struct {
	w          *World
	rng        *rand.Rand
	newsRng    *rand.Rand // for news of connections, so that they do not change what happens to messages
	conditions LinkConditions
	// cut[from][to]: nothing passes. worse[from][to]: the conditions there, if not the general ones.
	cut   [][]bool
	worse [][]*LinkConditions
	links
	// Sent, Lost and Bytes count messages.
	Sent, Lost, Bytes int
}

func newNetwork(w *World, n int, conditions LinkConditions, rng *rand.Rand) *Network {
	net := &Network{w: w, rng: rng, newsRng: rand.New(rand.NewPCG(w.Config.Seed, 0x1057)), links: newLinks(w.Config), conditions: conditions, cut: make([][]bool, n), worse: make([][]*LinkConditions, n)}
	for i := range n {
		net.cut[i], net.worse[i] = make([]bool, n), make([]*LinkConditions, n)
	}
	return net
}

// Cut stops messages in one direction between two machines, Mend lets them pass again.
func (net *Network) Cut(from, to int)  { net.cut[from][to] = true }
func (net *Network) Mend(from, to int) { net.cut[from][to] = false }

// MendAll ends all partitions and local bad link conditions.
func (net *Network) MendAll() {
	for i := range net.cut {
		clear(net.cut[i])
		clear(net.worse[i])
	}
	clear(net.undials)
	clear(net.blocks)
	clear(net.standing)
}

// delay draws how long a message takes; false if it is lost.
func (net *Network) delay(from, to int) (time.Duration, bool) {
	return net.delayFrom(net.rng, from, to)
}

func (net *Network) delayFrom(rng *rand.Rand, from, to int) (time.Duration, bool) {
	wt := &net.conditions
	if net.worse[from][to] != nil {
		wt = net.worse[from][to]
	}
	d := wt.Base
	if from == 0 || to == 0 {
		d += net.w.Config.Far
	}
	if wt.Jitter > 0 {
		d += time.Duration(rng.Int64N(int64(wt.Jitter)))
	}
	if wt.SpikeP > 0 && rng.Float64() < wt.SpikeP {
		d += time.Duration(rng.Int64N(int64(wt.Spike)))
	}
	lost := wt.Loss > 0 && rng.Float64() < wt.Loss
	return d, !lost && !net.cut[from][to]
}

// carry takes an encoded message from one machine to another, on a connection that one of them has dialled. It is decoded there,
// at the end of its way. False: the queue of the sender is full.
func (net *Network) carry(c conn, from, to *Machine, data []byte, arrive func(*kv.Message)) bool {
	if from.dying() {
		return true
	}
	net.Sent++
	net.Bytes += len(data)
	now := net.w.Loop.Now()
	d, ok := net.delay(from.Index, to.Index)
	wait, room := net.enqueue(now, pipe{from.Index, to.Index, c.lane}, len(data), from.Index == c.to)
	if !room || !ok || net.undialled(c.from, c.to) {
		net.Lost++
		return room
	}
	if b := net.blocked(c); b != nil {
		net.Lost++
		b.lose(now)
		return true
	}
	epoch, damaged := net.epoch[c], net.damaged()
	net.w.Loop.At(now+wait+d, func() {
		cut := net.cut[from.Index][to.Index] || net.undialled(c.from, c.to) || net.blocked(c) != nil
		unsent := wait > 0 && from.ended >= now && from.ended < now+wait
		if cut || unsent || !to.Up() || net.epoch[c] != epoch {
			net.Lost++
			return
		}
		if damaged {
			net.reset(c)
			return
		}
		m := new(kv.Message)
		if _, err := m.UnmarshalMsg(data); err != nil {
			panic(fmt.Sprintf("sim: a message from %s cannot be decoded: %v", from.Name, err))
		}
		net.w.Trace.Message(net.w.Loop.Now(), to.Name, from.Name, kindOf(m), len(data))
		arrive(m)
	})
	return true
}

// transport is one machine's view of the network, for one of its lives.
type transport struct {
	m    *Machine
	life int
}

var _ kv.Transport = transport{}

var (
	errNoRoute = errors.New("no such node")
	errReset   = errors.New("connection reset")
	errFull    = errors.New("the queue to it is full")
)

// stamp encodes a message as its sender sends it now.
func (t transport) stamp(m *kv.Message, to kv.NodeID) []byte {
	c := *m
	c.From, c.To, c.Cluster = t.m.ID, to, t.m.cluster()
	c.Earliest, c.Latest = 0, 0
	if iv, err := t.m.Clock.Now(); err == nil {
		c.Earliest, c.Latest = iv.Earliest, iv.Latest
	}
	data, err := c.MarshalMsg(nil)
	if err != nil {
		panic(fmt.Sprintf("sim: a message of %s cannot be encoded: %v", t.m.Name, err))
	}
	return data
}

// observe shows the receiver's clock the sender's reading.
func observe(m *Machine, msg *kv.Message) {
	if msg.Latest != 0 && msg.From != 0 {
		m.Clock.Observe(uint32(msg.From), msg.Earliest, msg.Latest)
		m.w.watchFence(m)
	}
}

// Send implements kv.Transport.
func (t transport) Send(to kv.NodeID, m *kv.Message) {
	peer := t.m.w.byID(to)
	if peer == nil || t.stale() {
		return
	}
	net := t.m.w.Net
	if !peer.Up() {
		net.refuse(t.m, peer)
	}
	data := t.stamp(m, to)
	copies := 1
	if net.conditions.Dup > 0 && net.rng.Float64() < net.conditions.Dup {
		copies = 2
	}
	c := conn{t.m.Index, peer.Index, net.laneOf(m)}
	for range copies {
		net.carry(c, t.m, peer, data, func(msg *kv.Message) {
			peer.RT.Go(recvTask[kindOf(msg)], func() {
				observe(peer, msg)
				peer.handle(msg)
			})
		})
	}
}

// Call implements kv.Transport.
func (t transport) Call(to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	peer := t.m.w.byID(to)
	if peer == nil {
		return nil, fmt.Errorf("node %d: %w", to, errNoRoute)
	}
	return t.callMachine(peer, to, m, limit)
}

func (t transport) callMachine(peer *Machine, to kv.NodeID, m *kv.Message, limit time.Duration) (*kv.Message, error) {
	net := t.m.w.Net
	answer := rt.NewFuture[*kv.Message](t.m.RT)
	me, life := t.m, t.life
	reset := func() { answer.Set(nil, fmt.Errorf("call to %s: %w", peer.Name, errReset)) }
	if !peer.Up() && t.m.w.Config.Resets {
		// A machine that is there without the process refuses at once.
		d, ok := net.delay(me.Index, peer.Index)
		if ok {
			t.m.RT.After(2*d, reset)
		}
	}
	data := t.stamp(m, to)
	c := conn{me.Index, peer.Index, net.laneOf(m)}
	if net.conditions.DupCalls > 0 && net.rng.Float64() < net.conditions.DupCalls {
		late := time.Duration(net.rng.Int64N(int64(net.conditions.DupLate)))
		net.w.Loop.At(net.w.Loop.Now()+late, func() {
			net.carry(c, me, peer, data, func(msg *kv.Message) {
				peer.RT.Go("serve again "+kindOf(msg), func() {
					observe(peer, msg)
					peer.handle(msg)
				})
			})
		})
	}
	sent := net.carry(c, me, peer, data, func(msg *kv.Message) {
		peerLife := peer.life
		peer.RT.Go(serveTask[kindOf(msg)], func() {
			observe(peer, msg)
			reply := peer.handle(msg)
			if reply == nil {
				return // refused: the caller runs into its limit
			}
			data := transport{peer, peerLife}.stamp(reply, me.ID)
			net.carry(c, peer, me, data, func(msg *kv.Message) {
				if me.life != life {
					return // the answer to a process that is gone
				}
				me.RT.Go("answer", func() {
					observe(me, msg)
					answer.Set(msg, nil)
				})
			})
		})
	})
	if !sent {
		return nil, fmt.Errorf("call to %s: %w", peer.Name, errFull)
	}
	if net.damage > 0 {
		defer net.await(c, reset)()
	}
	lost := func() bool { return net.undialled(c.from, c.to) || net.blocked(c) != nil }
	if lost() {
		defer me.RT.After(connSilence, func() {
			if lost() {
				reset()
			}
		})()
	}
	if t.m.w.Config.Resets {
		forget := peer.awaitDeath(func() {
			if d, ok := net.delay(peer.Index, me.Index); ok {
				net.w.Loop.At(net.w.Loop.Now()+d, reset)
			}
		})
		defer forget()
	}
	msg, err := answer.Get(limit)
	if err != nil {
		return nil, fmt.Errorf("call to %s: %w", peer.Name, err)
	}
	return msg, nil
}

// connSilence is after how long package rpc gives up a connection on which it hears nothing (N9).
const connSilence = 3 * time.Second

// refuseAfter is how often a node tries to connect to a machine where its peer's process is not running (package rpc: at
// most that long between two tries).
const refuseAfter = time.Second

// breakConnections tells the others that a process has ended while its machine goes on: their connections with it break, as
// far as that news can reach them (N6 of package rpc). What ends in an orderly way says so, and breaks nothing.
func (net *Network) breakConnections(m *Machine) {
	if !net.w.Config.Resets || m.ID == 0 {
		return
	}
	for _, o := range net.w.Machines {
		if o != m && o.Up() && o.ID != 0 {
			if d, ok := net.delayFrom(net.newsRng, m.Index, o.Index); ok && !(net.undialled(m.Index, o.Index) && net.undialled(o.Index, m.Index)) {
				net.tellLost(o, m, d)
			}
		}
	}
}

// refuse tells a machine that has sent something to one whose process is not running that it was refused.
func (net *Network) refuse(from, to *Machine) {
	if !net.w.Config.Resets || to.off || from.lost == nil || net.cut[to.Index][from.Index] || net.undialled(from.Index, to.Index) {
		return
	}
	now := net.w.Loop.Now()
	if last, ok := from.refused[to.Index]; ok && now-last < refuseAfter {
		return
	}
	d, there := net.delayFrom(net.newsRng, from.Index, to.Index)
	back, ok := net.delayFrom(net.newsRng, to.Index, from.Index)
	if there && ok {
		from.refused[to.Index] = now
		net.tellLost(from, to, d+back)
	}
}

// tellLost tells a machine's process after a delay that another one's has ended.
func (net *Network) tellLost(m, gone *Machine, d time.Duration) {
	life := m.life
	net.w.Loop.At(net.w.Loop.Now()+d, func() {
		if m.life != life || m.lost == nil || net.cut[gone.Index][m.Index] {
			return
		}
		lost := m.lost
		net.w.Trace.Event(net.w.Loop.Now(), m.Name, "lost %s", gone.Name)
		m.RT.Go("lost", func() { lost(gone.ID) })
	})
}

// stale reports whether this view is of a process that has ended.
func (t transport) stale() bool { return t.m.life != t.life }

// recvTask and serveTask name the tasks that handle messages, by kind: made once, not for each message.
var recvTask, serveTask = taskNames("recv "), taskNames("serve ")

func taskNames(what string) map[string]string {
	names := map[string]string{}
	for _, kind := range []string{"batch", "reply", "raft", "live", "closed", "snapshot", "ack", "join", "control", "nothing"} {
		names[kind] = what + kind
	}
	return names
}

// kindOf names what a message is, for the trace.
func kindOf(m *kv.Message) string {
	switch {
	case m.Batch != nil:
		return "batch"
	case m.BatchReply != nil:
		return "reply"
	case m.Raft != nil:
		return "raft"
	case m.Liveness != nil:
		return "live"
	case m.Closed != nil:
		return "closed"
	case m.Snapshot != nil:
		return "snapshot"
	case m.Ack != nil:
		return "ack"
	case m.Join != nil:
		return "join"
	case m.Control != nil:
		return "control"
	}
	return "nothing"
}

// reading is a machine's clock as the trace shows it: error and width.
func reading(c *clock.Clock, truth clock.Instant) string {
	iv, err := c.Now()
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("[%s,+%s]", iv.Earliest.Sub(truth), iv.Latest.Sub(truth))
}
