package exec

import "github.com/longitude-db/longitude/internal/sql/expr"

// valueCache keeps the last values of a correlated subquery by the outer columns that it read, so that equal rows outside do not
// repeat the work.
type valueCache struct {
	mem    *memory
	off    bool
	key    exactKey
	values map[string]expr.Value
	bytes  int64
	tries  int
	hits   int
}

const (
	cacheValues = 4096      // as many values are kept at most,
	cacheBytes  = 512 << 10 // of so many bytes, keys included
	cacheTrial  = 1024      // after so many rows without a hit in 16 it is not asked any more
)

// begin gets ready for a key; false: there is no use in one.
func (c *valueCache) begin() bool {
	c.key.reset()
	return !c.off
}

func (c *valueCache) find() (expr.Value, bool) {
	if !c.key.ok {
		return expr.Null, false
	}
	c.tries++
	v, ok := c.values[string(c.key.bytes)]
	if ok {
		c.hits++
	} else if c.tries == cacheTrial && c.hits < cacheTrial/16 {
		c.off, c.values = true, nil
	}
	return v, ok
}

// put keeps the value of the key that find did not have.
func (c *valueCache) put(v expr.Value) {
	if !c.key.ok || c.off {
		return
	}
	n := int64(len(c.key.bytes)) + 2*valueBytes + c.mem.extra(&v)
	if c.values == nil || len(c.values) >= cacheValues || c.bytes+n > cacheBytes {
		c.values, c.bytes = map[string]expr.Value{}, 0
	}
	if n > cacheBytes/4 {
		return
	}
	c.values[string(c.key.bytes)] = v
	c.bytes += n
}
