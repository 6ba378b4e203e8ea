package sqldiff

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Column types as the protocol numbers them.
const (
	typeTiny      = 1
	typeShort     = 2
	typeLong      = 3
	typeFloat     = 4
	typeDouble    = 5
	typeNull      = 6
	typeTimestamp = 7
	typeLongLong  = 8
	typeInt24     = 9
	typeDate      = 10
	typeTime      = 11
	typeDateTime  = 12
	typeYear      = 13
	typeBit       = 16
	typeJSON      = 245
	typeDecimal   = 246

	flagUnsigned = 32
	flagZerofill = 64
)

var typeNames = map[byte]string{0: "DECIMAL", typeTiny: "TINYINT", typeShort: "SMALLINT", typeLong: "INT", typeFloat: "FLOAT",
	typeDouble: "DOUBLE", typeNull: "NULL", typeTimestamp: "TIMESTAMP", typeLongLong: "BIGINT", typeInt24: "MEDIUMINT", typeDate: "DATE",
	typeTime: "TIME", typeDateTime: "DATETIME", typeYear: "YEAR", 15: "VARCHAR", typeBit: "BIT", typeJSON: "JSON", typeDecimal: "DECIMAL",
	247: "ENUM", 248: "SET", 249: "BLOB", 250: "BLOB", 251: "BLOB", 252: "BLOB", 253: "VARCHAR", 254: "CHAR", 255: "GEOMETRY"}

// binaryRow decodes a row of the binary protocol.
func binaryRow(p []byte, cols []Col) ([]Value, error) {
	d := &decoder{b: p}
	d.u8()
	nulls := d.take((len(cols) + 9) / 8)
	row := make([]Value, len(cols))
	for i, c := range cols {
		if nulls[(i+2)/8]&(1<<((i+2)%8)) != 0 {
			row[i].Null = true
			continue
		}
		row[i].Text = binaryValue(d, c)
	}
	return row, d.err
}

func binaryValue(d *decoder, c Col) string {
	unsigned := c.Flags&flagUnsigned != 0
	whole := func(signed int64, plain uint64) string {
		if unsigned {
			return strconv.FormatUint(plain, 10)
		}
		return strconv.FormatInt(signed, 10)
	}
	switch c.Type {
	case typeTiny:
		v := d.u8()
		return whole(int64(int8(v)), uint64(v))
	case typeYear: // of a column, which has the flag, with four digits
		if v := d.u16(); c.Flags&flagZerofill == 0 {
			return strconv.FormatUint(uint64(v), 10)
		} else {
			return fmt.Sprintf("%04d", v)
		}
	case typeShort:
		v := d.u16()
		return whole(int64(int16(v)), uint64(v))
	case typeLong, typeInt24:
		v := d.u32()
		return whole(int64(int32(v)), uint64(v))
	case typeLongLong:
		v := d.u64()
		return whole(int64(v), v)
	case typeFloat:
		return strconv.FormatFloat(float64(math.Float32frombits(d.u32())), 'g', -1, 32)
	case typeDouble:
		return strconv.FormatFloat(math.Float64frombits(d.u64()), 'g', -1, 64)
	case typeDate, typeDateTime, typeTimestamp:
		return binaryDate(d, c)
	case typeTime:
		return binaryTime(d, c)
	}
	return string(d.bytes())
}

// fraction gives the digits behind the point that a column of this precision shows.
func fraction(micros uint32, c Col) string {
	n := int(c.Decimals)
	if n == 0 || n > 6 {
		if micros == 0 {
			return ""
		}
		n = 6
	}
	return "." + fmt.Sprintf("%06d", micros)[:n]
}

func binaryDate(d *decoder, c Col) string {
	n := d.u8()
	var year uint16
	var f [5]byte
	var micros uint32
	if n >= 4 {
		year, f[0], f[1] = d.u16(), d.u8(), d.u8()
	}
	if n >= 7 {
		f[2], f[3], f[4] = d.u8(), d.u8(), d.u8()
	}
	if n >= 11 {
		micros = d.u32()
	}
	s := fmt.Sprintf("%04d-%02d-%02d", year, f[0], f[1])
	if c.Type == typeDate {
		return s
	}
	return s + fmt.Sprintf(" %02d:%02d:%02d", f[2], f[3], f[4]) + fraction(micros, c)
}

func binaryTime(d *decoder, c Col) string {
	n := d.u8()
	var sign byte
	var days, micros uint32
	var f [3]byte
	if n >= 8 {
		sign, days, f[0], f[1], f[2] = d.u8(), d.u32(), d.u8(), d.u8(), d.u8()
	}
	if n >= 12 {
		micros = d.u32()
	}
	return strings.Repeat("-", int(sign)) + fmt.Sprintf("%02d:%02d:%02d", days*24+uint32(f[0]), f[1], f[2]) + fraction(micros, c)
}
