# Longitude. `make` lists the targets.

GO       ?= go
BIN      := bin/longitude
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION)
# gms_pure_go: Go's regexp in place of ICU, whose headers a fresh machine lacks; with it the binary needs no cgo.
TAGS     := gms_pure_go
# invariants: costly assertions, ours and Pebble's.
TESTTAGS := $(TAGS),invariants
# assert: ours alone, for simulations, which meet Pebble's in the tests.
SIMTAGS  := $(TAGS),assert
# One setting for building and testing: with another one the SQL engine would be compiled again, for minutes.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS) -trimpath)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Tests run with the race detector, but for two kinds. Packages that link go-mysql-server: compiling it once more takes
# longer than all the tests, and what decides about time, order and replication stands below it. And simulation: on one
# event loop nothing runs at once, and under the race detector it would need most of the machine's memory; its test of a
# cluster on goroutines runs with it.
LIST      = $(GO) list -tags $(TESTTAGS) -f '{{.ImportPath}} {{join .Deps " "}} {{join .TestImports " "}} {{join .XTestImports " "}}' ./...
PLAIN    := go-mysql-server|longitude/internal/(server|demo|sql/engine)|^[^ ]*/internal/sim(/| )
ASIDE    := /e2e$$
RACEPKGS  = $(shell $(LIST) | grep -vE '$(PLAIN)' | cut -d' ' -f1 | grep -vE '$(ASIDE)')
PLAINPKGS = $(shell $(LIST) | grep -E '$(PLAIN)' | cut -d' ' -f1 | grep -vE '$(ASIDE)')

# make sim: the seed to replay with its trace, or how many seeds to run and from which.
SEED  ?=
SEEDS ?= 20
FIRST ?= 1

# make failover: how often each blow falls, and which (all).
FAILOVERS ?= 50
BLOW      ?=

# make clients: which suites (the quick ones).
CLIENTS ?=

# make fuzz: how long each target, and on how many processors.
FUZZTIME ?= 10m
PARALLEL ?= 1

