package replica

import (
	"errors"
	"fmt"

	"github.com/longitude-db/longitude/internal/kv"
)

//go:generate go run github.com/tinylib/msgp@v1.6.5 -file=command.go -tests=false -io=false -unexported -o=command_gen.go
//go:generate go run github.com/tinylib/msgp@v1.6.5 -file=lowwater.go -tests=false -io=false -unexported -o=lowwater_gen.go
//msgp:clearomitted

// command is what an entry of the log carries: the effect of a request, evaluated. Applying it is deterministic and dumb.
type command struct {
	// Node and ID name the proposal, so that the proposer recognises it. IDs are drawn anew by each process: a command
	// that an earlier process proposed must not be taken for one of this.
	Node kv.NodeID `msg:"n"`
	ID   uint64    `msg:"i"`
	// Term and Generation are those that it was evaluated under (A2).
	Term       uint64 `msg:"t"`
	Generation uint64 `msg:"g"`

	Batch    []byte              `msg:"b,omitempty"` // what to write to state: a batch's representation
	Split    *splitCommand       `msg:"s,omitempty"`
	Desc     *kv.RangeDescriptor `msg:"d,omitempty"` // the new descriptor, of the next generation
	LowWater *lowWater           `msg:"l,omitempty"`
}

// splitCommand gives what lies at Key and above to a new range.
type splitCommand struct {
	Key   kv.Key     `msg:"k"`
	Right kv.RangeID `msg:"r"`
	Low   lowWater   `msg:"l"` // no lower than anything served in the right half
}

// The first byte of an encoded command, of a descriptor and of everything else that replicas keep.
const formatV1 = 1

var errFormat = errors.New("written by a newer version of this program")

// encode makes what goes into the log.
func (c *command) encode() ([]byte, error) {
	b := make([]byte, 1, c.Msgsize()+1)
	b[0] = formatV1
	return c.MarshalMsg(b)
}

// decode reads what encode made. Batch is read into the room that it has.
func (c *command) decode(data []byte) error {
	if len(data) == 0 || data[0] != formatV1 {
		return fmt.Errorf("command %.8x: %w", data, errFormat)
	}
	_, err := c.UnmarshalMsg(data[1:])
	return err
}
