package engine

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
)

// sqlModes are MySQL 8's, each at the place of its bit.
var sqlModes = [64]string{0: "REAL_AS_FLOAT", 1: "PIPES_AS_CONCAT", 2: "ANSI_QUOTES", 3: "IGNORE_SPACE", 5: "ONLY_FULL_GROUP_BY", 6: "NO_UNSIGNED_SUBTRACTION",
	7: "NO_DIR_IN_CREATE", 18: "ANSI", 19: "NO_AUTO_VALUE_ON_ZERO", 20: "NO_BACKSLASH_ESCAPES", 21: "STRICT_TRANS_TABLES", 22: "STRICT_ALL_TABLES",
	23: "NO_ZERO_IN_DATE", 24: "NO_ZERO_DATE", 25: "ALLOW_INVALID_DATES", 26: "ERROR_FOR_DIVISION_BY_ZERO", 27: "TRADITIONAL", 29: "HIGH_NOT_PRECEDENCE",
	30: "NO_ENGINE_SUBSTITUTION", 31: "PAD_CHAR_TO_FULL_LENGTH", 32: "TIME_TRUNCATE_FRACTIONAL"}

// combinedModes are those that stand for several.
var combinedModes = map[string]uint64{
	"ANSI":        1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<18,
	"TRADITIONAL": 1<<21 | 1<<22 | 1<<23 | 1<<24 | 1<<26 | 1<<27 | 1<<30,
}

// formerModes mean nothing any more. MySQL 8 refuses them outside of replication; mariadb-dump and frameworks that know MySQL 5 still set
// them, and they change nothing.
var formerModes = map[string]bool{"NO_KEY_OPTIONS": true, "NO_TABLE_OPTIONS": true, "NO_FIELD_OPTIONS": true, "NO_AUTO_CREATE_USER": true}

const defaultSQLMode = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// modeType is the type of sql_mode. (go-mysql-server's takes no former modes, does not say what ANSI and TRADITIONAL stand for, and orders
// the names by the alphabet: sql/variables/system_variables.go.)
type modeType struct{ sql.SystemVariableType }

// Convert implements sql.Type.
func (t modeType) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	var mask uint64
	wrong := func(what any) (any, sql.ConvertInRange, error) {
		return nil, sql.InRange, mysql.NewSQLError(1231, "42000", "Variable 'sql_mode' can't be set to the value of '%v'", what)
	}
	switch v := v.(type) {
	case string:
		for _, name := range strings.Split(v, ",") {
			name = strings.ToUpper(strings.TrimSpace(name))
			if name == "" || formerModes[name] {
				continue
			}
			bit := modeBit(name)
			if bit == 0 {
				return wrong(name)
			}
			mask |= bit
		}
	case nil:
		return wrong("NULL")
	default:
		n, err := strconv.ParseUint(fmt.Sprint(v), 10, 64)
		if err != nil || n >= 1<<33 {
			return wrong(v)
		}
		mask = n
	}
	var names []string
	for m := mask; m != 0; m &= m - 1 {
		name := sqlModes[bits.TrailingZeros64(m)]
		if name == "" {
			continue // of a former one
		}
		names = append(names, name)
	}
	return strings.Join(names, ","), sql.InRange, nil
}

func modeBit(name string) uint64 {
	if m, ok := combinedModes[name]; ok {
		return m
	}
	for i, n := range sqlModes {
		if n != "" && n == name {
			return 1 << i
		}
	}
	return 0
}

// clientVariables are what clients ask for, and go-mysql-server has not.
func clientVariables() (out []sql.SystemVariable) {
	text := func(name, value string) {
		out = append(out, &sql.MysqlSystemVariable{Name: name, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global), Type: types.NewSystemStringType(name), Default: value})
	}
	flag := func(name string, scope sql.MysqlSVScopeType, on int8) {
		out = append(out, &sql.MysqlSystemVariable{Name: name, Scope: sql.GetMysqlScope(scope), Dynamic: true, Type: types.NewSystemBoolType(name), Default: on})
	}
	for name, value := range map[string]string{"have_ssl": "DISABLED", "have_openssl": "DISABLED", "have_symlink": "DISABLED", "have_query_cache": "NO",
		"have_dynamic_loading": "NO", "innodb_version": MySQLVersion, "innodb_default_row_format": "dynamic", "authentication_policy": "*,,"} {
		text(name, value)
	}
	flag("innodb_file_per_table", sql.SystemVariableScope_Global, 1)
	flag("innodb_read_only", sql.SystemVariableScope_Global, 0)
	flag("innodb_strict_mode", sql.SystemVariableScope_Both, 1)
	flag("log_bin_trust_function_creators", sql.SystemVariableScope_Global, 0)
	flag("sql_generate_invisible_primary_key", sql.SystemVariableScope_Both, 0)
	out = append(out, &sql.MysqlSystemVariable{Name: "innodb_flush_log_at_trx_commit", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global),
		Type: types.NewSystemIntType("innodb_flush_log_at_trx_commit", 0, 2, false), Default: int64(1)})
	return append(out, &sql.MysqlSystemVariable{Name: "sql_mode", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		SetVarHintApplies: true, Type: modeType{types.NewSystemStringType("sql_mode")}, Default: defaultSQLMode})
}
