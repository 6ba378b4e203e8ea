package main

import (
	"fmt"
	"strings"

	"github.com/longitude-db/longitude/internal/sim"
)

// runTwice shows where two runs of one seed part.
func runTwice(seed uint64) bool {
	var lines [2][]string
	for i := range lines {
		var b strings.Builder
		res := sim.Run(sim.Draw(seed), sim.Options{Out: &b, Steps: true})
		fmt.Println(res.Line())
		lines[i] = strings.Split(b.String(), "\n")
	}
	a, b := lines[0], lines[1]
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i] == b[i] {
			continue
		}
		fmt.Printf("the same for %d lines, then:\n", i)
		for j := max(0, i-15); j < i; j++ {
			fmt.Println("   ", a[j])
		}
		for k, l := range lines {
			for j := i; j < min(i+8, len(l)); j++ {
				fmt.Println(k+1, " ", l[j])
			}
		}
		return false
	}
	fmt.Printf("the same for all %d lines\n", len(a))
	return true
}
