#!/bin/bash
# bodies_pressure.sh SWEEPS [SHAPE...]: hard bodies of every shape at constant pressure, about 64 of them, on the CPU. At any
# number of bodies the mean of the pressure that body_pressure measures is the one that is applied, exactly.
#
# bodies_pressure.sh --volume SWEEPS [SHAPE...]: 1,024 bodies at constant volume, then at the pressure that was measured, which
# returns the density. With N bodies the mean volume at constant pressure is V + P''/(2 P'^2) in units of kT, P(V) being the
# pressure at constant volume: the difference falls with 1/N, and is not in what is printed.
#
# PLUGMC is the program, FOLDER where it writes, THREADS how many it takes.
set -u
export LC_ALL=C
volume=no
[ "${1-}" != --volume ] || { volume=yes; shift; }
sweeps=${1:-20000} program=${PLUGMC:-plugmc}
shift
mkdir -p "${FOLDER:-bodies}" && cd "${FOLDER:-bodies}" || exit 1

ell='4 -0.5 -0.5 1 -0.5 1 0.5 -0.5 0.5  4 -0.5 0.5 0.5 0.5 0.5 1.5 -0.5 1.5'
# SHAPE DIMENSION COUNT DENSITY PRESSURE POTENTIAL KEYS, of which PRESSURE belongs to DENSITY roughly
shapes()
{
    cat <<-END
	hexagon 2 64 0.2309 1.69 hard_polygon sides = 6
	square 2 64 0.56 2.9 hard_polygon sides = 4
	triangle 2 64 1.15 6.4 hard_polygon sides = 3
	ellipse 2 64 0.33 1.65 hard_ellipse a = 1\nb = 0.5
	ell 2 64 0.16 0.6 union_of_polyhedra body = $ell
	cube 3 64 0.32 2.0 hard_polyhedron shape = cube
	octahedron 3 64 0.68 4.5 hard_polyhedron shape = octahedron
	rod 3 108 0.055 0.3 spherocylinder length = 5
	ellipsoid 3 72 0.19 1.0 hard_ellipsoid a = 1.5\nb = 0.5\nc = 0.5
	dumbbell 3 64 0.31 1.7 union_of_spheres body = -0.5 0 0 0.5 0.5 0 0 0.5
	patches 3 64 0.4 0.7 kern_frenkel directions = 1 0 0 -1 0 0\nhalf_angle = 0.9\nepsilon = 2
	END
}

# input COUNT WALKERS PRESSURE MOVER OUTPUT
input()
{
    cat <<-END
	[run]
	sweeps = $sweeps
	equilibrate = $((sweeps / 5))
	seed = $(printf %s "$5" | cksum | cut -c1-6)
	walkers = $2
	pressure = $3
	threads = ${THREADS:-1}
	device = cpu
	output = $5.h5
	[box]
	dimension = $dimension
	density = $density
	[species body]
	count = $1
	diameter = $([ "$potential" = kern_frenkel ] && echo 1 || echo 0)
	[initial]
	state = random
	$(printf '[potential %s]\n%b' "$potential" "$keys")
	$(printf '%b' "$4")
	[observable body_pressure]
	period = 4
	[observable box_size]
	period = 4
	END
}

# number OUTPUT NAME: "mean error" of a row of the table
number() { "$program" analyse "$1.h5" --csv 2>/dev/null | awk -F, -v name="$2" '$1 == name { print $2, $3 }'; }

single='[mover serial]\nstep = 0.3\ntarget_acceptance = 0.4\n[mover rotate]\nstep = 0.5\ntarget_acceptance = 0.4'
cells='[mover checkerboard_bodies]\nstep = 0.2\ntarget_acceptance = 0.4\nturn = 0.3\ntrials = 8'
box='\n[mover volume]\nstep = 0.01\ntarget_acceptance = 0.4'
shapes | while read -r shape dimension count density pressure potential keys; do
    [ $# = 0 ] || [[ " $* " == *" $shape "* ]] || continue
    if [ $volume = no ]; then
        input "$count" 4 "$pressure" "$single$box" "$shape" >"$shape.ini"
        "$program" run "$shape.ini" >"$shape.said" 2>&1 || { cat "$shape.said"; exit 1; }
        echo "$shape $count $pressure $(number "$shape" body_pressure.pressure) $(number "$shape" box_size.density)" |
            awk '{ printf "%s, %d at P = %s: %.5f +- %.5f, z = %+.2f; density %.5f +- %.5f\n", $1, $2, $3, $4, $5, ($4 - $3) / $5, $6, $7 }'
    else
        input 1024 1 "$pressure" "$cells" "$shape-v" >"$shape-v.ini"
        "$program" run "$shape-v.ini" >"$shape-v.said" 2>&1 || { cat "$shape-v.said"; exit 1; }
        found=$(number "$shape-v" body_pressure.pressure)
        input 1024 1 "${found% *}" "$cells$box" "$shape-p" >"$shape-p.ini"
        "$program" run "$shape-p.ini" >"$shape-p.said" 2>&1 || { cat "$shape-p.said"; exit 1; }
        echo "$shape $density $found $(number "$shape-p" box_size.density) $(number "$shape-p" body_pressure.pressure)" |
            awk '{ printf "%s, 1024 at density %s: P = %.5f +- %.5f; at that P: density %.6f +- %.6f (%+.1e relative), P = %.5f +- %.5f\n", $1, $2, $3, $4, $5, $6, $5 / $2 - 1, $7, $8 }'
    fi
done
