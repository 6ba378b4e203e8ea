package engine

import (
	"container/list"
	"strings"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"github.com/longitude-db/longitude/internal/txn"
)

// statements keeps what became of the statements that this node executed, by digest: how often, how long, and how often
// the node had to repeat them, why, and what time that took. It holds the digests that were used last.
type statements struct {
	mu     sync.Mutex
	byText map[string]*list.Element // of *statementStats
	order  *list.List               // the one used last in front
	known  map[string]string        // digests of statements with parameters, whose texts come again and again
}

// keepStatements bounds the digests that are remembered.
const keepStatements = 1000

type statementStats struct {
	digest  string
	count   uint64
	planned uint64 // executed by a plan (compiled)
	own     uint64 // planned and executed by our own packages (query.go)
	errors  uint64
	given   uint64 // errors 1213: transactions that the client has to repeat
	repeats txn.Repeats
	total   time.Duration
	longest time.Duration
	last    time.Time
}

func newStatements() *statements {
	return &statements{byText: map[string]*list.Element{}, order: list.New(), known: map[string]string{}}
}

// digest is that of a query, remembered if it is likely to come again as it is.
func (s *statements) digest(query string) string {
	if !strings.Contains(query, "?") {
		return digest(query)
	}
	s.mu.Lock()
	text, ok := s.known[query]
	s.mu.Unlock()
	if ok {
		return text
	}
	text = digest(query)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= keepStatements {
		clear(s.known)
	}
	s.known[query] = text
	return text
}

// done notes the end of a statement of a digest. code is the MySQL error, or 0; planned: it was executed by a plan; own: by the planner
// of our own.
func (s *statements) done(text string, took time.Duration, code int, r txn.Repeats, planned, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.byText[text]
	if e == nil {
		e = s.order.PushFront(&statementStats{digest: text})
		s.byText[text] = e
		if s.order.Len() > keepStatements {
			old := s.order.Remove(s.order.Back()).(*statementStats)
			delete(s.byText, old.digest)
		}
	}
	s.order.MoveToFront(e)
	st := e.Value.(*statementStats)
	st.count++
	if planned {
		st.planned++
	}
	if own {
		st.own++
	}
	if code != 0 {
		st.errors++
	}
	if code == 1213 {
		st.given++
	}
	st.repeats.Join(r)
	st.total += took
	st.longest = max(st.longest, took)
	st.last = time.Now()
}

// rows is longitude.statements.
func statementRows(_ *sql.Context, e *Engine) (out []sql.Row, err error) {
	e.statements.mu.Lock()
	defer e.statements.mu.Unlock()
	for x := e.statements.order.Front(); x != nil; x = x.Next() {
		s := x.Value.(*statementStats)
		ms := func(d time.Duration) float64 { return micros(d) / 1000 }
		out = append(out, sql.Row{uint32(e.o.NodeID), s.digest, s.count, s.planned, s.errors, ms(s.total), ms(s.total) / float64(s.count), ms(s.longest),
			s.repeats.N, s.repeats.Reasons(), ms(s.repeats.Lost), s.given, s.last.UTC(), s.own})
	}
	return out, nil
}
