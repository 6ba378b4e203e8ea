package clock

import "time"

// Detail is what a source can tell about itself besides its samples, for people: nothing is decided by it.
type Detail struct {
	// Chosen is the source that `auto` settled on, PassedOver those that it did not take, and ChosenWhy the reason.
	Chosen     string    `json:",omitempty"`
	ChosenWhy  string    `json:",omitempty"`
	PassedOver []Finding `json:",omitempty"`
	// FellOut are the members of `all` that had no part in its last answer, because they gave none or because the others
	// contradict them.
	FellOut []Finding `json:",omitempty"`
	// VMClock is what the hypervisor's disruption marker says: the marker, that the machine has none, or why it cannot be
	// read.
	VMClock string `json:",omitempty"`
	// Leap is the announcement of a leap second: "none", "insert", "delete", or "unsynchronised"; "" if not known.
	Leap string `json:",omitempty"`
	// DataAge is the time since the source itself last learned something (not since it was asked); 0 if not known.
	DataAge time.Duration `json:",omitempty"`
}

// Finding is a source and what is to be said about it.
type Finding struct{ Source, Why string }

// Detailed is a Source that has details. Detail is called by one goroutine at a time, not at once with Read.
type Detailed interface{ Detail() Detail }
