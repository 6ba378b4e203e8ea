#!/usr/bin/env bash
# MariaDB's command line tools, which Debian has: the client, dumps out and in again, imports, LOAD DATA.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
at=(-h "$LONGITUDE_HOST" -P "$LONGITUDE_PORT" -u root)
sql() { mariadb "${at[@]}" --default-character-set=utf8mb4 -N -B "$@"; }

# check NAME COMMAND...: the command succeeds.
check() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then echo "ok mariadb/$name"; else echo "not ok mariadb/$name: $(tr '\n' ' ' <<<"$out" | tail -c 400)"; fi
}

# equal GOT WANT
equal() { [ "$1" = "$2" ] || { printf 'got %s want %s' "$1" "$2"; return 1; }; }

sql -e "DROP DATABASE IF EXISTS tools; DROP DATABASE IF EXISTS tools2; CREATE DATABASE tools; CREATE DATABASE tools2"

schema() { sql tools <"$here/schema.sql"; }
check schema schema

status() { mariadb "${at[@]}" -e 'status' | grep -q 'Uptime:'; }
check status status

# default: mariadb-dump without options, into a database and out again: the second dump is equal to the first, byte by byte.
dump() { dump_of tools "$@"; }
dump_of() {
    local db=$1
    shift
    mariadb-dump "${at[@]}" "$@" "$db" >"$work/first.sql" || return 1
    sql -e "DROP DATABASE IF EXISTS ${db}2; CREATE DATABASE ${db}2" || return 1
    sql "${db}2" --comments <"$work/first.sql" || return 1
    mariadb-dump "${at[@]}" "$@" "${db}2" | sed "s/\`${db}2\`/\`$db\`/g; s/Database: ${db}2/Database: $db/; s/for database '${db}2'/for database '$db'/" >"$work/second.sql" || return 1
    diff <(grep -av '^-- Dump completed' "$work/first.sql") <(grep -av '^-- Dump completed' "$work/second.sql")
}
check dump-default dump
check dump-programs dump --routines --triggers --events
check dump-single-transaction dump --single-transaction --quick --hex-blob
check dump-complete-insert dump --complete-insert --skip-extended-insert
check dump-skip-opt dump --skip-opt
all() { mariadb-dump "${at[@]}" --all-databases >"$work/all.sql" && grep -q 'CREATE TABLE `child`' "$work/all.sql"; }
check dump-all-databases all
rows() { equal "$(sql tools2 -e 'CHECKSUM TABLE parent, child' | sed 's/tools2/tools/')" "$(sql tools -e 'CHECKSUM TABLE parent, child')"; }
check dump-rows rows

