package eventloop

// Killed reports whether a panic is that of a task whose runtime was killed (E3). Code that recovers from panics of others has to let
// it pass.
func Killed(panicked any) bool {
	_, ok := panicked.(killed)
	return ok
}
