package check

import "fmt"

// Mark is one write of a probe for order: the key's only writer set it to N, without reading. A writer that does not
// learn what became of a write never uses the key again.
type Mark struct {
	Op
	Key int
	N   int64 // 1, 2, 3... for each key
}

// Marks is all keys, read in one transaction (0: absent).
type Marks struct {
	Op
	N []int64
}

// Order checks that readers of independent keys see an order of the writes that extends real time. CausalReverse alone is
// what a database with only per-key recency (`uncertainty` ordering) may show; every other kind is an error there too.
func Order(writes []Mark, reads []Marks) []Anomaly {
	var f found
	type at struct {
		key int
		n   int64
	}
	by := map[at]*Mark{}
	for i := range writes {
		by[at{writes[i].Key, writes[i].N}] = &writes[i]
	}
	seen := map[at]bool{}
	var views []view
	for i := range reads {
		r := &reads[i]
		if r.Outcome != OK {
			continue
		}
		for k, n := range r.N {
			if n == 0 {
				continue
			}
			seen[at{k, n}] = true
			switch w := by[at{k, n}]; {
			case w == nil:
				f.add(FutureRead, "reader %s saw key %d at %d, which nobody wrote", &r.Op, k, n)
			case w.Outcome == Failed:
				f.add(AbortedRead, "reader %s saw key %d at %d of %s, which failed", &r.Op, k, n, &w.Op)
			}
		}
		views = append(views, view{op: &r.Op, vec: r.N})
	}
	var marks []mark
	for i := range writes {
		w := &writes[i]
		marks = append(marks, mark{op: &w.Op, name: fmt.Sprintf("%d at key %d", w.N, w.Key), at: []int{w.Key},
			to: []int64{w.N}, seen: seen[at{w.Key, w.N}]})
	}
	checkViews(&f, views, marks)
	return f.as
}
