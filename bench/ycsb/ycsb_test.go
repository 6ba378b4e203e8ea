package ycsb

import (
	"database/sql/driver"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longitude-db/longitude/bench/fakesql"
	"github.com/longitude-db/longitude/bench/harness"
)

// Keys are YCSB's own: this is the first that it loads.
func TestKeys(t *testing.T) {
	if k := key(0); k != "user6284781860667377211" {
		t.Errorf("key of record 0 is %s", k)
	}
}

// The distribution against theory: the probability of rank i is 1/(i+1)^theta / zeta(n). The first two are exact; from there on
// the generator's approximation is good to a few percent in sums over ranks.
func TestZipfian(t *testing.T) {
	const n, draws = 1000, 2_000_000
	z, rnd := newZipfian(n, zeta(0, 0, n)), rand.New(rand.NewPCG(1, 2))
	var got [n]float64
	for range draws {
		got[z.next(rnd.Float64())]++
	}
	want := func(from, to int) (sum float64) {
		for i := from; i < to; i++ {
			sum += 1 / math.Pow(float64(i+1), theta) / z.zetaN
		}
		return sum
	}
	for _, c := range []struct {
		from, to  int
		tolerance float64
	}{{0, 1, 0.01}, {1, 2, 0.01}, {0, 10, 0.06}, {0, 100, 0.05}, {100, 1000, 0.05}} {
		var sum float64
		for _, x := range got[c.from:c.to] {
			sum += x
		}
		if p, w := sum/draws, want(c.from, c.to); math.Abs(p/w-1) > c.tolerance {
			t.Errorf("ranks %d to %d: share %.4f, theory %.4f", c.from, c.to-1, p, w)
		}
	}
}

// YCSB's constant for ten billion items, against the integral that the sum approaches.
func TestScrambledZeta(t *testing.T) {
	const known = 1_000_000
	n := float64(scrambledItems)
	approx := zeta(0, 0, known) + (math.Pow(n, 1-theta)-math.Pow(known, 1-theta))/(1-theta)
	if math.Abs(approx-scrambledZeta) > 1e-4 {
		t.Errorf("zeta(10^10) is about %f, YCSB says %f", approx, scrambledZeta)
	}
}

// Scrambled: every item in range, the most popular with the share of rank 0, and popular ones not beside each other.
func TestScrambled(t *testing.T) {
	const n, draws = 1000, 500_000
	s, rnd := newScrambled(n), rand.New(rand.NewPCG(3, 4))
	counts := make([]float64, n)
	for range draws {
		counts[s.next(rnd)]++
	}
	top := slices.Max(counts) / draws
	if w := 1 / scrambledZeta; top < w || top > w*1.15 { // others hash onto it too
		t.Errorf("the most popular has a share of %.4f, want a little above %.4f", top, w)
	}
	if at := slices.Index(counts, slices.Max(counts)); int64(at) != fnvHash(0)%n {
		t.Errorf("the most popular is %d, want that of rank 0, %d", at, fnvHash(0)%n)
	}
}

// The latest distribution follows the newest record as it grows, with zeta computed on.
func TestLatest(t *testing.T) {
	l, rnd := newLatest(100), rand.New(rand.NewPCG(5, 6))
	newest := 0
	for range 100_000 {
		if n := l.next(rnd, 499); n == 499 {
			newest++
		} else if n < 0 || n > 499 {
			t.Fatal(n)
		}
	}
	if math.Abs(l.z.zetaN-zeta(0, 0, 500)) > 1e-9 {
		t.Errorf("zeta is %f after growing, want %f", l.z.zetaN, zeta(0, 0, 500))
	}
	if p, w := float64(newest)/100_000, 1/l.z.zetaN; math.Abs(p/w-1) > 0.05 {
		t.Errorf("the newest has %.4f, want %.4f", p, w)
	}
}

func TestContent(t *testing.T) {
	v := content(7, 3, 42)
	if got, ok := versionOf(7, 3, v); !ok || got != 42 || len(v) != fieldLength {
		t.Errorf("%q: %d %v", v, got, ok)
	}
	for name, bad := range map[string]bool{"another field": false, "torn": false} {
		x := content(7, 4, 42)
		if name == "torn" {
			x = v[:50] + content(7, 3, 43)[50:]
		}
		if _, ok := versionOf(7, 3, x); ok != bad {
			t.Errorf("%s: taken for whole", name)
		}
	}
}

// table is a server for usertable. fault may change what an update does.
func table(fault func(n int) (lose bool)) fakesql.Server {
	rows, n := map[string][]driver.Value{}, 0
	return func(q string, args []any) (fakesql.Answer, error) {
		switch {
		case strings.HasPrefix(q, "INSERT"):
			for i := 0; i < len(args); i += fields + 1 {
				row := make([]driver.Value, fields+1)
				for j := range row {
					row[j] = args[i+j]
				}
				rows[args[i].(string)] = row
			}
		case strings.HasPrefix(q, "UPDATE usertable SET FIELD"):
			field := int(q[len("UPDATE usertable SET FIELD")] - '0')
			if n++; !fault(n) {
				rows[args[1].(string)][field+1] = args[0]
			}
		case q == readOne:
			return fakesql.Rows(slices.Clone(rows[args[0].(string)])), nil
		case strings.HasPrefix(q, "SELECT COUNT"):
			return fakesql.Rows([]driver.Value{int64(0)}), nil
		case strings.HasPrefix(q, "SELECT *"):
			var keys []string
			for k := range rows {
				if k > args[0].(string) || strings.Contains(q, ">= ?") && k == args[0].(string) {
					keys = append(keys, k)
				}
			}
			slices.Sort(keys)
			limit := page
			if len(args) == 2 {
				limit = int(args[1].(int64))
			}
			var out [][]driver.Value
			for _, k := range keys[:min(limit, len(keys))] {
				out = append(out, slices.Clone(rows[k]))
			}
			return fakesql.Rows(out...), nil
		}
		return fakesql.Answer{}, nil
	}
}

func verified(t *testing.T, letter string, s fakesql.Server) *harness.Result {
	t.Helper()
	w, err := New(Options{Letter: letter, Records: 50})
	if err != nil {
		t.Fatal(err)
	}
	return fakesql.Measure(t, s, w, harness.Load{Workers: 4, Duration: 300 * time.Millisecond, Seed: 1})
}

func TestWorkloads(t *testing.T) {
	for _, l := range strings.Split(Letters, "") {
		r := verified(t, l, table(func(int) bool { return false }))
		if !r.Verified || r.OpsPerSec == 0 || r.Errors > 0 {
			t.Errorf("%s: verified %v, %.0f ops/s, %d errors (%s): %v", l, r.Verified, r.OpsPerSec, r.Errors, r.FirstError, r.Violations)
		}
	}
}

// A server that from some moment on forgets what it acknowledges is found out.
func TestFindsLostUpdates(t *testing.T) {
	for _, l := range []string{"a", "f"} {
		r := verified(t, l, table(func(n int) bool { return n > 100 }))
		if r.Verified || !strings.Contains(r.Violations[0], "an update is lost") {
			t.Errorf("%s: %v", l, r.Violations)
		}
	}
}
