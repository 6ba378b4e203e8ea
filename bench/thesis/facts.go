package thesis

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed facts.csv
var factsCSV string

// factKey is a row of the thesis's tables.
type factKey struct {
	reads   float64 // fraction
	metric  string
	op      string
	workers int
}

// fact is the two figures of a row.
type fact struct{ regular, modified float64 }

// facts are the thesis's tables C.1 to D.5.
func facts() (map[factKey]fact, error) {
	r := csv.NewReader(strings.NewReader(factsCSV))
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	share := map[string]float64{"read_heavy_95_5": 0.95, "write_heavy_50_50": 0.5}
	out := map[factKey]fact{}
	for _, row := range rows[1:] {
		k, err1 := strconv.Atoi(row[4])
		a, err2 := strconv.ParseFloat(row[5], 64)
		b, err3 := strconv.ParseFloat(row[6], 64)
		if share[row[0]] == 0 || err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("bad row in the thesis's tables: %v", row)
		}
		out[factKey{share[row[0]], row[2], row[3], k}] = fact{a, b}
	}
	return out, nil
}
