package replica

import (
	"fmt"
	"testing"
	"time"
)

// A range gets its replicas, a leader, and serves.
func TestWriteAndRead(t *testing.T) {
	h := newHarness(t, 1, 3, nil)
	c := h.client(1)
	h.task(30*time.Second, func() {
		for i := range 50 {
			k := fmt.Sprint("k", i%10)
			if resp, ok := c.write(1, k, fmt.Sprint("v", i), 10*time.Second); !ok {
				t.Errorf("write %d: %v", i, resp.Err)
				return
			}
			if v, _, ok := c.read(1, k, 10*time.Second); !ok || v != fmt.Sprint("v", i) {
				t.Errorf("read %d: %q %t", i, v, ok)
			}
		}
	})
	h.converge(1)
}
