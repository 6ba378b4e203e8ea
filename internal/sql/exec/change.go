package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Registers gives the execution's registers, by column. Between Open and Close, expressions that are evaluated with its Env read them. The
// engine's changer may fill in at any time the registers that no operator of the query gives, and the others when all rows have been read.
func (x *Execution) Registers() []expr.Value { return x.regs }

// Keep counts the memory that the caller takes to keep a row of the result until all have been read (E3).
func (x *Execution) Keep(row []expr.Value) error {
	n := int64(valueBytes * len(row))
	for i := range row {
		n += x.mem.extra(&row[i])
	}
	return x.mem.take(n)
}

// Fill puts a row that was kept back into the registers of the query's Out.
func (x *Execution) Fill(out []rel.Output, row []expr.Value) {
	for i := range out {
		x.regs[out[i].Col] = row[i]
	}
}
