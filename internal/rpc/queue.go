package rpc

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/rt/hrsleep"
)

var (
	errQueueFull = errors.New("the queue to it is full")
	errClosed    = errors.New("the connection is closed")
	errParted    = errors.New("the peer has ended it")
)

// queue holds the frames of one direction of one connection until they are written, in order, with the delay that is
// injected. Frames in it belong to it.
type queue struct {
	maxFrames, maxBytes int
	latency             time.Duration

	mu       sync.Mutex
	notEmpty sync.Cond
	notFull  sync.Cond
	frames   []queued
	bytes    int
	closed   bool
	ended    bool // end was called
}

type queued struct {
	f   *buffer
	due time.Time // with latency only
}

// urgentQueue and urgentBytes bound what waits in the urgent lane of one peer. Some tens of frames a second go there, of some
// hundred bytes; a lane that gets so far behind stands still, and is given up soon.
const (
	urgentQueue = 4096
	urgentBytes = 8 << 20
)

// fullQueue is why a message is dropped if its lane's queue is full: the newest goes, and is sent again by who needs it.
var fullQueue = [kv.Lanes]string{kv.Bulk: "queue", kv.Urgent: "urgent-queue"}

func (t *Transport) newQueue(lane kv.Lane) *queue {
	if lane == kv.Urgent {
		return newQueue(urgentQueue, urgentBytes, t.o.Latency)
	}
	return newQueue(t.o.MaxQueue, t.o.MaxQueueBytes, t.o.Latency)
}

func newQueue(maxFrames, maxBytes int, latency time.Duration) *queue {
	q := &queue{maxFrames: maxFrames, maxBytes: maxBytes, latency: latency}
	q.notEmpty.L, q.notFull.L = &q.mu, &q.mu
	return q
}

func (q *queue) full() bool { return len(q.frames) >= q.maxFrames || q.bytes >= q.maxBytes }

// push adds a frame, or fails if the queue is full or closed; the frame is then gone too.
func (q *queue) push(f *buffer) error { return q.add(f, false) }

// pushWait adds a frame as soon as there is room.
func (q *queue) pushWait(f *buffer) error { return q.add(f, true) }

func (q *queue) add(f *buffer, wait bool) error {
	var due time.Time
	if q.latency > 0 {
		due = time.Now().Add(q.latency)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && q.full() {
		if !wait {
			f.put()
			return errQueueFull
		}
		q.notFull.Wait()
	}
	if q.closed {
		f.put()
		return errClosed
	}
	q.frames = append(q.frames, queued{f, due})
	q.bytes += len(f.b)
	if len(q.frames) == 1 {
		q.notEmpty.Signal()
	}
	return nil
}

// take waits for frames and returns all there are. spare is reused for later ones.
func (q *queue) take(spare []queued) (all []queued, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.frames) == 0 && !q.closed {
		q.notEmpty.Wait()
		// Who can run now may have something to say as well, and what goes out with one system call costs little more
		// than one frame does.
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
	if len(q.frames) == 0 {
		return nil, false
	}
	all, q.frames, q.bytes = q.frames, spare[:0], 0
	q.notFull.Broadcast()
	return all, true
}

// closeWith makes pushes fail. What is queued is still written, and after it one last frame.
func (q *queue) closeWith(last *buffer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		last.put()
		return
	}
	q.closed = true
	q.frames = append(q.frames, queued{f: last})
	q.notEmpty.Broadcast()
	q.notFull.Broadcast()
}

// discard drops what is queued, and closes. After end it drops nothing.
func (q *queue) discard() (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if !q.ended {
		dropped = q.dropLocked()
	}
	q.notEmpty.Broadcast()
	q.notFull.Broadcast()
	return dropped
}

// end drops what is queued, and closes; one last frame takes its place and is still written.
func (q *queue) end(last *buffer) (dropped int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		last.put()
		return 0
	}
	dropped = q.dropLocked()
	q.closed, q.ended = true, true
	q.frames = []queued{{f: last}}
	q.notEmpty.Broadcast()
	q.notFull.Broadcast()
	return dropped
}

func (q *queue) dropLocked() (dropped int) {
	dropped = len(q.frames)
	for _, f := range q.frames {
		f.f.put()
	}
	q.frames, q.bytes = nil, 0
	return dropped
}

// writeTo writes frames until the queue is closed and empty, or writing fails. All frames that have gathered go into one
// write. Injected latency is a delay line: a frame waits for its own moment, not for the one before it to arrive.
func (q *queue) writeTo(w io.Writer, written func(frames, bytes int)) error {
	bw := bufio.NewWriterSize(w, 64<<10)
	var spare []queued
	for {
		all, open := q.take(spare)
		if !open {
			return nil
		}
		var err error
		total := 0
		for i, f := range all {
			if err == nil && q.latency > 0 {
				if d := time.Until(f.due); d > 0 {
					if err = bw.Flush(); err == nil {
						hrsleep.Sleep(d)
					}
				}
			}
			if err == nil {
				_, err = bw.Write(f.f.b)
				total += len(f.f.b)
			}
			f.f.put()
			all[i] = queued{}
		}
		if err == nil {
			err = bw.Flush()
		}
		if err != nil {
			return err
		}
		written(len(all), total)
		spare = all
	}
}
