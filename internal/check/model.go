package check

import (
	"fmt"
	"slices"
	"strings"
)

// Model is what a database guarantees of the order of its transactions.
type Model string

// The models, each with what it adds to those before it.
const (
	ReadUncommitted   Model = "read-uncommitted"   // writes have an order
	ReadCommitted     Model = "read-committed"     // only what was committed is seen
	SnapshotIsolation Model = "snapshot-isolation" // each transaction reads one state; of two that change the same, one fails
	RepeatableRead    Model = "repeatable-read"    // serializable for single keys (Adya's PL-2.99)
	Serializable      Model = "serializable"       // as if one after the other

	// The order contains that of each client's own transactions.
	StrongSessionSnapshotIsolation Model = "strong-session-snapshot-isolation"
	StrongSessionSerializable      Model = "strong-session-serializable"

	// The order contains that of real time: what began after another had ended comes after it.
	StrongSnapshotIsolation Model = "strong-snapshot-isolation"
	StrictSerializable      Model = "strict-serializable"

	// SerializableLinearizableKeys is what `uncertainty` ordering guarantees: there is an order of all transactions that explains
	// them, and with the versions in that order each key by itself is linearizable. Causal reverse is permitted.
	SerializableLinearizableKeys Model = "serializable-linearizable-keys"
)

// Models are all models, the weaker ones first.
var Models = []Model{ReadUncommitted, ReadCommitted, SnapshotIsolation, RepeatableRead, Serializable, StrongSessionSnapshotIsolation,
	StrongSessionSerializable, StrongSnapshotIsolation, SerializableLinearizableKeys, StrictSerializable}

// ParseModel reads the name of a model.
func ParseModel(s string) (Model, error) {
	if s == "strong-serializable" {
		return StrictSerializable, nil
	}
	if m := Model(s); slices.Contains(Models, m) {
		return m, nil
	}
	names := make([]string, len(Models))
	for i, m := range Models {
		names[i] = string(m)
	}
	return "", fmt.Errorf("there is no consistency model %q\nwanted: %s", s, strings.Join(names, ", "))
}

// broken and the lists after it say which kinds of anomalies the models forbid, without the suffixes.
var (
	broken    = []Kind{G0, IncompatibleOrder, DuplicateElements, UnwrittenRead, CyclicVersions, BadHistory}
	committed = append(slices.Clone(broken), G1a, G1b, G1c, DirtyUpdate)
	snapshot  = append(slices.Clone(committed), GSingle, GNonadjacent, LostUpdate, Internal)
	everyKind = append(slices.Clone(snapshot), G2Item)
)

// forbidden lists the anomalies that each model forbids, and the suffixes that cycles of these kinds may not have either.
var forbidden = map[Model]struct {
	kinds    []Kind
	suffixes []string
}{
	ReadUncommitted:                {broken, nil},
	ReadCommitted:                  {committed, nil},
	SnapshotIsolation:              {snapshot, nil},
	RepeatableRead:                 {everyKind, nil},
	Serializable:                   {everyKind, nil},
	StrongSessionSnapshotIsolation: {snapshot, []string{Process}},
	StrongSessionSerializable:      {everyKind, []string{Process}},
	StrongSnapshotIsolation:        {snapshot, []string{Process, Realtime, KeyRealtime}},
	StrictSerializable:             {everyKind, []string{Process, Realtime, KeyRealtime}},
	SerializableLinearizableKeys:   {everyKind, []string{KeyRealtime}},
}

// Forbids reports whether a database that keeps to the model never shows this kind of anomaly between transactions.
func (m Model) Forbids(k Kind) bool {
	f, ok := forbidden[m]
	if !ok {
		return true // an unknown model forbids everything: a mistake must not make a history look clean
	}
	base, suffix := k.split()
	return slices.Contains(f.kinds, base) && (suffix == "" || slices.Contains(f.suffixes, suffix))
}

// split takes the suffix off the name of a cycle.
func (k Kind) split() (base Kind, suffix string) {
	for _, s := range []string{KeyRealtime, Realtime, Process} { // the longer first
		if b, ok := strings.CutSuffix(string(k), s); ok {
			return Kind(b), s
		}
	}
	return k, ""
}

// Violated lists the models that forbid this kind of anomaly, the weaker ones first.
func (k Kind) Violated() (out []Model) {
	for _, m := range Models {
		if m.Forbids(k) {
			out = append(out, m)
		}
	}
	return out
}
