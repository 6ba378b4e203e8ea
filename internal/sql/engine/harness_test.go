package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/go-sql-driver/mysql"

	"github.com/longitude-db/longitude/clock"
	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/node"
	"github.com/longitude-db/longitude/internal/rt"
	"github.com/longitude-db/longitude/internal/storage"
	"github.com/longitude-db/longitude/internal/txn"
)

// cluster is nodes over in-memory storage that call each other directly, each with an engine on a loopback port.
type cluster struct {
	t     testing.TB
	mu    sync.Mutex
	nodes []*member
	given int                               // see member.next
	calls func(to kv.NodeID, m *kv.Message) // sees every message between nodes
	// clocks are the conditions of the nodes' clocks; without, they are right, with bounds that differ.
	clocks []clock.Conditions
	mute   bool // messages carry no clock readings: no node learns of another's earliest
}

type member struct {
	c    *cluster
	rt   rt.Runtime
	clk  *clock.Clock
	node *node.Node
	id   kv.NodeID
	e    *Engine
	addr string
	root *sql.DB
}

type option func(*Options)

// startCluster starts n nodes; the clocks' bounds differ.
func startCluster(t testing.TB, n int, opts ...option) *cluster {
	return (&cluster{t: t}).startAll(n, opts...)
}

func (c *cluster) startAll(n int, opts ...option) *cluster {
	for i := range n {
		c.start(i, opts...)
	}
	c.t.Cleanup(c.stop)
	return c
}

func (c *cluster) start(i int, opts ...option) {
	t := c.t
	s := &member{c: c, rt: rt.New()}
	cond := clock.Conditions{Bound: time.Duration(i+1) * 200 * time.Microsecond}
	if i < len(c.clocks) {
		cond = c.clocks[i]
	}
	s.clk = clock.New(clock.NewSim(cond, nil), clock.Options{})
	eng, err := storage.Open(storage.Options{FS: vfs.NewMem(), Dir: "store", Cache: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var log *slog.Logger
	if os.Getenv("LONGITUDE_TEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	s.node, err = node.New(node.Options{RT: s.rt, Clock: s.clk, Transport: wire{s}, Engines: eng, Self: kv.NodeInfo{RPCAddr: fmt.Sprint("n", i+1)},
		Bootstrap: i == 0, Log: log, Join: func(m *kv.Message) (*kv.Message, error) { return wire{s}.to(c.nodes[0], m) }})
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.nodes = append(c.nodes, s)
	c.mu.Unlock()
	if err := s.node.Open(); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	s.id = s.node.Self().ID
	c.mu.Unlock()
	if err := s.node.Start(); err != nil {
		t.Fatal(err)
	}
	o := Options{DB: s.node.DB, Router: s.node.Router, Clock: s.clk, NodeID: s.id, CatalogLead: 50 * time.Millisecond, Log: log}
	for _, f := range opts {
		f(&o)
	}
	s.e = New(o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	go func() { _ = s.e.Serve(l) }()
	s.root = s.open(t, "multiStatements=true")
}

// open makes a pool of connections to the node.
func (s *member) open(t testing.TB, params string) *sql.DB {
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/?%s", s.addr, params))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func (c *cluster) stop() {
	for _, s := range c.nodes {
		_ = s.root.Close()
		if err := s.e.Close(time.Second); err != nil {
			c.t.Error(err)
		}
	}
	for _, s := range c.nodes {
		_ = s.node.Stop(false)
	}
}

// wire carries messages between the nodes of a cluster, as bytes.
type wire struct{ s *member }

func (w wire) peer(id kv.NodeID) *member {
	w.s.c.mu.Lock()
	defer w.s.c.mu.Unlock()
	for _, p := range w.s.c.nodes {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (w wire) Call(id kv.NodeID, m *kv.Message, _ time.Duration) (*kv.Message, error) {
	p := w.peer(id)
	if p == nil {
		return nil, errors.New("no such node")
	}
	return w.to(p, m)
}

func (w wire) to(p *member, m *kv.Message) (*kv.Message, error) {
	if f := w.s.c.calls; f != nil {
		f(p.id, m)
	}
	answer := p.node.Handle(p.copy(w.s, m))
	if answer == nil {
		return nil, errors.New("no answer")
	}
	return w.s.copy(p, answer), nil
}

func (w wire) Send(id kv.NodeID, m *kv.Message) {
	if p := w.peer(id); p != nil {
		got := p.copy(w.s, m)
		go p.node.Handle(got)
	}
}

// copy is the message as it arrives.
func (s *member) copy(from *member, m *kv.Message) *kv.Message {
	out := *m
	out.From, out.Cluster = from.node.Self().ID, from.node.Self().Cluster
	if iv, err := from.clk.Now(); err == nil && !s.c.mute {
		out.Earliest, out.Latest = iv.Earliest, iv.Latest
	}
	b, err := out.MarshalMsg(nil)
	if err != nil {
		panic(err)
	}
	var got kv.Message
	if _, err := got.UnmarshalMsg(b); err != nil {
		panic(err)
	}
	if got.From != 0 && got.Earliest != 0 {
		s.clk.Observe(uint32(got.From), got.Earliest, got.Latest)
	}
	return &got
}

// exec runs statements that must succeed.
func (s *member) exec(statements ...string) {
	s.c.t.Helper()
	for _, q := range statements {
		if _, err := s.root.Exec(q); err != nil {
			s.c.t.Fatalf("%s: %v", q, err)
		}
	}
}

// rows runs a query and returns its rows as text, columns by tabs.
func rows(db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, q string, args ...any) ([]string, error) {
	r, err := db.QueryContext(context.Background(), q, args...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cols, err := r.Columns()
	if err != nil {
		return nil, err
	}
	var out []string
	for r.Next() {
		vs := make([]sql.NullString, len(cols))
		ps := make([]any, len(cols))
		for i := range vs {
			ps[i] = &vs[i]
		}
		if err := r.Scan(ps...); err != nil {
			return nil, err
		}
		line := make([]string, len(cols))
		for i, v := range vs {
			if line[i] = v.String; !v.Valid {
				line[i] = "NULL"
			}
		}
		out = append(out, strings.Join(line, "\t"))
	}
	return out, r.Err()
}

// query is rows for a query that must succeed.
func (s *member) query(q string, args ...any) []string {
	s.c.t.Helper()
	out, err := rows(s.root, q, args...)
	if err != nil {
		s.c.t.Fatalf("%s: %v", q, err)
	}
	return out
}

// code is the MySQL error number of an error; 0 for none, -1 for an error of another kind.
func code(err error) int {
	var e *mysql.MySQLError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return int(e.Number)
	}
	return -1
}

var _ = txn.Wait
