package engine

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/longitude-db/longitude/internal/kv"
	"github.com/longitude-db/longitude/internal/sql/rowcodec"
)

// insertForm is INSERT ... VALUES.
type insertForm struct {
	target
	assign  []assign
	rows    [][]operand // a value for each column of the table
	parents []parentForm
}

// parentForm is where the parent of a row is looked up.
type parentForm struct {
	target
	x    *indexLayout
	fk   sql.ForeignKeyConstraint
	from []int // columns of the child, as the parts of x
}

func (f *insertForm) perform(x *execution, sc *sql.Context, given []literal) (err error) {
	info := x.s.GetLastQueryInfo()
	before := info.LastInsertId.Load()
	defer func() {
		if err != nil { // what fails leaves LAST_INSERT_ID as it was
			info.LastInsertId.Store(before)
		}
	}()
	rows, err := f.values(sc, given)
	if err != nil {
		return err
	}
	tbl := f.table(x.h.e)
	first, err := f.identify(x, sc, tbl, rows)
	if err != nil {
		return err
	}
	if err := f.noteParents(x, rows); err != nil {
		return err
	}
	e := tbl.editor(sc)
	if e.err != nil {
		return e.err
	}
	for _, r := range rows {
		if err := e.insert(sc, r.d, r.generated); err != nil {
			return err
		}
	}
	if err := e.StatementComplete(sc); err != nil {
		return err
	}
	r := types.OkResult{RowsAffected: uint64(len(rows)), InsertID: first}
	if len(rows) > 1 {
		r.Info = infoOfInsert(len(rows), 0, 0)
	}
	x.counted(r)
	return nil
}

// insertRow is a row to be inserted.
type insertRow struct {
	d         datums
	generated bool // its AUTO_INCREMENT value
}

// values finds what is to be stored.
func (f *insertForm) values(sc *sql.Context, given []literal) ([]insertRow, error) {
	out := make([]insertRow, len(f.rows))
	for i, row := range f.rows {
		d := make(datums, len(row)+1)
		for at := range row {
			o := &row[at]
			if o.fixed != nil {
				d[at] = *o.fixed
			} else {
				v, ok := o.literal(given)
				if !ok {
					return nil, errOrdinary
				}
				if d[at], ok = f.assign[at](sc, v); !ok {
					return nil, errOrdinary
				}
			}
			if d[at].IsNull() && !f.l.desc.Columns[at].Nullable && at != f.l.autoInc {
				return nil, errOrdinary
			}
		}
		out[i].d = d
	}
	return out, nil
}

// identify gives the rows their AUTO_INCREMENT values and returns that of the first one.
func (f *insertForm) identify(x *execution, sc *sql.Context, tbl *table, rows []insertRow) (first uint64, err error) {
	at := f.l.autoInc
	if at < 0 {
		return 0, nil
	}
	base := f.l.columns[at].Kind
	if base != rowcodec.Int && base != rowcodec.Uint {
		return 0, errOrdinary
	}
	zeroIsID := x.s.settings(sc).zeroIsID
	x.s.stmt.ids = reservation{into: f.l.desc.Name, rows: len(rows)}
	told := false
	for i := range rows {
		d := &rows[i].d[at]
		switch {
		case d.IsNull() || d.I == 0 && d.U == 0 && !zeroIsID:
			v, err := tbl.GetNextAutoIncrementValue(sc, nil)
			if err != nil {
				return 0, err
			}
			*d = rowcodec.Datum{Kind: base}
			if base == rowcodec.Int {
				d.I = int64(v)
			} else {
				d.U = v
			}
			rows[i].generated = true
			if !told {
				told = true
				x.s.GetLastQueryInfo().LastInsertId.Store(int64(v))
			}
		case d.I > 0 || d.U > 0:
			given := d.U
			if base == rowcodec.Int {
				given = uint64(d.I)
			}
			if _, err := tbl.GetNextAutoIncrementValue(sc, given); err != nil {
				return 0, err
			}
		}
	}
	if d := rows[0].d[at]; base == rowcodec.Int {
		return uint64(d.I), nil
	} else {
		return d.U, nil
	}
}

// noteParents notes which parents have to be there. They are looked up together, as the ordinary path does.
func (f *insertForm) noteParents(x *execution, rows []insertRow) error {
	for i := range f.parents {
		p := &f.parents[i]
		var tbl *table
	next:
		for _, r := range rows {
			key := append(kv.Key{}, p.x.prefix...)
			for j := range p.x.parts {
				v := r.d[p.from[j]]
				if v.IsNull() {
					continue next
				}
				var err error
				if key, err = rowcodec.AppendKey(key, &p.x.parts[j].col, v); err != nil {
					return err
				}
			}
			if tbl == nil {
				tbl = p.table(x.h.e)
			}
			x.s.stmt.parents.add(parentCheck{t: tbl, x: p.x, r: reach{span: kv.Span{Start: key}, point: true}, fk: p.fk})
		}
	}
	return nil
}
