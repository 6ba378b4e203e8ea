#!/bin/sh
# unstable.sh DIR download|install PACKAGE ... unpacks packages of Debian unstable below DIR/root, without installing anything: "download" these alone,
# "install" those that they need as well. DIR/root/PACKAGE.version says which version came.
set -eu
mkdir -p "$1"
dir=$(cd "$1" && pwd)
how=$2
shift 2
key=/usr/share/keyrings/debian-archive-keyring.gpg
# The mirror that this machine uses for Debian itself.
mirror=$(apt-get indextargets --format '$(SITE) $(ORIGIN)' 'Created-By: Packages' | awk '$2 == "Debian" && $1 !~ /security/ { print $1; exit }')
mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/apt/etc/preferences.d" "$dir/root"
echo "deb [signed-by=$key] $mirror unstable main" >"$dir/apt/etc/sources.list"
: >"$dir/apt/status"
cat >"$dir/apt/apt.conf" <<CONF
Dir::Etc "$dir/apt/etc";
Dir::Etc::sourcelist "$dir/apt/etc/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$dir/apt/lists";
Dir::Cache "$dir/apt/cache";
Dir::State::status "$dir/apt/status";
Acquire::Languages "none";
APT::Sandbox::User "root";
CONF
apt-get -qq -c "$dir/apt/apt.conf" update
cd "$dir/apt/cache/archives"
case $how in
download) apt-get -qq -c "$dir/apt/apt.conf" download "$@" >/dev/null ;;
install) apt-get -qq -c "$dir/apt/apt.conf" install --download-only --no-install-recommends -y "$@" >/dev/null ;;
*) echo "unstable.sh: download or install, not $how" >&2 && exit 2 ;;
esac
for deb in *.deb; do
    dpkg-deb -x "$deb" "$dir/root"
    for p in "$@"; do
        if [ "$(dpkg-deb -f "$deb" Package)" = "$p" ]; then dpkg-deb -f "$deb" Version >"$dir/root/$p.version"; fi
    done
done
rm -rf "$dir/apt"
