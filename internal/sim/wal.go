package sim

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tail says of a file that is only ever appended to how much of it was written and how much of that was synced. Pebble's
// write-ahead logs are such files. vfs.MemFS copies a whole file at each sync of it, which would be a tenth of all the
// processor time of a run; the Disk counts bytes instead and copies once, when the power fails.
type tail struct{ written, synced int64 }

// isLog reports whether a file is a write-ahead log.
func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

// follow begins to count a new log.
func (d *Disk) follow(name string) *tail {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &tail{}
	d.logs[name] = t
	return t
}

// forget ends the counting of a log that is to be removed or renamed: MemFS learns what was synced.
func (d *Disk) forget(name string) error {
	d.mu.Lock()
	_, ok := d.logs[name]
	delete(d.logs, name)
	d.mu.Unlock()
	if !ok {
		return nil
	}
	f, err := d.mem.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// remains is what a power failure now would leave on the disk (V3). d.mu is held.
func (d *Disk) remains() *vfs.MemFS {
	left := d.mem.CrashClone(vfs.CrashCloneCfg{})
	for _, name := range slices.Sorted(maps.Keys(d.logs)) {
		if err := copySynced(left, d.mem, name, d.logs[name].synced); err != nil {
			panic(fmt.Sprintf("sim: %s: %v", name, err))
		}
	}
	return left
}

// Remains is what a power failure now would leave on the disk.
func (d *Disk) Remains() *vfs.MemFS {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.remains()
}

// copySynced copies the first n bytes of a file. If the file's directory was not synced since the file was made, the power
// failure has taken the file.
func copySynced(to, from *vfs.MemFS, name string, n int64) error {
	if _, err := to.Stat(name); err != nil || n == 0 {
		return nil
	}
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	defer out.Close()
	data := make([]byte, n)
	if _, err := io.ReadFull(in, data); err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		return err
	}
	return out.Sync()
}
