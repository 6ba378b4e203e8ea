package sqldiff

import (
	"fmt"
	"strings"
)

// genDDL makes a statement of the family ddl: a change of a table's definition.
func genDDL(r source, s *Schema) *Stmt {
	t := s.Tables[0]
	if r.IntN(5) < 2 {
		name := pick(r, "t0", "t0", "t9")
		text := pick(r, "INSERT INTO "+name+" (id0) VALUES ("+newID(r).String()+")", "UPDATE "+name+" SET id0 = id0 + 50",
			"DELETE FROM "+name+" WHERE id0 > 1",
			"RENAME TABLE t0 TO t9", "ALTER TABLE t0 RENAME t9")
		verb, _, _ := strings.Cut(text, " (")
		return &Stmt{Root: tmpl(clause, verb, text), Changes: true}
	}
	col := pick(r, t.Cols[1:]...)
	ct := pick(r, columnTypes...)
	typed := ct.sql
	if r.oneIn(3) {
		typed += " NOT NULL"
	}
	if r.oneIn(3) && !ct.noKey {
		typed += " DEFAULT " + pick(r, ct.values...)
	}
	if r.oneIn(8) {
		typed += " COMMENT 'it''s'"
	}
	place := pick(r, "", "", " FIRST", " AFTER "+t.Cols[0].Name)
	fresh := fmt.Sprintf("n%d", r.IntN(4))
	index := fmt.Sprintf("i%d", r.IntN(3))
	key := pick(r, t.Cols...).Name
	if strings.Contains(col.Type.sql, "VARCHAR") && r.oneIn(3) {
		key = col.Name + "(3)"
	}
	text := pick(r,
		"ALTER TABLE "+t.Name+" ADD COLUMN "+fresh+" "+typed+place,
		"ALTER TABLE "+t.Name+" ADD COLUMN "+fresh+" "+typed+place,
		"ALTER TABLE "+t.Name+" DROP COLUMN "+fresh,
		"ALTER TABLE "+t.Name+" DROP COLUMN "+col.Name,
		"ALTER TABLE "+t.Name+" MODIFY "+col.Name+" "+typed+place,
		"ALTER TABLE "+t.Name+" MODIFY "+col.Name+" "+typed,
		"ALTER TABLE "+t.Name+" CHANGE "+col.Name+" "+fresh+" "+typed,
		"ALTER TABLE "+t.Name+" RENAME COLUMN "+col.Name+" TO "+fresh,
		"ALTER TABLE "+t.Name+" ALTER "+col.Name+" SET DEFAULT "+constants(r).literal(col.Type.kind).String(),
		"ALTER TABLE "+t.Name+" ALTER "+col.Name+" DROP DEFAULT",
		"ALTER TABLE "+t.Name+" ADD INDEX "+index+" ("+key+")",
		"ALTER TABLE "+t.Name+" ADD UNIQUE "+pick(r, "", index)+" ("+key+")",
		"CREATE INDEX "+index+" ON "+t.Name+" ("+key+", "+t.Cols[0].Name+")",
		"CREATE UNIQUE INDEX "+index+" ON "+t.Name+" ("+key+" DESC)",
		"DROP INDEX "+index+" ON "+t.Name,
		"ALTER TABLE "+t.Name+" RENAME INDEX "+index+" TO i9",
		"ALTER TABLE "+t.Name+" ADD CONSTRAINT k"+index+" CHECK ("+col.Name+" IS NULL OR "+t.Cols[0].Name+" < "+pick(r, "3", "1000")+")",
		"ALTER TABLE "+t.Name+" DROP CHECK k"+index,
		"ALTER TABLE "+t.Name+" DROP PRIMARY KEY",
		"ALTER TABLE "+t.Name+" ADD PRIMARY KEY ("+key+")",
		"ALTER TABLE "+t.Name+" CONVERT TO CHARACTER SET utf8mb4 COLLATE "+pick(r, "utf8mb4_bin", "utf8mb4_general_ci"),
		"ALTER TABLE "+t.Name+" ADD COLUMN "+fresh+" INT AS ("+t.Cols[0].Name+" * 2) "+pick(r, "STORED", "VIRTUAL"),
		"ALTER TABLE "+t.Name+" COMMENT 'a table'",
		"ALTER TABLE "+t.Name+" ADD COLUMN "+fresh+" INT, ADD INDEX "+index+" ("+t.Cols[0].Name+")",
		"RENAME TABLE "+t.Name+" TO renamed, renamed TO "+t.Name,
		"CREATE TABLE c0 LIKE "+t.Name,
		"CREATE TABLE c1 AS SELECT * FROM "+t.Name,
		"CREATE TABLE c2 (p INT PRIMARY KEY, q "+typed+", CONSTRAINT f FOREIGN KEY (p) REFERENCES "+t.Name+" ("+t.Cols[0].Name+") ON DELETE "+pick(r, "CASCADE", "RESTRICT", "NO ACTION")+")",
		"CREATE VIEW v0 AS SELECT "+t.Cols[0].Name+", "+col.Name+" FROM "+t.Name,
		"DROP TABLE c0, c1", "DROP TABLE IF EXISTS c2", "DROP TABLE missing", "DROP VIEW v0",
		"TRUNCATE TABLE "+t.Name,
	)
	name, _, _ := strings.Cut(text, " "+t.Name)
	words := strings.Fields(text)
	if words[0] == "ALTER" && len(words) > 4 {
		name += " … " + words[3] + " " + strings.Trim(words[4], "0123456789_")
		if strings.HasPrefix(words[4], "c") || strings.HasPrefix(words[4], "n") {
			name = "ALTER TABLE … " + words[3]
		}
	}
	return &Stmt{Root: tmpl(clause, name, text), Changes: true}
}

// describe are the queries that compare definitions.
func describe(t *Table) []string {
	ofTable := " WHERE table_schema = DATABASE() AND table_name = '" + t.Name + "' ORDER BY 1, 2"
	return []string{
		"DESCRIBE " + t.Name,
		"SHOW INDEX FROM " + t.Name,
		"SHOW CREATE TABLE " + t.Name,
		"SELECT column_name, ordinal_position, column_default, is_nullable, data_type, character_maximum_length, numeric_precision, numeric_scale, " +
			"datetime_precision, collation_name, column_type, column_key, extra FROM information_schema.columns" + ofTable,
		"SELECT index_name, seq_in_index, column_name, collation, sub_part, nullable, non_unique, index_type FROM information_schema.statistics" + ofTable + ", 3",
		"SELECT constraint_name, constraint_type FROM information_schema.table_constraints" + ofTable,
	}
}
