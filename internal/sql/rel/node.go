package rel

import "github.com/longitude-db/longitude/internal/sql/expr"

// Node is an operator: it gives rows.
type Node interface {
	// Columns are those that its rows have, in no order that matters.
	Columns() []ColID
	// Children are the operators below it; SetChild puts another in place of one.
	Children() []Node
	SetChild(i int, n Node)
}

// Scan reads rows of a table.
type Scan struct {
	Table Table
	Alias string
	// Places are the columns of the table that are wanted (places in Table.Columns()), and Cols the ids that they get. Package bind
	// wants all; package optimize takes out what nobody reads.
	Places []int
	Cols   []ColID
	// Generated are those of the columns that are indexed and hold the value of an expression, which may be read in its place.
	Generated []Generated
	// Access is how the rows are found; nil: the whole table.
	Access *Access
	// Filter is checked of each row that is read.
	Filter []expr.Node
	// Hints are USE, FORCE and IGNORE INDEX.
	Hints []IndexHint
	// Limit is how many rows suffice, counted after Filter; 0: all are wanted.
	Limit int
	// Rows is how many rows it is expected to give.
	Rows float64
}

// IndexHint is USE INDEX, FORCE INDEX or IGNORE INDEX.
type IndexHint struct {
	Kind  string // "use", "force", "ignore"
	For   string // "", "join", "order by", "group by"
	Names []string
}

// Access says which part of an index to read. The rows that are found may be more than the conditions allow: they stay in Filter.
type Access struct {
	Index   Index
	Reverse bool
	// Spans are read one after the other, in the order of the index. They may overlap: a row is given once nevertheless.
	Spans []Span
}

// Span is a part of an index: entries whose first columns are equal to Equal, and whose next one is within the bounds. A bound or an
// Equal that is NULL finds nothing, except where NullSafe says so.
type Span struct {
	Equal     []expr.Node
	NullSafe  []bool // by column of Equal: NULL is equal to NULL (<=>, IS NULL). nil: of none
	Low, High *Bound
	// Prefix, if not nil: the next column is a text that begins with this one under the column's collation (LIKE 'abc%'). There are no
	// bounds then. What is found may be more.
	Prefix expr.Node
}

// Bound is one end of a span.
type Bound struct {
	Value expr.Node
	Open  bool // the bound itself is not within
}

// Values gives rows of expressions: one row without columns is what SELECT without FROM reads.
type Values struct {
	Rows [][]expr.Node
	Cols []ColID
}

// Filter passes on the rows for which all conditions are true.
type Filter struct {
	Child Node
	Conds []expr.Node
}

// Project adds columns that are calculated.
type Project struct {
	Child Node
	Exprs []expr.Node
	Cols  []ColID
}

// JoinKind is the kind of a join.
type JoinKind uint8

// Kinds of joins. There is no right join: package bind exchanges the sides.
const (
	Inner JoinKind = iota
	Left           // rows of the left side without a partner have NULLs on the right side
	Semi           // rows of the left side that have a partner, once
	Anti           // rows of the left side that have none. NullAware: NOT IN, where a comparison that is NULL counts as a partner
)

// Join combines the rows of two sides. The right side may read the columns of the left one (LATERAL, and lookups by an index): then
// it is opened again for each row of it, as it is if Hash is nil.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	On          []expr.Node
	// Lateral: the right side reads columns of the left one, so they may not be exchanged, nor hashed.
	Lateral bool
	// Straight: STRAIGHT_JOIN; the sides may not be exchanged.
	Straight bool
	// NullAware is for Anti.
	NullAware bool
	// Hash, if not nil, are the equalities of On that hold when both sides have equal keys: the right side is read once into a
	// hash table. On keeps only the others.
	Hash []HashKey
	// Keep: the right side does not change while the left one gives rows, and is kept in memory after the first time it was read.
	Keep bool
}

// HashKey is an equality between an expression of the left side and one of the right, compared as their operator compares them.
type HashKey struct {
	Left, Right expr.Node
	NullSafe    bool // <=>
}

// Group gives one row for each combination of keys, with aggregates.
type Group struct {
	Child Node
	Keys  []ColID // given by Child
	Aggs  []Agg
	// Rollup: after the groups of each prefix of the keys comes one in which the others are NULL. Out are the keys as they are given
	// then; without ROLLUP they are Keys.
	Rollup bool
	Out    []ColID
	// Grouping are columns that say which keys a row of ROLLUP was made without: the value of GROUPING().
	Grouping []Grouping
	// Scalar: there is no GROUP BY, so one row comes of no rows.
	Scalar bool
	// Ordered: the rows of Child come in an order in which equal keys stand together.
	Ordered bool
}

