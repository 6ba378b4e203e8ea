package kv

import (
	"time"

	"github.com/longitude-db/longitude/clock"
)

// LockMode is how a key is locked. A higher one includes the lower ones.
type LockMode uint8

// Any number of transactions hold a key in LockShared; one alone in LockExclusive.
const (
	NoLock LockMode = iota
	LockShared
	LockExclusive
)

func (m LockMode) String() string { return [...]string{"none", "shared", "exclusive"}[m] }

// LockPolicy is what a locking read does about a key that another transaction holds.
type LockPolicy uint8

// LockQueue waits for its turn, LockNoWait fails with ErrLocked at once, LockSkip leaves the key out.
const (
	LockQueue LockPolicy = iota
	LockNoWait
	LockSkip
)

// LockOwner is a transaction over all its attempts: locks outlive a restart. Start is that of the first attempt. Its locks go
// with its coordinator's process.
type LockOwner struct {
	ID    TxnID           `msg:"i"`
	Start clock.Timestamp `msg:"s"`
	Coord Process         `msg:"cp"`
}

// ReadLock says how a locking read locks.
type ReadLock struct {
	Owner  LockOwner  `msg:"o"`
	Mode   LockMode   `msg:"m"`
	Policy LockPolicy `msg:"p,omitempty"`
	// Wait is how long the range may let the read wait for locks; 0: as long as any request.
	Wait time.Duration `msg:"w,omitempty"`
}

// LocksRequest is about all locks that an owner has in the range that holds Key: a sign of life of their coordinator, or
// with Release their end. Locks of an owner that gives no sign of life expire.
type LocksRequest struct {
	Key     Key   `msg:"k"`
	Owner   TxnID `msg:"o"`
	Release bool  `msg:"r,omitempty"`
}

// LocksResponse answers a LocksRequest.
type LocksResponse struct {
	Held int `msg:"h"` // before the release, if it was one
}
