package sqldiff

import "fmt"

// genTxn makes a statement of the family txn: a change, or one of those that begin and end transactions and savepoints, all of one
// connection. What two transactions at once see of each other differs by design, and is the subject of the isolation scripts.
func genTxn(r source, s *Schema) *Stmt {
	if r.IntN(5) < 2 {
		return plainChange(r, s)
	}
	point := fmt.Sprintf("p%d", r.IntN(3))
	text := pick(r, "BEGIN", "START TRANSACTION", "START TRANSACTION READ ONLY", "COMMIT", "COMMIT", "ROLLBACK", "ROLLBACK",
		"SAVEPOINT "+point, "SAVEPOINT "+point, "ROLLBACK TO "+point, "ROLLBACK TO SAVEPOINT "+point,
		"RELEASE SAVEPOINT "+point, "SET autocommit = 0", "SET autocommit = 1", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN")
	return &Stmt{Root: tmpl(clause, text, text), Changes: true}
}

// plainChange is a change that leaves no doubt about its values: the family is about which changes remain.
func plainChange(r source, s *Schema) *Stmt {
	t := pick(r, s.Tables...)
	id, small := t.Cols[0].Name, t.Cols[0].Name
	for _, c := range settable(t) {
		if c.Type.sql == "INT" {
			small = c.Name
		}
	}
	n, v := newID(r), atom(pick(r, "0", "1", "2", "5"))
	where := list(0, " WHERE ", "", "", tmpl(expression, "", id+" "+pick(r, "=", "<", ">=")+" $", n)).named("WHERE")
	var root *Node
	switch r.IntN(5) {
	case 0, 1:
		verb := pick(r, "INSERT", "INSERT", "REPLACE", "INSERT IGNORE")
		root = tmpl(clause, verb, verb+" INTO "+t.Name+" ("+id+", "+small+") VALUES ($, $)", n, v)
		if id == small {
			root = tmpl(clause, verb, verb+" INTO "+t.Name+" ("+id+") VALUES ($)", n)
		}
	case 2:
		root = tmpl(clause, "DELETE", "DELETE FROM "+t.Name+"$", where)
	default:
		root = tmpl(clause, "UPDATE", "UPDATE "+t.Name+" SET "+small+" = $$", v, where)
	}
	return &Stmt{Root: root, Changes: true}
}
