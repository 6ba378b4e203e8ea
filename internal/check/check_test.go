package check

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func op(client string, invoke, ret int64) Op {
	if ret == 0 {
		return Op{Client: client, Invoke: invoke}
	}
	return Op{Client: client, Invoke: invoke, Return: ret, Outcome: OK}
}

func failed(client string, invoke, ret int64) Op {
	return Op{Client: client, Invoke: invoke, Return: ret, Outcome: Failed}
}

func TestRegisters(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  []RegisterOp
		ok   bool
	}{
		{"a read after a write sees it", []RegisterOp{
			{op("a", 1, 2), "x", Write, 0, 1}, {op("b", 3, 4), "x", Read, 1, 0}}, true},
		{"a stale read", []RegisterOp{
			{op("a", 1, 2), "x", Write, 0, 1}, {op("b", 3, 4), "x", Read, 0, 0}}, false},
		{"concurrent: either", []RegisterOp{
			{op("a", 1, 4), "x", Write, 0, 1}, {op("b", 2, 3), "x", Read, 0, 0}, {op("c", 2, 5), "x", Read, 1, 0}}, true},
		{"a reader takes back what another saw", []RegisterOp{
			{op("a", 1, 9), "x", Write, 0, 1}, {op("b", 2, 3), "x", Read, 1, 0}, {op("c", 4, 5), "x", Read, 0, 0}}, false},
		{"an unknown write may come late", []RegisterOp{
			{op("a", 1, 0), "x", Write, 0, 1}, {op("b", 2, 3), "x", Read, 0, 0}, {op("b", 4, 5), "x", Read, 1, 0}}, true},
		{"an unknown write comes only once", []RegisterOp{
			{op("a", 1, 0), "x", Write, 0, 1}, {op("b", 2, 3), "x", Read, 1, 0}, {op("c", 4, 5), "x", Write, 0, 2},
			{op("b", 6, 7), "x", Read, 2, 0}, {op("b", 8, 9), "x", Read, 1, 0}}, false},
		{"an unknown write need never come", []RegisterOp{
			{op("a", 1, 0), "x", Write, 0, 1}, {op("b", 2, 3), "x", Write, 0, 2}, {op("b", 4, 5), "x", Read, 2, 0}}, true},
		{"a failed write is seen", []RegisterOp{
			{failed("a", 1, 2), "x", Write, 0, 1}, {op("b", 3, 4), "x", Read, 1, 0}}, false},
		{"lost update", []RegisterOp{
			{op("a", 1, 4), "x", Change, 0, 1}, {op("b", 2, 5), "x", Change, 0, 2}}, false},
		{"an unknown change whose old value is gone", []RegisterOp{
			{op("a", 1, 0), "x", Change, 0, 1}, {op("b", 2, 3), "x", Change, 0, 2}, {op("b", 4, 5), "x", Read, 2, 0}}, true},
		{"an unknown change that is seen", []RegisterOp{
			{op("a", 1, 0), "x", Change, 0, 1}, {op("b", 2, 3), "x", Change, 1, 2}, {op("b", 4, 5), "x", Read, 2, 0}}, true},
		{"keys are independent", []RegisterOp{
			{op("a", 1, 2), "x", Write, 0, 1}, {op("b", 3, 4), "y", Read, 0, 0}}, true},
		{"an unknown read says nothing", []RegisterOp{
			{op("a", 1, 2), "x", Write, 0, 1}, {op("b", 3, 0), "x", Read, 0, 0}}, true},
	} {
		as, undecided := Registers(c.ops, 0)
		if (len(as) == 0) != c.ok || undecided != 0 {
			t.Errorf("%s: anomalies %v", c.name, as)
		}
	}
}

// TestRegistersExplains: of a long history what is reported is the contradiction, not the history.
func TestRegistersExplains(t *testing.T) {
	ops := registers(rand.New(rand.NewPCG(1, 1)), 300)
	for i := range ops {
		if ops[i].Kind == Read && ops[i].Outcome == OK && ops[i].Invoke > 200 && ops[i].Old != 0 {
			ops[i].Old = 0
			break
		}
	}
	as, _ := Registers(ops, 0)
	if len(as) != 1 || strings.Count(as[0].Text, "\n") > 25 {
		t.Fatalf("got %v", as)
	}
}

