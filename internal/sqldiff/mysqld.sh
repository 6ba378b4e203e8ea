#!/bin/sh
# mysqld.sh DIR unpacks MySQL's server from Debian unstable below DIR, together with the libraries that it was built with, because Debian stable has only
# MariaDB. It installs nothing. DIR/mysqld is the command: make sql-diff REFERENCE=DIR/mysqld. As root.
set -eu
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ -x "$dir/mysqld" ] && "$dir/mysqld" --version >/dev/null 2>&1; then exit 0; fi
key=/usr/share/keyrings/debian-archive-keyring.gpg
# The mirror that this machine uses for Debian itself.
mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 'Created-By: Packages' | awk '$2 == "Debian" && $1 !~ /security/ { print $1; exit }')
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/etc" "$dir/root"
echo "deb [signed-by=$key] $mirror unstable main" >"$dir/apt/etc/sources.list"
: >"$dir/apt/status"
cat >"$dir/apt/apt.conf" <<EOF
Dir::Etc "$dir/apt/etc";
Dir::Etc::sourcelist "$dir/apt/etc/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$dir/apt/lists";
Dir::Cache "$dir/apt/cache";
Dir::State::status "$dir/apt/status";
Acquire::Languages "none";
APT::Sandbox::User "root";
EOF
apt-get -qq -c "$dir/apt/apt.conf" update
apt-get -qq -c "$dir/apt/apt.conf" install --download-only --no-install-recommends -y mysql-server-core >/dev/null
for deb in "$dir"/apt/cache/archives/*.deb; do dpkg-deb -x "$deb" "$dir/root"; done
rm -rf "$dir/apt"
cat >"$dir/mysqld" <<EOF
#!/bin/sh
r='$dir/root'
exec "\$r/usr/lib64/ld-linux-x86-64.so.2" --library-path "\$r/usr/lib/x86_64-linux-gnu:\$r/usr/lib/mysql/private:\$r/usr/lib" "\$r/usr/sbin/mysqld" "\$@" --user=root \\
    --secure-file-priv= --basedir="\$r/usr" --lc-messages-dir="\$r/usr/share/mysql" --character-sets-dir="\$r/usr/share/mysql/charsets" --plugin-dir="\$r/usr/lib/mysql/plugin"
EOF
chmod +x "$dir/mysqld"
"$dir/mysqld" --version
