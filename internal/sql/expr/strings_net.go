package expr

// Addresses and identifiers: INET_*, IS_IPV*, UUID_*.

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
)

func init() {
	register(
		&Func{Name: "inet_aton", Min: 1, Max: 1, Resolve: resolveTyped(TUint, one(evalInetAton))},
		&Func{Name: "inet_ntoa", Min: 1, Max: 1, Resolve: resolveTyped(ascii(15), evalInetNtoa)},
		&Func{Name: "inet6_aton", Min: 1, Max: 1, Resolve: resolveTyped(TBytes(16), one(evalInet6Aton))},
		&Func{Name: "inet6_ntoa", Min: 1, Max: 1, Resolve: resolveTyped(ascii(39), evalInet6Ntoa)},
		&Func{Name: "is_ipv4", Min: 1, Max: 1, Resolve: resolveTyped(TBool, isAddress(netip.Addr.Is4))},
		&Func{Name: "is_ipv6", Min: 1, Max: 1, Resolve: resolveTyped(TBool, isAddress(netip.Addr.Is6))},
		&Func{Name: "is_ipv4_compat", Min: 1, Max: 1, Resolve: resolveTyped(TBool, isPacked(func(a [16]byte) bool {
			return zero(a[:12]) && binary.BigEndian.Uint32(a[12:]) > 1
		}))},
		&Func{Name: "is_ipv4_mapped", Min: 1, Max: 1, Resolve: resolveTyped(TBool, isPacked(func(a [16]byte) bool {
			return zero(a[:10]) && a[10] == 0xff && a[11] == 0xff
		}))},
		&Func{Name: "is_uuid", Min: 1, Max: 1, Resolve: resolveTyped(TBool, one(func(_ *Env, _ *Call, s string) (Value, error) {
			_, ok := parseUUID(s)
			return Bool(ok), nil
		}))},
		&Func{Name: "uuid_to_bin", Min: 1, Max: 2, Resolve: resolveTyped(TBytes(16), evalUUIDToBin)},
		&Func{Name: "bin_to_uuid", Min: 1, Max: 2, Resolve: resolveTyped(TText(36, 33, Coercible), evalBinToUUID)},
	)
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// wrongValue is the answer to an argument that is none: NULL with warning 1411, or an error while a statement stores in strict
// mode.
func wrongValue(env *Env, c *Call, s string) (Value, error) {
	return Null, env.StrictOrWarn(1411, "HY000", "Incorrect string value: '%s' for function %s", s, c.Name)
}

// evalInetAton reads an address of four parts, or of fewer, of which the last stands at the end: 127.1 is 127.0.0.1.
func evalInetAton(env *Env, c *Call, s string) (Value, error) {
	var n, part uint64
	dots, digits := 0, 0
	for i := range len(s) {
		switch b := s[i]; {
		case '0' <= b && b <= '9':
			digits++
			if part = part*10 + uint64(b-'0'); part > 255 {
				return wrongValue(env, c, s)
			}
		case b == '.' && digits > 0:
			n, part, digits = n<<8|part, 0, 0
			if dots++; dots > 3 {
				return wrongValue(env, c, s)
			}
		default:
			return wrongValue(env, c, s)
		}
	}
	if digits == 0 {
		return wrongValue(env, c, s)
	}
	if dots == 1 || dots == 2 {
		n <<= 8 * (3 - dots)
	}
	return Uint(n<<8 | part), nil
}

func evalInetNtoa(env *Env, c *Call) (Value, error) {
	n, null, err := c.intArg(env, 0)
	switch {
	case err != nil || null:
		return Null, err
	case n < 0 || n > 1<<32-1:
		_, argument, _ := strings.Cut(strings.TrimSuffix(c.Text, ")"), "(")
		return Null, env.StrictOrWarn(1411, "HY000", "Incorrect integer value: '%s' for function inet_ntoa", argument)
	}
	return c.text(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()), nil
}

// address reads an IPv4 or IPv6 address in the forms that MySQL takes: no zone, parts of IPv4 of one to three digits.
func address(s string) (netip.Addr, bool) {
	if parts := strings.Split(s, "."); len(parts) == 4 && !strings.Contains(s, ":") {
		var a [4]byte
		for i, p := range parts {
			n, err := strconv.ParseUint(p, 10, 8)
			if err != nil || len(p) > 3 || p[0] == '+' {
				return netip.Addr{}, false
			}
			a[i] = byte(n)
		}
		return netip.AddrFrom4(a), true
	}
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Is6() && a.Zone() == ""
}

func evalInet6Aton(env *Env, c *Call, s string) (Value, error) {
	a, ok := address(s)
	if !ok {
		return wrongValue(env, c, s)
	}
	return Bytes(string(a.AsSlice())), nil
}

func evalInet6Ntoa(env *Env, c *Call) (Value, error) {
	s, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	k := c.ArgType(0).Kind()
	a, ok := netip.AddrFromSlice([]byte(s))
	if !ok || k != KindBytes && k != KindBit {
		return wrongValue(env, c, s)
	}
	return c.text(addressText(a)), nil
}

// addressText writes IPv4 behind 96 bits that are 0, or mapped, with points.
func addressText(a netip.Addr) string {
	if a.Is4() {
		return a.String()
	}
	b := a.As16()
	if low := binary.BigEndian.Uint32(b[12:]); zero(b[:12]) && low > 0xffff {
		return "::" + netip.AddrFrom4([4]byte(b[12:])).String()
	}
	return a.String()
}

func isAddress(is func(netip.Addr) bool) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		s, null, err := c.textArg(env, 0)
		if err != nil || null {
			return noAddress(c), err
		}
		a, ok := address(s)
		return Bool(ok && is(a)), nil
	}
}

