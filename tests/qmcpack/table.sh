#!/bin/bash
# The INI files and coverage.csv are what coverage.py makes of the tests of a clone of QMCPACK, PLUGMC_QMCPACK.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${PLUGMC_QMCPACK-}" ] || { echo "skipped: PLUGMC_QMCPACK names no clone of QMCPACK"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp -r "$here/." "$work" && rm -f "$work"/inis/*.ini || exit 1
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$work/coverage.py" "$PLUGMC_QMCPACK" --force || exit 1
diff -r "$here/inis" "$work/inis" && diff "$here/coverage.csv" "$work/coverage.csv"
