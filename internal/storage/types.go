package storage

import "github.com/cockroachdb/pebble/v2"

// Rooms above name what they read and write by these, so that Pebble's options and its other ways of writing stay here.
type (
	Batch    = pebble.Batch
	Iterator = pebble.Iterator
	Snapshot = pebble.Snapshot
)
