package rel

import (
	"fmt"
	"strings"
)

// Format writes a plan as a tree, one operator in a line: for tests and for looking at.
func Format(n Node) string {
	var b strings.Builder
	format(&b, n, 0)
	return b.String()
}

func format(b *strings.Builder, n Node, depth int) {
	fmt.Fprintf(b, "%s%s %v\n", strings.Repeat("  ", depth), strings.TrimPrefix(fmt.Sprintf("%T", n), "*rel."), n.Columns())
	for _, c := range n.Children() {
		format(b, c, depth+1)
	}
}
