package check

import "fmt"

// Account is what one account holds: money, how many transfers have changed it, and which was the last.
type Account struct {
	Balance int64
	Seq     int64 // 0: as it was at first
	Last    int64 // Transfer.ID; 0: none
}

// Transfer moves money between two accounts in one transaction, which reads both, and writes both with Seq one higher.
type Transfer struct {
	Op
	ID       int64 // not 0
	From, To int
	Amount   int64
	// FromSeq and ToSeq are what it wrote, as of the last attempt that came to the point of committing; 0: none did.
	FromSeq, ToSeq int64
}

// Snapshot is all accounts, read in one transaction. Only acknowledged ones say anything.
type Snapshot struct {
	Op
	Accounts []Account
}

// Bank checks transfers and snapshots. Every account began with the same balance. final is what was read when all was
// over; nil if nothing could be read.
//
// Sequence numbers make the versions of an account known, so that besides the total also lost updates, fractured, stale,
// backward and aborted reads, long forks and causal reverse show.
func Bank(initial int64, transfers []Transfer, snapshots []Snapshot, final []Account) []Anomaly {
	var f found
	byID := map[int64]*Transfer{}
	for i := range transfers {
		byID[transfers[i].ID] = &transfers[i]
	}
	if final != nil {
		// The last word counts as one more reader, after everything.
		var last int64
		for i := range transfers {
			last = max(last, transfers[i].Invoke, transfers[i].Return)
		}
		for i := range snapshots {
			last = max(last, snapshots[i].Invoke, snapshots[i].Return)
		}
		op := Op{Client: "final", Invoke: last + 1, Return: last + 2, Outcome: OK}
		snapshots = append(snapshots[:len(snapshots):len(snapshots)], Snapshot{Op: op, Accounts: final})
	}
	seen := map[int64]bool{}
	var views []view
	for i := range snapshots {
		s := &snapshots[i]
		if s.Outcome != OK {
			continue
		}
		var total int64
		v := view{op: &s.Op}
		for n, a := range s.Accounts {
			total += a.Balance
			v.vec = append(v.vec, a.Seq)
			if a.Last == 0 {
				continue
			}
			seen[a.Last] = true
			switch t := byID[a.Last]; {
			case t == nil:
				f.add(FutureRead, "reader %s: account %d was last changed by transfer %d, which nobody made", &s.Op, n, a.Last)
			case t.Outcome == Failed:
				f.add(AbortedRead, "reader %s: account %d shows transfer %d of %s, which failed", &s.Op, n, t.ID, &t.Op)
			}
		}
		if want := initial * int64(len(s.Accounts)); total != want {
			f.add(WrongTotal, "reader %s: the accounts hold %d, not %d: %v", &s.Op, total, want, s.Accounts)
		}
		views = append(views, v)
	}
	checkClaims(&f, transfers)
	var marks []mark
	for i := range transfers {
		t := &transfers[i]
		if t.FromSeq == 0 {
			continue
		}
		marks = append(marks, mark{op: &t.Op, name: fmt.Sprint("transfer ", t.ID), at: []int{t.From, t.To},
			to: []int64{t.FromSeq, t.ToSeq}, seen: seen[t.ID]})
	}
	checkViews(&f, views, marks)
	if final != nil {
		checkFinal(&f, initial, transfers, seen, final)
	}
	return f.as
}

// checkClaims: two acknowledged transfers cannot have written the same version of an account.
func checkClaims(f *found, transfers []Transfer) {
	type version struct {
		account int
		seq     int64
	}
	by := map[version]*Transfer{}
	for i := range transfers {
		t := &transfers[i]
		if t.Outcome != OK {
			continue
		}
		for _, v := range []version{{t.From, t.FromSeq}, {t.To, t.ToSeq}} {
			if o := by[v]; o != nil {
				f.add(LostUpdate, "transfer %d of %s and transfer %d of %s both made version %d of account %d",
					o.ID, &o.Op, t.ID, &t.Op, v.seq, v.account)
			}
			by[v] = t
		}
	}
}

// checkFinal adds up each account from its transfers, where it is certain which those are.
func checkFinal(f *found, initial int64, transfers []Transfer, seen map[int64]bool, final []Account) {
	for n, a := range final {
		sum, known := initial, int64(0)
		for i := range transfers {
			t := &transfers[i]
			if t.Outcome == Failed || (t.Outcome == Unknown && !seen[t.ID]) {
				continue
			}
			switch n {
			case t.From:
				sum, known = sum-t.Amount, known+1
			case t.To:
				sum, known = sum+t.Amount, known+1
			}
		}
		if known > a.Seq {
			f.add(LostWrite, "account %d ends at version %d, but %d transfers to or from it were acknowledged or seen", n, a.Seq, known)
		}
		if known == a.Seq && sum != a.Balance {
			f.add(LostWrite, "account %d ends with %d, but its %d transfers make %d", n, a.Balance, known, sum)
		}
	}
}
