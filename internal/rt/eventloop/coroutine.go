package eventloop

import (
	"fmt"
	"iter"
	"runtime/debug"
)

// coroutine is what a task runs on. When the task has ended another one gets it: most tasks are short, one for each
// message, and the greater part of their cost would be a stack that grows anew.
type coroutine struct {
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	fn    func() // of the task; nil once that has ended
	task  *task
}

// maxSpare bounds the coroutines kept, each with a stack of some 16 KiB.
const maxSpare = 512

func (l *Loop) coroutine() *coroutine {
	if n := len(l.spare); n > 0 {
		c := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return c
	}
	c := &coroutine{}
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		for c.run() && yield(struct{}{}) {
		}
	})
	return c
}

// retire keeps the coroutine of a task that has ended for another one.
func (l *Loop) retire(c *coroutine) {
	c.task = nil
	if len(l.spare) < maxSpare {
		l.spare = append(l.spare, c)
	} else {
		c.stop()
	}
}

// run runs the task, and reports whether the coroutine can be used again: not if the task was killed.
func (c *coroutine) run() (whole bool) {
	defer func() {
		c.fn = nil
		switch p := recover(); p.(type) {
		case nil, killed:
			whole = p == nil && !c.task.dead
		default:
			// The stack of the task is lost once the panic crosses into the loop.
			panic(fmt.Sprintf("task %s/%s: %v\n%s", c.task.r.name, c.task.name, p, debug.Stack()))
		}
	}()
	c.fn()
	return true
}

// Close ends what the loop holds: coroutines that no task uses. Runtimes are to be killed before.
func (l *Loop) Close() {
	for _, c := range l.spare {
		c.stop()
	}
	l.spare = nil
}
