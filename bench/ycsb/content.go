package ycsb

import (
	"fmt"
	"strconv"
)

const (
	fields      = 10
	fieldLength = 100
	// versionLength is how many characters of a field name its version.
	versionLength = 16
)

// key is the key of the record with a number: hashed, so that records that were inserted one after the other do not lie
// beside each other.
func key(number int64) string { return "user" + strconv.FormatInt(fnvHash(number), 10) }

// content is the value of a field in a version: the version, then characters that follow from record, field and version, so
// that whoever reads it can tell whether it is whole and where it belongs (Y1).
func content(record int64, field int, version uint64) string {
	b := make([]byte, 0, fieldLength)
	b = fmt.Appendf(b, "%0*x", versionLength, version)
	x := uint64(record)*fields + uint64(field) + version*0x9E3779B97F4A7C15
	for len(b) < fieldLength {
		// splitmix64
		x += 0x9E3779B97F4A7C15
		z := x
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		for i := 0; i < 8 && len(b) < fieldLength; i++ {
			b = append(b, 'a'+byte(z>>(8*i))%26)
		}
	}
	return string(b)
}

// versionOf is the version that a value is of, if it is a whole value of that field.
func versionOf(record int64, field int, value string) (uint64, bool) {
	if len(value) != fieldLength {
		return 0, false
	}
	v, err := strconv.ParseUint(value[:versionLength], 16, 64)
	return v, err == nil && content(record, field, v) == value
}
