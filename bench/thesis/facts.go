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

// metric is a figure that the thesis reports, and where to find it in its tables and in our rows.
type metric struct {
	name, unit, file string
	fact, op         string // metric and operation in facts.csv
	higher           bool   // is better
	of               func(*medians) float64
}

// metrics are those of the thesis's figures 4.1 to 4.16, eight for each share of reads.
var metrics = []metric{
	{"uncertainty restarts", "per minute", "restarts", "uncertainty_restarts", "all", false, func(m *medians) float64 { return m.restarts }},
	{"throughput", "operations per second", "throughput", "throughput_ops_per_sec", "all", true, func(m *medians) float64 { return m.ops }},
	{"read p50", "ms", "read-p50", "p50_ms", "read", false, func(m *medians) float64 { return m.read[0] }},
	{"like p50", "ms", "like-p50", "p50_ms", "like", false, func(m *medians) float64 { return m.like[0] }},
	{"read p95", "ms", "read-p95", "p95_ms", "read", false, func(m *medians) float64 { return m.read[1] }},
	{"like p95", "ms", "like-p95", "p95_ms", "like", false, func(m *medians) float64 { return m.like[1] }},
	{"read p99", "ms", "read-p99", "p99_ms", "read", false, func(m *medians) float64 { return m.read[2] }},
	{"like p99", "ms", "like-p99", "p99_ms", "like", false, func(m *medians) float64 { return m.like[2] }},
}

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
