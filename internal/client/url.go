// Package client opens SQL connections to nodes for the commands and workloads of this program. It speaks the MySQL
// protocol like any other client and knows nothing that a user's program could not know.
package client

import (
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// DefaultPort is where a node listens for SQL unless it is told otherwise.
const DefaultPort = "26257"

// Parse reads the address of a node: mysql://user:password@host:port/database?option=value, of which host alone has to
// be there ("127.0.0.1", "[::1]:26257"). Options are session variables, set on each connection.
func Parse(s string) (*mysql.Config, error) {
	text := s
	if !strings.Contains(text, "://") {
		text = "mysql://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("bad address %q: %w\nwanted: mysql://user@host:port/database, or host:port", s, err)
	}
	if u.Scheme != "mysql" {
		return nil, fmt.Errorf("bad address %q: %s:// is not spoken here\nwanted: mysql://user@host:port/database, or host:port", s, u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("bad address %q: it names no host\nwanted: mysql://user@host:port/database, or host:port", s)
	}
	port := u.Port()
	if port == "" {
		port = DefaultPort
	}
	c := mysql.NewConfig()
	c.User = "root"
	if u.User != nil {
		c.User = u.User.Username()
		c.Passwd, _ = u.User.Password()
	}
	c.Net, c.Addr = "tcp", net.JoinHostPort(u.Hostname(), port)
	c.DBName = strings.TrimPrefix(u.Path, "/")
	c.Timeout = 10 * time.Second
	c.Logger = quiet{}
	for k, vs := range u.Query() {
		if c.Params == nil {
			c.Params = map[string]string{}
		}
		c.Params[k] = Quote(vs[len(vs)-1])
	}
	return c, nil
}

// Quote writes a string literal of SQL.
func Quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

// Open makes a pool of connections. Nothing is dialled yet.
func Open(c *mysql.Config) (*sql.DB, error) {
	conn, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Addr, err)
	}
	return sql.OpenDB(conn), nil
}

// quiet drops the driver's own log: whatever it says comes back as an error too.
type quiet struct{}

func (quiet) Print(...any) {}

// QuoteName writes a name of SQL.
func QuoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }
