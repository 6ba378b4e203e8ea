package grid

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// machineLoad is the load average as Linux gives it, empty elsewhere.
func machineLoad() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	f := strings.Fields(string(b))
	return strings.Join(f[:min(3, len(f))], " ") + " on " + strconv.Itoa(runtime.NumCPU()) + " processors"
}

// claim makes the directory the plan's, or finds that it is (G3).
func claim(dir string, p Plan) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	want, err := json.MarshalIndent(p.Blocks, "", " ")
	if err != nil {
		return err
	}
	want = append([]byte(p.Name+"\n"), want...)
	file := filepath.Join(dir, "plan.json")
	have, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return writeWhole(file, want)
	case err != nil:
		return err
	case string(have) != string(want):
		return fmt.Errorf("%s holds results of another plan, begun with other options; they would not be comparable\nhint: name another directory with --out, or remove this one", dir)
	}
	return nil
}

// load reads what a block showed, if it is there and whole.
func load(dir, key string, b Block) (rs []Result, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, key+".json"))
	if err != nil || json.Unmarshal(text, &rs) != nil || len(rs) != len(b.Points) {
		return nil, false
	}
	for i, r := range rs {
		if r.Point != b.Points[i] {
			return nil, false
		}
	}
	return rs, true
}

func save(dir, key string, rs []Result) error {
	b, err := json.Marshal(rs)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(dir, key+".json"), b)
}

// Read gives the results that Write has put into a directory.
func Read(dir string) (results []Result, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		return nil, err
	}
	var doc struct{ Points []Result }
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "results.json"), err)
	}
	if len(doc.Points) == 0 || len(doc.Points[0].Slices) == 0 {
		return nil, fmt.Errorf("%s holds no results, or those of an older version", filepath.Join(dir, "results.json"))
	}
	return doc.Points, nil
}

// writeWhole writes a file that is there whole or not at all, whenever the process ends.
func writeWhole(name string, b []byte) error {
	if err := os.WriteFile(name+".tmp", b, 0o644); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name)
}
