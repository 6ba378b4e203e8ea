package txn

import (
	"sync"
	"time"

	"github.com/longitude-db/longitude/clock"
)

// keptReading is a reading that is used again, with Unsafe.StaleReading only.
type keptReading struct {
	mu      sync.Mutex
	at      time.Duration
	reading clock.Interval
}

// startReading is the reading that a transaction starts from: a fresh one.
func (db *DB) startReading() (clock.Interval, error) {
	if db.o.Unsafe.StaleReading == 0 {
		return db.reading()
	}
	k := &db.kept
	k.mu.Lock()
	iv, at := k.reading, k.at
	k.mu.Unlock()
	if iv != (clock.Interval{}) && db.o.RT.Now()-at < db.o.Unsafe.StaleReading {
		return iv, nil
	}
	iv, err := db.reading()
	if err == nil {
		k.mu.Lock()
		k.reading, k.at = iv, db.o.RT.Now()
		k.mu.Unlock()
	}
	return iv, err
}
