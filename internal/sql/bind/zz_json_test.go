package bind

import (
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longitude-db/longitude/internal/sql/collation"
	"github.com/longitude-db/longitude/internal/sql/expr"
	"github.com/longitude-db/longitude/internal/sql/rel"
)

func TestRecorded(t *testing.T) {
	glob := os.Getenv("CMPJSON")
	if glob == "" {
		t.Skip()
	}
	db, err := sql.Open("mysql", "root@tcp(127.0.0.1:23307)/?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	files, _ := filepath.Glob(glob)
	same, diff := 0, 0
	for _, f := range files {
		r, _ := os.Open(f)
		z, _ := gzip.NewReader(r)
		var in struct {
			Sets []struct {
				Setup []string
				Cases []struct{ SQL string }
			}
		}
		if err := json.NewDecoder(z).Decode(&in); err != nil {
			t.Fatal(err)
		}
		for _, s := range in.Sets {
			db.Exec("drop database if exists bindb; create database bindb; use bindb")
			for _, q := range s.Setup {
				if _, err := db.Exec(q); err != nil {
					fmt.Println("setup", err, q)
				}
			}
			m := newMemory()
			load(t, db, m)
			for _, c := range s.Cases {
				theirs := mysqlAnswer(db, c.SQL)
				q := c.SQL
				ours := func() (s string) {
					defer func() {
						if e := recover(); e != nil {
							s = fmt.Sprint("BROKEN ", e)
						}
					}()
					return ourAnswer2(m, q)
				}()
				if theirs == ours {
					same++
					continue
				}
				diff++
				fmt.Printf("%s\n  mysql: %s\n  ours:  %s\n", strings.ReplaceAll(c.SQL, "\n", " "), theirs, ours)
			}
		}
	}
	fmt.Println("same", same, "different", diff)
}

func ourAnswer2(m *memory, q string) string {
	return strings.ReplaceAll(ourAnswerIn(hostB{m}, q), "binda", "bindb")
}

type hostB struct{ *memory }

func (h hostB) Database() string { return "bindb" }

func load(t *testing.T, db *sql.DB, m *memory) {
	rows, err := db.Query("select table_name, column_name, data_type, coalesce(character_maximum_length,0), coalesce(numeric_precision,0), coalesce(numeric_scale,0), coalesce(datetime_precision,0), coalesce(collation_name,''), column_type, is_nullable from information_schema.columns where table_schema='bindb' order by table_name, ordinal_position")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var tn, cn, dt, coll, ct, null string
		var cl int64
		var p, sc, dp int
		if err := rows.Scan(&tn, &cn, &dt, &cl, &p, &sc, &dp, &coll, &ct, &null); err != nil {
			t.Fatal(err)
		}
		r := m.relations["bindb."+tn]
		if r.Table == nil {
			r.Table = &table{database: "bindb", name: tn}
			m.relations["bindb."+tn] = r
		}
		tab := r.Table.(*table)
		ty := expr.Type{Collation: expr.BinaryCollation, Coerc: expr.Implicit, Unsigned: strings.Contains(ct, "unsigned")}
		num := map[string]struct {
			n expr.Name
			l int
		}{"tinyint": {expr.TinyInt, 4}, "smallint": {expr.SmallInt, 6}, "mediumint": {expr.MediumInt, 9}, "int": {expr.IntType, 11}, "bigint": {expr.BigInt, 20}}
		if x, ok := num[dt]; ok {
			ty.Name, ty.Length = x.n, x.l
		}
		if coll != "" {
			c, err := collation.ByName(coll)
			if err != nil {
				fmt.Println(err)
			} else {
				ty.Collation = c.ID
			}
		}
		ty2 := func(n expr.Name, l int) { ty.Name, ty.Length = n, l }
		switch dt {
		case "decimal":
			ty2(expr.DecimalType, p)
			ty.Scale = sc
		case "float":
			ty2(expr.FloatType, 12)
			ty.Scale = expr.NotFixed
		case "double":
			ty2(expr.DoubleType, 22)
			ty.Scale = expr.NotFixed
		case "year":
			ty2(expr.YearType, 4)
			ty.Unsigned = true
		case "bit":
			ty2(expr.BitType, p)
			ty.Unsigned = true
		case "date":
			ty2(expr.DateType, 10)
		case "datetime":
			ty2(expr.DatetimeType, 19)
			ty.Scale = dp
		case "timestamp":
			ty2(expr.TimestampType, 19)
			ty.Scale = dp
		case "time":
			ty2(expr.TimeType, 10)
			ty.Scale = dp
		case "char":
			ty2(expr.Char, int(cl))
		case "varchar":
			ty2(expr.Varchar, int(cl))
		case "text", "mediumtext", "longtext", "tinytext":
			ty2(expr.TextType, int(cl))
		case "binary":
			ty2(expr.Binary, int(cl))
		case "varbinary":
			ty2(expr.Varbinary, int(cl))
		case "blob", "longblob", "mediumblob", "tinyblob":
			ty2(expr.Blob, int(cl))
		case "json":
			ty = expr.TJSON
		case "enum", "set":
			ty2(expr.EnumType, 5)
			if dt == "set" {
				ty.Name = expr.SetType
			}
			for _, e := range strings.Split(ct[strings.Index(ct, "(")+1:len(ct)-1], ",") {
				ty.Elements = append(ty.Elements, strings.Trim(e, "'"))
			}
		}
		tab.cols = append(tab.cols, rel.TableColumn{Name: cn, Type: ty, Nullable: null == "YES"})
	}
	rows.Close()
	rows, err = db.Query("select table_name, index_name, non_unique, coalesce(column_name,''), coalesce(sub_part,0) from information_schema.statistics where table_schema='bindb' order by table_name, index_name, seq_in_index")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var tn, in, cn string
		var nu, sp int
		rows.Scan(&tn, &in, &nu, &cn, &sp)
		tab := m.relations["bindb."+tn].Table.(*table)
		var x *index
		if n := len(tab.indexes); n > 0 && tab.indexes[n-1].Name() == in {
			x = tab.indexes[n-1].(*index)
		} else {
			x = &index{name: in, unique: nu == 0, primary: in == "PRIMARY"}
			tab.indexes = append(tab.indexes, x)
		}
		for i, c := range tab.cols {
			if c.Name == cn {
				x.parts = append(x.parts, rel.IndexPart{Place: i, Prefix: sp})
			}
		}
	}
	rows.Close()
}
