package eval

import "github.com/longitude-db/longitude/internal/kv"

// Evaluate evaluates a request whose latches are held.
func Evaluate(env *Env, q *kv.Request) Result {
	return Result{Response: kv.Response{Err: kv.Errorf(kv.ErrInternal, "not a request that a range evaluates")}}
}
