package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// suites are the clients, in the order of the table.
var suites = []suite{
	python("pymysql", true, "PyMySQL", "drivers.py", "pymysql"),
	python("mysqlclient", true, "mysqlclient", "drivers.py", "mysqlclient"),
	python("connector-python", true, "mysql-connector-python", "drivers.py", "connector"),
	python("sqlalchemy-mysqlclient", true, "SQLAlchemy", "alchemy.py", "mysqldb"),
	python("sqlalchemy-pymysql", false, "SQLAlchemy", "alchemy.py", "pymysql"),
	django("basic", "queries", "aggregation", "transactions", "migrations"),
	node("mysql2", true, "mysql2", "mysql2.js"),
	node("knex", true, "knex", "knex.js"),
	node("sequelize", true, "sequelize", "sequelize.js"),
	node("typeorm", true, "typeorm", "typeorm.js"),
	prisma(),
	// One test dials a host that must not answer.
	goTests("go-sql-driver", true, "github.com/go-sql-driver/mysql", "github.com/go-sql-driver/mysql", "^TestConnectorReturnsTimeout$",
		"MYSQL_TEST_USER=root", "MYSQL_TEST_ADDR=HOST:PORT", "MYSQL_TEST_DBNAME=DB", "MYSQL_TEST_CONCURRENT=1"),
	goTests("sqlx", true, "github.com/jmoiron/sqlx", "github.com/jmoiron/sqlx", "",
		"SQLX_MYSQL_DSN=root@tcp(HOST:PORT)/DB?parseTime=true", "SQLX_POSTGRES_DSN=skip", "SQLX_SQLITE_DSN=skip"),
	gormTests(),
	entTests(),
	php(),
	sysbench(),
	java("connectorj", true, "mysql-connector-j"),
	java("mariadb-java", false, "mariadb-java-client"),
	java("hikari", true, "HikariCP"),
	java("hibernate", true, "hibernate-core"),
	java("flyway", true, "flyway-mysql"),
	java("liquibase", true, "liquibase-core"),
	{name: "mariadb-tools", quick: true, needs: []string{"bash", "mariadb", "mariadb-dump", "mariadb-import"},
		prepare: func(*environment) (string, error) {
			out, err := exec.Command("mariadb", "--version").Output()
			v, _, _ := strings.Cut(string(out), ",")
			return v[strings.LastIndexByte(v, ' ')+1:], err
		},
		command: func(e *environment) *exec.Cmd { return exec.Command("bash", filepath.Join("shell", "tools.sh")) }},
}

// python is a suite of one of the Python programs. Versions are those of requirements.txt.
func python(name string, quick bool, pkg string, args ...string) suite {
	interpreter := func(e *environment) string { return filepath.Join(e.cache, "python", "bin", "python") }
	return suite{name: name, quick: quick, needs: []string{"python3"},
		prepare: func(e *environment) (string, error) {
			lock := filepath.Join("python", "requirements.txt")
			dir := filepath.Join(e.cache, "python")
			_, err := e.install("python", lock, exec.Command("python3", "-m", "venv", dir),
				exec.Command(interpreter(e), "-m", "pip", "install", "--quiet", "--no-input", "-r", filepath.Join(absolute(e.dir), lock)))
			return pinned(filepath.Join(e.dir, lock), pkg), err
		},
		command: func(e *environment) *exec.Cmd {
			c := exec.Command(interpreter(e), args...)
			c.Dir = filepath.Join(e.dir, "python")
			return c
		}}
}

// django is Django's own tests, of the source distribution of the pinned version.
func django(labels ...string) suite {
	s := python("django", false, "Django", "")
	prepare := s.prepare
	s.prepare = func(e *environment) (string, error) {
		v, err := prepare(e)
		if err != nil {
			return "", err
		}
		pip := exec.Command(filepath.Join(e.cache, "python", "bin", "python"), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "Django=="+v)
		_, err = e.install("django", filepath.Join("python", "requirements.txt"), pip, exec.Command("sh", "-c", "tar xzf [Dd]jango-"+v+".tar.gz && rm -rf source && mv [Dd]jango-"+v+" source"))
		return v, err
	}
	s.limit = 20 * time.Minute
	s.command = func(e *environment) *exec.Cmd {
		c := exec.Command(filepath.Join(e.cache, "python", "bin", "python"), append([]string{"django_suite.py", filepath.Join(absolute(e.cache), "django", "source", "tests")}, labels...)...)
		c.Dir = filepath.Join(e.dir, "python")
		return c
	}
	return s
}

// node is a suite of one of the programs for node. Versions are those of package-lock.json.
func node(name string, quick bool, pkg, file string) suite {
	return suite{name: name, quick: quick, needs: []string{"node", "npm"},
		prepare: func(e *environment) (string, error) {
			lock := filepath.Join("node", "package-lock.json")
			dir := filepath.Join(e.cache, "node")
			for _, f := range []string{"package.json", "package-lock.json"} {
				if err := copyFile(filepath.Join(e.dir, "node", f), filepath.Join(dir, f)); err != nil {
					return "", err
				}
			}
			// No package runs a program of its own when it is installed.
			dir, err := e.install("node", lock, exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"))
			if err != nil {
				return "", err
			}
			return packageVersion(filepath.Join(dir, "node_modules", pkg, "package.json"))
		},
		command: func(e *environment) *exec.Cmd {
			c := exec.Command("node", file)
			c.Dir = filepath.Join(e.dir, "node")
			c.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(e.cache, "node", "node_modules"))
			return c
		}}
}

// prisma is Prisma, in a folder of its own because it is large. Its client is made of the schema by a program that asks for an engine for
// migrations, which no npm package has; it is given the name of a program that is there, and never starts it.
func prisma() suite {
	return suite{name: "prisma", needs: []string{"node", "npm"},
		prepare: func(e *environment) (string, error) {
			dir := filepath.Join(absolute(e.cache), "prisma")
			for _, f := range []string{"package.json", "package-lock.json", "schema.prisma"} {
				if err := copyFile(filepath.Join(e.dir, "prisma", f), filepath.Join(dir, f)); err != nil {
					return "", err
				}
			}
			if _, err := e.install("prisma", filepath.Join("prisma", "package-lock.json"), exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")); err != nil {
				return "", err
			}
			generate := exec.Command(filepath.Join(dir, "node_modules", ".bin", "prisma"), "generate", "--schema", "schema.prisma")
			generate.Dir, generate.Env = dir, append(os.Environ(), "PRISMA_SCHEMA_ENGINE_BINARY=/bin/true", "PRISMA_HIDE_UPDATE_MESSAGE=1", "CHECKPOINT_DISABLE=1")
			if out, err := generate.CombinedOutput(); err != nil {
				return "", errors.New("its client cannot be made: " + lastLine(string(out), err))
			}
			return packageVersion(filepath.Join(dir, "node_modules", "prisma", "package.json"))
		},
		command: func(e *environment) *exec.Cmd {
			c := exec.Command("node", "prisma.js")
			c.Dir = filepath.Join(e.dir, "prisma")
			c.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(absolute(e.cache), "prisma", "node_modules"))
			return c
		}}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

func packageVersion(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var p struct{ Version string }
	return p.Version, json.Unmarshal(b, &p)
}

// pinned finds a package's version in requirements.txt.
func pinned(file, pkg string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name, v, ok := strings.Cut(strings.TrimSpace(line), "=="); ok && strings.EqualFold(name, pkg) {
			return v
		}
	}
	return ""
}

func absolute(path string) string {
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return path
}
