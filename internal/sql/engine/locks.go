package engine

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/txn"
)

// Which reads of a statement lock what they find (docs/locks.md). go-mysql-server parses the clauses and drops them, so they
// are taken from the syntax tree here, by the names of tables: a table that a statement reads twice is locked wherever it
// is read. Correctness never depends on it.
//
//	SELECT ... FOR UPDATE, FOR SHARE   the tables of its FROM clause, or those named by OF
//	UPDATE, DELETE                     the tables that it changes, as far as their rows are looked up by an index or are few
//	REPLACE, ON DUPLICATE KEY UPDATE   the keys that may be taken

// lockPlan is what a statement locks. The zero value: nothing.
type lockPlan struct {
	tables []lockedTable
	// page is how many rows are probably wanted, by LIMIT: more should not be locked. 0: all of them.
	page int
}

type lockedTable struct {
	db, name string // db is empty where the statement does not say
	lock     txn.Lock
	implicit bool // not asked for by a clause
}

// shareMarker stands in the place of a table's name where the statement said FOR SHARE with something behind it, which the
// parser does not know: see forShare.
const shareMarker = "longitude for share"

// lockPlan finds out what a statement locks.
func (x *execution) lockPlan(sc *sql.Context, stmt sqlparser.Statement, bindings map[string]sqlparser.Expr) (p lockPlan) {
	wait := x.s.settings(sc).lockWait
	switch s := stmt.(type) {
	case *sqlparser.Update:
		p.changed(s.TableExprs, assigned(s), wait)
		p.page = rowLimit(s.Limit, bindings)
	case *sqlparser.Delete:
		p.changed(s.TableExprs, s.Targets, wait)
		p.page = rowLimit(s.Limit, bindings)
	case *sqlparser.Insert:
		if reacts(s) {
			p.tables = append(p.tables, lockedTable{lower(s.Table.DbQualifier), lower(s.Table.Name), txn.Lock{Mode: kv.LockExclusive, Wait: wait}, true})
		}
	case *sqlparser.Select:
		p.page = rowLimit(s.Limit, bindings)
	case nil:
		return p
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Select:
			n.Lock = p.clause(n, n.Lock, wait)
		case *sqlparser.SetOp:
			n.Lock = p.clause(n, n.Lock, wait)
		}
		return true, nil
	}, stmt)
	return p
}

// clause takes in the locking clause of one query block, and returns what of it the engine is to see.
func (p *lockPlan) clause(block sqlparser.SQLNode, c *sqlparser.Lock, wait time.Duration) *sqlparser.Lock {
	if c == nil || c.Type == "" {
		return c
	}
	l := txn.Lock{Mode: kv.LockExclusive, Wait: wait}
	switch {
	case strings.HasSuffix(c.Type, " skip locked"):
		l.Policy = kv.LockSkip
	case strings.HasSuffix(c.Type, " nowait"):
		l.Policy = kv.LockNoWait
	case c.Type == sqlparser.ShareModeStr:
		l.Mode = kv.LockShared
	}
	of := c.Tables
	if len(of) > 0 && of[0].Name.String() == shareMarker {
		l.Mode, of = kv.LockShared, of[1:]
		rest := *c
		if rest.Tables = of; len(of) == 0 {
			rest.Type = sqlparser.ForUpdateStr
		}
		c = &rest
	}
	var from sqlparser.TableExprs
	switch b := block.(type) {
	case *sqlparser.Select:
		from = b.From
	case *sqlparser.SetOp:
		from = tablesOf(b.Left)
		from = append(from[:len(from):len(from)], tablesOf(b.Right)...)
	}
	p.add(from, of, l, false)
	return c
}

// tablesOf is the tables of a query block, or of those that it unites.
func tablesOf(s sqlparser.SelectStatement) sqlparser.TableExprs {
	switch s := s.(type) {
	case *sqlparser.Select:
		return s.From
	case *sqlparser.ParenSelect:
		return tablesOf(s.Select)
	case *sqlparser.SetOp:
		l := tablesOf(s.Left)
		return append(l[:len(l):len(l)], tablesOf(s.Right)...)
	}
	return nil
}

