package figure

import (
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

// Report is a page of text, tables and figures.
type Report struct {
	Title  string
	blocks []block
}

// block is one piece; only one of its fields is set.
type block struct {
	Heading, Text string
	Table         [][]string // the first row is the head
	Figures       []named
}

type named struct {
	Name, Caption string
	SVG           []byte
}

// Inline is the figure as it stands in a page.
func (n named) Inline() template.HTML {
	s := string(n.SVG)
	if i := strings.Index(s, "<svg"); i >= 0 {
		s = s[i:] // without the XML declaration, which HTML does not know
	}
	return template.HTML(s)
}

// Heading begins a section.
func (r *Report) Heading(text string) { r.blocks = append(r.blocks, block{Heading: text}) }

// Text adds a paragraph.
func (r *Report) Text(format string, args ...any) {
	r.blocks = append(r.blocks, block{Text: fmt.Sprintf(format, args...)})
}

// Table adds a table whose first row is its head.
func (r *Report) Table(rows [][]string) { r.blocks = append(r.blocks, block{Table: rows}) }

// Figure adds a plot, beside the one before it if nothing stands in between. name is that of its file, without an ending.
func (r *Report) Figure(name, caption string, svg []byte) {
	if n := len(r.blocks); n > 0 && r.blocks[n-1].Figures != nil {
		r.blocks[n-1].Figures = append(r.blocks[n-1].Figures, named{name, caption, svg})
		return
	}
	r.blocks = append(r.blocks, block{Figures: []named{{name, caption, svg}}})
}

// Markdown writes the page; figures are files beside it.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", r.Title)
	for _, x := range r.blocks {
		b.WriteString("\n")
		switch {
		case x.Heading != "":
			fmt.Fprintf(&b, "## %s\n", x.Heading)
		case x.Table != nil:
			for i, row := range x.Table {
				fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
				if i == 0 {
					b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
				}
			}
		case x.Figures != nil:
			for _, f := range x.Figures {
				fmt.Fprintf(&b, "![%s](%s.svg)\n", f.Caption, f.Name)
			}
		default:
			b.WriteString(x.Text + "\n")
		}
	}
	return b.String()
}

//go:embed report.html
var pageHTML string

var page = template.Must(template.New("report").Parse(pageHTML))

// HTML writes the page with its figures in it.
func (r *Report) HTML() (string, error) {
	var b strings.Builder
	err := page.Execute(&b, map[string]any{"Title": r.Title, "Blocks": r.blocks})
	return b.String(), err
}

// Write puts report.md, report.html and the figures into a directory.
func (r *Report) Write(dir string) error {
	html, err := r.HTML()
	if err != nil {
		return err
	}
	files := map[string][]byte{"report.md": []byte(r.Markdown()), "report.html": []byte(html)}
	for _, x := range r.blocks {
		for _, f := range x.Figures {
			files[f.Name+".svg"] = f.SVG
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
