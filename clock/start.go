package clock

import "time"

// Start polls at once, and then until Stop from a goroutine. Code that must replay from a seed calls Poll itself instead.
func (c *Clock) Start() {
	c.life.Lock()
	defer c.life.Unlock()
	if c.stop != nil {
		return
	}
	_ = c.Poll() // what it says is in Status
	quit, done := make(chan struct{}), make(chan struct{})
	c.stop = func() { close(quit); <-done }
	go func() {
		defer close(done)
		t := time.NewTicker(c.opts.PollInterval)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
				_ = c.Poll()
			}
		}
	}()
}

// Stop ends what Start began and closes the source. The clock still gives readings, which grow until they are void.
func (c *Clock) Stop() {
	c.life.Lock()
	defer c.life.Unlock()
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
	c.poll.mu.Lock()
	defer c.poll.mu.Unlock()
	shut(c.poll.src)
}
