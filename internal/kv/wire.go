package kv

import (
	"errors"
	"fmt"

	"github.com/tinylib/msgp/msgp"
)

// The generated decoder allocates what an array's header says before it has seen the elements, so the lengths of a
// message that came over a wire are checked first.
const (
	// smallMessage needs no count of structures: with one byte for each it decodes to some ten megabytes.
	smallMessage = 64 << 10
	// structBytes is less than any structure of a message takes on the wire, over a whole message.
	structBytes = 8
)

var errShape = errors.New("kv: malformed message")

// DecodeMessage decodes a message of unknown origin. Nothing in it points into b. It never panics, and allocates no more
// than a small multiple of len(b).
func DecodeMessage(b []byte) (*Message, error) {
	if err := checkShape(b); err != nil {
		return nil, err
	}
	m := new(Message)
	if _, err := m.UnmarshalMsg(b); err != nil {
		return nil, fmt.Errorf("%w: %w", errShape, err)
	}
	return m, nil
}

// checkShape walks over the message without allocating: every element that an array header promises must be there, and
// there must not be more structures than honest ones fit in.
func checkShape(b []byte) error {
	rest, err := msgp.Skip(b)
	if err != nil {
		return fmt.Errorf("%w: %w", errShape, err)
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: %d bytes are left over", errShape, len(rest))
	}
	if len(b) <= smallMessage {
		return nil
	}
	limit, structs := (smallMessage+len(b))/structBytes, 0
	for rest := b; len(rest) > 0; { // tokens follow each other flatly, so there is no recursion
		switch msgp.NextType(rest) {
		case msgp.MapType:
			if structs++; structs > limit {
				return fmt.Errorf("%w: more than %d structures in %d bytes", errShape, limit, len(b))
			}
			_, rest, err = msgp.ReadMapHeaderBytes(rest)
		case msgp.ArrayType:
			_, rest, err = msgp.ReadArrayHeaderBytes(rest)
		default:
			rest, err = msgp.Skip(rest)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errShape, err)
		}
	}
	return nil
}
