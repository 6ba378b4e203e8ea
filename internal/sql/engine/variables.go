package engine

import (
	"context"
	"io"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/sirupsen/logrus"

	"github.com/longitude-db/longitude/internal/txn"
)

// orderingVariable chooses the ordering of the session's next transactions.
const orderingVariable = "longitude_ordering"

// orderingType accepts the names of the orderings and says what it accepts otherwise.
type orderingType struct{ sql.SystemVariableType }

// Convert implements sql.Type.
func (t orderingType) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	s, ok := v.(string)
	if !ok {
		return nil, sql.Overflow, errOrdering(v)
	}
	s = strings.ToLower(s)
	if s == "" { // the node's own default
		return s, sql.InRange, nil
	}
	if _, err := txn.ParseOrdering(s); err != nil {
		return nil, sql.InRange, errOrdering(v)
	}
	return s, sql.InRange, nil
}

func addVariables() {
	if sql.SystemVariables == nil {
		return
	}
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: orderingVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: orderingType{types.NewSystemStringType(orderingVariable)}, Default: "",
	}, &sql.MysqlSystemVariable{ // go-mysql-server knows it with the one value 1
		Name: lockWaitVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemIntType(lockWaitVariable, 1, 1<<30, false), Default: int64(50),
	}, &sql.MysqlSystemVariable{
		Name: compiledVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemBoolType(compiledVariable), Default: int8(1),
	}, &sql.MysqlSystemVariable{
		Name: ownPlannerVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemBoolType(ownPlannerVariable), Default: int8(1),
	}, &sql.MysqlSystemVariable{
		Name: inPlaceVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemBoolType(inPlaceVariable), Default: int8(1),
	}})
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: scanLocksVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemIntType(scanLocksVariable, 0, 1<<14, false), Default: int64(defaultScanLocks),
	}})
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: idsVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemEnumType(idsVariable, idsDense, idsSpread), Default: idsDense,
	}, &sql.MysqlSystemVariable{
		Name: queryMemoryVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemIntType(queryMemoryVariable, 0, 1<<40, false), Default: int64(defaultQueryMemory),
	}, &sql.MysqlSystemVariable{
		Name: idleTxVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemIntType(idleTxVariable, 0, 31536000, false), Default: int64(0),
	}, &sql.MysqlSystemVariable{ // of go-mysql-server signed
		Name: "sql_select_limit", Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemUintType("sql_select_limit", 0, math.MaxUint64), Default: uint64(math.MaxUint64),
	}, &sql.MysqlSystemVariable{ // go-mysql-server's default is another
		Name: packetVariable, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemIntType(packetVariable, 1024, 1<<30, false), Default: int64(maxPacket),
	}})
	// A merge join compares its sorted inputs by tuples of which one column may be NULL, and then loses rows (rowexec/merge_join.go).
	sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{&sql.MysqlSystemVariable{
		Name: sql.DisableMergeJoin, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
		Type: types.NewSystemBoolType(sql.DisableMergeJoin), Default: int8(1),
	}})
	sql.SystemVariables.AddSystemVariables(pastVariables())
	sql.SystemVariables.AddSystemVariables(isolationVariables())
	sql.SystemVariables.AddSystemVariables(clientVariables())
	_ = sql.SystemVariables.AssignValues(map[string]any{"version": MySQLVersion + "-longitude", "version_comment": "Longitude"})
}

// initVariables sets what differs from go-mysql-server's defaults.
func (s *Session) initVariables() error {
	ctx := s.e.context(context.Background(), s)
	name := s.e.o.DefaultOrdering.String()
	if _, v, ok := sql.SystemVariables.GetGlobal(orderingVariable); ok {
		if g, ok := v.(string); ok && g != "" {
			name = g
		}
	}
	if s.interactive() { // wait_timeout of such a session begins as the other one
		if _, v, ok := sql.SystemVariables.GetGlobal(interactiveVariable); ok {
			if err := s.SetSessionVariable(ctx, waitVariable, v); err != nil {
				return err
			}
		}
	}
	for v, value := range map[string]any{orderingVariable: name, "collation_connection": defaultCollation.Name(),
		"collation_server": defaultCollation.Name()} {
		if err := s.SetSessionVariable(ctx, v, value); err != nil {
			return err
		}
	}
	return nil
}

// interactive reports whether the client calls itself so.
func (s *Session) interactive() bool { return s.Client().Capabilities&capabilityInteractive != 0 }

// quietLogs keeps go-mysql-server from logging by itself: errors go to clients, and what is ours to know to our own log.
func quietLogs() {
	logrus.SetOutput(io.Discard)
	analyzer.SetOutput(io.Discard)
}
