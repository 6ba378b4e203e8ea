package exec

import (
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

// Source reads the rows of tables.
type Source interface {
	// Read begins to read. The rows come in the order of the index (or its reverse) if there is an Access, else in any order.
	Read(r *Request) (Rows, error)
}

// Request is what is to be read of a table.
type Request struct {
	Table  rel.Table
	Places []int // the columns that are wanted, in this order
	// Index is the index to read; nil: the whole table.
	Index   rel.Index
	Reverse bool
	// Spans are parts of the index, in any order; a row is given once, whatever spans it is in. nil: the whole index. Rows beyond the
	// spans may be given too: the reader checks all conditions of each row. A value for a column of which the index has only a prefix
	// is whole: the source cuts it.
	Spans []KeySpan
	// Limit: so many rows suffice; 0: all are wanted.
	Limit int
	// Uses is how many rows the reader will probably be asked for when that is less than all; 0: all. It decides about pages only.
	Uses int
	// Ahead: the rows are for several rows of the left side of a join, of which perhaps not all are wanted. A Source that does not want
	// to read them (since it locks what it reads) gives nil instead of Rows.
	Ahead bool
}

// KeySpan is a rel.Span with values. They are of the types of the index's columns, or NULL.
type KeySpan struct {
	Equal             []expr.Value
	Low, High         *expr.Value
	LowOpen, HighOpen bool
	// IncludeNull: Low is nil and NULLs are within (they come first in an index).
	IncludeNull bool
	// Prefix, if not nil, is a text that the column behind Equal begins with, under its collation; Low and High are nil then.
	// collation.AppendPrefix is what the keys begin with. A Source that does not know it may read all of Equal: the rows are checked.
	Prefix *expr.Value
}

// Rows are what a Source gives.
type Rows interface {
	// Next puts the next row into the registers, places[i]'s value into regs[cols[i]]; false: there is none.
	Next(regs []expr.Value, cols []rel.ColID) (bool, error)
	Close() error
}

// Counter is implemented by sources that answer a GROUP BY over one table without giving its rows.
type Counter interface {
	// Count gives the groups of rows of a table: the registers of the keys, and behind them those of the aggregates, are what Rows.Next
	// fills in. nil: the source cannot, and the rows have to be read.
	Count(r *CountRequest) (Rows, error)
}

// CountRequest is what is to be counted.
type CountRequest struct {
	Table rel.Table
	// Index and Spans say which rows are meant, exactly; Spans nil: all of the table. If Ordered, the groups come in the order of Index,
	// or in its reverse; else in any, and without Spans Index says nothing.
	Index            rel.Index
	Spans            []KeySpan
	Ordered, Reverse bool
	// Keys are the columns by which they are grouped, by place; none: one group, of no rows as well.
	Keys []int
	Aggs []CountAgg
	// Beside, if not nil, is a request for a whole table that will be read next.
	Beside *Request
}

// CountAgg is an aggregate of a group.
type CountAgg struct {
	Kind  CountKind
	Place int // of the column; not for CountAll
}

// CountKind is the kind of an aggregate.
type CountKind uint8

// Kinds of aggregates.
const (
	CountAll   CountKind = iota // COUNT(*)
	CountPlace                  // COUNT(column)
	MinPlace                    // MIN(column)
	MaxPlace                    // MAX(column)
)
