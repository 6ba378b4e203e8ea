package server

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// listen takes a TCP address. what and flag name it for people.
func listen(what, flag, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		return l, nil
	}
	var hint string
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		err = errors.New("the address is in use by another process")
		hint = "choose another with " + flag + ", or stop what listens there; port 0 takes any free one"
	case errors.Is(err, syscall.EACCES):
		hint = "ports below 1024 need privileges; choose another with " + flag
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		err = errors.New("no interface of this machine has that address")
		hint = "give " + flag + " an address of this machine; others are told another one with --advertise-addr"
	case errors.As(err, &dns):
		err = errors.New("the host name is not known")
		hint = "check the name given to " + flag
	default:
		hint = "check the address given to " + flag
	}
	return nil, fmt.Errorf("cannot listen for %s on %s: %w\nhint: %s", what, addr, err, hint)
}

// advertised is the address under which others reach a listener. A listener on every interface has none of its own: then
// it is the host of the address that the node advertises.
func advertised(l net.Listener, advertise string) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return l.Addr().String()
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return l.Addr().String()
	}
	host = "127.0.0.1"
	if h, _, err := net.SplitHostPort(advertise); err == nil && h != "" {
		host = h
	} else if advertise != "" && !strings.Contains(advertise, ":") {
		host = advertise
	}
	return net.JoinHostPort(host, port)
}
