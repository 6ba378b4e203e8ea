package storage

import "github.com/cockroachdb/pebble/v2"

// Layers above name what they read and write by these, so that Pebble's options and its other ways of writing stay here.
type (
	Batch       = pebble.Batch
	DB          = pebble.DB
	Iterator    = pebble.Iterator
	IterOptions = pebble.IterOptions
	Reader      = pebble.Reader
	Snapshot    = pebble.Snapshot
)

// KindDelete is the kind of a removal in a batch's representation.
const KindDelete = pebble.InternalKeyKindDelete

// ErrNotFound is what a Reader says of an absent key.
var ErrNotFound = pebble.ErrNotFound
