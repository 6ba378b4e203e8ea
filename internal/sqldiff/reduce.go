package sqldiff

// reducer makes a failing statement smaller while the difference stays the same.
type reducer struct {
	tries int               // how many more candidates may be tried
	fails func(*Stmt) *Diff // executes a candidate
	like  *Diff             // the difference that has to stay
	seen  map[string]bool   // candidates tried
}

// reduce gives the smallest statement found, and its difference.
func (m *reducer) reduce(st *Stmt) (*Stmt, *Diff) {
	best, diff := *st, m.like
	best.Root = st.Root.clone()
	m.seen = map[string]bool{best.String(): true}
	for again := true; again && m.tries > 0; {
		again = false
		for _, pass := range []func(*Node, func() bool) bool{m.hoist, m.dropItems, m.dropColumns, m.simplify} {
			for m.walk(&best, best.Root, pass, &diff) {
				again = true
			}
		}
	}
	return &best, diff
}

// walk offers each node to a pass, parents first, until one of them makes the statement smaller.
func (m *reducer) walk(st *Stmt, n *Node, pass func(*Node, func() bool) bool, diff **Diff) bool {
	smaller := func() bool {
		text := st.String()
		if m.tries <= 0 || m.seen[text] {
			return false
		}
		m.seen[text] = true
		m.tries--
		d := m.fails(st)
		if !m.like.same(d) {
			return false
		}
		*diff = d
		return true
	}
	if pass(n, smaller) {
		return true
	}
	for _, k := range n.Kids {
		if m.walk(st, k, pass, diff) {
			return true
		}
	}
	return false
}

// hoist replaces a node by one below it of the same class.
func (m *reducer) hoist(n *Node, smaller func() bool) bool {
	if n.Class == clause || len(n.Kids) == 0 {
		return false
	}
	old := *n
	var below []*Node
	level := n.Kids
	for len(level) > 0 && len(below) < 12 {
		var next []*Node
		for _, k := range level {
			if k.Class == n.Class {
				below = append(below, k)
			}
			next = append(next, k.Kids...)
		}
		level = next
	}
	for _, k := range below {
		*n = *k
		if smaller() {
			return true
		}
		*n = old
	}
	return false
}

// dropItems takes kids out of lists.
func (m *reducer) dropItems(n *Node, smaller func() bool) bool {
	if !n.List || len(n.Kids) <= n.Min {
		return false
	}
	old := n.Kids
	for i := range old {
		n.Kids = append(append([]*Node{}, old[:i]...), old[i+1:]...)
		if smaller() {
			return true
		}
	}
	n.Kids = old
	return false
}

// simplify replaces expressions by simple atoms.
func (m *reducer) simplify(n *Node, smaller func() bool) bool {
	if n.Class != expression {
		return false
	}
	old := *n
	limit := 3
	if n.isAtom() {
		limit = rank(n.Parts[0])
	}
	for _, s := range simplest[:limit] {
		*n = *atom(s)
		if smaller() {
			return true
		}
	}
	*n = old
	return false
}

// dropColumns takes a column out of INSERT INTO t (columns) together with its values.
func (m *reducer) dropColumns(n *Node, smaller func() bool) bool {
	if n.Class != clause || len(n.Kids) < 2 || !n.Kids[0].List || len(n.Kids[0].Kids) < 2 || n.Kids[0].Min != len(n.Kids[0].Kids) {
		return false
	}
	width := n.Kids[0].Min
	lists := []*Node{n.Kids[0]}
	if n.Kids[1].Class == query && len(n.Kids[1].Kids) > 2 {
		lists = append(lists, n.Kids[1].Kids[2])
	} else {
		lists = append(lists, n.Kids[1].Kids...)
	}
	for _, l := range lists {
		if !l.List || len(l.Kids) != width {
			return false
		}
	}
	for i := range width {
		olds := make([][]*Node, len(lists))
		for j, l := range lists {
			olds[j] = l.Kids
			l.Kids = append(append([]*Node{}, l.Kids[:i]...), l.Kids[i+1:]...)
			l.Min = width - 1
		}
		if smaller() {
			return true
		}
		for j, l := range lists {
			l.Kids, l.Min = olds[j], width
		}
	}
	return false
}
