package grid

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/fakesql"
	"github.com/longitude-db/longitude/bench/harness"
)

// starter starts servers that hold likes, and notes which clusters and points were asked for. The nth point is the last
// that works; 0: all do.
type starter struct {
	started []string
	points  int
	breakAt int
	up      int
}

func (s *starter) start(_ context.Context, c Cluster, _ string) (*Running, error) {
	s.started = append(s.started, c.Name)
	s.up++
	return &Running{
		Target: func(_ context.Context, ordering string) (*harness.Target, error) {
			if ordering != "uncertainty" {
				if s.points++; s.points == s.breakAt {
					return nil, errors.New("the machine went down")
				}
				// The tables of the loader are another target of the same server in truth; here the server is one per point.
			}
			return shared(), nil
		},
		Stop: func() error { s.up--; return nil },
	}, nil
}

var likes int64

// shared is a server whose likes outlive the connections, as long as nobody makes the tables again.
func shared() *harness.Target {
	t := fakesql.Target("fake", func(q string, args []any) (fakesql.Answer, error) {
		switch {
		case strings.HasPrefix(q, "CREATE TABLE likes"):
			likes = 0
		case strings.HasPrefix(q, "INSERT INTO likes"):
			likes += int64(len(args))
		case strings.HasPrefix(q, "SELECT posts.id"):
			return fakesql.Rows([]driver.Value{int64(1), "title", likes}), nil
		case strings.HasPrefix(q, "SELECT COUNT(*), MIN"):
			return fakesql.Rows([]driver.Value{likes, int64(1), int64(3)}), nil
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
	for round := range 2 {
		g := Group{Clusters: []Cluster{{Name: "x"}, {Name: "y"}}, Optional: round > 0}
		for _, k := range []int{1, 2} {
			for _, c := range []string{"x", "y"} {
				g.Points = append(g.Points, Point{Cluster: c, Round: round, Workers: k, ReadFraction: 0.5, Posts: 3, Likes: 30, Duration: 5 * time.Millisecond})
			}
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

// A run that breaks off keeps what it has (G1), and the next one measures the rest only, on the clusters that it needs.
func TestGoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	s := &starter{breakAt: 4}
	some, err := Run(t.Context(), plan(), Options{Dir: dir, Start: s.start, Say: t.Logf})
	if err == nil || len(some) != 3 || s.up != 0 {
		t.Fatalf("%d results, %d clusters up, %v", len(some), s.up, err)
	}
	s = &starter{}
	all, err := Run(t.Context(), plan(), Options{Dir: dir, Start: s.start, Say: t.Logf})
	if err != nil || len(all) != 8 || s.points != 5 || s.up != 0 {
		t.Fatalf("%d results, %d of them measured now, %v", len(all), s.points, err)
	}
	if want := []string{"y", "x", "y"}; !slices.Equal(s.started, want) {
		t.Errorf("clusters started: %v, want %v", s.started, want)
	}
	for i, r := range some {
		if !all[i].At.Equal(r.At) || all[i].Point != r.Point {
			t.Errorf("point %d was measured again", i)
		}
	}
	if err := Write(dir, all); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "results.csv"))
	if err != nil || strings.Count(string(b), "\n") != 9 {
		t.Errorf("%v\n%s", err, b)
	}
}

// A half-written file, as of a machine that lost power, is measured again.
func TestTornFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(t.Context(), plan(), Options{Dir: dir, Start: (&starter{}).start, Say: t.Logf}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "points", plan().Groups[0].Points[0].key()+".json")
	if err := os.WriteFile(name, []byte(`{"point": {"clu`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &starter{}
	if all, err := Run(t.Context(), plan(), Options{Dir: dir, Start: s.start, Say: t.Logf}); err != nil || len(all) != 8 || s.points != 1 {
		t.Errorf("%d results, %d measured, %v", len(all), s.points, err)
	}
}

func TestAnotherPlanIsRefused(t *testing.T) {
	dir, p := t.TempDir(), plan()
	if err := claim(filepath.Join(dir, "points"), p); err != nil {
		t.Fatal(err)
	}
	p.Groups[0].Points[0].Likes = 31
	if _, err := Run(t.Context(), p, Options{Dir: dir, Start: (&starter{}).start, Say: t.Logf}); err == nil || !strings.Contains(err.Error(), "another plan") {
		t.Error(err)
	}
}

// What would end after the budget is left out, but never the first round.
func TestBudget(t *testing.T) {
	p := plan()
	p.Budget = time.Nanosecond
	if all, err := Run(t.Context(), p, Options{Dir: t.TempDir(), Start: (&starter{}).start, Say: t.Logf}); err != nil || len(all) != 4 {
		t.Errorf("%d results, %v", len(all), err)
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
