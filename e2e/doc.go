// Package e2e runs the released binary: three real processes on loopback ports, spoken to by real clients, killed and
// started again. It has only tests.
package e2e
