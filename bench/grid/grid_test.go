package grid

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/fakesql"
	"github.com/longitude-db/longitude/bench/harness"
)

// starter starts servers that hold likes, and notes which clusters and points were asked for. The nth point is the last
// that works; 0: all do.
type starter struct {
	mu      sync.Mutex
	started []string
	points  []string
	breakAt int
	up      int
}

func (s *starter) start(_ context.Context, c Cluster, _ string) (*Running, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = append(s.started, c.Name)
	s.up++
	var likes int64 // they outlive the connections
	return &Running{
		Target: func(_ context.Context, ordering string) (*harness.Target, error) {
			if ordering == "wait" {
				if s.points = append(s.points, c.Name); len(s.points) == s.breakAt {
					return nil, errors.New("the machine went down")
				}
			}
			return server(&likes), nil
		},
		Stop: func() error { s.up--; return nil },
	}, nil
}

// server holds likes.
func server(likes *int64) *harness.Target {
	t := fakesql.Target("fake", func(q string, args []any) (fakesql.Answer, error) {
		switch {
		case strings.HasPrefix(q, "CREATE TABLE likes"):
			atomic.StoreInt64(likes, 0)
		case strings.HasPrefix(q, "INSERT INTO likes"):
			atomic.AddInt64(likes, int64(len(args)))
		case strings.HasPrefix(q, "SELECT posts.id"):
			return fakesql.Rows([]driver.Value{int64(1), "title", atomic.LoadInt64(likes)}), nil
		case strings.HasPrefix(q, "SELECT COUNT(*), MIN"):
			return fakesql.Rows([]driver.Value{atomic.LoadInt64(likes), int64(1), int64(3)}), nil
		case strings.HasPrefix(q, "SELECT COUNT"):
			return fakesql.Rows([]driver.Value{int64(0)}), nil
		}
		return fakesql.Answer{}, nil
	})
	t.Stats = func(context.Context) (harness.Stats, error) { return harness.Stats{}, nil }
	return t
}

func plan() Plan {
	p := Plan{Name: "test"}
	for _, k := range []int{1, 2, 3, 4} {
		b := Block{Timing: Timing{Slice: 2 * time.Millisecond, Slices: 4}}
		for _, c := range []string{"x", "y"} {
			b.Clusters = append(b.Clusters, Cluster{Name: c})
			b.Points = append(b.Points, Point{Cluster: c, Ordering: "wait", Workers: k, ReadFraction: 0.5, Posts: 3, Likes: 30})
		}
		p.Blocks = append(p.Blocks, b)
	}
	return p
}

// A run that breaks off keeps what it has (G1), and the next one measures the rest only.
func TestGoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	s := &starter{breakAt: 4}
	some, err := Run(t.Context(), plan(), Options{Dir: dir, Start: s.start, Say: t.Logf})
	if err == nil || len(some) != 2 || s.up != 0 {
		t.Fatalf("%d results, %d clusters up, %v", len(some), s.up, err)
	}
	s = &starter{}
	all, err := Run(t.Context(), plan(), Options{Dir: dir, Start: s.start, Say: t.Logf})
	if err != nil || len(all) != 8 || len(s.points) != 6 || len(s.started) != 2 || s.up != 0 {
		t.Fatalf("%d results, %v measured now on clusters %v, %v", len(all), s.points, s.started, err)
	}
	for i, r := range some {
		if !all[i].At.Equal(r.At) || all[i].Point != r.Point {
			t.Errorf("point %d was measured again", i)
		}
	}
	for _, r := range all {
		if len(r.Slices) != 4 || !r.Paired || !r.Row.Verified {
			t.Errorf("%+v", r)
		}
	}
	if err := Write(dir, all); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil || strings.Count(string(b), "\n") != 9 {
		t.Errorf("%v\n%s", err, b)
	}
	again, err := Read(dir)
	if err != nil || len(again) != 8 || again[7].Slices[3] != all[7].Slices[3] {
		t.Errorf("%d results are read back, %v", len(again), err)
	}
}

// A half-written file, as of a machine that lost power, is measured again.
func TestTornFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(t.Context(), plan(), Options{Dir: dir, Start: (&starter{}).start, Say: t.Logf}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "points", plan().Blocks[0].key(0)+".json")
	if err := os.WriteFile(name, []byte(`[{"point": {"clu`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &starter{}
	if all, err := Run(t.Context(), plan(), Options{Dir: dir, Start: s.start, Say: t.Logf}); err != nil || len(all) != 8 || len(s.points) != 2 {
		t.Errorf("%d results, %d points measured, %v", len(all), len(s.points), err)
	}
}

func TestAnotherPlanIsRefused(t *testing.T) {
	dir, p := t.TempDir(), plan()
	if err := claim(filepath.Join(dir, "points"), p); err != nil {
		t.Fatal(err)
	}
	p.Blocks[0].Points[0].Likes = 31
	if _, err := Run(t.Context(), p, Options{Dir: dir, Start: (&starter{}).start, Say: t.Logf}); err == nil || !strings.Contains(err.Error(), "another plan") {
		t.Error(err)
	}
}

// What would end after the budget is left out, but never the first two rounds.
func TestBudget(t *testing.T) {
	p := plan()
	p.Budget = time.Nanosecond
	all, err := Run(t.Context(), p, Options{Dir: t.TempDir(), Start: (&starter{}).start, Say: t.Logf})
	if err != nil || len(all) != 8 || len(all[0].Slices) != 2 {
		t.Errorf("%d results, %v", len(all), err)
	}
}

// A cluster stays up while the next block needs it, unless each block has clusters of its own.
func TestClustersStayUp(t *testing.T) {
	for alone, want := range map[bool]int{false: 2, true: 8} {
		p, s := plan(), &starter{}
		p.Alone = alone
		if _, err := Run(t.Context(), p, Options{Dir: t.TempDir(), Start: s.start, Say: t.Logf}); err != nil || len(s.started) != want || s.up != 0 {
			t.Errorf("alone %v: %d clusters started, %d up, %v", alone, len(s.started), s.up, err)
		}
	}
}

// Within two rounds everybody has stood at every distance from both ends, and over a few rounds everybody was first.
func TestTurns(t *testing.T) {
	points := []*under{{name: "A"}, {name: "B"}, {name: "C"}}
	var got []string
	for round := range 6 {
		order := ""
		for _, u := range turns(points, round) {
			order += u.name
		}
		got = append(got, order)
	}
	if want := []string{"ABC", "CBA", "BCA", "ACB", "CAB", "BAC"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestClocks(t *testing.T) {
	clocks, width := Bounded(10*time.Microsecond, 4, 3)
	if got := strings.Join(clocks, " "); got != "sim:eps=5µs,offset=2.5µs sim:eps=10µs,offset=-5µs sim:eps=20µs,offset=10µs" || width != 40*time.Microsecond {
		t.Errorf("%s, width %s", got, width)
	}
	if got := strings.Join(Assumed(250*time.Millisecond, 4), " "); !strings.HasPrefix(got, "static:250ms,offset=100µs static:250ms,offset=-200µs") {
		t.Error(got)
	}
}

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		taken      time.Duration
		done, todo int
		want       string
	}{{0, 0, 24, ""}, {time.Minute, 0, 24, ""}, {time.Minute, 6, 18, " (about 3m0s left)"}, {time.Minute, 24, 0, " (about 0s left)"}} {
		if got := left(c.taken, c.done, c.todo); got != c.want {
			t.Errorf("%d blocks of %d in %s: %q, want %q", c.done, c.done+c.todo, c.taken, got, c.want)
		}
	}
}