// changed adds the tables that an UPDATE or DELETE changes.
func (p *lockPlan) changed(from sqlparser.TableExprs, which sqlparser.TableNames, wait time.Duration) {
	p.add(from, which, txn.Lock{Mode: kv.LockExclusive, Wait: wait}, true)
}

// assigned lists the tables that an UPDATE assigns to, by their names or aliases; nil: it does not say for all columns.
func assigned(u *sqlparser.Update) (out sqlparser.TableNames) {
	for _, e := range u.Exprs {
		if e.Name.Qualifier.IsEmpty() {
			return nil
		}
		out = append(out, e.Name.Qualifier)
	}
	return out
}

// add adds tables of a FROM clause: those that are named, by alias or name, or all.
func (p *lockPlan) add(from sqlparser.TableExprs, which sqlparser.TableNames, l txn.Lock, implicit bool) {
	eachTable(from, func(t sqlparser.TableName, alias string) {
		wanted := len(which) == 0
		for _, w := range which {
			wanted = wanted || equalFold(w.Name.String(), alias)
		}
		if wanted {
			p.tables = append(p.tables, lockedTable{lower(t.DbQualifier), lower(t.Name), l, implicit})
		}
	})
}

func eachTable(from sqlparser.TableExprs, fn func(t sqlparser.TableName, alias string)) {
	for _, e := range from {
		switch e := e.(type) {
		case *sqlparser.AliasedTableExpr:
			if t, ok := e.Expr.(sqlparser.TableName); ok {
				alias := t.Name.String()
				if !e.As.IsEmpty() {
					alias = e.As.String()
				}
				fn(t, alias)
			}
		case *sqlparser.JoinTableExpr:
			eachTable(sqlparser.TableExprs{e.LeftExpr, e.RightExpr}, fn)
		case *sqlparser.ParenTableExpr:
			eachTable(e.Exprs, fn)
		}
	}
}

// rowLimit is what LIMIT says, as far as it can be told; 0: nothing.
func rowLimit(l *sqlparser.Limit, bindings map[string]sqlparser.Expr) int {
	if l == nil {
		return 0
	}
	n := smallNumber(l.Rowcount, bindings)
	if n <= 0 {
		return 0
	}
	return n + max(smallNumber(l.Offset, bindings), 0)
}

// smallNumber is a small number in the statement, or bound to it; -1: something else.
func smallNumber(e sqlparser.Expr, bindings map[string]sqlparser.Expr) int {
	v, ok := e.(*sqlparser.SQLVal)
	if ok && v.Type == sqlparser.ValArg {
		v, ok = bindings[strings.TrimPrefix(string(v.Val), ":")].(*sqlparser.SQLVal)
	}
	if !ok || v.Type != sqlparser.IntVal || len(v.Val) > 6 {
		return -1
	}
	n := 0
	for _, c := range v.Val {
		n = 10*n + int(c-'0')
	}
	return n
}

// lockFor is how a statement's reads of a table lock. explicit leaves out what no clause asks for.
func (s *statement) lockFor(t *table, explicit bool) txn.Lock {
	for _, l := range s.locks.tables {
		if l.name == strings.ToLower(t.l.desc.Name) && (l.db == "" || l.db == strings.ToLower(t.db.name)) && !(explicit && l.implicit) {
			return l.lock
		}
	}
	return txn.Lock{}
}

// lockWaitVariable is MySQL's limit for waiting for a lock, in seconds.
const lockWaitVariable = "innodb_lock_wait_timeout"

// scanLocksVariable is how many rows a table may have that an UPDATE or DELETE locks as a whole, when no index helps it; 0:
// none. More: fewer repetitions where such statements meet, and more waiting of those that want other rows.
const scanLocksVariable = "longitude_scan_locks"

const defaultScanLocks = 256

func scanLocks(sc *sql.Context) uint64 {
	v, err := sc.GetSessionVariable(sc, scanLocksVariable)
	if n, ok := v.(int64); err == nil && ok && n >= 0 {
		return uint64(n)
	}
	return defaultScanLocks
}

func lockWait(sc *sql.Context) time.Duration {
	v, err := sc.GetSessionVariable(sc, lockWaitVariable)
	if err != nil {
		return 0
	}
	if n, ok := v.(int64); ok && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 0
}

func lower(n sqlparser.TableIdent) string { return strings.ToLower(n.String()) }
