#!/bin/sh
# Measures again all that docs/benchmarks.md shows, and writes for each part the command, what it printed, and its results as
# JSON into $OUT; $OUT/evidence.md has all of it to read and to quote from. Parts that are there already are not measured again:
# remove their .txt to have them repeated. With FULL set runs are longer, and the thesis is measured twice and compared.
#
#   BIN=bin/longitude OUT=out/evidence FULL= BEFORE= sh bench/evidence.sh [part ...]
#
# The part before sets another build beside this one, that BEFORE names; without it the part is left out.
# Parts that set MariaDB beside us start one of their own on a free loopback port, with its defaults, and are left out where it
# is not installed.
set -eu

BIN=${BIN:-bin/longitude}
OUT=${OUT:-out/evidence}
FULL=${FULL:-}
BEFORE=${BEFORE:-}
ALL="demo thesis map txn before latency statements ycsb social bank"
PARTS=${*:-$ALL}

mkdir -p "$OUT"
server= scratch=
stop() {
	[ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || :
	[ -z "$scratch" ] || rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 1' INT TERM

# mariadb starts a server once and sets $maria to its URL, or leaves that empty.
maria=
mariadb_up() {
	[ -z "$maria" ] || return 0
	PATH=$PATH:/usr/sbin:/usr/local/sbin
	if ! command -v mariadbd >/dev/null || ! command -v mariadb-install-db >/dev/null; then
		echo "MariaDB is not installed (Debian: mariadb-server); what is set beside it is left out" >&2
		return 0
	fi
	scratch=$(mktemp -d)
	me=$(id -un)
	mariadb-install-db --no-defaults --datadir="$scratch/data" --user="$me" --auth-root-authentication-method=normal --skip-test-db >"$scratch/install.log" 2>&1
	port=23390
	while :; do
		mariadbd --no-defaults --datadir="$scratch/data" --user="$me" --socket="$scratch/socket" --pid-file="$scratch/pid" \
			--bind-address=127.0.0.1 --port=$port --max-connections=400 >"$scratch/log" 2>&1 &
		server=$!
		for _ in $(seq 100); do
			[ ! -S "$scratch/socket" ] || break
			kill -0 $server 2>/dev/null || break
			sleep 0.2
		done
		[ ! -S "$scratch/socket" ] || break
		wait $server || :
		port=$((port + 1))
		[ $port -lt 23400 ] || { cat "$scratch/log" >&2; exit 1; }
	done
	maria=mysql://root@127.0.0.1:$port
}

# pick gives the first, or at length the second.
pick() { if [ -n "$FULL" ]; then echo "$2"; else echo "$1"; fi; }

# run measures one part: its name, then the arguments of longitude.
run() {
	name=$1
	shift
	[ ! -s "$OUT/$name.txt" ] || { echo "$name: measured already" >&2; return 0; }
	echo "$name: longitude $*" >&2
	begun=$(date +%s)
	if ! "$BIN" "$@" >"$OUT/$name.tmp" 2>"$OUT/$name.log"; then
		tail -5 "$OUT/$name.log" >&2
		echo "$name failed; $OUT/$name.log has more" >&2
		failed="$failed $name"
		return 0
	fi
	{
		echo "\$ longitude $*" | sed 's/127.0.0.1:[0-9]*/127.0.0.1:3306/g'
		cat "$OUT/$name.tmp"
		echo "($(($(date +%s) - begun)) s; load of the machine at the end: $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown))"
	} >"$OUT/$name.txt"
	rm "$OUT/$name.tmp"
}

# beside runs a workload on a three-node demo beside MariaDB, or alone where there is none.
beside() {
	name=$1 workload=$2
	shift 2
	mariadb_up
	if [ -n "$maria" ]; then
		run "$name" bench "$workload" --demo --vs "$maria/$name" --drop --json "$OUT/$name.json" "$@"
	else
		run "$name" bench "$workload" --demo --json "$OUT/$name.json" "$@"
	fi
}

failed=
for part in $PARTS; do
	case $part in
	demo) run demo demo --exit --duration $(pick 10s 30s) --json "$OUT/demo.json" ;;
	thesis)
		run thesis bench thesis --quick --out "$OUT/thesis"
		if [ -n "$FULL" ]; then
			run thesis-again bench thesis --quick --out "$OUT/thesis-again"
			run thesis-compare bench thesis compare "$OUT/thesis" "$OUT/thesis-again"
		fi
		;;
	map) run map bench map --quick --out "$OUT/map" ;;
	txn)
		if [ -n "$FULL" ]; then
			run txn bench txn --out "$OUT/txn"
		else
			run txn bench txn --quick --out "$OUT/txn"
		fi
		;;
	before)
		if [ -n "$BEFORE" ]; then
			run before bench txn $(pick --quick "") --parts commit,hot,readers,tpcc --against "$BEFORE" --out "$OUT/before"
		else
			echo "BEFORE names no other build; what was before is left out" >&2
		fi
		;;
	latency) beside latency latency --workers 1 --duration $(pick 16s 40s) --slices 8 --warm-up 1s ;;
	statements) beside statements latency --workers 16 --duration $(pick 16s 40s) --slices 8 --warm-up 1s ;;
	ycsb) beside ycsb ycsb --workers 16 --records $(pick 2000 10000) --duration $(pick 6s 15s) --slices 5 --warm-up 500ms ;;
	social) beside social social --likes 100000 --read-fraction 1 --workers 1 --duration $(pick 16s 40s) --slices 8 --warm-up 1s ;;
	bank) beside bank bank --accounts 1000 --hot 4 --workers 16 --duration $(pick 8s 30s) --slices 5 --warm-up 500ms ;;
	*)
		echo "there is no part $part; there are: $ALL" >&2
		exit 2
		;;
	esac
done

{
	echo "# Measured"
	echo
	echo "$("$BIN" version), $(date -u +%Y-%m-%d), $(uname -sm), $(getconf _NPROCESSORS_ONLN) processors$(sed -n 's/^model name[^:]*: /, /p' /proc/cpuinfo 2>/dev/null | head -1)."
	for part in demo thesis thesis-again thesis-compare map txn before latency statements ycsb social bank; do
		[ -s "$OUT/$part.txt" ] || continue
		echo
		echo "## $part"
		echo
		case $part in
		thesis | thesis-again | map) sed 's/^#/##/' "$OUT/$part/report.md" | sed "s|](\\([a-z0-9]\\)|]($part/\\1|" ;;
		txn | before) sed 's/^#/##/' "$OUT/$part/report.md" ;;
		*)
			echo '```'
			cat "$OUT/$part.txt"
			echo '```'
			;;
		esac
	done
} >"$OUT/evidence.md"
echo "$OUT/evidence.md"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
