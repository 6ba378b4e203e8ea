module gorm.io/gorm/tests

go 1.24.0

require (
	github.com/google/uuid v1.6.0
	github.com/jinzhu/now v1.1.5
	github.com/lib/pq v1.10.9
	github.com/stretchr/testify v1.11.1
	gorm.io/driver/gaussdb v0.0.0
	gorm.io/driver/mysql v1.6.0
	gorm.io/driver/postgres v0.0.0
	gorm.io/driver/sqlite v1.6.0
	gorm.io/driver/sqlserver v0.0.0
	gorm.io/gorm v1.31.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/go-sql-driver/mysql v1.10.1 // indirect
	github.com/jinzhu/inflection v1.0.0 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	golang.org/x/text v0.20.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

// Of Debian's package, whose tests these are; and the drivers that no test here connects with, which are empty.
replace (
	gorm.io/driver/gaussdb => ./drivers/gaussdb
	gorm.io/driver/postgres => ./drivers/postgres
	gorm.io/driver/sqlite => ./drivers/sqlite
	gorm.io/driver/sqlserver => ./drivers/sqlserver
	gorm.io/gorm => ../
)