# make bench: which, how long, how often (benchstat wants ten), and where: every package that has one.
BENCH     ?= .
BENCHTIME ?= 1s
COUNT     ?= 1
BENCHPKGS ?= $(shell git grep -l '^func Benchmark' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')

# make evidence: where to, whether at length, another build to set beside this one, and which parts (all).
EVIDENCE ?= out/evidence
FULL     ?=
BEFORE   ?=
PARTS    ?=

.DEFAULT_GOAL := help
.PHONY: help build cross demo test check fmt lint unit unit-plain sim sim-twice sim-sql sim-hashes sim-controls sql-diff sql-modes mysqld sql-answers sql-failing mysql-compatibility e2e failover fuzz bench bench-thesis bench-map bench-txn evidence clients clients-all clean

help: ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/longitude: one static binary
	CGO_ENABLED=0 $(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/longitude

cross: ## build the binary for linux/arm64 as well
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o $(BIN)-arm64 ./cmd/longitude

demo: build ## three nodes in one process under three regimes of clocks; ARGS="--exit --workers 50 ..." (see demo --help)
	@$(BIN) demo $(ARGS)

test: lint build unit unit-plain e2e ## everything a merge needs: lint, unit tests, short simulations, three real processes

check: test ## the same as test

fmt: ## format the sources
	gofmt -w $$(git ls-files '*.go')

lint: ## formatting, vet and staticcheck
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted (make fmt mends it):"; echo "$$out"; exit 1; fi
	CGO_ENABLED=0 $(GO) vet -tags $(TESTTAGS) ./...
	CGO_ENABLED=0 $(GO) run $(STATICCHECK) -tags $(TESTTAGS) ./...

unit: ## tests of every package below SQL, with the race detector
	$(GO) test -race -timeout 20m -tags $(TESTTAGS) $(RACEPKGS)
	$(GO) test -race -timeout 20m -tags $(TESTTAGS) -run Live ./internal/sim

unit-plain: ## tests of SQL and server, and short simulations, without it
	CGO_ENABLED=0 $(GO) test -timeout 20m -tags $(TESTTAGS) $(PLAINPKGS)

sim: ## simulate clusters: SEEDS=20 FIRST=1, or SEED=7 to replay one with its trace
	CGO_ENABLED=0 $(GO) run -tags $(SIMTAGS) ./internal/sim/simrun $(if $(SEED),-seed $(SEED) -trace,-seeds $(SEEDS) -first $(FIRST))

sim-twice: ## simulate each of SEEDS=20 FIRST=1 twice: the same seed must give the same trace, byte for byte
	CGO_ENABLED=0 $(GO) run -tags $(SIMTAGS) ./internal/sim/simrun -twice -seeds $(SEEDS) -first $(FIRST)

sim-hashes: ## print the hashes of the traces of SEEDS=20 FIRST=1, to compare with those of another machine
	@CGO_ENABLED=0 $(GO) run -tags $(SIMTAGS) ./internal/sim/simrun -hashes -seeds $(SEEDS) -first $(FIRST)

sim-sql: ## simulated clusters under SQL: SEEDS=n FIRST=n
	CGO_ENABLED=0 $(GO) run -tags $(SIMTAGS) ./internal/sim/sqlsim/sqlsimrun -seeds $(SEEDS) -first $(FIRST)

sim-controls: ## break each rule on purpose, over SEEDS=20 seeds, and show which find it
	CGO_ENABLED=0 $(GO) run -tags $(SIMTAGS) ./internal/sim/simrun -controls -seeds $(SEEDS)

# make sql-diff: FAMILY= (all), SEEDS, FIRST, REFERENCE=host:port or a mysqld or mariadbd to start (the one installed), OUT= a file for the report.
FAMILY    ?=
REFERENCE ?=
OUT       ?=
MODES     ?= tlp norec index prepared compiled transaction inplace cluster

sql-diff: build ## generated statements on MySQL or MariaDB and on Longitude: FAMILY= SEEDS=n FIRST=n REFERENCE=addr-or-binary OUT=file
	CGO_ENABLED=0 $(GO) run ./internal/sqldiff/sqldiffrun -binary $(BIN) -family '$(FAMILY)' -seeds $(SEEDS) -first $(FIRST) -reference '$(REFERENCE)' -out '$(OUT)' $(ARGS)

sql-modes: build ## two ways of asking Longitude the same, which must not differ: SEEDS=n FIRST=n MODES="tlp norec index prepared compiled transaction inplace cluster"
	@for m in $(MODES); do echo "== $$m"; CGO_ENABLED=0 $(GO) run ./internal/sqldiff/sqldiffrun -binary $(BIN) -mode $$m -seeds $(SEEDS) -first $(FIRST) $(ARGS) || failed=1; done; test -z "$$failed"

mysqld: ## unpack MySQL's server from Debian unstable into out/mysqld, for REFERENCE=out/mysqld/mysqld; as root
	sh internal/sqldiff/mysqld.sh out/mysqld

sql-answers: ## record the reference's answers that TestRecordedAnswers compares with; then make sql-failing: REFERENCE=...
	CGO_ENABLED=0 $(GO) run ./internal/sqldiff/sqldiffrun -record internal/sqldiff/testdata/answers -family expr,where,join,subquery,group,window,cte,setop,dml,txn -seeds 2 -count 150 -reference '$(REFERENCE)'

sql-failing: build ## replay MySQL's recorded answers and write down which are still answered otherwise (failing.txt): it may only get shorter
	-FAILING=write LONGITUDE_BIN=$(CURDIR)/$(BIN) CGO_ENABLED=0 $(GO) test -count=1 -tags $(TAGS) -run TestRecordedAnswers ./e2e >/dev/null
	@git diff --stat internal/sqldiff/testdata/answers/failing.txt

mysql-compatibility: build ## run all families and modes, and write docs/mysql-compatibility.md from what they find: SEEDS=n REFERENCE=...
	-CGO_ENABLED=0 $(GO) run ./internal/sqldiff/sqldiffrun -binary $(BIN) -seeds $(SEEDS) -first $(FIRST) -reference '$(REFERENCE)' -counts internal/sqldiff/testdata/counts.txt -out out/sql-diff.txt
	-for m in $(MODES); do CGO_ENABLED=0 $(GO) run ./internal/sqldiff/sqldiffrun -binary $(BIN) -mode $$m -seeds $(SEEDS) -first $(FIRST) -counts internal/sqldiff/testdata/counts.txt -out out/sql-$$m.txt; done
	CGO_ENABLED=0 $(GO) run ./internal/sqldiff/sqldiffrun -page docs/mysql-compatibility.md

e2e: build ## start three real processes, kill them in turn under load, and look for anything lost
	LONGITUDE_BIN=$(CURDIR)/$(BIN) CGO_ENABLED=0 $(GO) test -timeout 20m -count=1 -tags $(TAGS) ./e2e

failover: build ## strike the leaseholder FAILOVERS=50 times in each way, in network namespaces, and print how long writes paused (30 minutes)
	LONGITUDE_BIN=$(CURDIR)/$(BIN) FAILOVERS=$(FAILOVERS) BLOW='$(BLOW)' CGO_ENABLED=0 $(GO) test -timeout 120m -count=1 -tags $(TAGS) -run 'TestFailover$$' -v ./e2e

clients: build ## what applications do through drivers, ORMs and tools, against a node of this build: the quick part; CLIENTS="pymysql knex"
	CGO_ENABLED=0 $(GO) run ./clients -bin $(BIN) $(CLIENTS)

clients-all: build ## the same with all suites, Django's own among them
	CGO_ENABLED=0 $(GO) run ./clients -bin $(BIN) -all

fuzz: ## fuzz the evaluation of expressions: FUZZTIME=10m for each target, PARALLEL=1
	for p in expr:FuzzCalls bind:FuzzExpression; do \
		CGO_ENABLED=0 nice -n 15 $(GO) test -tags $(TESTTAGS) ./internal/sql/$${p%%:*} -run '^$$' -fuzz "^$${p##*:}$$" -fuzztime $(FUZZTIME) -parallel $(PARALLEL) || exit 1; \
	done

bench: ## micro-benchmarks beside the code, as benchstat reads them; BENCH=. BENCHTIME=1s COUNT=1 BENCHPKGS="./clock ..."
	CGO_ENABLED=0 $(GO) test -tags $(TAGS) -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -count $(COUNT) -benchmem $(BENCHPKGS)

bench-thesis: build ## the thesis's chapter 4 in six minutes, as a report in out/thesis; ARGS="..." (see bench thesis --help)
	@$(BIN) bench thesis --quick --out out/thesis $(ARGS)

bench-map: build ## where each ordering wins, over clocks, read length and contention, as heat maps in out/map
	@$(BIN) bench map --quick --out out/map $(ARGS)

bench-txn: build ## what transactions cost: commits over ranges, a hot row, readers beside writers, TPC-C-like contention, in out/txn
	@$(BIN) bench txn --quick --out out/txn $(ARGS)

evidence: build ## measure again all that docs/benchmarks.md shows, into out/evidence: 20 minutes; FULL=1 twice that, with longer runs
	@BIN=$(BIN) OUT=$(EVIDENCE) FULL=$(FULL) BEFORE=$(BEFORE) sh bench/evidence.sh $(PARTS)

clean: ## remove what build made
	rm -rf bin
