package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// readKeys reads the single characters of allkeys.txt: MySQL does not use the contractions of DUCET.
func readKeys(name string) ([]entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []entry
	version := ""
	for in := bufio.NewScanner(f); in.Scan(); {
		line, _, _ := strings.Cut(in.Text(), "#")
		line = strings.TrimSpace(line)
		if v, ok := strings.CutPrefix(line, "@version "); ok {
			version = v
		}
		if line == "" || line[0] == '@' {
			continue
		}
		chars, weights, _ := strings.Cut(line, ";")
		if chars = strings.TrimSpace(chars); strings.Contains(chars, " ") {
			continue
		}
		r, err := strconv.ParseUint(chars, 16, 21)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		e := entry{chars: []rune{rune(r)}}
		for _, w := range strings.Split(strings.TrimSpace(weights), "]") {
			if w == "" {
				continue
			}
			var x element
			if _, err := fmt.Sscanf(w[2:], "%x.%x.%x", &x.primary, &x.secondary, &x.tertiary); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			if x != (element{}) {
				e.elements = append(e.elements, x)
			}
		}
		out = append(out, e)
	}
	if version != "9.0.0" {
		return nil, fmt.Errorf("%s is of version %q, not 9.0.0", name, version)
	}
	slices.SortFunc(out, func(a, b entry) int { return int(a.chars[0] - b.chars[0]) })
	return out, nil
}
