package clocklab

import (
	"bytes"
	"context"
	"image/png"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longitude-db/longitude/clock"
)

// A clock of ±1 ms for two buckets, lost and refusing in the third, ±2 ms in the rest of the fourth.
func measured(t *testing.T, interruptAt time.Duration) (bs []Bucket) {
	synctest.Test(t, func(t *testing.T) {
		s := clock.NewSim(clock.Conditions{Bound: time.Millisecond}, nil)
		c := clock.New(s, clock.Options{MaxUncertainty: 5 * time.Millisecond, Boot: func() (time.Duration, bool) { return 0, false }})
		c.Start()
		defer c.Stop()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(10*time.Minute - time.Second)
			s.Set(clock.Conditions{Bound: 20 * time.Millisecond})
			time.Sleep(5 * time.Minute)
			s.Set(clock.Conditions{Bound: 1500 * time.Microsecond})
			if interruptAt > 0 {
				time.Sleep(interruptAt - 15*time.Minute + time.Second)
				cancel()
			}
		}()
		Run(ctx, c, Plan{For: 20 * time.Minute, Every: 250 * time.Millisecond, Bucket: 5 * time.Minute}, func(b Bucket) { bs = append(bs, b) })
		cancel()
	})
	return bs
}

func TestRun(t *testing.T) {
	bs := measured(t, 0)
	if len(bs) != 4 {
		t.Fatalf("%d buckets: %+v", len(bs), bs)
	}
	for i, b := range bs {
		if b.End != time.Duration(i+1)*5*time.Minute || b.Readings+b.Refused != 1200 {
			t.Errorf("bucket %d: %+v: every reading that was due is counted (B1)", i, b)
		}
	}
	// ±1 ms, growing by 50 ppm for at most 0.1 s.
	if b := bs[0]; b.P50 < 2*time.Millisecond || b.Max > 2011*time.Microsecond || b.Mean < b.P50-10*time.Microsecond || b.Refused != 0 {
		t.Errorf("%+v", b)
	}
	if b := bs[2]; b.Refused < 1190 || !strings.Contains(b.Why, "maximum uncertainty") {
		t.Errorf("%+v", b)
	}
	if b := bs[3]; b.P50 < 3*time.Millisecond || b.P50 > 3011*time.Microsecond {
		t.Errorf("%+v", b)
	}
}

func TestInterrupted(t *testing.T) {
	bs := measured(t, 17*time.Minute)
	if len(bs) != 4 || bs[3].End.Round(time.Second) != 17*time.Minute || bs[3].Readings < 470 || bs[3].Readings > 490 {
		t.Fatalf("what there was is lost (B2): %+v", bs)
	}
}

// quantile against the definition: the value at rank q(n-1), linear between two ranks.
func TestQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		ds := make([]time.Duration, 1+r.IntN(50))
		for i := range ds {
			ds[i] = time.Duration(r.Int64N(1e9))
		}
		slices.Sort(ds)
		q := r.Float64()
		at := q * float64(len(ds)-1)
		lo, hi := ds[int(math.Floor(at))], ds[int(math.Ceil(at))]
		want := float64(lo)*(math.Floor(at)+1-at) + float64(hi)*(at-math.Floor(at))
		if got := quantile(ds, q); math.Abs(float64(got)-want) > 1 {
			t.Fatalf("quantile %g of %v is %d, want %g", q, ds, got, want)
		}
	}
}

func TestReports(t *testing.T) {
	bs := measured(t, 0)
	bs[2].Readings, bs[2].P50 = 0, 0 // a gap
	var out bytes.Buffer
	if err := CSV(&out, bs); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if !strings.HasPrefix(lines[0], "minute,p50_us,p95_us,p99_us,max_us,") || len(lines) != 5 || !strings.HasPrefix(lines[1], "5,200") ||
		!strings.HasPrefix(lines[3], "15,,,,,,0,") || !strings.HasSuffix(lines[1], ",1200,0,synchronized") {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	if err := Table(&out, bs); err != nil || strings.Count(out.String(), "\n") != 5 {
		t.Errorf("%v\n%s", err, out.String())
	}
	out.Reset()
	if err := Plot(&out, "svg", "width", bs); err != nil || !strings.Contains(out.String(), "<svg") || !strings.Contains(out.String(), "p99") {
		t.Errorf("svg: %v, %d bytes", err, out.Len())
	}
	out.Reset()
	if err := Plot(&out, "png", "width", bs); err != nil {
		t.Fatal(err)
	}
	if img, err := png.Decode(&out); err != nil || img.Bounds().Dx() < 500 {
		t.Errorf("png: %v", err)
	}
}
