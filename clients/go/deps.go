// Package clients pins what the suites in Go test, and what the tests of those modules import.
package clients

import (
	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jmoiron/sqlx"
	_ "github.com/lib/pq"           // sqlx's tests
	_ "github.com/mattn/go-sqlite3" // sqlx's tests
)