// registers makes a history of a true register: an operation takes effect at one moment between its ends.
func registers(rng *rand.Rand, n int) []RegisterOp {
	state := map[string]int64{}
	type running struct {
		i  int
		on bool // has taken effect
	}
	var ops []RegisterOp
	var open []running
	now := int64(0)
	for len(ops) < n || len(open) > 0 {
		now++
		if len(ops) < n && (len(open) == 0 || len(open) < 6 && rng.IntN(2) == 0) {
			ops = append(ops, RegisterOp{Op: op(fmt.Sprint("c", len(ops)), now, 0),
				Key: fmt.Sprint("k", rng.IntN(3)), Kind: RegisterKind(rng.IntN(3)), New: int64(len(ops) + 1)})
			open = append(open, running{i: len(ops) - 1})
			continue
		}
		j := rng.IntN(len(open))
		o := &ops[open[j].i]
		if !open[j].on {
			open[j].on = true
			if rng.IntN(8) == 0 { // it never happens, and its client may or may not know
				if rng.IntN(2) == 0 {
					o.Return, o.Outcome = now, Failed
				}
				open = append(open[:j], open[j+1:]...)
				continue
			}
			if o.Kind != Write {
				o.Old = state[o.Key]
			}
			if o.Kind != Read {
				state[o.Key] = o.New
			}
			continue
		}
		if rng.IntN(8) != 0 {
			o.Return, o.Outcome = now, OK
		}
		open = append(open[:j], open[j+1:]...)
	}
	return ops
}

func TestRegistersAcceptsTrueRegisters(t *testing.T) {
	for seed := range uint64(50) {
		if as, undecided := Registers(registers(rand.New(rand.NewPCG(seed, 2)), 120), 10*time.Second); len(as)+undecided > 0 {
			t.Fatalf("seed %d: %v, %d undecided", seed, as, undecided)
		}
	}
}

// bank makes a history of a true bank, strictly serializable.
func bank(rng *rand.Rand, accounts, n int) (ts []Transfer, ss []Snapshot, final []Account) {
	final = make([]Account, accounts)
	for i := range final {
		final[i].Balance = 100
	}
	now := int64(0)
	type running struct {
		transfer, snapshot int // index+1
		on                 bool
	}
	var open []running
	for len(ts)+len(ss) < n || len(open) > 0 {
		now++
		if len(ts)+len(ss) < n && (len(open) == 0 || len(open) < 5 && rng.IntN(2) == 0) {
			if rng.IntN(2) == 0 {
				a := rng.IntN(accounts)
				ts = append(ts, Transfer{Op: op("t", now, 0), ID: int64(len(ts) + 1), From: a,
					To: (a + 1 + rng.IntN(accounts-1)) % accounts, Amount: int64(rng.IntN(9))})
				open = append(open, running{transfer: len(ts)})
			} else {
				ss = append(ss, Snapshot{Op: op("s", now, 0)})
				open = append(open, running{snapshot: len(ss)})
			}
			continue
		}
		j := rng.IntN(len(open))
		r := &open[j]
		if !r.on {
			r.on = true
			if r.transfer == 0 {
				ss[r.snapshot-1].Accounts = append([]Account(nil), final...)
				continue
			}
			t := &ts[r.transfer-1]
			t.FromSeq, t.ToSeq = final[t.From].Seq+1, final[t.To].Seq+1
			if rng.IntN(6) == 0 { // does not happen
				if rng.IntN(2) == 0 {
					t.Return, t.Outcome = now, Failed
				}
				open = append(open[:j], open[j+1:]...)
				continue
			}
			final[t.From] = Account{final[t.From].Balance - t.Amount, t.FromSeq, t.ID}
			final[t.To] = Account{final[t.To].Balance + t.Amount, t.ToSeq, t.ID}
			continue
		}
		if rng.IntN(8) != 0 {
			if r.transfer != 0 {
				ts[r.transfer-1].Return, ts[r.transfer-1].Outcome = now, OK
			} else {
				ss[r.snapshot-1].Return, ss[r.snapshot-1].Outcome = now, OK
			}
		}
		open = append(open[:j], open[j+1:]...)
	}
	return ts, ss, final
}

func TestBankAcceptsATrueBank(t *testing.T) {
	for seed := range uint64(200) {
		ts, ss, final := bank(rand.New(rand.NewPCG(seed, 3)), 4, 120)
		if as := Bank(100, ts, ss, final); len(as) > 0 {
			t.Fatalf("seed %d: %v", seed, as)
		}
	}
}

