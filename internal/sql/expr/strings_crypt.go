package expr

// Digests, compression, encryption and random bytes.

import (
	"bytes"
	"compress/zlib"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"io"
)

func init() {
	digest := func(name string, length int, sum func(string) []byte) *Func {
		return &Func{Name: name, Min: 1, Max: 1, Resolve: resolveTyped(ascii(length), oneOfBytes(func(_ *Env, c *Call, s string) (Value, error) {
			return c.text(hex.EncodeToString(sum(s))), nil
		}))}
	}
	sha := func(s string) []byte { x := sha1.Sum([]byte(s)); return x[:] }
	register(
		digest("md5", 32, func(s string) []byte { x := md5.Sum([]byte(s)); return x[:] }),
		digest("sha", 40, sha),
		digest("sha1", 40, sha),
		&Func{Name: "sha2", Min: 2, Max: 2, Resolve: resolveTyped(ascii(128), evalSHA2)},
		&Func{Name: "compress", Min: 1, Max: 1, Resolve: resolveTyped(TBytes(1<<32-1), oneOfBytes(evalCompress))},
		&Func{Name: "uncompress", Min: 1, Max: 1, Resolve: resolveTyped(TBytes(1<<32-1), one(evalUncompress))},
		&Func{Name: "uncompressed_length", Min: 1, Max: 1, Resolve: resolveTyped(TInt, one(evalUncompressedLength))},
		&Func{Name: "random_bytes", Min: 1, Max: 1, Resolve: func(c *Call) error {
			c.T, c.Fn, c.Volatile = TBytes(1024), evalRandomBytes, true
			return nil
		}},
	)
}

// evalSHA2 is SHA2(s, bits): bits are 224, 256, 384, 512, or 0 for 256; others give NULL.
func evalSHA2(env *Env, c *Call) (Value, error) {
	s, null, err := c.bytesArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	n, null, err := c.intArg(env, 1)
	if err != nil || null {
		return Null, err
	}
	var sum []byte
	switch b := []byte(s); n {
	case 224:
		x := sha256.Sum224(b)
		sum = x[:]
	case 0, 256:
		x := sha256.Sum256(b)
		sum = x[:]
	case 384:
		x := sha512.Sum384(b)
		sum = x[:]
	case 512:
		x := sha512.Sum512(b)
		sum = x[:]
	default:
		env.Warning(1583, "Incorrect parameters in the call to native function '%s'", c.Name)
		return Null, nil
	}
	return c.text(hex.EncodeToString(sum)), nil
}

// evalCompress writes four bytes of length, low byte first, and zlib's format; a space at the end is followed by a point.
func evalCompress(env *Env, c *Call, s string) (Value, error) {
	if s == "" {
		return Bytes(""), nil
	}
	var b bytes.Buffer
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(s))&0x3fffffff)
	b.Write(length[:])
	w := zlib.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		return Null, err
	}
	if err := w.Close(); err != nil {
		return Null, err
	}
	if x := b.Bytes(); x[len(x)-1] == ' ' {
		b.WriteByte('.')
	}
	if !c.fits(env, int64(b.Len())) {
		return Null, nil
	}
	return Bytes(b.String()), nil
}

func evalUncompress(env *Env, c *Call, s string) (Value, error) {
	if s == "" {
		return Bytes(""), nil
	}
	if len(s) <= 4 {
		env.Warning(1259, "ZLIB: Input data corrupted")
		return Null, nil
	}
	n := int64(binary.LittleEndian.Uint32([]byte(s)) & 0x3fffffff)
	if n > int64(env.maxPacket()) {
		env.Warning(1256, "Uncompressed data size too large; the maximum size is %d (probably, length of uncompressed data was corrupted)", env.maxPacket())
		return Null, nil
	}
	r, err := zlib.NewReader(bytes.NewReader([]byte(s[4:])))
	if err != nil {
		env.Warning(1259, "ZLIB: Input data corrupted")
		return Null, nil
	}
	out, err := io.ReadAll(io.LimitReader(r, n+1))
	switch {
	case int64(len(out)) > n:
		env.Warning(1258, "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)")
		return Null, nil
	case err != nil:
		env.Warning(1259, "ZLIB: Input data corrupted")
		return Null, nil
	}
	return Bytes(string(out)), nil
}

func evalUncompressedLength(env *Env, _ *Call, s string) (Value, error) {
	if s == "" {
		return Int(0), nil
	}
	if len(s) <= 4 {
		env.Warning(1259, "ZLIB: Input data corrupted")
		return Int(0), nil
	}
	return Int(int64(binary.LittleEndian.Uint32([]byte(s)) & 0x3fffffff)), nil
}

func evalRandomBytes(env *Env, c *Call) (Value, error) {
	n, null, err := c.intArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	if n < 1 || n > 1024 {
		return Null, Errorf(1690, "22003", "length value is out of range in 'random_bytes'")
	}
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		return Null, err
	}
	return Bytes(string(b)), nil
}
