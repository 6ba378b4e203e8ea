package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/longitude-db/longitude/internal/kv"
)

const (
	magic   = "LNGT"
	version = 2

	prefixBytes = len(magic) + 1
	helloBytes  = 16 + 4 + 4 + 1 // cluster, from, to, lane
	replyBytes  = 16 + 4 + 2     // cluster, node, length of a refusal
	sumBytes    = 4              // ends both
	maxRefusal  = 1024
	// leastHello is how long the hello of any version is, after the prefix.
	leastHello = 24
)

// RefusedError is the greeting that a node answered with a refusal.
type RefusedError struct {
	Cluster kv.ClusterID // of the node that refused; zero: it has none yet
	Node    kv.NodeID
	Why     string
}

func (e *RefusedError) Error() string { return "refused: " + e.Why }

var errForeign = errors.New("whatever answers there is not a Longitude node")

// hello is what the dialling side says of itself, and whom it thinks that it has reached. Zeros: not known yet.
type hello struct {
	cluster  kv.ClusterID
	from, to kv.NodeID
	lane     kv.Lane // which the connection is for
}

// greet is the dialling side of the handshake. It returns the node that answered.
func greet(c io.ReadWriter, h hello) (kv.NodeID, error) {
	b := append([]byte(magic), version)
	b = append(b, h.cluster[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(h.from))
	b = binary.BigEndian.AppendUint32(b, uint32(h.to))
	b = append(b, byte(h.lane))
	if _, err := c.Write(appendSum(b)); err != nil {
		return 0, err
	}
	if err := readPrefix(c); err != nil {
		return 0, err
	}
	r := make([]byte, replyBytes)
	if _, err := io.ReadFull(c, r); err != nil {
		return 0, err
	}
	node := kv.NodeID(binary.BigEndian.Uint32(r[16:]))
	n := int(binary.BigEndian.Uint16(r[20:]))
	if n > maxRefusal {
		return 0, fmt.Errorf("%w: a refusal of %d bytes", errDamaged, n)
	}
	rest := make([]byte, n+sumBytes)
	if _, err := io.ReadFull(c, rest); err != nil {
		return 0, err
	}
	why := rest[:n]
	if err := checkSum(append(r, why...), rest[n:]); err != nil {
		return 0, err
	}
	if n == 0 {
		return node, nil
	}
	return 0, &RefusedError{Cluster: kv.ClusterID(r[:16]), Node: node, Why: string(why)}
}

// appendSum ends what one side says with the sum of it, so that nobody acts on what was damaged on the way (N8).
func appendSum(b []byte) []byte { return binary.BigEndian.AppendUint32(b, sum(b[prefixBytes:])) }

// checkSum compares what was read, without the prefix, with the sum that came with it.
func checkSum(b, with []byte) error {
	if sum(b) != binary.BigEndian.Uint32(with) {
		return fmt.Errorf("%w: the greeting", errDamaged)
	}
	return nil
}

func readPrefix(r io.Reader) error {
	p := make([]byte, prefixBytes)
	if _, err := io.ReadFull(r, p); err != nil {
		return fmt.Errorf("%w: %w", errForeign, err)
	}
	if string(p[:len(magic)]) != magic {
		return fmt.Errorf("%w: it says %q", errForeign, p)
	}
	if p[len(magic)] != version {
		return fmt.Errorf("it speaks version %d of the protocol between nodes, this binary version %d: upgrade the older one", p[len(magic)], version)
	}
	return nil
}

// answerGreeting is the accepting side of the handshake. It tells the peer why it is refused.
func answerGreeting(c io.ReadWriter, self identity) (hello, error) {
	var h hello
	err := readPrefix(c)
	if errors.Is(err, errForeign) {
		return h, err // nobody there who would understand an answer
	}
	otherVersion := err != nil
	if otherVersion {
		_, _ = io.CopyN(io.Discard, c, leastHello)
	} else {
		b := make([]byte, helloBytes+sumBytes)
		if _, err := io.ReadFull(c, b); err != nil {
			return h, err
		}
		if err := checkSum(b[:helloBytes], b[helloBytes:]); err != nil {
			return h, err
		}
		copy(h.cluster[:], b)
		h.from, h.to = kv.NodeID(binary.BigEndian.Uint32(b[16:])), kv.NodeID(binary.BigEndian.Uint32(b[20:]))
		h.lane = kv.Lane(b[24])
		err = h.check(self.cluster, self.node)
	}
	r := append([]byte(magic), version)
	r = append(r, self.cluster[:]...)
	r = binary.BigEndian.AppendUint32(r, uint32(self.node))
	why := ""
	if err != nil {
		why = err.Error()
		why = why[:min(len(why), maxRefusal)]
	}
	r = binary.BigEndian.AppendUint16(r, uint16(len(why)))
	if _, werr := c.Write(appendSum(append(r, why...))); err == nil {
		err = werr
	}
	if otherVersion {
		// What its hello has beyond the least would, unread, reset the connection under our answer. It hangs up when it has that.
		_, _ = io.CopyN(io.Discard, c, 1<<10)
	}
	return h, err
}

// check says why a peer is not ours to talk to (N2).
func (h hello) check(cluster kv.ClusterID, node kv.NodeID) error {
	var none kv.ClusterID
	switch {
	case h.cluster != none && cluster != none && h.cluster != cluster:
		return fmt.Errorf("node %d of cluster %s called node %d of cluster %s: stores of two clusters must not meet; check --join and --store", h.from, h.cluster, node, cluster)
	case h.to != 0 && node != 0 && h.to != node:
		return fmt.Errorf("node %d was called, but node %d listens here: the address belongs to another node now", h.to, node)
	case h.lane >= kv.Lanes:
		return fmt.Errorf("there is no lane %d", h.lane)
	case h.from != 0 && h.from == node:
		return fmt.Errorf("the caller says that it is node %d, as we are: a store was copied, or a node called itself", h.from)
	}
	return nil
}
