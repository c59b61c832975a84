#!/bin/bash
# bodies_density.sh SWEEPS [SHAPE...]: constant pressure returns the density, for hard bodies of every shape.
#
# A few bodies at constant pressure for SWEEPS sweeps, which have a mean volume; and five runs at constant volume, around it,
# whose pressures P(V) give it again without any 1/N: at constant pressure volumes have the probability
#
#     p(V) ~ exp(-P V / kT + integral of P(V) dV / kT)
#
# at any number of bodies. bodies_density.py fits a curve to the five and integrates. A line of the output has both
# densities N / <V>, the standard errors of both, and the pressure that the run at constant pressure has measured on the way.
#
# WALKERS= shares SWEEPS among so many walkers, each of which comes to equilibrium for EQUILIBRATE= (1,000) sweeps of its own.
# SAMPLES= (SWEEPS / 30) is the number of measurements of each of the five pressures, 20 sweeps apart, in WALKERS_AT_VOLUME= (WALKERS)
# walkers; 0: only constant pressure. START= (random) is the state of [initial], DEVICE= (cpu) says where, THREADS= (1) how many a run
# takes, JOBS= (1) how many runs there are at a time: one on a GPU, where programs that share it wait for each other at each copy.
# TRIALS= (6) is the number of volume moves a sweep; fewer are better on a GPU, where they take most of the time.
# SEED= (0) is added to all seeds, SECONDS_OF_RUN= (0: no limit) ends a run early, and what it has counts.
#
# PLUGMC is the program, FOLDER where it writes.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
all=${1:-1000000} program=${PLUGMC:-plugmc}
shift
mkdir -p "${FOLDER:-bodies_density}" && cd "${FOLDER:-bodies_density}" || exit 1

ell='4 -0.5 -0.5 1 -0.5 1 0.5 -0.5 0.5  4 -0.5 0.5 0.5 0.5 0.5 1.5 -0.5 1.5'
# SHAPE DIMENSION COUNT VOLUME_OF_ONE DENSITY PRESSURE POTENTIAL KEYS. The box must be twice as long as the longest distance at which
# two bodies touch, and stay so. DENSITY is about that at PRESSURE.
shapes()
{
    cat <<-END
	hexagon 2 36 2.598076 0.231 1.69 hard_polygon sides = 6
	square 2 24 1 0.523 2.9 hard_polygon sides = 4
	rod 3 24 1.309 0.225 1.0 spherocylinder length = 1
	octahedron 3 24 0.471405 0.686 4.5 hard_polyhedron shape = octahedron
	ellipsoid 3 24 1.0472 0.242 0.85 hard_ellipsoid a = 1\nb = 0.5\nc = 0.5
	dumbbell 3 28 1.0472 0.275 1.5 union_of_spheres body = -0.5 0 0 0.5 0.5 0 0 0.5
	patches 3 24 0.523599 0.625 1.6 kern_frenkel directions = 1 0 0 -1 0 0\nhalf_angle = 0.9\nepsilon = 2
	ellipse 2 24 1.5708 0.332 1.65 hard_ellipse a = 1\nb = 0.5
	discorectangle 2 24 1.7854 0.275 1.2 spherocylinder length = 1
	triangle 2 24 0.433013 1.135 6.4 hard_polygon sides = 3
	cube 3 24 1 0.3095 2.0 hard_polyhedron shape = cube
	ell 2 24 2.5 0.163 0.6 union_of_polyhedra body = $ell
	END
}

# input DENSITY SWEEPS PERIOD WALKERS OUTPUT MOVER: DENSITY 0 is constant pressure, PERIOD 0 measures no pressure
input()
{
    local least=$([ "$4" = 1 ] && echo 5000 || echo 1000)
    cat <<-END
	[run]
	sweeps = $2
	equilibrate = ${EQUILIBRATE:-$(($2 / 20 > least ? $2 / 20 : least))}
	seed = $(($(printf %s "$5" | cksum | cut -c1-6) + ${SEED:-0}))
	threads = ${THREADS:-1}
	walkers = $4
	device = ${DEVICE:-cpu}
	output = $5.h5
	time_limit = ${SECONDS_OF_RUN:-0}
	$([ "$1" != 0 ] || echo "pressure = $pressure")
	[box]
	dimension = $dimension
	density = $([ "$1" = 0 ] && echo "$density" || echo "$1")
	[species body]
	count = $count
	diameter = $([ "$potential" = kern_frenkel ] && echo 1 || echo 0)
	[initial]
	state = ${START:-random}
	$(printf '[potential %s]\n%b' "$potential" "$keys")
	[mover serial]
	step = 0.3
	target_acceptance = 0.4
	[mover rotate]
	step = 0.5
	target_acceptance = 0.5
	$(printf '%b' "$6")
	$([ "$3" = 0 ] || printf '[observable body_pressure]\nperiod = %s' "$3")
	[observable box_size]
	period = 2
	END
}

# number OUTPUT NAME: "mean error" of a row of the table
number() { "$program" analyse "$1.h5" --csv 2>/dev/null | awk -F, -v name="$2" '$1 == name { print $2, $3 }'; }

# One run, OUTPUT by its INI file. Status 11 is that of the time limit.
made()
{
    rm -f "$1.h5"*
    "$program" run "$1.ini" >"$1.said" 2>&1 </dev/null
    case $? in 0 | 11) ;; *) cat "$1.said" && exit 1 ;; esac
}

volumes='0.90 0.95 1.00 1.06 1.13'
# All runs of a shape, after its line of `shapes` was read.
made_all()
{
    local walkers=${WALKERS:-1} few=${WALKERS_AT_VOLUME:-${WALKERS:-1}} k
    local samples=${SAMPLES:-$((all / 30))} volumes=$volumes
    input 0 $((all / walkers)) $([ "$walkers" = 1 ] && echo 20 || { [ "$samples" = 0 ] && echo 0 || echo 1000; }) "$walkers" "$shape-p" \
        '[mover volume]\nstep = 0.01\ntarget_acceptance = 0.4\ntrials = '${TRIALS:-6} >"$shape-p.ini"
    [ "$samples" != 0 ] || volumes=
    for k in $volumes; do
        input "$(awk "BEGIN { printf \"%.9g\", $density / $k }")" $((samples * 20 / few)) 20 "$few" "$shape-$k" '' >"$shape-$k.ini"
    done
    made "$shape-p" &
    for k in $volumes; do
        while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do wait -n || exit 1; done
        made "$shape-$k" &
    done
    wait
    for k in $volumes; do
        [ -e "$shape-$k.h5" ] || exit 1
        echo "$(awk "BEGIN { printf \"%.9g\", $count / $density * $k }") $(number "$shape-$k" body_pressure.pressure)"
    done >"$shape.volumes"
    [ "$volumes" ] || { number "$shape-p" box_size.volume | awk -v s="$shape" -v n="$count" -v p="$pressure" \
        '{ printf "%s, %d at P = %s: N/<V> = %.6f (%.1e relative)\n", s, n, p, n / $1, $2 / $1 }'; return; }
    echo "$shape $count $body $pressure $(number "$shape-p" box_size.volume) $(number "$shape-p" body_pressure.pressure)" |
        python3 "$here/bodies_density.py" "$shape.volumes" || exit 1
}

shapes | while read -r shape dimension count body density pressure potential keys; do
    [ $# = 0 ] || [[ " $* " == *" $shape "* ]] || continue
    made_all || exit 1
done
