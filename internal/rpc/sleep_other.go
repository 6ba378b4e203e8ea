//go:build !linux

package rpc

import "time"

func sleepExactly(d time.Duration) { time.Sleep(d) }
