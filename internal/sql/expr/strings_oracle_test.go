package expr

import (
	"database/sql"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// stringTemplates are expressions of texts in which MariaDB and MySQL 8 agree; # stands for a value.
var stringTemplates = strings.Split(`CONCAT(#, #, #)|CONCAT_WS(#, #, #, #)|ELT(2, #, #)|FIELD(#, #, #, #)|FIND_IN_SET(#, 'a,b,AB,1,,12')|INSERT(#, 2, 1, #)|INSERT(#, #, #, #)|
INSTR(#, #)|LOCATE(#, #)|LOCATE(#, #, 2)|LEFT(#, 2)|LEFT(#, #)|RIGHT(#, 2)|RIGHT(#, #)|SUBSTRING(#, 2)|SUBSTRING(#, -2)|SUBSTRING(#, #)|SUBSTRING(#, 2, 2)|SUBSTRING(#, #, #)|
SUBSTRING_INDEX(#, 'b', 1)|SUBSTRING_INDEX(#, '1', -1)|SUBSTRING_INDEX(#, #, #)|LPAD(#, 5, #)|RPAD(#, 5, #)|LPAD(#, 2, 'x')|LTRIM(#)|RTRIM(#)|TRIM(#)|TRIM(BOTH 'a' FROM #)|
TRIM(LEADING # FROM #)|TRIM(TRAILING # FROM #)|LOWER(#)|UPPER(#)|LENGTH(#)|CHAR_LENGTH(#)|BIT_LENGTH(#)|ASCII(#)|ORD(#)|HEX(CHAR(#, #))|QUOTE(#)|REPEAT(#, 2)|REPLACE(#, #, #)|
REPLACE(#, 'a', 'xy')|REVERSE(#)|SOUNDEX(#)|STRCMP(#, #)|HEX(#)|BIN(#)|OCT(#)|TO_BASE64(#)|MAKE_SET(#, #, #)|EXPORT_SET(#, #, #, ',', 5)|MD5(#)|SHA1(#)|SHA2(#, 256)|HEX(AES_ENCRYPT(#, #))|
INET_ATON(#)|INET_NTOA(#)|IS_IPV4(#)|IS_IPV6(#)|HEX(INET6_ATON(#))|# LIKE #|# LIKE '%a%'|# LIKE '_b%'|FORMAT(#, 2)|FORMAT(#, 0)|UNCOMPRESS(COMPRESS(#))|UNHEX(#)|HEX(UNHEX(#))|
# SOUNDS LIKE #|CONV(#, 10, 16)|AES_DECRYPT(AES_ENCRYPT(#, #), 'k')|HEX(CONVERT(# USING latin1))|LENGTH(SPACE(#))|CONCAT(# COLLATE utf8mb4_bin, #)|FROM_BASE64(#)`, "|")

var stringValues = strings.Split(`'abc'|'ABC'|'äöü'|''|' a '|'12abc'|'0'|'1.5'|NULL|0|1|-1|2.5|-2.50|12345678901|18446744073709551615|'a,b'|'ß'|'🍣a'|'10.0.5.9'|'::1'|1e3|-0.5|'%'|'x_y'|
'aabbaa'|3|4|255|'414243'|'Robert'|'Rupert'|'b'|'a\0b'`, "|")

// TestStringOracle compares random expressions with a MariaDB server, at the address LONGITUDE_MARIADB (a DSN of go-sql-driver).
// LONGITUDE_ORACLE_SEED and LONGITUDE_ORACLE_ROUNDS choose what is compared.
func TestStringOracle(t *testing.T) {
	dsn := os.Getenv("LONGITUDE_MARIADB")
	if dsn == "" {
		t.Skip("LONGITUDE_MARIADB names no server")
	}
	seed, rounds := uint64(1), 3000
	if n, err := strconv.ParseUint(os.Getenv("LONGITUDE_ORACLE_SEED"), 10, 64); err == nil {
		seed = n
	}
	if n, err := strconv.Atoi(os.Getenv("LONGITUDE_ORACLE_ROUNDS")); err == nil {
		rounds = n
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	// of MariaDB's collations the nearest to utf8mb4_0900_ai_ci that has no padding
	for _, s := range []string{"SET sql_mode = 'STRICT_TRANS_TABLES'", "SET NAMES utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(seed, 11))
	const most = 60
	for differ := 0; rounds > 0 && differ < most; rounds-- {
		text := strings.TrimSpace(stringTemplates[r.IntN(len(stringTemplates))])
		for strings.Contains(text, "#") {
			text = strings.Replace(text, "#", strings.TrimSpace(stringValues[r.IntN(len(stringValues))]), 1)
		}
		var theirs sql.NullString
		if err := db.QueryRow("SELECT " + text).Scan(&theirs); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := "NULL"
		if theirs.Valid {
			want = theirs.String
		}
		got, _, _ := strings.Cut(answer(t, strings.ReplaceAll(text, `\0`, "\x00"), defaultMode, time.UTC), " | ")
		if got != want && !strings.Contains(text, ", '')") { // padding with nothing: '' in MySQL 8, NULL in MariaDB
			differ++
			t.Errorf("seed %d: %s\n   is %q\n MariaDB %q", seed, text, got, want)
		}
	}
}
