package replica

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

func randomMessage(r *rand.Rand) *raftpb.Message {
	number := func() *uint64 {
		switch r.IntN(4) {
		case 0:
			return nil
		case 1:
			return new(uint64)
		}
		v := r.Uint64() >> r.IntN(64)
		return &v
	}
	data := func() []byte {
		if r.IntN(3) == 0 {
			return nil
		}
		b := make([]byte, r.IntN(300))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	m := &raftpb.Message{To: number(), From: number(), Term: number(), LogTerm: number(), Index: number(), Commit: number(),
		Vote: number(), RejectHint: number(), Context: data()}
	if r.IntN(5) > 0 {
		m.Type = raftpb.MessageType(r.IntN(24)).Enum()
	}
	if r.IntN(2) == 0 {
		m.Reject = proto.Bool(r.IntN(2) == 0)
	}
	for range r.IntN(4) {
		e := &raftpb.Entry{Term: number(), Index: number(), Data: data()}
		if r.IntN(2) == 0 {
			e.Type = raftpb.EntryType(r.IntN(3)).Enum()
		}
		m.Entries = append(m.Entries, e)
	}
	if r.IntN(10) == 0 {
		m.Snapshot = &raftpb.Snapshot{Data: data(), Metadata: &raftpb.SnapshotMetadata{Index: number(), Term: number()}}
	}
	return m
}

// What we write is what the library writes, and what we read is what it reads, also where it is damaged.
func TestRaftWireIsProtobuf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		m := randomMessage(r)
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b := encodeRaft(m)
		if !bytes.Equal(b, want) {
			t.Fatalf("%v:\n got %x\nwant %x", m, b, want)
		}
		hard := &raftpb.HardState{Term: m.Term, Vote: m.Vote, Commit: m.Commit}
		if want, _ := proto.Marshal(hard); !bytes.Equal(encodeHardState(hard), want) {
			t.Fatalf("%v:\n got %x\nwant %x", hard, encodeHardState(hard), want)
		}
		for _, e := range m.Entries {
			want, _ := proto.Marshal(e)
			if got := appendEntry(nil, e); !bytes.Equal(got, want) || len(got) != sizeEntry(e) {
				t.Fatalf("%v:\n got %x, size %d\nwant %x", e, got, sizeEntry(e), want)
			}
		}
		agree := func(b []byte) {
			t.Helper()
			theirs := new(raftpb.Message)
			werr := proto.Unmarshal(b, theirs)
			ours, err := decodeRaft(b)
			if (err == nil) != (werr == nil) {
				t.Fatalf("%x: %v, the library says %v", b, err, werr)
			}
			if err == nil {
				theirs.ProtoReflect().SetUnknown(nil) // they are of a newer version, and nobody's
				for _, e := range theirs.Entries {
					e.ProtoReflect().SetUnknown(nil)
				}
				if len(theirs.Responses) == 0 && theirs.Snapshot == nil && !proto.Equal(ours, theirs) {
					t.Fatalf("%x:\n got %v\nwant %v", b, ours, theirs)
				}
			}
		}
		agree(b)
		for range 20 {
			c := bytes.Clone(b)
			if len(c) > 0 {
				c[r.IntN(len(c))] = byte(r.Uint32())
				agree(c)
				agree(c[:r.IntN(len(c))])
			}
		}
	}
}

func BenchmarkRaftWire(b *testing.B) {
	m := &raftpb.Message{Type: raftpb.MsgApp.Enum(), To: proto.Uint64(2), From: proto.Uint64(1), Term: proto.Uint64(6),
		LogTerm: proto.Uint64(6), Index: proto.Uint64(100_000), Commit: proto.Uint64(99_990)}
	for i := range uint64(4) {
		m.Entries = append(m.Entries, &raftpb.Entry{Term: proto.Uint64(6), Index: proto.Uint64(100_001 + i), Data: make([]byte, 350)})
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := decodeRaft(encodeRaft(m)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out, err := proto.Marshal(m)
			if err != nil {
				b.Fatal(err)
			}
			if err := proto.Unmarshal(out, new(raftpb.Message)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
