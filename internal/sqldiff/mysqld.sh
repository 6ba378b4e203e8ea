#!/bin/sh
# mysqld.sh DIR unpacks MySQL's server from Debian unstable below DIR, together with the libraries that it was built with, because Debian stable has only
# MariaDB. It installs nothing. DIR/mysqld is the command: make sql-diff REFERENCE=DIR/mysqld. As root.
set -eu
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ -x "$dir/mysqld" ] && "$dir/mysqld" --version >/dev/null 2>&1; then exit 0; fi
sh "$(dirname "$0")/unstable.sh" "$dir" install mysql-server-core
cat >"$dir/mysqld" <<EOF
#!/bin/sh
r='$dir/root'
exec "\$r/usr/lib64/ld-linux-x86-64.so.2" --library-path "\$r/usr/lib/x86_64-linux-gnu:\$r/usr/lib/mysql/private:\$r/usr/lib" "\$r/usr/sbin/mysqld" "\$@" --user=root \\
    --secure-file-priv= --basedir="\$r/usr" --lc-messages-dir="\$r/usr/share/mysql" --character-sets-dir="\$r/usr/share/mysql/charsets" --plugin-dir="\$r/usr/lib/mysql/plugin"
EOF
chmod +x "$dir/mysqld"
"$dir/mysqld" --version
