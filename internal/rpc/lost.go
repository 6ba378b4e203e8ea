package rpc

import (
	"errors"
	"io"
	"syscall"

	"github.com/longitude-db/longitude/internal/kv"
)

// tellsOfEnd reports whether the way in which a connection ended, or could not be made, speaks for the end of the peer's
// process (N6): its system closed a connection that had been greeted, reset one (also one that the process had not come to
// accept), or refuses a new one. Silence does not: the peer may be paused, or cut off.
func tellsOfEnd(err error, greeted bool) bool {
	switch {
	case onPurpose(err):
		return false
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ECONNRESET):
		return true
	}
	return greeted && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE))
}

// onPurpose reports whether we are the side that ended the connection.
func onPurpose(err error) bool {
	return errors.Is(err, errShutdown) || errors.Is(err, errClosed) || errors.Is(err, errSilent) || errors.Is(err, errStuck) ||
		errors.Is(err, errDamaged)
}

// isServed reports whether there is a connection that a node has dialled: if it is only us who cannot reach it, its address is
// wrong.
func (t *Transport) isServed(node kv.NodeID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for a := range t.served {
		if a.from == node && !a.ended.Load() {
			return true
		}
	}
	return false
}

// tellLost passes it on (N6).
func (t *Transport) tellLost(node kv.NodeID) {
	if node == 0 || t.quit.Err() != nil {
		return
	}
	t.m.Lost.Inc()
	if t.o.Lost != nil {
		t.o.Lost(node)
	}
}
