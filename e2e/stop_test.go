package e2e

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// TestStopUnderLoad stops the leaseholder of all data with SIGTERM while clients insert rows through all three nodes; STOPS=n times, else
// twice. Its own clients must learn of each statement what became of it: the answer, error 1053 and no effect, or a connection
// that the driver sees to be over before it sends anything. The clients of the other nodes must see no error. How long no insert
// was acknowledged through the other nodes is told, and bounded far above what is promised (50 ms): the machine may be busy.
func TestStopUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes; not with -short")
	}
	times := 2
	if v := os.Getenv("STOPS"); v != "" {
		var err error
		if times, err = strconv.Atoi(v); err != nil {
			t.Fatal(err)
		}
	}
	nodes := startCluster(t)
	replicated(t, nodes)
	nodes[0].exec(`CREATE DATABASE halted`, `CREATE TABLE halted.t(id BIGINT PRIMARY KEY, v INT NOT NULL)`)
	l := &stopLoad{pauses: pauses{t: t}, stop: make(chan struct{}), outcomes: map[string]int{}}
	for i := range 9 {
		l.wg.Go(func() { l.run(nodes[i%3], int64(i)*perStopper, i%2 == 0) })
	}
	var gaps []time.Duration
	for range times {
		l.resumes(100)
		var id int
		eventually(t, "somebody leads the range", func() error {
			err := nodes[0].db.QueryRow("SELECT DISTINCT leaseholder FROM longitude.ranges WHERE range_id = 1").Scan(&id)
			if err == nil && id < 1 {
				err = errors.New("no leaseholder")
			}
			return err
		})
		n := nodes[id-1]
		l.watch(n.id, time.Now())
		n.signal(terminate) // returns when the process is gone
		time.Sleep(300 * time.Millisecond)
		gaps = append(gaps, l.gap())
		n.start()
		n.healthy()
		replicated(t, nodes)
	}
	close(l.stop)
	l.wg.Wait()
	slices.Sort(gaps)
	fmt.Printf("graceful stops: %d; longest pause of writes through the other nodes: min %s median %s max %s; acknowledged %d; clients of the stopped node: %v\n",
		times, gaps[0].Round(time.Millisecond), gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond), len(l.acked), l.outcomes)
	if l.outcomes[unknownOutcome] > 0 || l.outcomes[refused] == 0 {
		t.Errorf("outcomes: %v", l.outcomes)
	}
	if worst := gaps[len(gaps)-1]; worst > 5*time.Second {
		t.Errorf("nothing was acknowledged for %s", worst)
	}
	have := map[int64]bool{}
	rows, err := nodes[0].db.Query("SELECT id FROM halted.t")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		have[id] = true
	}
	for id, acked := range l.acked {
		if have[id] != acked {
			t.Errorf("row %d is there: %t; it was acknowledged: %t", id, have[id], acked)
		}
	}
}

const (
	perStopper     = 1_000_000_000
	refused        = "1053"
	unsent         = "not sent"
	unknownOutcome = "unknown"
)

// stopLoad is clients that insert rows, each on a connection of its own.
type stopLoad struct {
	pauses
	stop chan struct{}
	wg   sync.WaitGroup

	mu       sync.Mutex
	acked    map[int64]bool // by id; false: it was refused
	outcomes map[string]int // of statements through the node that is stopped
}

// run inserts. A client that does not look first sends a statement although its connection may be over.
func (l *stopLoad) run(n *node, id int64, looks bool) {
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr, c.Timeout, c.CheckConnLiveness = "root", "tcp", n.sql, 5*time.Second, looks
	c.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		l.t.Error(err)
		return
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var conn *sql.Conn
	for ; ; id++ {
		select {
		case <-l.stop:
			return
		case <-time.After(2 * time.Millisecond):
		}
		if conn == nil {
			if conn, err = db.Conn(context.Background()); err != nil {
				time.Sleep(20 * time.Millisecond) // its node is down
				continue
			}
		}
		_, err := conn.ExecContext(context.Background(), fmt.Sprintf("INSERT INTO halted.t VALUES (%d, 1)", id))
		l.note(n, id, err)
		if err != nil { // 1053 ends a connection: the pool must not give it out again
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
			conn.Close()
			conn = nil
		}
	}
}

func (l *stopLoad) note(n *node, id int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acked == nil {
		l.acked = map[int64]bool{}
	}
	var answer *mysql.MySQLError
	what := unknownOutcome
	switch {
	case err == nil:
		l.acked[id] = true
		l.acknowledged(n.id)
		return
	case errors.As(err, &answer) && answer.Number == 1053:
		what, l.acked[id] = refused, false
	case errors.Is(err, driver.ErrBadConn):
		what, l.acked[id] = unsent, false
	}
	if !l.isStruck(n.id) {
		l.t.Errorf("node %d is well, and its client got: %v", n.id, err)
		return
	}
	if what == unknownOutcome {
		l.t.Errorf("the outcome is unknown to a client of the node that was stopped: %v", err)
	}
	l.outcomes[what]++
}
