package engine

// Unsafe turns rules off. It is for tests only: for the negative controls, which show that what is checked finds what each rule
// prevents. No flag and no setting leads here.
type Unsafe struct {
	// IgnoreWriteOnly: writers do not keep an index that is being built.
	IgnoreWriteOnly bool
	// BlindBackfill: entries are written in another transaction than the one that has read their rows, so nothing is refreshed.
	BlindBackfill bool
	// LapsedLocks: a session executes statements although its locks of GET_LOCK may be another one's by now (N3).
	LapsedLocks bool
}
