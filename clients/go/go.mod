module github.com/longitude-db/longitude/clients/go

go 1.25.0

require (
	github.com/go-sql-driver/mysql v1.10.1
	github.com/jmoiron/sqlx v1.4.0
	github.com/lib/pq v1.10.9
	github.com/mattn/go-sqlite3 v1.14.32
)

require filippo.io/edwards25519 v1.2.0 // indirect
