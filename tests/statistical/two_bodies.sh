#!/bin/bash
# two_bodies.sh CASE: hard bodies that come and go, at most two of them, against their second virial coefficients. Insertions
# draw orientations. A right program fails one time in 16,000.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
for module in numpy h5py; do
    python3 -c "import $module" 2>/dev/null || { echo "skipped: python3 has no $module"; exit 77; }
done
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# compare EXACT DIMENSION EDGE POTENTIAL [KEY...]
compare() {
    exact=$1 dimension=$2 edge=$3 potential=$4
    shift 4
    cat >two.ini <<INI
[run]
sweeps = 100000
equilibrate = 100
seed = 2026
device = cpu
walkers = 8
output = two.h5
[box]
dimension = $dimension
lx = $edge
[species body]
count = 1
max_count = 2
activity = $(awk "BEGIN { print 1.6 / $edge^$dimension }")
[initial]
state = random
[potential $potential]
$(printf '%s\n' "$@")
[mover insert]
species = body
trials = 4
[observable numbers]
period = 1
INI
    "$PLUGMC" run two.ini || exit 1
    python3 "$here/two_bodies.py" two.h5 "$exact"
}

case_squares() { compare 0.357923 2 4 hard_polygon 'sides = 4'; }
case_triangles() { compare 0.428174 2 4 hard_polygon 'sides = 3'; }
case_ellipses() { compare 0.295467 2 4.1 hard_ellipse 'a = 1' 'b = 0.5'; }
case_cubes() { compare 0.414063 3 4 hard_polyhedron 'shape = cube'; }
case_rods() { compare 0.451829 3 5 spherocylinder 'length = 1'; }
case_ellipsoids() { compare 0.468806 3 6.5 hard_ellipsoid 'a = 1.5' 'b = 0.5' 'c = 0.5'; }
case_dumbbells() { compare 0.454394 3 5 union_of_spheres 'body = -0.5 0 0 0.5 0.5 0 0 0.5'; }
case_ells()
{
    compare 0.355980 2 6.5 union_of_polyhedra 'body = 4 -0.5 -0.5 1 -0.5 1 0.5 -0.5 0.5  4 -0.5 0.5 0.5 0.5 0.5 1.5 -0.5 1.5'
}
"case_$1"
