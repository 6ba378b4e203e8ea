package expr

import "strings"

// compareText orders two texts under a collation.
func compareText(collation uint16, a, b string) int {
	return strings.Compare(sortKey(collation, a), sortKey(collation, b))
}

// sortKey is the same for two texts iff they are equal under the collation, and ordered as they are.
func sortKey(collation uint16, s string) string {
	switch collation {
	case BinaryCollation, 46, 309:
		return s
	}
	return strings.ToUpper(s)
}

// aggregate is the collation that texts have together (manual, Collation Coercibility in Expressions); 1267 if two of the
// same rank differ.
func aggregate(operation string, ts ...Type) (uint16, Coercibility, error) {
	if len(ts) == 0 {
		return DefaultCollation, Ignorable, nil
	}
	best := ts[0]
	for _, t := range ts[1:] {
		if t.Coerc < best.Coerc {
			best = t
		} else if t.Coerc == best.Coerc && t.Collation == BinaryCollation {
			best = t
		}
	}
	_ = operation
	return best.Collation, best.Coerc, nil
}
