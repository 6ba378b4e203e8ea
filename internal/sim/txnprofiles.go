package sim

import (
	"fmt"
	"time"

	"github.com/longitude-db/longitude/internal/check"
)

// perKey is how often a key is written before another takes its place: the longer a list, the more it costs to read.
const perKey = 30

// slot is the present key of one of the slots; write says that it is used up by one more.
func (m *mops) slot(n int, write bool) string {
	name := fmt.Sprint("slot", n)
	used := m.uses[name]
	if write {
		m.uses[name]++
	}
	return m.at(n%parts, "%d.%d", n, used/perKey)
}

// lists: some appends and reads in any order.
var lists = txnProfile{'l', check.MopReadList, func(m *mops, c *Client) (p plan) {
	for range 1 + c.Rand.IntN(4) {
		n, write := c.Rand.IntN(5), c.Rand.IntN(2) == 0
		if k := m.slot(n, write); write {
			p.mops = append(p.mops, check.Append(k, m.value()))
		} else {
			p.mops = append(p.mops, check.Mop{Kind: check.MopReadList, Key: k})
		}
	}
	p.pause = sometimes(c, 50*time.Millisecond)
	return p
}}

// rwRegisters: some reads and writes in any order; half of the writes read before, which makes the order of versions known.
var rwRegisters = txnProfile{'w', check.MopRead, func(m *mops, c *Client) (p plan) {
	for range 1 + c.Rand.IntN(3) {
		n, what := c.Rand.IntN(5), c.Rand.IntN(4)
		k := m.slot(n, what > 1)
		if what != 3 {
			p.mops = append(p.mops, read(k))
		}
		if what > 1 {
			p.mops = append(p.mops, check.WriteTo(k, m.value()))
		}
	}
	p.pause = sometimes(c, 50*time.Millisecond)
	return p
}}

// writeSkew: both keys of a pair, in two ranges, are read, and one of them is written.
var writeSkew = txnProfile{'k', check.MopRead, func(m *mops, c *Client) (p plan) {
	pair := c.Rand.IntN(2)
	used := fmt.Sprint("pair", pair)
	m.uses[used]++
	gen := m.uses[used] / perKey
	ks := []string{m.at(pair, "x%d.%d", pair, gen), m.at((pair+1)%parts, "y%d.%d", pair, gen)}
	p.mops = []check.Mop{read(ks[0]), read(ks[1])}
	if c.Rand.IntN(4) > 0 {
		p.mops = append(p.mops, check.WriteTo(ks[c.Rand.IntN(2)], m.value()))
	}
	p.pause = sometimes(c, 50*time.Millisecond)
	return p
}}

// longFork: keys that are written once each, by transactions that know nothing of each other, and readers of all of them.
var longFork = txnProfile{'f', check.MopRead, func(m *mops, c *Client) (p plan) {
	const size = 4
	group := m.uses["written"] / size
	if c.Rand.IntN(4) == 0 {
		n := m.uses["written"] % size
		m.uses["written"]++
		p.mops = []check.Mop{check.WriteTo(m.at(n%parts, "%d.%d", group, n), m.value())}
		return p
	}
	if group > 0 && c.Rand.IntN(4) == 0 {
		group--
	}
	for _, n := range c.Rand.Perm(size) {
		p.mops = append(p.mops, read(m.at(n%parts, "%d.%d", group, n)))
	}
	p.readOnly, p.pause = c.Rand.IntN(2) == 0, sometimes(c, 30*time.Millisecond)
	return p
}}

// causal: a client writes one key, and when that is acknowledged another one in another range; readers read both.
var causal = txnProfile{'c', check.MopRead, func(m *mops, c *Client) (p plan) {
	type pair struct{ n, part int }
	if mine, ok := c.state.(*pair); ok { // the second half of what this client has begun
		c.state = nil
		p.mops = []check.Mop{check.WriteTo(m.at((mine.part+1)%parts, "y%d", mine.n), m.value())}
		return p
	}
	if c.Rand.IntN(3) == 0 {
		mine := &pair{n: m.uses["pairs"], part: c.Rand.IntN(parts)}
		m.uses["pairs"]++
		m.uses[fmt.Sprint("part", mine.n)] = mine.part
		p.mops = []check.Mop{check.WriteTo(m.at(mine.part, "x%d", mine.n), m.value())}
		p.after = func(ok bool) {
			if ok {
				c.state = mine
			}
		}
		return p
	}
	for n := max(0, m.uses["pairs"]-4); n < max(1, m.uses["pairs"]); n++ {
		part := m.uses[fmt.Sprint("part", n)]
		p.mops = append(p.mops, read(m.at((part+1)%parts, "y%d", n)), read(m.at(part, "x%d", n)))
	}
	p.readOnly = c.Rand.IntN(2) == 0
	return p
}}

// snapshots: writers change all keys at once; readers take their time over them.
var snapshots = txnProfile{'n', check.MopRead, func(m *mops, c *Client) (p plan) {
	const size = 4
	write := c.Rand.IntN(2) == 0
	gen := m.uses["writes"] / perKey
	if write {
		m.uses["writes"]++
	}
	for _, n := range c.Rand.Perm(size) {
		k := m.at(n%parts, "%d.%d", gen, n)
		p.mops = append(p.mops, read(k))
		if write {
			p.mops = append(p.mops, check.WriteTo(k, m.value()))
		}
	}
	if !write {
		p.readOnly, p.pause = true, logUniform(c.Rand, time.Millisecond, 3*time.Second)
	} else {
		p.pause = sometimes(c, 300*time.Millisecond)
	}
	return p
}}

func read(key string) check.Mop { return check.Mop{Kind: check.MopRead, Key: key} }

func sometimes(c *Client, d time.Duration) time.Duration {
	if c.Rand.IntN(8) > 0 {
		return 0
	}
	return d
}