# everything: a schema with every feature. mariadb-dump writes values of generated columns, too, which MySQL and this server refuse (3105): the
# table that has some gets its rows behind the dump.
everything() {
    sql -e "DROP DATABASE IF EXISTS every; CREATE DATABASE every" || return 1
    mariadb "${at[@]}" --default-character-set=utf8mb4 --comments every <"$here/everything.sql"
}
check everything everything
check everything-dump dump_of every --routines --triggers --events
everything_rows() {
    local t n
    for db in every every2; do
        sql "$db" -e "INSERT INTO calculated (id, a, n, j) VALUES (1, 'Abc', 5, '{\"k\": \"v\"}'), (2, 'abc', 6, NULL), (3, NULL, -50, '{}'), (4, 'ß', 20, '{\"k\": null}')" || return 1
        equal "$(sql "$db" -e "INSERT INTO calculated (id, a, n) VALUES (9, 'ABC', 5)" 2>&1 | grep -o 'ERROR [0-9]*')" 'ERROR 1062' || return 1
        equal "$(sql "$db" -e "INSERT INTO calculated (id, a, n) VALUES (9, 'bad', 5)" 2>&1 | grep -o 'ERROR [0-9]*')" 'ERROR 3819' || return 1
        equal "$(sql "$db" -e "INSERT INTO parents VALUES (7, 'x'); CALL add_parent(8, @n); SELECT @n, what FROM log ORDER BY id DESC LIMIT 1")" $'4\tnew; made\'' || return 1
        equal "$(sql "$db" -e "UPDATE parents SET id = 20 WHERE id = 2" 2>&1 | grep -o 'ERROR [0-9]*')" 'ERROR 1451' || return 1
        equal "$(sql "$db" -e "SELECT twice('é'), COUNT(*) FROM texts")" $'é;é\t4' || return 1
        equal "$(sql "$db" -e "SELECT * FROM declared ORDER BY id" | tr '\t\n' '|;')" '00002.000|2.5|123.4567;00001.500|NULL|1.5000;00001.500|NULL|1.5000;' || return 1
        equal "$(sql "$db" -e "SELECT id, h FROM declared ORDER BY id DESC LIMIT 1")" $'00077\té' || return 1
        equal "$(sql "$db" -e "SELECT x, y FROM a_first ORDER BY x" | tr '\t\n' '|;')" $'1|one;2|two;4|NULL;' || return 1
    done
    n=0
    for t in numbers times texts calculated keyless parents children declared 'od``d "name" '"'"'ü' log; do
        equal "$(sql every2 -e "CHECKSUM TABLE \`$t\`" | cut -f2)" "$(sql every -e "CHECKSUM TABLE \`$t\`" | cut -f2)" || return 1
        diff <(sql every2 -e "SELECT * FROM \`$t\`" | sort) <(sql every -e "SELECT * FROM \`$t\`" | sort) || return 1
        equal "$(sql every2 -e "CHECK TABLE \`$t\`" | cut -f4)" OK || return 1
        n=$((n + $(sql every2 -e "SELECT COUNT(*) FROM \`$t\`")))
    done
    equal "$n" 31
}
check everything-rows everything_rows
refused() {
    equal "$(sql every -e "CREATE FULLTEXT INDEX f ON texts (v)" 2>&1 | grep -c ERROR)" 1 || return 1
    equal "$(sql every -e "CREATE TABLE g (p POINT NOT NULL, SPATIAL INDEX (p))" 2>&1 | grep -c ERROR)" 1
}
check everything-refused refused

sql -e "SET GLOBAL local_infile = 1"
sql tools -e "CREATE TABLE csv (id INT PRIMARY KEY, s VARCHAR(100), n INT NULL); CREATE TABLE tsv LIKE csv"
printf 'id,s,n\n1,"say ""hi"", you",5\n2,"two\nlines",\n3,plain,\\N\n4,"",7\n5,NULL,9\n' >"$work/csv.csv"
printf '1\ta\\tb\t5\n2\t\\N\t\\N\n3\tback\\\\slash\t0\n' >"$work/tsv.txt"
load_csv() {
    mariadb "${at[@]}" --local-infile=1 tools -e "LOAD DATA LOCAL INFILE '$work/csv.csv' INTO TABLE csv CHARACTER SET utf8mb4
        FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\n' IGNORE 1 LINES (id, s, @n) SET n = NULLIF(@n, '')" || return 1
    equal "$(sql tools -e "SELECT id, COALESCE(s, 'none'), COALESCE(n, 'none') FROM csv ORDER BY id" | tr '\t\n' '|;')" \
        '1|say "hi", you|5;2|two\nlines|none;3|plain|none;4||7;5|none|9;'
}
check load-data-csv load_csv
import() {
    mariadb-import "${at[@]}" --local tools "$work/tsv.txt" >/dev/null || return 1
    equal "$(sql tools -e "SELECT id, COALESCE(s, 'none'), COALESCE(n, 'none') FROM tsv ORDER BY id" | tr '\n' ';')" $'1\ta\\tb\t5;2\tnone\tnone;3\tback\\\\slash\t0;'
}
check import import
import_csv() {
    sql tools -e "TRUNCATE csv" || return 1
    mariadb-import "${at[@]}" --local --ignore-lines=1 --fields-terminated-by=, --fields-optionally-enclosed-by='"' tools "$work/csv.csv" >/dev/null || return 1
    equal "$(sql tools -e "SELECT COUNT(*), SUM(id) FROM csv")" $'5\t15'
}
check import-csv import_csv

# admin NAME STATEMENT: statements of administration are answered.
admin() { check "admin-$1" sql tools -e "$2"; }
admin check "CHECK TABLE parent, child"
admin optimize "OPTIMIZE TABLE parent"
admin analyze "ANALYZE TABLE parent"
admin repair "REPAIR TABLE parent"
admin flush "FLUSH PRIVILEGES; FLUSH TABLES; FLUSH LOCAL TABLES; FLUSH STATUS; FLUSH LOGS"
admin do "DO 1, SLEEP(0)"
admin open-tables "SHOW OPEN TABLES"
admin describe "DESC parent name; DESCRIBE parent; SHOW FULL COLUMNS FROM parent; SHOW INDEX FROM parent"
admin status "SHOW TABLE STATUS; SHOW ENGINE INNODB STATUS; SHOW STATUS LIKE 'Threads%'"
admin programs "SHOW TRIGGERS; SHOW PROCEDURE STATUS; SHOW FUNCTION STATUS; SHOW EVENTS"
admin variables "SELECT @@have_ssl, @@innodb_version, @@sql_mode; SET SQL_MODE = 'NO_KEY_OPTIONS,NO_TABLE_OPTIONS,NO_FIELD_OPTIONS'"
admin alter-unique "CREATE TABLE au (id INT PRIMARY KEY, email VARCHAR(50) UNIQUE); ALTER TABLE au CHANGE email email VARCHAR(60) NOT NULL UNIQUE; SHOW INDEX FROM au"
exit 0
