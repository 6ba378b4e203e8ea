package rpc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

type kind uint8

const (
	kindCall kind = iota + 1
	kindSend
	kindAnswer
	kindFail
	kindPing
	kindPong
	kindBye // the sender ends the connection on purpose: this says nothing of its process (N6)
)

const (
	// After the length come two sums: of the kind and all that follows it, and of the length with that sum. The second is for a
	// damaged length: without it the reader would wait for bytes that never come.
	sumAt     = 4
	headSumAt = sumAt + 4
	kindAt    = headSumAt + 4
	idAt      = kindAt + 1
	headBytes = idAt + 8
	// readStep bounds what a frame's length alone makes us allocate.
	readStep = 1 << 20
	// keepBuffer is the largest buffer that goes back to the pool.
	keepBuffer = 256 << 10
)

// buffer holds one whole frame. It belongs to one owner at a time, and is given back with put.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, 1024)} }}

func getBuffer() *buffer { return buffers.Get().(*buffer) }

func (f *buffer) put() {
	if cap(f.b) > keepBuffer {
		return
	}
	f.b = f.b[:0]
	buffers.Put(f)
}

func (f *buffer) kind() kind   { return kind(f.b[kindAt]) }
func (f *buffer) id() uint64   { return binary.BigEndian.Uint64(f.b[idAt:]) }
func (f *buffer) body() []byte { return f.b[headBytes:] }

// begin starts a frame; the caller appends the body to f.b and ends it with finish.
func (f *buffer) begin(k kind, id uint64) {
	f.b = append(f.b[:0], 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte(k))
	f.b = binary.BigEndian.AppendUint64(f.b, id)
}

func (f *buffer) finish(limit int) error {
	n := len(f.b) - kindAt
	if n > limit {
		return fmt.Errorf("message of %d bytes is above the limit of %d", n, limit)
	}
	binary.BigEndian.PutUint32(f.b, uint32(n))
	binary.BigEndian.PutUint32(f.b[sumAt:], sum(f.b[kindAt:]))
	binary.BigEndian.PutUint32(f.b[headSumAt:], sum(f.b[:headSumAt]))
	return nil
}

// errDamaged reports a frame that is not as it was sent, or that no node would send.
var errDamaged = errors.New("damaged frame")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// messageFrame makes the frame of a message.
func messageFrame(k kind, id uint64, m *kv.Message, limit int) (*buffer, error) {
	f := getBuffer()
	f.begin(k, id)
	b, err := m.MarshalMsg(f.b)
	if err == nil {
		f.b = b
		err = f.finish(limit)
	}
	if err != nil {
		f.put()
		return nil, err
	}
	return f, nil
}

// textFrame makes the frame of a failure.
func textFrame(id uint64, text string) *buffer {
	f := getBuffer()
	f.begin(kindFail, id)
	f.b = append(f.b, text[:min(len(text), 4096)]...)
	_ = f.finish(1 << 20)
	return f
}

// byeFrame makes the last frame of a connection that is ended on purpose.
func byeFrame() *buffer {
	f := getBuffer()
	f.begin(kindBye, 0)
	_ = f.finish(1 << 20)
	return f
}

// stampFrame makes a ping or a pong.
func stampFrame(k kind, iv clock.Interval) *buffer {
	f := getBuffer()
	f.begin(k, 0)
	f.b = binary.BigEndian.AppendUint64(f.b, uint64(iv.Earliest))
	f.b = binary.BigEndian.AppendUint64(f.b, uint64(iv.Latest))
	_ = f.finish(1 << 20)
	return f
}

// stamp reads what stampFrame wrote.
func (f *buffer) stamp() (iv clock.Interval, ok bool) {
	b := f.body()
	if len(b) != 16 {
		return iv, false
	}
	return clock.Interval{
		Earliest: clock.Instant(binary.BigEndian.Uint64(b)), Latest: clock.Instant(binary.BigEndian.Uint64(b[8:])),
	}, true
}

// readFrame reads the next frame into a buffer of its own. A frame that it returns is as it was sent.
func readFrame(r *bufio.Reader, limit int) (*buffer, error) {
	head, err := r.Peek(kindAt)
	if err != nil {
		return nil, err
	}
	if sum(head[:headSumAt]) != binary.BigEndian.Uint32(head[headSumAt:]) {
		return nil, fmt.Errorf("%w: the sum of its head % x is wrong", errDamaged, head)
	}
	n := int(binary.BigEndian.Uint32(head))
	if n > limit || n < headBytes-kindAt {
		return nil, fmt.Errorf("%w: it has %d bytes; allowed are %d to %d", errDamaged, n, headBytes-kindAt, limit)
	}
	want, is := binary.BigEndian.Uint32(head[sumAt:]), uint32(0)
	f := getBuffer()
	for total := kindAt + n; len(f.b) < total; {
		at := len(f.b)
		step := min(total-at, readStep)
		f.b = append(f.b, make([]byte, step)...) // grows without a temporary
		if _, err := io.ReadFull(r, f.b[at:]); err != nil {
			f.put()
			return nil, err
		}
		is = crc32.Update(is, castagnoli, f.b[max(at, kindAt):]) // while it is in the caches
	}
	if is != want {
		f.put()
		return nil, fmt.Errorf("%w: the sum of its %d bytes is wrong", errDamaged, n)
	}
	return f, nil
}

// noteDamage says so if a connection ended by a damaged frame (N8).
func (t *Transport) noteDamage(peer kv.NodeID, err error) {
	if errors.Is(err, errDamaged) {
		t.m.Damaged.Inc()
		t.o.Log.Warn("closed a connection: what arrived on it is not what was sent", "node", peer, "err", err,
			"hint", "nothing of it was used; if it goes on, look for a bad network card, cable or memory")
	}
}
