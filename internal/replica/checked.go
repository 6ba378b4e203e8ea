//go:build invariants || assert

package replica

// checked: what would quarantine a replica ends the process, unless somebody wants to be told (Options.Quarantined).
const checked = true
