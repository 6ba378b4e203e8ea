package engine

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	goerrors "gopkg.in/src-d/go-errors.v1"
)

// codes gives the errors of the engine their codes, where its own table has another one or none.
var codes = []struct {
	kind  *goerrors.Kind
	code  int
	state string
}{
	{sql.ErrForeignKeyChildViolation, 1452, "23000"},
	{sql.ErrForeignKeyParentViolation, 1451, "23000"},
	{sql.ErrCheckConstraintViolated, 3819, "HY000"},
	{sql.ErrInsertIntoNonNullableProvidedNull, 1048, "23000"},
	{sql.ErrInsertIntoNonNullableDefaultNullColumn, 1364, "HY000"},
	{sql.ErrTableNotFound, 1146, "42S02"},
	{sql.ErrTableAlreadyExists, 1050, "42S01"},
	{sql.ErrDatabaseNotFound, 1049, "42000"},
	{sql.ErrDatabaseExists, 1007, "HY000"},
	{sql.ErrNoDatabaseSelected, 1046, "3D000"},
	{sql.ErrColumnNotFound, 1054, "42S22"},
	{sql.ErrUnknownColumn, 1054, "42S22"},
	{sql.ErrTableColumnNotFound, 1054, "42S22"},
	{sql.ErrColumnExists, 1060, "42S21"},
	{sql.ErrAmbiguousColumnName, 1052, "23000"},
	{sql.ErrDuplicateKey, 1061, "42000"},
	{sql.ErrCantDropFieldOrKey, 1091, "42000"},
	{sql.ErrIndexNotFound, 1091, "42000"},
	{sql.ErrSyntaxError, 1064, "42000"},
	{sql.ErrUnresolvedTableLock, 3568, "HY000"},
	{sql.ErrSavepointDoesNotExist, 1305, "42000"},
	{sql.ErrReadOnlyTransaction, 1792, "25006"},
	{sql.ErrUnknownSystemVariable, 1193, "HY000"},
	{sql.ErrFunctionNotFound, 1305, "42000"},
	{sql.ErrStoredProcedureDoesNotExist, 1305, "42000"},
	{sql.ErrExpectedSingleRow, 1242, "21000"},
	{sql.ErrValueOutOfRange, 1264, "22003"},
	{types.ErrLengthBeyondLimit, 1406, "22001"},
	{types.ErrDataTruncatedForColumn, 1265, "01000"},
	{types.ErrDataTruncatedForColumnAtRow, 1265, "01000"},
	{sql.ErrInvalidValue, 1366, "HY000"},
	{sql.ErrForeignKeyDropTable, 3730, "HY000"},
	{sql.ErrInsertIntoMismatchValueCount, 1136, "21S01"},
	{sql.ErrForeignKeyDuplicateName, 1826, "HY000"},
	{sql.ErrForeignKeyNotFound, 1091, "42000"},
	{sql.ErrUnknownConstraint, 3940, "HY000"},
	{sql.ErrDuplicateCheckName, 3822, "HY000"},
	{sql.ErrUnsupportedSyntax, 1235, "42000"},
	{sql.ErrUnsupportedFeature, 1235, "42000"},
	{sql.ErrViewDoesNotExist, 1146, "42S02"},
	{sql.ErrExistingView, 1050, "42S01"},
	{sql.ErrTriggerDoesNotExist, 1360, "HY000"},
	{plan.ErrUpdateNotSupported, 1288, "HY000"},
	{plan.ErrDeleteFromNotSupported, 1288, "HY000"},
	{sql.ErrTriggerCreateStatementInvalid, 1064, "42000"},
	{sql.ErrAmbiguousColumnOrAliasName, 1052, "23000"},
	{sql.ErrAmbiguousColumnInOrderBy, 1052, "23000"},
	{sql.ErrUnknownTable, 1109, "42S02"},
	{sql.ErrDuplicateAliasOrTable, 1066, "42000"},
	{sql.ErrDuplicateColumn, 1060, "42S21"},
	{sql.ErrInvalidColumnDefaultValue, 1067, "42000"},
	{sql.ErrColumnDefaultDatetimeOnlyFunc, 1067, "42000"},
	{sql.ErrIncompatibleDefaultType, 1067, "42000"},
	{sql.ErrInvalidOnUpdate, 1294, "HY000"},
	{sql.ErrGeneratedColumnValue, 3105, "HY000"},
	{sql.ErrGeneratedColumnWithDefault, 1221, "HY000"},
	{sql.ErrVirtualColumnPrimaryKey, 3106, "HY000"},
	{sql.ErrJSONIndex, 3152, "42000"},
	{sql.ErrInvalidJson, 3140, "22032"},
	{sql.ErrMultiplePrimaryKeysDefined, 1068, "42000"},
	{sql.ErrWrongAutoKey, 1075, "42000"},
	{sql.ErrInvalidAutoIncCols, 1075, "42000"},
	{sql.ErrInvalidColumnSpecifier, 1063, "42000"},
	{sql.ErrTooManyKeyParts, 1070, "42000"},
	{sql.ErrInvalidIndexName, 1280, "42000"},
	{sql.ErrUnknownIndexColumn, 1072, "42000"},
	{sql.ErrKeyColumnDoesNotExist, 1072, "42000"},
	{sql.ErrIdentifierIsTooLong, 1059, "42000"},
	{sql.ErrInvalidDatabaseName, 1102, "42000"},
	{sql.ErrDropColumnReferencedInDefault, 3837, "HY000"},
	{sql.ErrCheckConstraintInvalidatedByColumnAlter, 3959, "HY000"},
	{sql.ErrInvalidConstraintFunctionNotSupported, 3814, "HY000"},
	{sql.ErrInvalidConstraintSubqueryNotSupported, 3815, "HY000"},
	{sql.ErrForeignKeyDropIndex, 1553, "HY000"},
	{sql.ErrCantDropIndex, 1553, "HY000"},
	{sql.ErrForeignKeyDropColumn, 1828, "HY000"},
	{sql.ErrForeignKeyMissingReferenceIndex, 1822, "HY000"},
	{sql.ErrForeignKeyColumnTypeMismatch, 3780, "HY000"},
	{sql.ErrForeignKeyColumnCountMismatch, 1239, "42000"},
	{sql.ErrForeignKeySetNullNonNullable, 1830, "HY000"},
	{sql.ErrForeignKeyTypeChange, 1832, "HY000"},
	{sql.ErrForeignKeyTypeChangeSetNull, 1832, "HY000"},
	{sql.ErrForeignKeyTextBlob, 1170, "42000"},
	{sql.ErrForeignKeyNotResolved, 1452, "23000"},
	{sql.ErrStoredGeneratedColumnForeignKeyConflict, 1215, "HY000"},
	{sql.ErrTruncateReferencedFromForeignKey, 1701, "42000"},
	{sql.ErrInvalidArgumentNumber, 1582, "42000"},
	{sql.ErrCallIncorrectParameterCount, 1318, "42000"},
	{sql.ErrStoredProcedureAlreadyExists, 1304, "42000"},
	{sql.ErrProcedureRecursiveCall, 1456, "HY000"},
	{sql.ErrCursorNotFound, 1324, "42000"},
	{sql.ErrCursorAlreadyOpen, 1325, "24000"},
	{sql.ErrCursorNotOpen, 1326, "24000"},
	{sql.ErrFetchIncorrectCount, 1328, "HY000"},
	{sql.ErrUndeclaredVariable, 1327, "42000"},
	{sql.ErrMoreThanOneRow, 1172, "42000"},
	{sql.ErrUnknownPreparedStatement, 1243, "HY000"},
	{sql.ErrUnsupportedPreparedStatement, 1295, "HY000"},
	{sql.ErrSystemVariableReadOnly, 1238, "HY000"},
	{sql.ErrSystemVariableGlobalOnly, 1229, "HY000"},
	{sql.ErrSystemVariableSessionOnly, 1228, "HY000"},
	{sql.ErrInvalidSystemVariableValue, 1231, "42000"},
	{sql.ErrInvalidTimeZone, 1298, "HY000"},
	{sql.ErrColumnNumberDoesNotMatch, 1222, "21000"},
	{sql.ErrInvalidOperandColumns, 1241, "21000"},
	{sql.ErrColumnCountMismatch, 1353, "HY000"},
	{sql.ErrColValCountMismatch, 1136, "21S01"},
	{sql.ErrRecursiveCTEMissingUnion, 3573, "HY000"},
	{sql.ErrCteRecursionLimitExceeded, 3636, "HY000"},
	{sql.ErrUnknownWindowName, 3579, "HY000"},
	{sql.ErrCollationUnknown, 1273, "HY000"},
	{sql.ErrCharSetUnknown, 1115, "42000"},
	{sql.ErrCollationInvalidForCharSet, 1253, "42000"},
	{sql.ErrCollationIllegalMix, 1267, "HY000"},
	{sql.ErrTriggerCannotBeDropped, 1360, "HY000"},
	{sql.ErrInvalidUseOfOldNew, 1363, "HY000"},
	{sql.ErrInvalidUpdateOfOldRow, 1362, "HY000"},
	{sql.ErrInvalidUpdateInAfterTrigger, 1362, "HY000"},
	{sql.ErrTriggerTableInUse, 1442, "HY000"},
	{sql.ErrExpectedTableFoundView, 1347, "HY000"},
	{sql.ErrSecureFilePriv, 1290, "HY000"},
	{sql.ErrFileExists, 1086, "HY000"},
	{sql.ErrUnexpectedSeparator, 1083, "42000"},
	{sql.ErrNoTablesUsed, 1096, "HY000"},
	{plan.ErrIndexNotFound, 1091, "42000"},
	{plan.ErrUpdateForTableNotSupported, 1288, "HY000"},
	{planbuilder.ErrPrimaryKeyOnNullField, 1171, "42000"},
	{planbuilder.ErrQualifiedOrderBy, 1250, "42000"},
	{planbuilder.ErrSelectsDifferentLength, 1222, "21000"},
	{analyzer.ErrOrderByColumnIndex, 1054, "42S22"},
	{analyzererrors.ErrValidationGroupBy, 1055, "42000"},
	{analyzererrors.ErrValidationGroupByOrderBy, 1055, "42000"},
	{analyzererrors.ErrReadOnlyDatabase, 1044, "42000"},
	{types.ErrConvertToDecimalLimit, 1264, "22003"},
	{types.ErrConvertingToDecimal, 1366, "HY000"},
	{types.ErrConvertingToTime, 1292, "22007"},
	{types.ErrConvertingToTimeOutOfRange, 1292, "22007"},
	{types.ErrConvertingToTimeType, 1292, "22007"},
	{types.ErrConvertingToYear, 1264, "22003"},
	{types.ErrConvertingToEnum, 1265, "01000"},
	{sql.ErrConvertingToSet, 1265, "01000"},
	{sql.ErrInvalidSetValue, 1265, "01000"},
	{sql.ErrTooLargeForSet, 1265, "01000"},
	{sql.ErrTruncatedIncorrect, 1292, "22007"},
	{types.ErrBadCharsetString, 1366, "HY000"},
	{types.ErrLengthTooLarge, 1074, "42000"},
	{types.ErrCharacterSetOnInvalidType, 1064, "42000"},
	{function.ErrTooHighPrecision, 1426, "42000"},
	{expression.ErrIntDivDataOutOfRange, 1690, "22003"},
	{expression.ErrInvalidRegexp, 3692, "HY000"},
}

