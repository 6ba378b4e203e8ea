//go:build !unix

package engine

import "net"

// hungUp cannot be told here: a client that has gone is noticed when its statement ends.
func hungUp(net.Conn) bool { return false }