func TestBankFinds(t *testing.T) {
	two := func(id, invoke, ret, fromSeq, toSeq int64) Transfer {
		return Transfer{Op: op("t", invoke, ret), ID: id, From: 0, To: 1, Amount: 5, FromSeq: fromSeq, ToSeq: toSeq}
	}
	snap := func(invoke, ret int64, as ...Account) Snapshot {
		return Snapshot{Op: op("s", invoke, ret), Accounts: as}
	}
	for _, c := range []struct {
		kind  Kind
		ts    []Transfer
		ss    []Snapshot
		final []Account
	}{
		{WrongTotal, nil, []Snapshot{snap(1, 2, Account{100, 0, 0}, Account{101, 0, 0})}, nil},
		{StaleRead, []Transfer{two(1, 1, 2, 1, 1)}, []Snapshot{snap(3, 4, Account{100, 0, 0}, Account{100, 0, 0})}, nil},
		{FracturedRead, []Transfer{two(1, 1, 9, 1, 1)}, []Snapshot{snap(3, 4, Account{95, 1, 1}, Account{105, 0, 0})}, nil},
		{LostUpdate, []Transfer{two(1, 1, 5, 1, 1), two(2, 2, 6, 1, 1)}, nil, nil},
		{AbortedRead, []Transfer{{Op: failed("t", 1, 2), ID: 1, From: 0, To: 1, Amount: 5, FromSeq: 1, ToSeq: 1}},
			[]Snapshot{snap(3, 4, Account{95, 1, 1}, Account{105, 1, 1})}, nil},
		{FutureRead, []Transfer{two(1, 5, 6, 1, 1)}, []Snapshot{snap(3, 4, Account{95, 1, 1}, Account{105, 1, 1})}, nil},
		{BackwardRead, []Transfer{two(1, 1, 0, 1, 1)}, []Snapshot{snap(2, 3, Account{95, 1, 1}, Account{105, 1, 1}),
			snap(4, 5, Account{100, 0, 0}, Account{100, 0, 0})}, nil},
		{LostWrite, []Transfer{two(1, 1, 2, 1, 1)}, nil, []Account{{100, 0, 0}, {100, 0, 0}}},
		{LostWrite, []Transfer{two(1, 1, 2, 1, 1)}, nil, []Account{{90, 1, 1}, {110, 1, 1}}},
	} {
		as := Bank(100, c.ts, c.ss, c.final)
		if !has(as, c.kind) {
			t.Errorf("%s not found; found %v", c.kind, as)
		}
	}
}

func has(as []Anomaly, k Kind) bool {
	for _, a := range as {
		if a.Kind == k {
			return true
		}
	}
	return false
}

func TestOrder(t *testing.T) {
	w := func(key int, n, invoke, ret int64) Mark { return Mark{op("w", invoke, ret), key, n} }
	r := func(invoke, ret int64, n ...int64) Marks { return Marks{op("r", invoke, ret), n} }
	for _, c := range []struct {
		name string
		kind Kind // "": none
		ws   []Mark
		rs   []Marks
	}{
		{"both orders of concurrent writes", "", []Mark{w(0, 1, 1, 8), w(1, 1, 2, 9)}, []Marks{r(3, 4, 0, 1)}},
		{"the second of two writes without the first", CausalReverse,
			[]Mark{w(0, 1, 1, 2), w(1, 1, 3, 9)}, []Marks{r(1, 10, 0, 1)}},
		{"the same, but the first had no known end", "",
			[]Mark{w(0, 1, 1, 0), w(1, 1, 3, 9)}, []Marks{r(1, 10, 0, 1)}},
		{"two readers, two orders", LongFork, []Mark{w(0, 1, 1, 9), w(1, 1, 2, 9)}, []Marks{r(3, 8, 0, 1), r(3, 8, 1, 0)}},
		{"an acknowledged write is missed", StaleRead, []Mark{w(0, 1, 1, 2)}, []Marks{r(3, 4, 0)}},
		{"a later reader sees less", BackwardRead, []Mark{w(0, 1, 1, 9)}, []Marks{r(2, 3, 1), r(4, 5, 0)}},
		{"a write nobody made", FutureRead, nil, []Marks{r(3, 4, 1)}},
	} {
		as := Order(c.ws, c.rs)
		if c.kind == "" && len(as) > 0 || c.kind != "" && !has(as, c.kind) {
			t.Errorf("%s: found %v, want %q", c.name, as, c.kind)
		}
		if as := Except(as, c.kind); len(as) > 0 {
			t.Errorf("%s: also found %v", c.name, as)
		}
	}
}

// BenchmarkRegisters checks a history as long as a simulated run makes.
func BenchmarkRegisters(b *testing.B) {
	ops := registers(rand.New(rand.NewPCG(7, 7)), 2000)
	for b.Loop() {
		if as, _ := Registers(ops, 0); len(as) > 0 {
			b.Fatal(as)
		}
	}
}
