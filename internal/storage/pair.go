package storage

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// S5: log and state carry one name, which was drawn when the store was made, and neither is opened without the other. A log
// without its state would be a replica that has acknowledged what it does not have; state without its log would be one that
// has forgotten how it voted and what it acknowledged. Both can happen: two directories may be two disks, one of which is
// replaced, or not mounted.
//
// Making the name durable takes three steps, so that a crash between them is not taken for a loss:
//
//	log: name, making  ──▶  state: name, flushed  ──▶  log: name, made

const pairNote = "pair"

// pairKey is where state keeps the name: beside what is local to replicas (package keys), and of no range.
var pairKey = Key([]byte{0x01, 's', 'p'})

const (
	pairMaking = 0
	pairMade   = 1
)

// errLostState and errLostLog say which half is not the other's.
var (
	errLostState = errors.New("the directory state is missing, or it is another store's, while the directory log is there: " +
		"this node has acknowledged writes that it no longer has")
	errLostLog = errors.New("the directory log is missing, or it is another store's, while the directory state is there: " +
		"this node no longer knows how it voted and what it acknowledged")
)

const lostHint = "mount or restore the missing directory exactly as it was when the node stopped, and start the node again; if it is gone, " +
	"keep what is left and leave this node stopped: the other nodes hold the data and serve them, so keep those running. " +
	"Do not start this node on an empty directory: it would join as a new node and receive none of the data"

// checkPair makes sure that log and state belong together. A store that was made before there were names gets one.
func (e *Engines) checkPair(deterministic bool) error {
	noted, ok, err := e.getNote(pairNote)
	if err != nil {
		return explain(e.dir, err)
	}
	have, err := e.stateName()
	if err != nil {
		return explain(e.dir, err)
	}
	var name []byte
	switch {
	case !ok && have != nil:
		return explain(e.dir, errLostLog)
	case !ok:
		if name, err = newName(deterministic); err != nil {
			return err
		}
		if err := e.putNote(pairNote, append(bytes.Clone(name), pairMaking)); err != nil {
			return explain(e.dir, err)
		}
	case len(noted) != nameBytes+1:
		return explain(e.dir, fmt.Errorf("the note %q is damaged: %x: %w", pairNote, noted, pebble.ErrCorruption))
	default:
		name = noted[:nameBytes]
		if noted[nameBytes] == pairMade || have != nil {
			if !bytes.Equal(have, name) {
				return explain(e.dir, errLostState)
			}
		}
		if noted[nameBytes] == pairMade {
			return nil
		}
	}
	b := e.State.NewBatch()
	defer b.Close()
	if err := b.Set(pairKey, name, nil); err != nil {
		return explain(e.dir, err)
	}
	if err := e.ApplyState(b); err != nil {
		return explain(e.dir, err)
	}
	if err := e.FlushState(); err != nil {
		return explain(e.dir, err)
	}
	if err := e.putNote(pairNote, append(bytes.Clone(name), pairMade)); err != nil {
		return explain(e.dir, err)
	}
	return nil
}

func (e *Engines) stateName() ([]byte, error) {
	v, c, err := e.State.Get(pairKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(v), c.Close()
}

const nameBytes = 16

// newName draws a name. In simulation all stores have the same: what is on disk depends on the calls alone.
func newName(deterministic bool) ([]byte, error) {
	name := make([]byte, nameBytes)
	if deterministic {
		return name, nil
	}
	_, err := rand.Read(name)
	return name, err
}