// Grouping is a column with the value of GROUPING(keys...): bits, the last argument's the lowest.
type Grouping struct {
	Keys []int // places in Group.Keys
	Col  ColID
}

// Agg is an aggregate.
type Agg struct {
	Name      string // lower case: count, sum, avg, min, max, group_concat, bit_and, ..., any_value, json_arrayagg, json_objectagg
	Args      []expr.Node
	Distinct  bool
	Star      bool      // COUNT(*)
	Order     []SortKey // GROUP_CONCAT
	Separator string
	Col       ColID
	T         expr.Type
	Text      string
}

// AggState is an aggregate of one group.
type AggState interface {
	Add(env *expr.Env, args []expr.Value) error
	Result(env *expr.Env) (expr.Value, error)
}

// SortKey is one of the expressions of ORDER BY.
type SortKey struct {
	Expr expr.Node
	Desc bool
}

// Sort orders rows; those that are equal stay in the order in which they came.
type Sort struct {
	Child Node
	Keys  []SortKey
	// Keep are the columns that are wanted above; package optimize fills it in. nil: all of Child's.
	Keep []ColID
	// Limit is how many rows are wanted at most (offset included), if it is known; nil: all.
	Limit expr.Node
}

// Limit passes on some of the rows.
type Limit struct {
	Child         Node
	Count, Offset expr.Node // nil: none. Constant throughout the statement
	// FoundRows: rows beyond the limit are counted (SQL_CALC_FOUND_ROWS).
	FoundRows bool
}

// Distinct passes on the first of the rows whose columns Cols are equal.
type Distinct struct {
	Child Node
	Cols  []ColID
}

// Window adds columns of window functions. All functions of one node have the same partition and order; the rows come out in that
// order.
type Window struct {
	Child     Node
	Partition []expr.Node
	Order     []SortKey
	Funcs     []WindowFunc
}

// WindowFunc is a window function or an aggregate over a window.
type WindowFunc struct {
	Name  string // lower case
	Args  []expr.Node
	Star  bool
	Agg   *Agg // an aggregate
	Frame *WindowFrame
	Col   ColID
	T     expr.Type
	Text  string
}

// WindowFrame is ROWS or RANGE BETWEEN.
type WindowFrame struct {
	Rows       bool
	Start, End FrameBound
	Key        string // RANGE with an offset: what the rows are ordered by, as errors call it
}

// FrameBound is one end of a frame.
type FrameBound struct {
	Kind FrameBoundKind
	// Value is how far; with RANGE over dates an interval of Unit.
	Value expr.Node
	Unit  string
}

// FrameBoundKind is which end a bound is.
type FrameBoundKind uint8

// Kinds of ends of frames.
const (
	UnboundedPreceding FrameBoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// SetKind is a set operation.
type SetKind uint8

// Set operations.
const (
	Union SetKind = iota
	Intersect
	Except
)

// SetOp is UNION, INTERSECT or EXCEPT. Each side's columns, by place, become Cols; where the types differ package bind has put a
// conversion on the side, so that both have the type of Cols.
type SetOp struct {
	Kind        SetKind
	All         bool
	Left, Right Node
	LeftCols    []ColID
	RightCols   []ColID
	Cols        []ColID
}

// Shared is a query whose rows are kept and read in several places: a common table expression that is named more than once.
type Shared struct {
	Name  string
	Plan  Node
	Cols  []ColID
	Outer []ColID // as Subquery.Outer: it is executed again when they have changed
}

// SharedScan reads the rows of a Shared; Cols are the ids that its columns get here.
type SharedScan struct {
	From *Shared
	Cols []ColID
}

// Recursive is a recursive common table expression: the rows of Seed, then those of Step as often as it gives some, which reads
// those of the step before by its WorkScans. Where Distinct, rows that were there already are dropped.
type Recursive struct {
	Name     string
	Seed     Node
	SeedCols []ColID
	Step     Node
	StepCols []ColID
	Cols     []ColID
	Distinct bool
	// Limit is how many rows are wanted at most; nil: all.
	Limit, Offset expr.Node
}

// WorkScan reads the rows of the step before in a recursive query.
type WorkScan struct {
	From *Recursive
	Cols []ColID
}

// One gives the first row of Child: what EXISTS needs.
type One struct{ Child Node }
