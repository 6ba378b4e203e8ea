package figure

import (
	"bytes"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Sizes leave room: the text's width is reckoned with Liberation Sans, and a viewer that lacks it draws with a font of its own,
// often a wider one.
const (
	titleSize  = 11
	labelSize  = 10
	tickSize   = 8.5
	legendSize = 9
)

// style sets the fonts of a plot.
func style(p *plot.Plot) {
	sans := func(f *font.Font, size float64) {
		f.Typeface, f.Variant, f.Size = "Liberation", "Sans", vg.Points(size)
	}
	sans(&p.Title.TextStyle.Font, titleSize)
	sans(&p.X.Label.TextStyle.Font, labelSize)
	sans(&p.Y.Label.TextStyle.Font, labelSize)
	sans(&p.X.Tick.Label.Font, tickSize)
	sans(&p.Y.Tick.Label.Font, tickSize)
	sans(&p.Legend.TextStyle.Font, legendSize)
	p.Title.Padding = vg.Points(6)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(3), vg.Points(6)
}

// fallback names fonts for viewers without Liberation Sans.
func fallback(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,'DejaVu Sans Condensed',sans-serif;"))
}

// at are ticks at the values that were measured, with as many labels as fit.
type at []float64

// Ticks implements plot.Ticker.
func (a at) Ticks(low, high float64) (out []plot.Tick) {
	const apart = 0.06 // of the axis
	last := math.Inf(-1)
	for _, v := range a {
		t := plot.Tick{Value: v}
		if v-last >= apart*(high-low) {
			t.Label, last = tick(v), v
		}
		out = append(out, t)
	}
	return out
}

// tick writes a round value.
func tick(v float64) string {
	if v >= 100_000 {
		return strconv.FormatFloat(v/1000, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}

// round are ticks at round values, labelled in a few characters.
type round struct{}

// Ticks implements plot.Ticker.
func (round) Ticks(low, high float64) (out []plot.Tick) {
	const wanted = 5
	step := math.Pow(10, math.Floor(math.Log10((high-low)/wanted)))
	for _, f := range []float64{10, 5, 2, 1} {
		if (high-low)/(step*f) >= wanted-1.5 {
			step *= f
			break
		}
	}
	for v := math.Ceil(low/step) * step; v <= high*1.0001; v += step {
		out = append(out, plot.Tick{Value: v, Label: tick(v)})
	}
	return out
}
