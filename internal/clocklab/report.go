package clocklab

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// column is a figure of a bucket.
type column struct {
	name string
	of   func(Bucket) time.Duration
}

var columns = []column{
	{"p50", func(b Bucket) time.Duration { return b.P50 }}, {"p95", func(b Bucket) time.Duration { return b.P95 }},
	{"p99", func(b Bucket) time.Duration { return b.P99 }}, {"max", func(b Bucket) time.Duration { return b.Max }},
	{"mean", func(b Bucket) time.Duration { return b.Mean }},
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// CSV writes one line a bucket: the columns minute, p50_us, p95_us, p99_us and max_us as in the thesis's data, then what
// those lack. Figures of a bucket without readings are empty.
func CSV(w io.Writer, bs []Bucket) error {
	c := csv.NewWriter(w)
	head := []string{"minute"}
	for _, col := range columns {
		head = append(head, col.name+"_us")
	}
	_ = c.Write(append(head, "readings", "refused", "state")) // csv.Writer keeps the first error
	for _, b := range bs {
		line := []string{fmt.Sprintf("%g", b.End.Minutes())}
		for _, col := range columns {
			text := ""
			if b.Readings > 0 {
				text = fmt.Sprintf("%.2f", micros(col.of(b)))
			}
			line = append(line, text)
		}
		_ = c.Write(append(line, fmt.Sprint(b.Readings), fmt.Sprint(b.Refused), b.State.String()))
	}
	c.Flush()
	return c.Error()
}

// Head and Line are the table for people, a line a bucket, in µs.
func Head() string {
	return fmt.Sprintf("%10s %10s %10s %10s %10s %10s %9s %8s  %s", "until", "mean", "p50", "p95", "p99", "max", "readings", "refused", "state")
}

// Line is a bucket's line.
func Line(b Bucket) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%10s", b.End.Round(time.Second))
	for _, d := range []time.Duration{b.Mean, b.P50, b.P95, b.P99, b.Max} {
		if b.Readings == 0 {
			fmt.Fprintf(&s, " %10s", "-")
			continue
		}
		fmt.Fprintf(&s, " %10.2f", micros(d))
	}
	fmt.Fprintf(&s, " %9d %8d  %s", b.Readings, b.Refused, b.State)
	if b.Refused > 0 {
		fmt.Fprintf(&s, " (%s)", b.Why)
	}
	return s.String()
}

// Table writes all of it.
func Table(w io.Writer, bs []Bucket) error {
	_, err := fmt.Fprintln(w, Head())
	for _, b := range bs {
		if err == nil {
			_, err = fmt.Fprintln(w, Line(b))
		}
	}
	return err
}

// Plot draws the widths over time. format is svg or png.
func Plot(w io.Writer, format, title string, bs []Bucket) error {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = "minutes"
	p.Y.Label.Text = "width of a reading (µs)"
	p.Title.Padding, p.Legend.XOffs = vg.Points(8), -vg.Points(4)
	p.X.Min, p.Y.Min, p.Legend.Top = 0, 0, true
	p.Add(plotter.NewGrid())
	for i, col := range columns {
		// A bucket without readings breaks the line.
		var part plotter.XYs
		named := false
		flush := func() error {
			if len(part) == 0 {
				return nil
			}
			line, points, err := plotter.NewLinePoints(part)
			if err != nil {
				return err
			}
			line.Color, points.Color = plotutil.Color(i), plotutil.Color(i)
			line.Width, points.Radius = vg.Points(1.2), vg.Points(1.5)
			p.Add(line, points)
			if !named {
				p.Legend.Add(col.name, line)
			}
			part, named = nil, true
			return nil
		}
		for _, b := range bs {
			if b.Readings == 0 {
				if err := flush(); err != nil {
					return err
				}
				continue
			}
			part = append(part, plotter.XY{X: b.End.Minutes(), Y: micros(col.of(b))})
		}
		if err := flush(); err != nil {
			return err
		}
	}
	p.Y.Max *= 1.3 // room for the legend above the lines
	c, err := draw.NewFormattedCanvas(20*vg.Centimeter, 11*vg.Centimeter, format)
	if err != nil {
		return err
	}
	p.Draw(draw.Crop(draw.New(c), vg.Points(8), -vg.Points(14), vg.Points(8), -vg.Points(8)))
	_, err = c.WriteTo(w)
	return err
}
