package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// process is the node under test, with a store of its own that goes with it.
type process struct {
	cmd *exec.Cmd
	dir string
	log bytes.Buffer
}

// startNode starts one node on the loopback and waits until it answers.
func startNode(bin string, port int) (*process, error) {
	dir, err := os.MkdirTemp("", "longitude-clients-")
	if err != nil {
		return nil, err
	}
	at := func(n int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port+n)) }
	n := &process{dir: dir}
	n.cmd = exec.Command(bin, "start", "--store", dir, "--sql-addr", at(0), "--rpc-addr", at(1), "--http-addr", at(2), "--clock", "static:1ms")
	n.cmd.Stdout, n.cmd.Stderr = &n.log, &n.log
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.DialTimeout("tcp", at(0), time.Second)
		if err == nil {
			_ = c.Close()
			return n, nil
		}
		if time.Now().After(end) {
			n.stop()
			return nil, fmt.Errorf("the node does not answer at %s:\n%s", at(0), n.log.String())
		}
	}
}

// stop ends the node and removes its store.
func (n *process) stop() {
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	over := make(chan struct{})
	go func() { _ = n.cmd.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(20 * time.Second):
		_ = n.cmd.Process.Kill()
		<-over
	}
	_ = os.RemoveAll(n.dir)
}

func split(hostPort string) (host, port string) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return hostPort, "3306"
	}
	return host, port
}

// ownGroup makes a command the first of a process group, which killGroup ends as a whole.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