// errorTexts gives errors that go-mysql-server makes without a kind, of the functions of JSON and of regular expressions, MySQL's codes.
var errorTexts = []struct {
	is    string // what the text begins with, whatever the case of the first letter
	code  int
	state string
	text  string // MySQL's, if it is another
}{
	{"invalid data type for JSON data in argument", 3146, "22032", ""},
	{"invalid JSON path expression", 3143, "42000", ""},
	{"the oneOrAll argument to", 3154, "42000", ""},
	{"index out of bounds for regular expression search", 3686, "HY000", "Index out of bounds in regular expression search."},
	{"invalid argument to regexp", 1210, "HY000", "Incorrect arguments to regexp_like"},
	{"the given regular expression is invalid", 3692, "HY000", ""},
}

// nameByText gives an error its code by its text.
func nameByText(e *mysql.SQLError) {
	for _, t := range errorTexts {
		at := strings.Index(strings.ToLower(e.Message), strings.ToLower(t.is))
		if at < 0 || at > 0 && t.code != 3143 { // the path is named first
			continue
		}
		e.Num, e.State = t.code, t.state
		if e.Message = strings.ToUpper(e.Message[:1]) + e.Message[1:]; t.text != "" {
			e.Message = t.text
		}
		return
	}
}

// states completes codes that the engine knows without a SQLSTATE.
var states = map[int]string{1022: "23000", 1040: "08004", 1044: "42000", 1045: "28000", 1046: "3D000", 1048: "23000", 1049: "42000",
	1050: "42S01", 1051: "42S02", 1052: "23000", 1054: "42S22", 1060: "42S21", 1061: "42000", 1062: "23000", 1064: "42000", 1065: "42000",
	1068: "42000", 1072: "42000", 1075: "42000", 1091: "42000", 1101: "42000", 1110: "42000", 1136: "21S01", 1140: "42000", 1142: "42000",
	1146: "42S02", 1148: "42000", 1149: "42000", 1170: "42000", 1193: "HY000", 1205: "HY000", 1213: "40001", 1222: "21000", 1231: "42000",
	1235: "42000", 1241: "21000", 1242: "21000", 1264: "22003", 1292: "22007", 1304: "42000", 1305: "42000", 1317: "70100", 1365: "22012",
	1366: "HY000", 1406: "22001", 1451: "23000", 1452: "23000", 1690: "22003", 1792: "25006", 3141: "22032"}

