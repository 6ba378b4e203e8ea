package sqldiff

// genLimits makes a statement of the family limits: a function whose result would be larger than max_allowed_packet, which is NULL with a
// warning in MySQL.
func genLimits(r source, _ *Schema) *Stmt {
	huge := atom(pick(r, "100000000000", "1000000000000", "9223372036854775807", "1e20", "200000000"))
	var n *Node
	switch r.IntN(6) {
	case 0:
		n = tmpl(expression, "SPACE", "SPACE($)", huge)
	case 1:
		n = tmpl(expression, "REPEAT", "REPEAT('x', $)", huge)
	case 2:
		n = tmpl(expression, "LPAD", "LPAD('x', $, 'y')", huge)
	case 3:
		n = tmpl(expression, "RPAD", "RPAD('x', $, 'y')", huge)
	case 4:
		n = tmpl(expression, "REPLACE", "REPLACE(REPEAT('x', 60000000), 'x', 'yyyyyyyyyy')")
	default:
		n = tmpl(expression, "CONCAT", "CONCAT(REPEAT('x', 50000000), REPEAT('x', 50000000))")
	}
	return &Stmt{Root: parts{items: []*Node{tmpl(expression, "LENGTH", "LENGTH($)", n)}}.node()}
}