// noAddress is what a test of an address says of NULL: NULL, but 0 of a number that is NULL.
func noAddress(c *Call) Value {
	if t := c.ArgType(0); t.IsNumber() {
		return False
	}
	return Null
}

func isPacked(is func([16]byte) bool) func(*Env, *Call) (Value, error) {
	return func(env *Env, c *Call) (Value, error) {
		s, null, err := c.textArg(env, 0)
		if err != nil || null {
			return noAddress(c), err
		}
		if len(s) != 16 {
			return False, nil
		}
		return Bool(is([16]byte([]byte(s)))), nil
	}
}

// parseUUID reads a UUID in one of MySQL's three forms: with dashes, without, and with dashes in braces.
func parseUUID(s string) (u [16]byte, ok bool) {
	if len(s) == 38 && s[0] == '{' && s[37] == '}' {
		s = s[1:37]
	}
	switch len(s) {
	case 36:
		if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
			return u, false
		}
		s = s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	case 32:
	default:
		return u, false
	}
	_, err := hex.Decode(u[:], []byte(s))
	return u, err == nil && len(s) == 32
}

// swap is whether the time of a UUID of version 1 is put in order: the second argument.
func (c *Call) swap(env *Env) (bool, error) {
	if len(c.Args) < 2 {
		return false, nil
	}
	v, err := c.Args[1].Eval(env)
	if err != nil {
		return false, err
	}
	is, _, err := Truth(env, v)
	return is, err
}

func evalUUIDToBin(env *Env, c *Call) (Value, error) {
	s, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	swap, err := c.swap(env)
	if err != nil {
		return Null, err
	}
	u, ok := parseUUID(s)
	if !ok {
		return Null, Errorf(1411, "HY000", "Incorrect string value: '%s' for function uuid_to_bin", s)
	}
	if swap {
		u = [16]byte([]byte(string(u[6:8]) + string(u[4:6]) + string(u[0:4]) + string(u[8:])))
	}
	return Bytes(string(u[:])), nil
}

func evalBinToUUID(env *Env, c *Call) (Value, error) {
	s, null, err := c.textArg(env, 0)
	if err != nil || null {
		return Null, err
	}
	swap, err := c.swap(env)
	if err != nil {
		return Null, err
	}
	if len(s) != 16 {
		return Null, Errorf(1411, "HY000", "Incorrect string value: '%s' for function bin_to_uuid", s)
	}
	if swap {
		s = s[4:8] + s[2:4] + s[0:2] + s[8:]
	}
	h := hex.EncodeToString([]byte(s))
	return c.text(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]), nil
}
