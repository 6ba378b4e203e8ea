package engine

import (
	"encoding/binary"
	"strconv"
	"sync"
	"sync/atomic"
	_ "unsafe" // for linkname

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// Rows of compiled statements become packets as soon as they are read: from the bytes that are kept to those that are sent,
// in one buffer for the whole result. By way of vitess each value is an object of its own, made and copied again for the
// binary protocol, which took as long as reading the rows. vitess still sends everything else of a result, and numbers the packets.

//go:linkname writePacket github.com/dolthub/vitess/go/mysql.(*Conn).writePacket
func writePacket(c *mysql.Conn, data []byte) error

// binaryValue is how a value that has no short way goes into a row of the binary protocol.
//
//go:linkname binaryValue github.com/dolthub/vitess/go/mysql.val2MySQL
func binaryValue(v sqltypes.Value) ([]byte, error)

// rowForm is how the rows of a result are handed on.
type rowForm uint8

const (
	valueRows  rowForm = iota // as values, to vitess
	textRows                  // as packets of the text protocol
	binaryRows                // as packets of the binary protocol
)

// knownSenders remembers, by the code of the function that vitess gives to send a result with, whether it runs on the
// connection's goroutine.
type knownSenders struct {
	here, elsewhere [binaryRows + 1]atomic.Uintptr
}

// direct is the form in which a statement may write its rows: with a cursor they are not written where the statement runs, and
// not now.
func (h *handler) direct(form rowForm, sender uintptr) rowForm {
	k := &h.senders
	if sender == k.here[form].Load() {
		return form
	}
	if sender == k.elsewhere[form].Load() {
		return valueRows
	}
	if onConnection() {
		k.here[form].Store(sender)
		return form
	}
	k.elsewhere[form].Store(sender)
	return valueRows
}

// packets are rows of a result, as they are sent but for the packets' headers.
type packets struct {
	buf  *[]byte
	ends []int // of each row in it
}

// rowBuffers keeps buffers of results, up to keepRowBuffer.
var rowBuffers = sync.Pool{New: func() any { return new([]byte) }}

const keepRowBuffer = 1 << 20

func (p *packets) clear() {
	if p.buf != nil {
		*p.buf = (*p.buf)[:0]
	}
	p.ends = p.ends[:0]
}

func (p *packets) free() {
	if p.buf != nil && cap(*p.buf) <= keepRowBuffer {
		p.clear()
		rowBuffers.Put(p.buf)
	}
	p.buf = nil
}

func (p *packets) send(c *mysql.Conn) error {
	from := 0
	for _, end := range p.ends {
		if err := writePacket(c, (*p.buf)[from:end]); err != nil {
			return err
		}
		from = end
	}
	p.clear()
	return nil
}

// binaryWidth is the size of a whole number in the binary protocol.
func binaryWidth(t querypb.Type) uint8 {
	switch t {
	case sqltypes.Int8, sqltypes.Uint8:
		return 1
	case sqltypes.Int16, sqltypes.Uint16:
		return 2
	case sqltypes.Int24, sqltypes.Uint24, sqltypes.Int32, sqltypes.Uint32:
		return 4
	}
	return 8
}

// nullText is a NULL of the text protocol.
const nullText = 0xfb

// packed adds a row as a packet.
func (o *opened) packed(d datums) (err error) {
	out := o.x.out
	p := &out.packets
	if p.buf == nil {
		p.buf = rowBuffers.Get().(*[]byte)
	}
	b, from := *p.buf, len(*p.buf)
	binaryForm := out.form == binaryRows
	if binaryForm { // a zero, and a bit for each column that is NULL
		for range 1 + (len(o.f.columns)+9)/8 {
			b = append(b, 0)
		}
	}
	for i := range o.f.columns {
		c := &o.f.columns[i]
		v := &d[c.at]
		switch {
		case v.Kind == rowcodec.Null:
		case !c.direct, c.kind == rowcodec.Text && !o.plain:
			var isNull bool
			if b, isNull, err = o.detour(b, c, v); err != nil {
				return err
			}
			if !isNull {
				continue
			}
		case c.kind == rowcodec.Bytes || c.kind == rowcodec.Text:
			b = appendLengthEncoded(b, v.B)
			continue
		case binaryForm:
			n := v.U
			if c.kind == rowcodec.Int {
				n = uint64(v.I)
			}
			switch c.width {
			case 1:
				b = append(b, byte(n))
			case 2:
				b = binary.LittleEndian.AppendUint16(b, uint16(n))
			case 4:
				b = binary.LittleEndian.AppendUint32(b, uint32(n))
			default:
				b = binary.LittleEndian.AppendUint64(b, n)
			}
			continue
		default:
			b = append(b, 0)
			at := len(b)
			if c.kind == rowcodec.Int {
				b = strconv.AppendInt(b, v.I, 10)
			} else {
				b = strconv.AppendUint(b, v.U, 10)
			}
			b[at-1] = byte(len(b) - at)
			continue
		}
		if binaryForm {
			b[from+1+(i+2)/8] |= 1 << ((i + 2) % 8)
		} else {
			b = append(b, nullText)
		}
	}
	*p.buf, p.ends = b, append(p.ends, len(b))
	out.bytes += len(b) - from + 16
	return out.grown(o.sc, false)
}

// detour adds a value by way of the engine's and vitess's.
func (o *opened) detour(b []byte, c *resultColumn, d *rowcodec.Datum) (_ []byte, isNull bool, err error) {
	v, _, err := c.value(o.sc, o.f.l, *d, o.plain, nil)
	if err != nil || v.IsNull() {
		return b, v.IsNull(), err
	}
	if o.x.out.form == textRows {
		return appendLengthEncoded(b, v.Raw()), false, nil
	}
	more, err := binaryValue(v)
	return append(b, more...), false, err
}

func appendLengthEncoded(b, v []byte) []byte {
	switch n := len(v); {
	case n < nullText:
		b = append(b, byte(n))
	case n < 1<<16:
		b = append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		b = append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	default:
		b = binary.LittleEndian.AppendUint64(append(b, 0xfe), uint64(n))
	}
	return append(b, v...)
}
