package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// lockFunction is GET_LOCK and its like as an expression.
type lockFunction struct {
	expression.NaryExpression
	name string
}

// lockFunctions are the numbers of their arguments.
var lockFunctions = map[string]int{"get_lock": 2, "release_lock": 1, "is_free_lock": 1, "is_used_lock": 1, "release_all_locks": 0}

func lockFunctionOf(name string) (sql.Function, bool) {
	n, ok := lockFunctions[name]
	if !ok {
		return nil, false
	}
	return sql.FunctionN{Name: name, Fn: func(_ *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		if len(args) != n {
			return nil, sql.ErrInvalidArgumentNumber.New(name, n, len(args))
		}
		return &lockFunction{NaryExpression: expression.NaryExpression{ChildExpressions: args}, name: name}, nil
	}}, true
}

// Type implements sql.Expression.
func (l *lockFunction) Type(*sql.Context) sql.Type {
	if l.name == "is_used_lock" || l.name == "release_all_locks" {
		return types.Uint64
	}
	return types.Int64
}

// IsNullable implements sql.Expression.
func (l *lockFunction) IsNullable(*sql.Context) bool { return l.name != "release_all_locks" }

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (l *lockFunction) IsNonDeterministic() bool { return true }

// String implements sql.Expression.
func (l *lockFunction) String() string {
	var args []string
	for _, a := range l.ChildExpressions {
		args = append(args, a.String())
	}
	return fmt.Sprintf("%s(%s)", l.name, strings.Join(args, ","))
}

// WithChildren implements sql.Expression.
func (l *lockFunction) WithChildren(_ *sql.Context, cs ...sql.Expression) (sql.Expression, error) {
	if len(cs) != len(l.ChildExpressions) {
		return nil, sql.ErrInvalidChildrenNumber.New(l, len(cs), len(l.ChildExpressions))
	}
	return &lockFunction{NaryExpression: expression.NaryExpression{ChildExpressions: cs}, name: l.name}, nil
}

// Eval implements sql.Expression.
func (l *lockFunction) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	if l.name == "release_all_locks" {
		n, err := s.releaseAllLocks(ctx)
		return uint64(n), err
	}
	v, err := l.ChildExpressions[0].Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	name, err := lockName(v)
	if err != nil {
		return nil, err
	}
	switch l.name {
	case "get_lock":
		timeout, err := l.timeout(ctx, row)
		if err != nil {
			return nil, err
		}
		got, err := s.getLock(ctx, name, timeout)
		if err != nil {
			return nil, err
		}
		if got {
			return int64(1), nil
		}
		return int64(0), nil
	case "release_lock":
		return s.releaseLock(ctx, name)
	}
	r, err := s.lockHolder(ctx, namedKey(name))
	if err != nil {
		return nil, err
	}
	switch {
	case l.name == "is_used_lock" && r == nil:
		return nil, nil
	case l.name == "is_used_lock":
		return uint64(r.Connection), nil
	case r == nil:
		return int64(1), nil
	}
	return int64(0), nil
}

// timeout is GET_LOCK's second argument, in seconds. NULL is 0, as in MySQL; what is negative or very long is without end.
func (l *lockFunction) timeout(ctx *sql.Context, row sql.Row) (time.Duration, error) {
	v, err := l.ChildExpressions[1].Eval(ctx, row)
	if v == nil || err != nil {
		return 0, err
	}
	f, _, err := types.Float64.Convert(ctx, v)
	if err != nil {
		return 0, err
	}
	if s := f.(float64); s >= 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second)), nil
	}
	return -1, nil
}
