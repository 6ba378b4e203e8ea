package sqldiff

import "fmt"

// genTxn makes a statement of the family txn: a change, or one of those that begin and end transactions and savepoints, all of one connection.
// What two transactions at once see of each other differs by design, and is the subject of the isolation scripts.
func genTxn(r source, s *Schema) *Stmt {
	if r.IntN(5) < 2 {
		return genDML(r, s)
	}
	point := fmt.Sprintf("p%d", r.IntN(3))
	text := pick(r, "BEGIN", "START TRANSACTION", "START TRANSACTION READ ONLY", "COMMIT", "COMMIT", "ROLLBACK", "ROLLBACK", "SAVEPOINT "+point, "SAVEPOINT "+point, "ROLLBACK TO "+point, "ROLLBACK TO SAVEPOINT "+point,
		"RELEASE SAVEPOINT "+point, "SET autocommit = 0", "SET autocommit = 1", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN")
	return &Stmt{Root: tmpl(clause, text, text), Changes: true}
}
