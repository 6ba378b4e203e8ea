package storage

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/longitude-db/longitude/internal/kv"
)

// Format is the version of everything that this binary writes to a store, in both instances. It changes when an older
// binary could misread what a newer one wrote.
const Format = 1

// NotePrefix begins the log instance's keys that are storage's own: the format, the identity, and notes. All other keys
// there belong to the Raft log.
const NotePrefix = 0x00

const (
	formatNote   = "format"
	identityNote = "identity"
	userNote     = "note/"
)

// Identity says whose store it is.
type Identity struct {
	Cluster kv.ClusterID
	Node    kv.NodeID
}

// checkFormat claims an empty log instance for this format and refuses one of another format. It runs before the state
// instance is opened, so that nothing is written to a store that is not ours.
func (e *Engines) checkFormat() error {
	v, ok, err := e.getNote(formatNote)
	switch {
	case err != nil:
		return explain(e.dir, err)
	case ok && len(v) == 1 && v[0] == Format:
		return nil
	case ok:
		return fmt.Errorf("store %s has format %d, this binary knows format %d\n"+
			"hint: start it with the version that wrote it", e.dir, v, Format)
	}
	it, err := e.Log.NewIter(nil)
	if err != nil {
		return explain(e.dir, err)
	}
	used := it.First()
	if err := it.Close(); err != nil {
		return explain(e.dir, err)
	}
	if used {
		return explain(e.dir, errNoStoreHere)
	}
	if err := e.putNote(formatNote, []byte{Format}); err != nil {
		return explain(e.dir, err)
	}
	return nil
}

// Identity returns whose store it is; ok is false for a store that is nobody's yet.
func (e *Engines) Identity() (id Identity, ok bool, err error) {
	v, ok, err := e.getNote(identityNote)
	if err != nil || !ok {
		return Identity{}, false, err
	}
	if len(v) != len(id.Cluster)+4 {
		return Identity{}, false, fmt.Errorf("store %s: its identity is damaged: %x", e.dir, v)
	}
	copy(id.Cluster[:], v)
	for _, b := range v[len(id.Cluster):] {
		id.Node = id.Node<<8 | kv.NodeID(b)
	}
	return id, true, nil
}

// Claim makes the store this node's if it is nobody's, and refuses if it is another's (S3). Durable when it returns.
func (e *Engines) Claim(id Identity) error {
	have, ok, err := e.Identity()
	switch {
	case err != nil:
		return err
	case ok && have.Cluster != id.Cluster:
		return fmt.Errorf("store %s belongs to node %d of cluster %s, not to cluster %s\n"+
			"hint: give --store the directory that this node has in this cluster; an empty one makes a new node of it, which takes the place of none",
			e.dir, have.Node, have.Cluster, id.Cluster)
	case ok && have.Node != id.Node:
		return fmt.Errorf("store %s belongs to node %d, not to node %d\n"+
			"hint: each node needs a --store of its own", e.dir, have.Node, id.Node)
	case ok:
		return nil
	}
	n := id.Node
	return e.putNote(identityNote, append(id.Cluster[:], byte(n>>24), byte(n>>16), byte(n>>8), byte(n)))
}

// Note reads a small named value that a layer above keeps beside the logs, such as a high water mark.
func (e *Engines) Note(name string) (value []byte, ok bool, err error) {
	return e.getNote(userNote + name)
}

// SetNote writes a note. It is durable when this returns.
func (e *Engines) SetNote(name string, value []byte) error { return e.putNote(userNote+name, value) }

func (e *Engines) getNote(name string) ([]byte, bool, error) {
	v, c, err := e.Log.Get(noteKey(name))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return append([]byte(nil), v...), true, c.Close()
}

func (e *Engines) putNote(name string, value []byte) error {
	b := e.Log.NewBatch()
	defer b.Close()
	if err := b.Set(noteKey(name), value, nil); err != nil {
		return err
	}
	return e.CommitLog(b)
}

func noteKey(name string) []byte { return append([]byte{NotePrefix}, name...) }
