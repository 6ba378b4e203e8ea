#!/usr/bin/env bash
# sysbench's transactions, a few seconds each. Conflicts (1213) are what its own retry is for; any other error ends a run, and fails the test.
set -uo pipefail
at=(--db-driver=mysql --mysql-host="$LONGITUDE_HOST" --mysql-port="$LONGITUDE_PORT" --mysql-user=root --mysql-db=shell_sysbench
    --tables=2 --table-size=2000 --threads=8 --mysql-ignore-errors=1213)
sql() { mariadb -h"$LONGITUDE_HOST" -P"$LONGITUDE_PORT" -uroot -N -B -e "$1"; }
echo "version $(sysbench --version | cut -d' ' -f2)"
sql "DROP DATABASE IF EXISTS shell_sysbench; CREATE DATABASE shell_sysbench"
try() {
    name=$1
    shift
    if out=$("$@" 2>&1) && ! grep -q FATAL <<<"$out"; then
        echo "ok sysbench/$name"
        grep -E 'transactions:|ignored errors:|95th' <<<"$out" | sed "s/^ */$name: /" >&2
    else
        echo "not ok sysbench/$name: $(grep -m1 -E 'FATAL|rror' <<<"$out")"
    fi
}
try prepare sysbench oltp_read_write "${at[@]}" prepare
for run in oltp_point_select oltp_read_only oltp_read_write oltp_insert; do
    try $run sysbench $run "${at[@]}" --time=3 run
done
try "oltp_read_write, not prepared" sysbench oltp_read_write "${at[@]}" --time=3 --db-ps-mode=disable run
rows() { sql "SELECT (SELECT COUNT(*) FROM shell_sysbench.sbtest1 WHERE id <= 2000) = 2000 AND (SELECT COUNT(*) FROM shell_sysbench.sbtest1 FORCE INDEX (k_1) WHERE k >= 0) = (SELECT COUNT(*) FROM shell_sysbench.sbtest1)" | grep -q 1; }
try rows rows
try cleanup sysbench oltp_read_write "${at[@]}" cleanup
exit 0
