#!/bin/bash
# What README.md tells people to type, one command after the other, as it stands, in a Debian 12 that has nothing but its
# base: fresh_debian.sh SOURCE [FOLDER]. It installs packages in a folder of its own, below TMPDIR or FOLDER, and builds
# there; a quarter of an hour of one processor. Needs root, debootstrap and a mirror (DEBIAN_MIRROR); 77 where one is missing. A
# Debian that is in FOLDER already is taken as it is.
set -eu -o pipefail
skip() { echo "skipped: $*"; exit 77; }
source=$(cd "$1" && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" = 0 ] || skip "only root can make a Debian"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
if [ $# -gt 1 ]; then
    mkdir -p "$2"
    debian=$(cd "$2" && pwd)
else
    debian=$(mktemp -d)
fi
leave()
{
    umount "$debian/proc" 2>/dev/null || true
    [ $# -gt 0 ] || rm -rf --one-file-system "$debian"
}
if [ $# -gt 1 ]; then trap 'leave kept' EXIT; else trap leave EXIT; fi

if [ ! -x "$debian/bin/bash" ]; then
    debootstrap --variant=minbase bookworm "$debian" "$mirror" >"$debian.log" 2>&1 ||
        { tail -n 3 "$debian.log"; rm -f "$debian.log"; skip "no Debian from $mirror"; }
    rm -f "$debian.log"
fi
mount -t proc proc "$debian/proc" || skip "no /proc can be mounted there"
cp /etc/resolv.conf "$debian/etc/resolv.conf"
cp /etc/apt/apt.conf.d/*proxy* "$debian/etc/apt/apt.conf.d/" 2>/dev/null || true
mkdir -p "$debian/root/plugmc"
(cd "$source" && git ls-files -z | tar -c --null -T - -f -) | tar -x -C "$debian/root/plugmc"
env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$debian" /bin/bash -c 'cd /root/plugmc && tests/docs/follow.sh README.md .'
