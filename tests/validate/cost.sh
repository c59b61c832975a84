#!/bin/bash
# cost.sh PLUGMC PLUGIN: what is told of the cost of a trial move is at least what one takes: 20 ms for each of four walkers, as
# PLUGIN (slow_total) answers for all of them always.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/slow.ini" <<END
[run]
sweeps = 1
walkers = 4
[box]
dimension = 3
lx = 8
[species a]
count = 2
[potential slow]
plugin = $2
[mover serial]
step = 0.1
END
"$1" run "$work/slow.ini" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
grep -oE 'takes about [0-9.e-]+ s' "$work/out" | awk '{ n++; print; good = $3 >= 0.08 } END { exit !(n == 1 && good) }' ||
    { cat "$work/out"; exit 1; }