// inContext gives an error the code that MySQL has for it in such a statement: what is not there was to be dropped, what cannot be found is a variable.
func inContext(stmt sqlparser.Statement, err *mysql.SQLError) *mysql.SQLError {
	drops := func(s sqlparser.Statement) bool {
		d, ok := s.(*sqlparser.DDL)
		return ok && (d.ColumnAction == sqlparser.DropStr && err.Num == 1054 || d.ColumnAction == "" && d.Action == sqlparser.DropStr && err.Num == 1146 && d.TriggerSpec == nil)
	}
	switch s := stmt.(type) {
	case *sqlparser.DDL:
		if s.Action == sqlparser.CreateStr && s.TableSpec != nil && s.OptSelect == nil && err.Num == 1146 { // what a foreign key refers to
			name := quoted(err.Message, "'", "'")
			return mysql.NewSQLError(1824, "HY000", "Failed to open the referenced table '%s'", name[strings.IndexByte(name, '.')+1:])
		}
		if drops(s) {
			return mysql.NewSQLError(1051, "42S02", "Unknown table '%s'", quoted(err.Message, "'", "'"))
		}
	case *sqlparser.Set:
		if err.Num == 1054 {
			return mysql.NewSQLError(1193, "HY000", "Unknown system variable: %s", err.Message)
		}
	case *sqlparser.AlterTable:
		for _, one := range s.Statements {
			if one.ColumnAction == sqlparser.AddStr && err.Num == 1052 {
				return mysql.NewSQLError(1060, "42S21", "Duplicate column name: %s", err.Message)
			}
			if drops(one) && strings.EqualFold(quoted(err.Message, "column \"", "\""), one.Column.String()) {
				return mysql.NewSQLError(1091, "42000", "Can't DROP '%s'; check that column/key exists", one.Column.String())
			}
			if err.Num == 1048 { // a column is made NOT NULL
				return mysql.NewSQLError(1138, "22004", "Invalid use of NULL value")
			}
		}
	case *sqlparser.DBDDL:
		if s.Action == sqlparser.DropStr && err.Num == 1049 {
			return mysql.NewSQLError(1008, "HY000", "Can't drop database '%s'; database doesn't exist", quoted(err.Message, "'", "'"))
		}
	}
	return err
}
