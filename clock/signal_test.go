//go:build unix

package clock

import (
	"os/exec"
	"syscall"
	"testing"
)

// pause stops a daemon as SIGSTOP, a debugger or a frozen container does; it still has its sockets.
func pause(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func resume(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
