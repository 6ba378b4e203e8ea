package expr

import (
	"errors"

	"github.com/longitude-db/longitude/internal/sql/collation"
)

// orderBy is a collation by its id. Types name only collations that aggregate, or COLLATE, has found to be known; so the error of an
// unknown one comes when an expression is built, and here it is a fault of the program.
func orderBy(id uint16) *collation.Collation {
	c, err := collation.ByID(id)
	if err != nil {
		panic(err)
	}
	return c
}

// compareText orders two texts under a collation.
func compareText(id uint16, a, b string) int { return orderBy(id).Compare(a, b) }

// sortKey is the same for two texts iff they are equal under the collation, and ordered as they are.
func sortKey(id uint16, s string) string {
	c := orderBy(id)
	if c.Bytewise() {
		return s
	}
	return string(c.AppendKey(nil, s))
}

// knownCollation is 1273 if a collation is not known here.
func knownCollation(id uint16) (*collation.Collation, error) {
	c, err := collation.ByID(id)
	if err != nil {
		return nil, Errorf(1273, "HY000", "%s", err)
	}
	return c, nil
}

func typedCollations(ts []Type) ([]collation.Typed, error) {
	var out []collation.Typed
	for _, t := range ts {
		c, err := knownCollation(t.Collation)
		if err != nil {
			return nil, err
		}
		out = append(out, collation.Typed{Collation: c, Coercibility: collation.Coercibility(t.Coerc)})
	}
	return out, nil
}

// aggregate is the collation that texts have together (manual, Collation Coercibility in Expressions): NoneCoerc if two of the
// same rank differ, which is an error only where they are compared (illegalMix); an error at once if no text could be made of both.
func aggregate(operation string, ts ...Type) (uint16, Coercibility, error) {
	if len(ts) == 0 {
		return DefaultCollation, Ignorable, nil
	}
	typed, err := typedCollations(ts)
	if err != nil {
		return 0, 0, err
	}
	out, err := collation.Aggregate(operation, false, typed...)
	if err != nil {
		return 0, 0, mixError(err)
	}
	return out.ID, Coercibility(out.Coercibility), nil
}

// together is the collation in which texts are compared; the error is illegalMix's.
func together(operation string, ts ...Type) (uint16, error) {
	coll, coerc, err := aggregate(operation, ts...)
	if err != nil {
		return 0, err
	}
	if coerc == NoneCoerc || len(ts) > 2 { // of more than two, two that differ are an error whatever the others are
		if err := illegalMix(operation, ts...); err != nil {
			return 0, err
		}
	}
	return coll, nil
}

// illegalMix is the error of operands that are compared and have no collation together: 1267, 1270 or 1271.
func illegalMix(operation string, ts ...Type) error {
	typed, err := typedCollations(ts)
	if err == nil {
		_, err = collation.Aggregate(operation, true, typed...)
	}
	return mixError(err)
}

func mixError(err error) error {
	var mix *collation.IllegalMixError
	if errors.As(err, &mix) {
		for i, p := range mix.Parts {
			if latin1, err := collation.ByID(8); err == nil && p.Coercibility == collation.Numeric { // as MySQL names the collation of numbers
				mix.Parts[i].Collation = latin1
			}
		}
		return Errorf(uint16(mix.Code()), "HY000", "%s", mix)
	}
	return err
}

// betweenCollation is the error of operands of BETWEEN whose collations do not go together. MySQL looks at them all if there is no number among them,
// even if dates are compared.
func betweenCollation(c *Call) error {
	var types []Type
	for _, a := range c.Args {
		if a.Type().IsNumber() {
			return nil
		}
		types = append(types, a.Type())
	}
	_, err := together("between", types...)
	return err
}

// inCollation is the error of IN among texts that have no collation together, numbers and NULLs beside them counted in.
func inCollation(args []Node) error {
	var types []Type
	for _, a := range args {
		if a.Type().Kind() == KindJSON {
			return nil // then all are documents
		}
		types = append(types, a.Type())
	}
	if !types[0].IsString() && !types[0].IsTemporal() && types[0].Name != NullType {
		return nil
	}
	operation := " IN "
	if len(types) == 2 {
		operation = "="
	}
	_, err := together(operation, types...)
	return err
}
