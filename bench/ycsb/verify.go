package ycsb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/longitude-db/longitude/bench/harness"
)

// row is a row that has been read.
type row struct {
	key    string
	fields [fields]sql.NullString
}

func scanRow(rs *sql.Rows) (r row, err error) {
	to := []any{&r.key}
	for i := range r.fields {
		to = append(to, &r.fields[i])
	}
	return r, rs.Scan(to...)
}

// rowsOf reads all rows of a query and hands each over.
func rowsOf(rs *sql.Rows, err error, each func(row)) error {
	if err != nil {
		return err
	}
	defer rs.Close()
	for rs.Next() {
		r, err := scanRow(rs)
		if err != nil {
			return err
		}
		each(r)
	}
	return rs.Err()
}

// whole checks Y1 for a record.
func (w *Workload) whole(r row, number int64) {
	for f, v := range r.fields {
		if _, ok := versionOf(number, f, v.String); !ok {
			w.wrong.Add("Y1: FIELD%d of %s (record %d) holds what nobody wrote there: %.40q...", f, r.key, number, v.String)
		}
	}
}

func (w *Workload) read(ctx context.Context, conn *harness.Conn, number int64) error {
	rs, err := conn.Query(ctx, readOne, key(number))
	n := 0
	err = rowsOf(rs, err, func(r row) { n++; w.whole(r, number) })
	if err == nil && n != 1 {
		w.wrong.Add("Y2: a read of record %d, which had been acknowledged, found %d rows", number, n)
	}
	return err
}

// scan does not know the numbers of what it finds, so it checks keys and lengths; contents are checked at the end.
func (w *Workload) scan(ctx context.Context, conn *harness.Conn, number int64, length int) error {
	from := key(number)
	rs, err := conn.Query(ctx, scanFrom, from, length)
	last, n := "", 0
	err = rowsOf(rs, err, func(r row) {
		switch {
		case n == 0 && r.key != from:
			w.wrong.Add("Y2: a scan from %s, whose record had been acknowledged, begins at %s", from, r.key)
		case n > 0 && r.key <= last:
			w.wrong.Add("Y2: a scan from %s returned %s after %s", from, r.key, last)
		}
		for f, v := range r.fields {
			if len(v.String) != fieldLength {
				w.wrong.Add("Y1: FIELD%d of %s has %d characters, wanted: %d", f, r.key, len(v.String), fieldLength)
			}
		}
		last = r.key
		n++
	})
	if err == nil && (n == 0 || n > length) {
		w.wrong.Add("Y2: a scan of %d records from %s returned %d", length, from, n)
	}
	return err
}

// page is how many rows one statement of the verification reads.
const page = 1000

// Verify implements harness.Workload: Y3, through the first node.
func (w *Workload) Verify(ctx context.Context, t *harness.Target) ([]string, error) {
	numbers := map[string]int64{}
	for n := range w.inserts.issued() {
		numbers[key(n)] = n
	}
	from, op := "", ">="
	for {
		n := 0
		rs, err := t.Nodes[0].QueryContext(ctx, fmt.Sprintf("SELECT * FROM usertable WHERE YCSB_KEY %s ? ORDER BY YCSB_KEY LIMIT %d", op, page), from)
		err = rowsOf(rs, err, func(r row) {
			n++
			from = r.key
			number, known := numbers[r.key]
			if !known {
				w.wrong.Add("Y3: there is a record %s that nobody inserted, or that is there twice", r.key)
				return
			}
			delete(numbers, r.key)
			for f, v := range r.fields {
				version, ok := versionOf(number, f, v.String)
				switch {
				case !ok:
					w.wrong.Add("Y1: FIELD%d of %s (record %d) holds what nobody wrote there: %.40q...", f, r.key, number, v.String)
				case !w.history.possible(number, f, version):
					w.wrong.Add("Y3: FIELD%d of %s holds version %d, which an acknowledged update has overwritten: an update is lost", f, r.key, version)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		if n < page {
			break
		}
		op = ">"
	}
	for k, n := range numbers {
		if w.inserts.acknowledged(n) {
			w.wrong.Add("Y3: record %s, whose insert was acknowledged, is not there", k)
		}
	}
	return w.wrong.List(), nil
}
