package main

import "golang.org/x/sys/unix"

// machineMemory is the size of the machine's memory in bytes, 0 if it is not known.
func machineMemory() int64 {
	var i unix.Sysinfo_t
	if unix.Sysinfo(&i) != nil {
		return 0
	}
	return int64(i.Totalram) * int64(i.Unit)
}
