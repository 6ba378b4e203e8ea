package engine

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
	"github.com/longitude-db/longitude/internal/txn"
)

// statement is what belongs to one statement of a session.
type statement struct {
	kind  statementKind
	query string
	// lockUntil is when a commit of it that waits for a lock gives up. Zero: it does not say.
	lockUntil time.Time
	asOf      *txn.Past // it says itself at what time it reads
	once      bool      // it speaks of the next transaction alone
	// begin is what a BEGIN says of its transaction; empty: the statement is none.
	begin string
	// atCommit: the statement is the whole transaction and only inserts, so that whether keys are taken may be found out
	// by the commit.
	atCommit bool
	// deferred: the keys of rows may be checked together at the end, because nothing in the statement reacts to a
	// duplicate.
	deferred  bool
	editors   []*editor
	rowIDs    map[uint64]map[string][]uint64
	generated map[uint64]uint64 // by table: the AUTO_INCREMENT value generated last
	parents   parentChecks
	ahead     map[uint64]*fetched // by table: what a join has read ahead
	locks     lockPlan
	uses      uses
	ids       reservation
	drops     bool // it may drop indexes
	temporary bool // it changes temporary tables, and no others
	steps     bool // it is executed in several steps, and commits behind the last one
	native    bool // see watchRows
	explains  bool
	scanLocks uint64       // scanLocksVariable
	env       *expr.Env    // see environment
	envOf     *sql.Context // for which env was made

	ignores     bool            // INSERT IGNORE, UPDATE IGNORE
	tables      *tableNotes     // what a change of tables says that go-mysql-server does not pass on
	unnamed     map[string]bool // columns that ALTER TABLE makes UNIQUE; the index has no name of its own (unnamedIndexes)
	flags       *sql.QueryFlags // what go-mysql-server has found out about the statement
	explainJSON bool            // EXPLAIN FORMAT=JSON
	source      *insertedQuery  // of INSERT ... SELECT, if our own packages execute it
	tookFile    bool            // the client has sent the file of LOAD DATA LOCAL: it is not asked for it again
	counts      changeCounts
	by          *execution // which executes it
	trigger     string     // CREATE TRIGGER as it is written
}

// rememberRowID notes under which row id a row of a keyless table was read: an update or a delete names the row by its
// content only. Rows of the same content are interchangeable.
func (s *statement) rememberRowID(l *layout, d datums) {
	if s.kind != writing {
		return
	}
	if s.rowIDs == nil {
		s.rowIDs = map[uint64]map[string][]uint64{}
	}
	m := s.rowIDs[l.desc.ID]
	if m == nil {
		m = map[string][]uint64{}
		s.rowIDs[l.desc.ID] = m
	}
	c := l.content(d)
	id := d[l.rowIDAt()].U
	for _, have := range m[c] {
		if have == id {
			return
		}
	}
	m[c] = append(m[c], id)
}

// takeRowID returns a row id that was read with this content.
func (s *statement) takeRowID(l *layout, d datums) (uint64, error) {
	c := l.content(d)
	ids := s.rowIDs[l.desc.ID][c]
	if len(ids) == 0 {
		return 0, sql.ErrDeleteRowNotFound.New()
	}
	s.rowIDs[l.desc.ID][c] = ids[1:]
	return ids[0], nil
}

// content is a row's columns as one string.
func (l *layout) content(d datums) string {
	v := rowcodec.BeginValue(nil)
	for i := range l.columns {
		if !l.virtual[i] {
			v = rowcodec.AppendValue(v, &l.columns[i], d[i])
		}
	}
	return string(v)
}

// keepTransaction keeps go-mysql-server from committing at the end of a statement that does not change the catalog. It takes one that
// reads a view for its CREATE VIEW, which it parses to plan it (sql/planbuilder/ddl.go sets QFlagDDL, and
// sql/rowexec/transaction_iters.go commits for it).
func (s *statement) keepTransaction() {
	if s.kind == changingCatalog && !s.steps {
		return
	}
	for _, flag := range []int{sql.QFlagDDL, sql.QFlagAlterTable, sql.QFlagDBDDL} {
		s.flags.Unset(flag)
	}
}

// flushTable brings the rows that wait for their keys to be looked up into the transaction's buffer, before somebody in
// the same statement reads the table.
func (s *statement) flushTable(ctx *sql.Context, id uint64) error {
	for _, e := range s.editors {
		if e.t.l.desc.ID == id {
			if err := e.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
