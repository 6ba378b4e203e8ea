// Package shell is the interactive SQL shell: it reads statements, sends them over one connection, and prints what comes
// back, as tables for people and as tab-separated lines for programs.
//
//	H1  A statement is sent when its semicolon is there, never before.
//	H2  A statement is sent once. If the connection breaks the shell says so; it does not send it again, because nobody
//	    can know whether it was carried out.
package shell

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/peterh/liner"

	"github.com/longitude-db/longitude/internal/client"
)

// Shell runs statements and prints their results.
type Shell struct {
	DB    *sql.DB
	Addr  string // of the node, for people
	Out   io.Writer
	Err   io.Writer
	Table bool // print tables and times, not tab-separated lines

	conn     *sql.Conn
	database string // that a USE chose; a new connection gets it again
}

// Run carries out the statements of a text, the last of which needs no semicolon, and stops at the first that fails.
func (s *Shell) Run(ctx context.Context, text string) error {
	statements, rest := split(text)
	if rest = strings.TrimSpace(rest); rest != "" {
		statements = append(statements, rest)
	}
	for _, q := range statements {
		if err := s.statement(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// Read carries out the statements of a stream as they become complete.
func (s *Shell) Read(ctx context.Context, in io.Reader) error {
	lines, pending := bufio.NewReader(in), ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil && err != io.EOF {
			return err
		}
		statements, rest := split(pending + line)
		pending = rest
		for _, q := range statements {
			if err := s.statement(ctx, q); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return s.Run(ctx, pending)
		}
	}
}

// Interact talks to a person at a terminal until they leave.
func (s *Shell) Interact(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return Explain(err, s.Addr)
	}
	fmt.Fprintf(s.Out, "Connected to %s. Statements end with a semicolon; \\q or Ctrl-D leaves, help tells more.\n", s.Addr)
	line := liner.NewLiner()
	defer line.Close()
	line.SetCtrlCAborts(true)
	history := historyFile()
	if f, err := os.Open(history); err == nil {
		_, _ = line.ReadHistory(f) // an unreadable history is no reason not to start
		f.Close()
	}
	defer saveHistory(line, history)
	pending := ""
	for {
		prompt := "longitude> "
		if pending != "" {
			prompt = "        -> "
		}
		in, err := line.Prompt(prompt)
		switch {
		case errors.Is(err, liner.ErrPromptAborted):
			pending = ""
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(s.Out)
			return nil
		case err != nil:
			return err
		}
		if pending == "" {
			switch strings.TrimRight(strings.TrimSpace(strings.ToLower(in)), "; ") {
			case "":
				continue
			case `\q`, "quit", "exit":
				return nil
			case "help", `\h`, `\?`, "?":
				fmt.Fprint(s.Out, help)
				continue
			}
		}
		statements, rest := split(pending + in + "\n")
		if strings.TrimSpace(rest) == "" {
			rest = ""
		}
		if whole := strings.TrimSpace(pending + in); len(statements) > 0 && rest == "" {
			line.AppendHistory(strings.ReplaceAll(whole, "\n", " "))
		}
		pending = rest
		for _, q := range statements {
			if err := s.interruptible(ctx, q); err != nil {
				fmt.Fprintln(s.Err, Explain(err, s.Addr))
				break
			}
		}
	}
}

const help = `Statements end with a semicolon and may span lines.
  SHOW TABLES;  SHOW CREATE TABLE t;      what is there
  SELECT * FROM longitude.clock;          what each node knows about time
  SELECT * FROM longitude.nodes;          the nodes; also longitude.ranges
  SET longitude_ordering = 'wait';        or 'uncertainty': how this session's transactions are ordered
  \q, quit, exit, Ctrl-D                  leave
  Ctrl-C                                  drop the statement being typed, or stop the one that runs
`

// interruptible carries out a statement that Ctrl-C stops.
func (s *Shell) interruptible(ctx context.Context, q string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	return s.statement(ctx, q)
}

// connect makes sure that there is a connection. A new one has the database of the one before, and nothing else of it.
func (s *Shell) connect(ctx context.Context) (err error) {
	if s.conn != nil {
		return nil
	}
	if s.conn, err = s.DB.Conn(ctx); err != nil || s.database == "" {
		return err
	}
	if _, err = s.conn.ExecContext(ctx, "USE "+client.QuoteName(s.database)); err != nil {
		s.Close()
	}
	return err
}

// noteDatabase remembers what a USE chose.
func (s *Shell) noteDatabase(ctx context.Context, q string) {
	if f := strings.Fields(q); len(f) == 0 || !strings.EqualFold(f[0], "USE") {
		return
	}
	var name sql.NullString
	if s.conn.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&name) == nil {
		s.database = name.String
	}
}

// Close ends the connection.
func (s *Shell) Close() {
	if s.conn != nil {
		s.conn.Close()
		s.conn = nil
	}
}

func (s *Shell) statement(ctx context.Context, q string) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	start := time.Now()
	err := s.send(ctx, q, start)
	var answer *mysql.MySQLError
	if err != nil && !errors.As(err, &answer) {
		s.Close() // H2: the next statement gets a new connection, this one is not sent again
	}
	return err
}

func (s *Shell) send(ctx context.Context, q string, start time.Time) error {
	if !returnsRows(q) {
		res, err := s.conn.ExecContext(ctx, q)
		if err != nil {
			return err
		}
		s.noteDatabase(ctx, q)
		if s.Table {
			n, _ := res.RowsAffected() // never fails with this driver
			fmt.Fprintf(s.Out, "ok, %s changed (%s)\n", count(int(n)), took(start))
		}
		return nil
	}
	rows, err := s.conn.QueryContext(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	n, err := printRows(s.Out, rows, s.Table)
	if err == nil && s.Table {
		fmt.Fprintf(s.Out, "%s (%s)\n", count(n), took(start))
	}
	return err
}

func count(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

func took(start time.Time) time.Duration { return time.Since(start).Round(100 * time.Microsecond) }

// Explain makes an error one that says what to do.
func Explain(err error, addr string) error {
	var answer *mysql.MySQLError
	switch {
	case errors.As(err, &answer):
		return fmt.Errorf("ERROR %d (%s): %s", answer.Number, answer.SQLState[:], answer.Message)
	case errors.Is(err, context.Canceled):
		return errors.New("stopped; a statement that writes may have been carried out all the same\n" +
			"the next one gets a new connection: settings, and a transaction that was open, are gone")
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("lost the connection to %s: %w\nthe statement may or may not have been carried out; the next one gets a new connection, without the settings of this one", addr, err)
	}
	return fmt.Errorf("cannot reach %s: %w\nhint: name a node's SQL address with --url mysql://root@host:port", addr, err)
}

func historyFile() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".longitude_history")
}

// saveHistory keeps what was typed. A home that cannot be written to loses the history, nothing else.
func saveHistory(line *liner.State, name string) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = line.WriteHistory(f)
}
