package expr

// Class is how expressions are compared with each other: what a plan has to know to find them by an index or a hash table.
type Class uint8

// Classes of comparisons.
const (
	ClassText Class = iota // under Comparison.Collation
	ClassBytes
	ClassInt
	ClassDecimal
	ClassFloat
	ClassDatetime
	ClassTime
	ClassJSON
)

// Comparison says how expressions are compared with each other.
type Comparison struct {
	Class     Class
	Collation uint16 // ClassText
}

// ComparisonOf finds how the operator compares the expressions; error 1267 if their texts have no collation together.
func ComparisonOf(operation string, nodes ...Node) (Comparison, error) {
	c, err := compareAs(operation, nodes...)
	return Comparison{Class: Class(c.class), Collation: c.collation}, err
}
