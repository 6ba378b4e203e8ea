// Package figure draws the plots of benchmark reports as SVG, and puts reports together: one description gives Markdown
// and HTML.
package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Line is one line of a plot. A NaN breaks it.
type Line struct {
	Name string
	X, Y []float64
}

// colors are told apart by people who see colours differently too (Okabe and Ito).
var colors = []color.Color{
	color.RGBA{213, 94, 0, 255}, color.RGBA{230, 159, 0, 255}, color.RGBA{0, 114, 178, 255}, color.RGBA{0, 158, 115, 255},
	color.RGBA{204, 121, 167, 255}, color.RGBA{86, 180, 233, 255},
}

var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{}}

// Lines draws lines with points, y from 0.
func Lines(title, x, y string, lines []Line) ([]byte, error) {
	p := plot.New()
	style(p)
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Points(2)
	p.Add(plotter.NewGrid())
	highest := 0.0
	for i, l := range lines {
		var part plotter.XYs
		flush := func() error {
			if len(part) == 0 {
				return nil
			}
			line, points, err := plotter.NewLinePoints(part)
			if err != nil {
				return err
			}
			line.Color, points.Color = colors[i%len(colors)], colors[i%len(colors)]
			line.Width, points.Radius, points.Shape = vg.Points(1.4), vg.Points(3), glyphs[i%len(glyphs)]
			p.Add(line, points)
			part = nil
			return nil
		}
		for j := range l.X {
			if math.IsNaN(l.Y[j]) {
				if err := flush(); err != nil {
					return nil, err
				}
				continue
			}
			highest = max(highest, l.Y[j])
			part = append(part, plotter.XY{X: l.X[j], Y: l.Y[j]})
		}
		if err := flush(); err != nil {
			return nil, err
		}
		key := &plotter.Line{LineStyle: draw.LineStyle{Color: colors[i%len(colors)], Width: vg.Points(1.4)}}
		dot := &plotter.Scatter{GlyphStyle: draw.GlyphStyle{Color: colors[i%len(colors)], Radius: vg.Points(3), Shape: glyphs[i%len(glyphs)]}}
		p.Legend.Add(l.Name, key, dot)
	}
	var measured []float64
	for _, l := range lines {
		measured = append(measured, l.X...)
	}
	slices.Sort(measured)
	p.X.Tick.Marker, p.Y.Tick.Marker = at(append([]float64{0}, slices.Compact(measured)...)), round{}
	p.X.Min, p.X.Max = 0, p.X.Max*1.06
	// Room for the legend above the lines.
	p.Y.Min, p.Y.Max = 0, max(highest*1.45, 1e-3)
	return svg(p, 15*vg.Centimeter, 9*vg.Centimeter)
}

func svg(p *plot.Plot, w, h font.Length) ([]byte, error) {
	c := vgsvg.New(w, h)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return fallback(b.Bytes()), err
}

// Heat is a heat map: a value for each pair of column and row, NaN where there is none.
type Heat struct {
	Title, X, Y   string
	Columns, Rows []string
	Values        [][]float64 // by row, then column
	// Ratio: values are ratios, and the colours diverge at 1. Else low is light and high is dark, on a logarithmic scale
	// unless Share, where values are 0 to 1.
	Ratio, Share bool
	// Invert swaps the two colours of a Ratio, where below 1 is better.
	Invert bool
	// Low and High are the ends of the scale, so that maps beside each other can be compared; both 0: from the values.
	Low, High float64
}

// heatGrid gives the plotter the colours' scale, not the values.
type heatGrid struct {
	h    *Heat
	tone func(float64) float64
}

func (g heatGrid) Dims() (c, r int)   { return len(g.h.Columns), len(g.h.Rows) }
func (g heatGrid) X(c int) float64    { return float64(c) }
func (g heatGrid) Y(r int) float64    { return float64(r) }
func (g heatGrid) Z(c, r int) float64 { return g.tone(g.h.Values[r][c]) }

// tone maps values to 0 to 1.
func (h *Heat) tone() func(float64) float64 {
	clamp := func(v float64) float64 { return min(1, max(0, v)) }
	if h.Share {
		return clamp
	}
	low, high := h.Low, h.High
	if low == 0 && high == 0 {
		low = math.Inf(1)
		for _, row := range h.Values {
			for _, v := range row {
				if v > 0 {
					low, high = min(low, v), max(high, v)
				}
			}
		}
	}
	if h.Ratio {
		widest := math.Log(2)
		for _, row := range h.Values {
			for _, v := range row {
				if v > 0 {
					widest = max(widest, math.Abs(math.Log(v)))
				}
			}
		}
		if h.Invert {
			widest = -widest
		}
		return func(v float64) float64 {
			if !(v > 0) {
				return math.NaN()
			}
			return clamp(0.5 + math.Log(v)/widest/2)
		}
	}
	return func(v float64) float64 {
		switch {
		case math.IsNaN(v):
			return v
		case v <= 0 || high <= low:
			return 0
		}
		return clamp(math.Log(v/low) / math.Log(high/low))
	}
}

// Draw draws it, with the values written into the fields.
func (h *Heat) Draw() ([]byte, error) {
	name := "Blues"
	if h.Ratio {
		name = "PuOr"
	}
	pal, err := brewer.GetPalette(brewer.TypeAny, name, 9)
	if err != nil {
		return nil, err
	}
	p := plot.New()
	style(p)
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = h.Title, h.X, h.Y
	p.NominalX(h.Columns...)
	p.NominalY(h.Rows...)
	tone := h.tone()
	hm := plotter.NewHeatMap(heatGrid{h, tone}, palette.Palette(pal))
	hm.Min, hm.Max, hm.NaN = 0, 1, color.White
	p.Add(hm)
	for dark := range 2 {
		l := plotter.XYLabels{}
		for r, row := range h.Values {
			for c, v := range row {
				t := tone(v)
				isDark := t > 0.6
				if h.Ratio {
					isDark = math.Abs(t-0.5) > 0.35
				}
				if isDark != (dark == 1) {
					continue
				}
				l.XYs = append(l.XYs, plotter.XY{X: float64(c), Y: float64(r)})
				l.Labels = append(l.Labels, Short(v))
			}
		}
		if len(l.Labels) == 0 {
			continue
		}
		labels, err := plotter.NewLabels(l)
		if err != nil {
			return nil, err
		}
		for i := range labels.TextStyle {
			s := &labels.TextStyle[i]
			s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
			s.Font = p.X.Tick.Label.Font
			if dark == 1 {
				s.Color = color.White
			}
		}
		p.Add(labels)
	}
	return svg(p, font.Length(max(10, 3+1.55*float64(len(h.Columns))))*vg.Centimeter, font.Length(2.8+1.1*float64(len(h.Rows)))*vg.Centimeter)
}

// Short writes a number in a few characters.
func Short(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "–"
	case a == 0:
		return "0"
	case a >= 10000:
		return fmt.Sprintf("%.0fk", v/1000)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.01:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1g", v)
}
