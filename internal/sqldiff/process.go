package sqldiff

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Server is a server that statements are sent to: one that runs already, or a process of ours, which is started again if it ends.
type Server struct {
	Addr  string
	Limit time.Duration // for one answer
	Log   string        // file with what the process prints; "" if it is not ours
	start func() *exec.Cmd
	cmd   *exec.Cmd
	ended chan struct{}
}

// modeForAll is the sql_mode of both servers: MySQL 8's default.
const modeForAll = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// Running is a server that was started by somebody else.
func Running(addr string, limit time.Duration) *Server { return &Server{Addr: addr, Limit: limit} }

// StartReference makes a data directory below dir and starts mysqld or mariadbd there: the command given, or what the machine has.
func StartReference(command, dir string, limit time.Duration) (*Server, error) {
	for _, name := range []string{"mysqld", "mariadbd"} {
		if command != "" {
			break
		}
		if path, err := exec.LookPath(name); err == nil {
			command = path
		} else if _, err := os.Stat("/usr/sbin/" + name); err == nil {
			command = "/usr/sbin/" + name
		}
	}
	if command == "" {
		return nil, errors.New("there is neither mysqld nor mariadbd: install mariadb-server, or name one with -reference")
	}
	version, err := exec.Command(command, "--version").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", command, err, version)
	}
	free, err := FreePort()
	if err != nil {
		return nil, err
	}
	port := fmt.Sprint(free)
	data := filepath.Join(dir, "reference")
	maria := strings.Contains(string(version), "MariaDB")
	first := exec.Command(command, "--no-defaults", "--initialize-insecure", "--datadir="+data)
	if maria {
		first = exec.Command("mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+data, "--auth-root-authentication-method=normal")
	}
	if out, err := first.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("preparing %s: %w\n%s", data, err, out)
	}
	args := []string{"--no-defaults", "--user=root", "--datadir=" + data, "--socket=" + filepath.Join(data, "s"), "--port=" + port,
		"--bind-address=127.0.0.1",
		"--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", "--performance-schema=OFF", "--sql-mode=" + modeForAll,
		"--character-set-server=utf8mb4", "--default-time-zone=+00:00"}
	if maria {
		args = append(args, "--collation-server=utf8mb4_uca1400_nopad_ai_ci", "--pid-file="+filepath.Join(data, "pid"))
	} else {
		args = append(args, "--collation-server=utf8mb4_0900_ai_ci", "--mysqlx=OFF", "--pid-file="+filepath.Join(data, "pid"))
	}
	s := &Server{Addr: "127.0.0.1:" + port, Limit: limit, Log: filepath.Join(dir, "reference.log"),
		start: func() *exec.Cmd { return exec.Command(command, args...) }}
	return s, s.Restart()
}

// StartNode starts one Longitude node with an empty store below dir.
func StartNode(binary, dir string, limit time.Duration) (*Server, error) {
	nodes, err := StartCluster(binary, dir, 1, limit)
	if err != nil {
		return nil, err
	}
	return nodes[0], nil
}

// StartCluster starts Longitude nodes with empty stores below dir, and returns when every range has its replicas. What has been started is
// returned even if there is an error.
func StartCluster(binary, dir string, nodes int, limit time.Duration) (out []*Server, err error) {
	join := ""
	for i := range nodes {
		var at [3]string
		for j := range at {
			port, err := FreePort()
			if err != nil {
				return out, err
			}
			at[j] = fmt.Sprintf("127.0.0.1:%d", port)
		}
		below := filepath.Join(dir, fmt.Sprintf("node%d", i+1))
		if err := os.MkdirAll(below, 0o700); err != nil {
			return out, err
		}
		args := []string{"start", "--store", filepath.Join(below, "store"), "--sql-addr", at[0], "--rpc-addr", at[1], "--http-addr", at[2],
			"--clock", "sim:eps=1ms"}
		if join != "" {
			args = append(args, "--join", join)
		} else {
			join = at[1]
		}
		s := &Server{Addr: at[0], Limit: limit, Log: filepath.Join(below, "log"), start: func() *exec.Cmd {
			// A statement may ask for more than the machine has: the node is to fail, not the machine.
			cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 8388608; exec "$0" "$@"`, binary}, args...)...)
			cmd.Env = append(os.Environ(), "GOMEMLIMIT=2GiB")
			return cmd
		}}
		out = append(out, s)
		if err := s.Restart(); err != nil {
			return out, err
		}
	}
	return out, replicated(out[0], nodes)
}

// replicated waits until every range has as many replicas as there are nodes, at most three.
func replicated(s *Server, nodes int) error {
	c, err := Dial(s.Addr, "", s.Limit)
	if err != nil {
		return err
	}
	defer c.Close()
	last := ""
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(50 * time.Millisecond) {
		r := c.Query("SELECT MIN(LENGTH(replicas) - LENGTH(REPLACE(replicas, ',', '')) + 1) FROM longitude.ranges")
		if last = show(&Answer{Result: r}); r.Err == nil && r.Lost == nil && len(r.Rows) == 1 && r.Rows[0][0].Text >= fmt.Sprint(min(3, nodes)) {
			return nil
		}
	}
	return fmt.Errorf("some range has not all its replicas after a minute: %s", last)
}

// Restart starts the process, unless it still runs, and waits until it answers.
func (s *Server) Restart() error {
	if s.start == nil {
		return s.wait()
	}
	if s.cmd != nil {
		select {
		case <-s.ended:
		default:
			return s.wait()
		}
	}
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = s.start()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait() // that it ended is what counts
		close(ended)
	}(s.cmd, s.ended)
	return s.wait()
}

// wait returns when the server answers.
func (s *Server) wait() error {
	var last error
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		c, err := Dial(s.Addr, "", 5*time.Second)
		if err == nil {
			res := c.Query("SELECT 1")
			c.Close()
			if res.Lost == nil && res.Err == nil {
				return nil
			}
			err = errors.Join(res.Lost)
		}
		last = err
		if s.ended != nil {
			select {
			case <-s.ended:
				return fmt.Errorf("the server ended at its start: see %s", s.Log)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return fmt.Errorf("%s does not answer: %w", s.Addr, last)
}

// Abandon ends the process, if it is ours, because it still works on what nobody waits for; Restart starts it again.
func (s *Server) Abandon() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill() // its end is what is wanted
		<-s.ended
	}
}

// Stop ends the process, if it is ours.
func (s *Server) Stop() {
	if s == nil || s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // its data are thrown away
	<-s.ended
}

// FreePort finds a port of the loopback address that is not in use.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
