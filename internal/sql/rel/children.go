package rel

import "slices"

func concat(a, b []ColID) []ColID { return append(slices.Clip(a), b...) }

func (n *Join) columns() []ColID {
	if n.Kind == Semi || n.Kind == Anti {
		return n.Left.Columns()
	}
	return concat(n.Left.Columns(), n.Right.Columns())
}

func (n *Group) columns() []ColID {
	out := slices.Clone(n.Out)
	for _, a := range n.Aggs {
		out = append(out, a.Col)
	}
	for _, g := range n.Grouping {
		out = append(out, g.Col)
	}
	return out
}

func (n *Sort) columns() []ColID {
	if n.Keep != nil {
		return n.Keep
	}
	return n.Child.Columns()
}

func (n *Window) columns() []ColID {
	out := slices.Clone(n.Child.Columns())
	for _, f := range n.Funcs {
		out = append(out, f.Col)
	}
	return out
}

// Columns implements Node.
func (n *Scan) Columns() []ColID { return n.Cols }

// Children implements Node.
func (n *Scan) Children() []Node { return nil }

// SetChild implements Node.
func (n *Scan) SetChild(int, Node) { panic("rel: Scan has no children") }

// Columns implements Node.
func (n *Values) Columns() []ColID { return n.Cols }

// Children implements Node.
func (n *Values) Children() []Node { return nil }

// SetChild implements Node.
func (n *Values) SetChild(int, Node) { panic("rel: Values has no children") }

// Columns implements Node.
func (n *Filter) Columns() []ColID { return n.Child.Columns() }

// Children implements Node.
func (n *Filter) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *Filter) SetChild(_ int, c Node) { n.Child = c }

// Columns implements Node.
func (n *Project) Columns() []ColID { return concat(n.Child.Columns(), n.Cols) }

// Children implements Node.
func (n *Project) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *Project) SetChild(_ int, c Node) { n.Child = c }

// Columns implements Node.
func (n *Join) Columns() []ColID { return n.columns() }

// Children implements Node.
func (n *Join) Children() []Node { return []Node{n.Left, n.Right} }

// SetChild implements Node.
func (n *Join) SetChild(i int, c Node) { *[]*Node{&n.Left, &n.Right}[i] = c }

// Columns implements Node.
func (n *Group) Columns() []ColID { return n.columns() }

// Children implements Node.
func (n *Group) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *Group) SetChild(_ int, c Node) { n.Child = c }

// Columns implements Node.
func (n *Sort) Columns() []ColID { return n.columns() }

// Children implements Node.
func (n *Sort) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *Sort) SetChild(_ int, c Node) { n.Child = c }

// Columns implements Node.
func (n *Limit) Columns() []ColID { return n.Child.Columns() }

// Children implements Node.
func (n *Limit) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *Limit) SetChild(_ int, c Node) { n.Child = c }

// Columns implements Node.
func (n *Distinct) Columns() []ColID { return n.Child.Columns() }

// Children implements Node.
func (n *Distinct) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *Distinct) SetChild(_ int, c Node) { n.Child = c }

// Columns implements Node.
func (n *Window) Columns() []ColID { return n.columns() }

// Children implements Node.
func (n *Window) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *Window) SetChild(_ int, c Node) { n.Child = c }

// Columns implements Node.
func (n *SetOp) Columns() []ColID { return n.Cols }

// Children implements Node.
func (n *SetOp) Children() []Node { return []Node{n.Left, n.Right} }

// SetChild implements Node.
func (n *SetOp) SetChild(i int, c Node) { *[]*Node{&n.Left, &n.Right}[i] = c }

// Columns implements Node.
func (n *SharedScan) Columns() []ColID { return n.Cols }

// Children implements Node.
func (n *SharedScan) Children() []Node { return nil }

// SetChild implements Node.
func (n *SharedScan) SetChild(int, Node) { panic("rel: SharedScan has no children") }

// Columns implements Node.
func (n *Recursive) Columns() []ColID { return n.Cols }

// Children implements Node.
func (n *Recursive) Children() []Node { return []Node{n.Seed, n.Step} }

// SetChild implements Node.
func (n *Recursive) SetChild(i int, c Node) { *[]*Node{&n.Seed, &n.Step}[i] = c }

// Columns implements Node.
func (n *WorkScan) Columns() []ColID { return n.Cols }

// Children implements Node.
func (n *WorkScan) Children() []Node { return nil }

// SetChild implements Node.
func (n *WorkScan) SetChild(int, Node) { panic("rel: WorkScan has no children") }

// Columns implements Node.
func (n *One) Columns() []ColID { return n.Child.Columns() }

// Children implements Node.
func (n *One) Children() []Node { return []Node{n.Child} }

// SetChild implements Node.
func (n *One) SetChild(_ int, c Node) { n.Child = c }
