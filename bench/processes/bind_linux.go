package processes

import (
	"os/exec"
	"syscall"
)

// bind has a process end with this one (N3). A Ctrl-C, which a terminal sends to a whole group, is ours alone: the nodes end when the
// benchmark lets them.
func bind(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
