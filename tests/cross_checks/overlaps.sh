#!/bin/bash
# overlaps.sh: configurations of hexagons and octahedra, which overlaps.py looks at in numbers of 60 digits. None overlap; pairs
# that were moved together by 1e-12 do, and are found; those that are 1e-12 apart are not. Hexagons whose test of overlap lets
# ten-thousandths pass, instead of leaving a margin, are found, too. 20 s on one core.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
for module in numpy h5py; do
    python3 -c "import $module" 2>/dev/null || { echo "skipped: python3 has no $module"; exit 77; }
done
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() { echo "FAILED: $*"; exit 1; }
look() { python3 "$here/overlaps.py" "$@"; }

# bodies DIMENSION DENSITY COUNT POTENTIAL MOVER: from a triangular lattice, or at random in three dimensions
bodies()
{
    local state=$([ "$1" = 2 ] && echo lattice || echo random)
    printf '[run]\nsweeps = 300\nequilibrate = 0\nseed = 7\nthreads = 1\ndevice = cpu\noutput = run.h5\n' >run.ini
    printf '[box]\ndimension = %s\ndensity = %s\n[species body]\ncount = %s\n[initial]\nstate = %s\n' "$1" "$2" "$3" "$state" >>run.ini
    printf '[potential %b\n' "$4" >>run.ini
    printf '[mover %b\n' "$5" >>run.ini
    printf '[observable body_order]\nperiod = 100\n' >>run.ini
    [ "$1" = 3 ] || sed -i 's/^dimension.*/&\nshape = triangular/' run.ini
    "$PLUGMC" run run.ini >said 2>&1 || { cat said; fail "the run"; }
}

# right SHAPE: nothing overlaps, but for what is moved
right()
{
    look run.h5 "$1" || fail "$1: overlaps in a run"
    look run.h5 "$1" --plant moved.h5 --by=1e-12 >said || fail "$1: nothing was moved"
    pair=$(sed -n 's/^moved.h5: \(.*\) were .*/\1/p' said)
    look moved.h5 "$1" >said && fail "$1: $pair overlap by 1e-12, which is not seen"
    grep -q ": $pair overlap by" said || { cat said; fail "$1: $pair overlap by 1e-12, which is not seen"; }
    look run.h5 "$1" --plant moved.h5 --by=-1e-12 >said || fail "$1: nothing was moved"
    look moved.h5 "$1" >said
    ! grep -q ": $pair overlap by" said || { cat said; fail "$1: $pair are apart by 1e-12"; }
}

cells='checkerboard_bodies]\nstep = 0.2\nturn = 0.2\ntrials = 8'
one_by_one='serial]\nstep = 0.2\n[mover rotate]\nstep = 0.2'
for mover in "$cells" "$one_by_one"; do
    bodies 2 0.2694 1024 'hard_polygon]\nsides = 6' "$mover"
    right hexagon
    bodies 3 0.7 512 'hard_polyhedron]\nshape = octahedron' "$mover"
    right octahedron
done

# A shape that takes two hexagons for apart that overlap by up to some ten-thousandths, in double by more: otherwise no run would begin.
sed -e 's/\.name = "hard_polygon"/.name = "lax_polygon"/' -e 's|^#include <plugmc/potential.h>|&\n#undef PLUGMC_SURELY\n#define PLUGMC_SURELY (1 - (sizeof(real) == 4 ? (real)1e-4 : (real)2e-4))|' \
    "$POTENTIALS/hard_polygon.c" >lax_polygon.c
"$PLUGMC" build lax_polygon.c >said 2>&1 || { cat said; fail "the lax shape is not built"; }
export PLUGMC_PLUGIN_PATH=$folder
bodies 2 0.2694 1024 'lax_polygon]\nsides = 6' "$cells"
look run.h5 hexagon >said && { cat said; fail "a margin of -1e-4 is not seen"; }
tail -n 1 said
