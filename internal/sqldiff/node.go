package sqldiff

import (
	"slices"
	"strings"
)

// Class says where a node of a statement's tree may stand: a node may be replaced by another one of its class.
type Class uint8

const (
	clause Class = iota // a part that is never replaced
	expression
	query
	relation // what stands behind FROM
)

// Node is a part of a statement. Its text is Parts with the kids between them; the parts of a list are what stands before it and behind it,
// and a list without kids has no text. Statements are trees so that the reducer can take parts away without knowing SQL.
type Node struct {
	Class Class
	Name  string // of the construct, for grouping failures by cause; atoms have none
	Parts []string
	Kids  []*Node
	List  bool
	Sep   string
	Min   int // kids that a list must keep
}

// tmpl makes a node from a text with a $ for each kid.
func tmpl(class Class, name, text string, kids ...*Node) *Node {
	parts := strings.Split(text, "$")
	if len(parts) != len(kids)+1 {
		panic("template " + text + " has another number of kids")
	}
	return &Node{Class: class, Name: name, Parts: parts, Kids: kids}
}

// atom makes a literal or a column.
func atom(text string) *Node { return &Node{Class: expression, Parts: []string{text}} }

// word makes fixed text.
func word(text string) *Node { return &Node{Parts: []string{text}} }

// list makes a list with what stands before, between and behind its kids.
func list(minKids int, before, sep, after string, kids ...*Node) *Node {
	return &Node{List: true, Parts: []string{before, after}, Sep: sep, Min: minKids, Kids: kids}
}

// named gives a clause the name of its construct, so that a failure that needs the clause is grouped under it.
func (n *Node) named(name string) *Node {
	n.Name = name
	return n
}

func (n *Node) isAtom() bool { return n.Class == expression && len(n.Kids) == 0 }

func (n *Node) render(b *strings.Builder) {
	if n.List {
		if len(n.Kids) == 0 {
			return
		}
		b.WriteString(n.Parts[0])
		for i, k := range n.Kids {
			if i > 0 {
				b.WriteString(n.Sep)
			}
			k.render(b)
		}
		b.WriteString(n.Parts[1])
		return
	}
	for i, p := range n.Parts {
		b.WriteString(p)
		if i < len(n.Kids) {
			n.Kids[i].render(b)
		}
	}
}

func (n *Node) String() string {
	var b strings.Builder
	n.render(&b)
	return b.String()
}

func (n *Node) clone() *Node {
	c := *n
	c.Kids = make([]*Node, len(n.Kids))
	for i, k := range n.Kids {
		c.Kids[i] = k.clone()
	}
	return &c
}

// walk visits the node and what is below it, parents first.
func (n *Node) walk(visit func(*Node)) {
	visit(n)
	for _, k := range n.Kids {
		k.walk(visit)
	}
}

// names lists the constructs of the tree, each once, sorted. A clause without kids is not there.
func (n *Node) names() []string {
	var out []string
	n.walk(func(n *Node) {
		if n.Name != "" && (!n.List || len(n.Kids) > 0) {
			out = append(out, n.Name)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}
