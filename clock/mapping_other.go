//go:build !unix

package clock

import (
	"errors"
	"fmt"
)

// mapping is not to be had here: neither ClockBound nor a hypervisor's page exist.
type mapping struct {
	path string
	file fileID
}

func (m *mapping) open(int64) error { return fmt.Errorf("%s: %w", m.path, errors.ErrUnsupported) }

func (m *mapping) close() {}

func (m *mapping) share() (*sharedPage, error) { return nil, errors.ErrUnsupported }

func (m *mapping) copy([]byte, int, func(uint32) uint32) error { return errors.ErrUnsupported }
