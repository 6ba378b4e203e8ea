package check

import (
	"fmt"
	"slices"
	"strings"
)

// TxnEdge is one step of a cycle.
type TxnEdge struct {
	From, To int    // transactions, as indices of the history
	Type     string // ww, wr, rw, process or realtime
	Key      string // of ww, wr and rw
	Why      string // in words, about T1, T2... as TxnAnomaly.Txns numbers them
}

// TxnAnomaly is an anomaly with what makes it up.
type TxnAnomaly struct {
	Anomaly
	Txns  []int     // indices of the history; the first is called T1
	Edges []TxnEdge // of a cycle, in order; else none
	Why   string    // what is wrong, in words
}

// TxnReport is what is known of a history of transactions after judging it.
type TxnReport struct {
	Model               Model
	OK, Failed, Unknown int // transactions by outcome
	Happened            int // of those unknown: shown by others to have taken effect
	Mops, Keys, Edges   int
	// Anomalies are those that the model forbids, at most a few of each kind. Others are those that it permits: they were come
	// upon, not searched for to the end.
	Anomalies, Others []TxnAnomaly
	Count             map[Kind]int // of all of these, also those left out
	// Incomplete: so much hangs together that the search for short cycles was cut off. The verdict holds: of the cycles that
	// there are at least one is reported.
	Incomplete bool
}

// Transactions judges a history and returns the anomalies that the model forbids. A history that is none (see Malformed)
// is an anomaly of the kind BadHistory.
func Transactions(h []Txn, o TxnOptions) []Anomaly {
	r, err := Analyze(h, o)
	if err != nil {
		return []Anomaly{{BadHistory, err.Error()}}
	}
	out := make([]Anomaly, len(r.Anomalies))
	for i := range r.Anomalies {
		out[i] = r.Anomalies[i].Anomaly
	}
	return out
}

// Analyze judges a history and says more about it. The error is that of Malformed.
//
// The method is that of Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental Observations" (VLDB
// 2020): recover the order of each object's versions from what was read, derive which transaction must come before which, and
// look for cycles. It takes time linear in the history as long as there are few of these.
func Analyze(h []Txn, o TxnOptions) (*TxnReport, error) {
	if o.Model == "" {
		o.Model = StrictSerializable
	}
	a, err := index(h)
	if err != nil {
		return nil, err
	}
	a.model, a.n, a.left = o.Model, map[Kind]int{}, maxSteps
	a.rep = &TxnReport{Model: o.Model, Keys: len(a.keys), Count: a.n}
	a.settle()
	for i := range h {
		a.rep.Mops += len(h[i].Mops)
		switch h[i].Outcome {
		case OK:
			a.rep.OK++
		case Failed:
			a.rep.Failed++
		default:
			a.rep.Unknown++
			if a.in[i] {
				a.rep.Happened++
			}
		}
	}
	a.lists()
	a.registers()
	var byKey *graph
	if a.model == SerializableLinearizableKeys {
		byKey = a.byKey()
	}
	a.times()
	a.rep.Edges = len(a.g.edges)
	a.cycles(&a.g, false)
	if byKey != nil {
		a.cycles(byKey, true)
	}
	return a.rep, nil
}

// report completes an anomaly and puts it where it belongs.
func (a *analysis) report(an TxnAnomaly) {
	var b strings.Builder
	b.WriteString(an.Why)
	for i, t := range an.Txns {
		fmt.Fprintf(&b, "\n    T%d = %s", i+1, &a.h[t])
	}
	for _, e := range an.Edges {
		fmt.Fprintf(&b, "\n    %s: %s", e.Type, e.Why)
	}
	an.Text = b.String()
	if a.model.Forbids(an.Kind) {
		a.rep.Anomalies = append(a.rep.Anomalies, an)
	} else {
		a.rep.Others = append(a.rep.Others, an)
	}
}

// explain puts a cycle into words.
func (s *cycleFinder) explain(kind Kind, c []pathEdge) TxnAnomaly {
	an := TxnAnomaly{Anomaly: Anomaly{Kind: kind}}
	for _, h := range c {
		an.Txns = append(an.Txns, int(s.g.txn[h.a]))
	}
	name := func(n int32) string { return fmt.Sprint("T", slices.Index(an.Txns, int(s.g.txn[n]))+1) }
	for _, h := range c {
		e := TxnEdge{From: int(s.g.txn[h.a]), To: int(s.g.txn[h.b])}
		a, b := name(h.a), name(h.b)
		if h.kind&edgeData != 0 {
			e.Key = s.keys[h.key]
		}
		switch h.kind {
		case edgeWW:
			e.Type = "ww"
			if s.list[h.key] {
				e.Why = fmt.Sprintf("%s appended %d to key %s, and %s appended %d after it", a, h.v1, e.Key, b, h.v2)
			} else {
				e.Why = fmt.Sprintf("%s wrote %d to key %s, and %s replaced it, or something later, by %d", a, h.v1, e.Key, b, h.v2)
			}
		case edgeWR:
			e.Type = "wr"
			e.Why = fmt.Sprintf("%s saw the %d that %s put into key %s", b, h.v1, a, e.Key)
		case edgeRW:
			e.Type = "rw"
			saw := fmt.Sprint("nothing after ", h.v1)
			if h.absent {
				saw = "nothing at all"
			}
			if !s.list[h.key] {
				saw = valueText(h.v1, h.absent)
			}
			verb := "append"
			if !s.list[h.key] {
				verb = "later write"
			}
			e.Why = fmt.Sprintf("%s did not observe %s's %s of %d to key %s: it read %s", a, b, verb, h.v2, e.Key, saw)
		case edgeProcess:
			e.Type = "process"
			e.Why = fmt.Sprintf("client %s did %s before %s", s.h[e.From].Client, a, b)
		case edgeRT:
			e.Type = "realtime"
			e.Why = fmt.Sprintf("%s ended at %d, before %s began at %d", a, s.h[e.From].Return, b, s.h[e.To].Invoke)
		}
		an.Edges = append(an.Edges, e)
	}
	an.Why = kind.meaning()
	return an
}

// meaning says what a kind of cycle is.
func (k Kind) meaning() string {
	base, suffix := k.split()
	return map[Kind]string{
		G0:           "each of these wrote behind the one before it, in a circle",
		G1c:          "each of these wrote behind the one before it or saw what it wrote, in a circle",
		GSingle:      "one of these misses a write that it must have seen",
		GNonadjacent: "several of these miss writes that the others had seen",
		G2Item:       "each of these misses what another one wrote: no order explains them all",
	}[base] + map[string]string{
		Process:     "; if each client's transactions are in order",
		Realtime:    "; if what ended before another began is before it",
		KeyRealtime: "; if what ended before another began is before it, on one key",
	}[suffix]
}

// valueText is what a register held.
func valueText(v int64, absent bool) string {
	if absent {
		return "nil"
	}
	return fmt.Sprint(v)
}
