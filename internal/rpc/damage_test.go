package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
)

// N8: no bit of a frame can be wrong unnoticed, and it is noticed when the frame has been read, not when others have come.
func TestEveryFlippedBitIsNoticed(t *testing.T) {
	f, err := messageFrame(kindCall, 7, message200(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	whole := bytes.Clone(f.b)
	for bit := range len(whole) * 8 {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if _, err := readFrame(bufio.NewReader(bytes.NewReader(b)), 1<<20); !errors.Is(err, errDamaged) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	g, err := readFrame(bufio.NewReader(bytes.NewReader(whole)), 1<<20)
	if err != nil || !bytes.Equal(g.b, whole) {
		t.Errorf("the frame as it was sent: %v", err)
	}
}

// The same for what two nodes say first: a flipped bit makes nobody act under a wrong name.
func TestEveryFlippedBitOfAGreetingIsNoticed(t *testing.T) {
	var said bytes.Buffer
	_, _ = greet(&conversation{out: &said}, hello{cluster: home, from: 1, to: 2, lane: kv.Urgent})
	heard := said.Bytes()
	var answered bytes.Buffer
	if h, err := answerGreeting(&conversation{in: bytes.NewReader(heard), out: &answered}, identity{2, home}); err != nil || h.from != 1 || h.lane != kv.Urgent {
		t.Fatalf("%+v, %v", h, err)
	}
	if n, err := greet(&conversation{in: bytes.NewReader(answered.Bytes())}, hello{}); err != nil || n != 2 {
		t.Fatalf("node %d, %v", n, err)
	}
	for bit := range len(heard) * 8 {
		b := bytes.Clone(heard)
		b[bit/8] ^= 1 << (bit % 8)
		if h, err := answerGreeting(&conversation{in: bytes.NewReader(b)}, identity{2, home}); err == nil {
			t.Errorf("bit %d of the hello: %+v", bit, h)
		}
	}
	for bit := range answered.Len() * 8 {
		b := bytes.Clone(answered.Bytes())
		b[bit/8] ^= 1 << (bit % 8)
		if n, err := greet(&conversation{in: bytes.NewReader(b)}, hello{}); err == nil {
			t.Errorf("bit %d of the answer: node %d", bit, n)
		}
	}
}

// conversation is a connection of which one side has said already what it is going to.
type conversation struct {
	in  io.Reader
	out *bytes.Buffer
}

func (c *conversation) Read(b []byte) (int, error) {
	if c.in == nil {
		return 0, io.EOF
	}
	return c.in.Read(b)
}

func (c *conversation) Write(b []byte) (int, error) {
	if c.out == nil {
		return len(b), nil
	}
	return c.out.Write(b)
}

// N8: on a link that damages a byte now and then connections end, and nothing wrong is ever heard or answered.
func TestDamagedLink(t *testing.T) {
	noLeaks(t)
	var net addresses
	a := node(t, &net, 1, echo, nil)
	b := node(t, &net, 2, func(m *kv.Message) *kv.Message {
		if k := m.Control.Kind; strings.Trim(k, "x") != "" || len(k) > 100 {
			t.Errorf("heard %q", k)
		}
		return echo(m)
	}, nil)
	seen, way := 0, through(t, &net, 2)
	way.Damage(func(b []byte) {
		for i := range b {
			if seen++; seen%7919 == 0 {
				b[i] ^= 1 << (seen % 8)
			}
		}
	})
	damaged := func() float64 { return value(a.m.Damaged) + value(b.m.Damaged) }
	eventually(t, "damage is noticed ten times", func() bool {
		for n := range 100 {
			want := strings.Repeat("x", n)
			if m, err := a.Call(2, ask(want), 5*time.Second); err == nil && string(m.Control.Reply) != want {
				t.Errorf("asked %q, was told %q", want, m.Control.Reply)
			}
		}
		return damaged() >= 10
	})
	way.Damage(nil)
	eventually(t, "calls go through again", func() bool {
		_, err := a.Call(2, ask("x"), time.Second)
		return err == nil
	})
}

// Whatever bytes come, readFrame returns frames that are whole, or an error; it allocates no more than what has come, and a step.
func FuzzReadFrame(f *testing.F) {
	m, _ := messageFrame(kindCall, 7, message200(), 1<<20)
	ping := stampFrame(kindPing, clock.Interval{Earliest: 1, Latest: 2})
	f.Add(m.b)
	f.Add(append(bytes.Clone(ping.b), m.b...))
	f.Add(textFrame(3, "why").b)
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReader(bytes.NewReader(b))
		for at := 0; ; {
			f, err := readFrame(r, 1<<20)
			if err != nil {
				return
			}
			if at+len(f.b) > len(b) || !bytes.Equal(f.b, b[at:at+len(f.b)]) {
				t.Fatalf("the frame at %d is not what was sent", at)
			}
			at += len(f.b)
			again := bytes.Clone(f.b)
			if g := (&buffer{again}); g.finish(1<<20) != nil || !bytes.Equal(g.b, f.b) {
				t.Fatal("a frame whose sums are wrong")
			}
			_, _ = f.stamp()
			_, _ = kv.DecodeMessage(f.body())
		}
	})
}

// Whatever bytes come, a greeting ends with an error or with what was said, by both sides.
func FuzzGreeting(f *testing.F) {
	var said, answered bytes.Buffer
	_, _ = greet(&conversation{out: &said}, hello{cluster: home, from: 1, to: 2})
	_, _ = answerGreeting(&conversation{in: bytes.NewReader(said.Bytes()), out: &answered}, identity{2, home})
	f.Add(said.Bytes())
	f.Add(answered.Bytes())
	var refusal bytes.Buffer
	_, _ = answerGreeting(&conversation{in: bytes.NewReader(said.Bytes()), out: &refusal}, identity{3, home})
	f.Add(refusal.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		var out bytes.Buffer
		h, err := answerGreeting(&conversation{in: bytes.NewReader(b), out: &out}, identity{2, home})
		if err == nil {
			var again bytes.Buffer
			_, _ = greet(&conversation{out: &again}, h)
			if !bytes.HasPrefix(b, again.Bytes()) {
				t.Fatalf("%+v was understood of % x", h, b)
			}
		}
		var refused *RefusedError
		if _, err := greet(&conversation{in: bytes.NewReader(b)}, hello{}); errors.As(err, &refused) && len(refused.Why) > maxRefusal {
			t.Fatalf("a refusal of %d bytes", len(refused.Why))
		}
	})
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{200, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				sum(data)
			}
		})
	}
}
