#!/bin/bash
# compare.sh NAME: runs the INI file NAME of this folder's inis and compares what it finds with QMCPACK's scalars:
# |z| <= 3 for each, so that a right program fails once in 50 to 400 seeds, by how many there are; seeds are fixed. Most need
# the data of QMCPACK's tests: PLUGMC_QMCPACK names a clone of https://github.com/QMCPACK/qmcpack. Without it those run
# that need none, or those of tests/data/qmc, and the others are skipped.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3 # which has the packages of the system
for module in numpy h5py pandas; do
    "$python" -c "import $module" 2>/dev/null || { echo "skipped: $python has no $module"; exit 77; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
clone=()
[ -z "${PLUGMC_QMCPACK-}" ] || clone=(--clone "$PLUGMC_QMCPACK")
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/compare.py" "${clone[@]}" --work "$work" "$here/inis/$1.ini"
