package shell

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// maxTable is how many rows a table holds back to find its widths; from there on the widths stay as they are.
const maxTable = 1000

// printRows writes rows as a table for people, or as tab-separated lines with a head for programs, and counts them.
func printRows(w io.Writer, rows *sql.Rows, table bool) (n int, err error) {
	cols, err := rows.Columns()
	if err != nil || len(cols) == 0 {
		return 0, err
	}
	raw, ptrs := make([]sql.RawBytes, len(cols)), make([]any, len(cols))
	for i := range raw {
		ptrs[i] = &raw[i]
	}
	p := &printer{w: w, table: table}
	p.row(cols)
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil {
			return n, err
		}
		cells := make([]string, len(cols))
		for i, v := range raw {
			cells[i] = cell(v, table)
		}
		p.row(cells)
		n++
	}
	if err := rows.Err(); err != nil {
		return n, err
	}
	if n == 0 && table {
		return 0, nil
	}
	p.flush(true)
	return n, p.err
}

// cell is how one value looks.
func cell(v sql.RawBytes, table bool) string {
	switch {
	case v == nil:
		return "NULL"
	case !utf8.Valid(v):
		return "0x" + hex.EncodeToString(v)
	case table:
		return strings.NewReplacer("\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(string(v))
	}
	return strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`).Replace(string(v))
}

// printer lays rows out; the first is the head.
type printer struct {
	w      io.Writer
	table  bool
	held   [][]string
	widths []int
	begun  bool
	err    error
}

func (p *printer) row(cells []string) {
	if !p.table {
		p.printf("%s\n", strings.Join(cells, "\t"))
		return
	}
	p.held = append(p.held, cells)
	if len(p.held) > maxTable {
		p.flush(false)
	}
}

func (p *printer) flush(last bool) {
	if !p.table {
		return
	}
	if p.widths == nil {
		p.widths = make([]int, len(p.held[0]))
		for _, r := range p.held {
			for i, c := range r {
				p.widths[i] = max(p.widths[i], runewidth.StringWidth(c))
			}
		}
	}
	for _, r := range p.held {
		if !p.begun {
			p.rule()
		}
		for i, c := range r {
			p.printf("| %s ", runewidth.FillRight(c, p.widths[i]))
		}
		p.printf("|\n")
		if !p.begun {
			p.begun = true
			p.rule()
		}
	}
	p.held = p.held[:0]
	if last {
		p.rule()
	}
}

func (p *printer) rule() {
	for _, w := range p.widths {
		p.printf("+%s", strings.Repeat("-", w+2))
	}
	p.printf("+\n")
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
