#!/bin/bash
# overlaps.sh [ROUNDS [SWEEPS]]: 65,536 hexagons at packing fraction 0.70 and 32,768 octahedra at 0.33, on the CPU. After every
# SWEEPS sweeps tests/cross_checks/overlaps.py looks for overlaps, exactly and with code of its own. PLUGMC is the program,
# FOLDER where it writes, THREADS how many it takes. Ends with 1 if there is an overlap.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-5} sweeps=${2:-1000} program=${PLUGMC:-plugmc}
mkdir -p "${FOLDER:-overlaps}" && cd "${FOLDER:-overlaps}" || exit 1

# bodies SHAPE BOX COUNT START POTENTIAL
bodies()
{
    cat >"$1.ini" <<-END
	[run]
	sweeps = $sweeps
	equilibrate = 0
	seed = 65536
	threads = ${THREADS:-1}
	device = cpu
	output = $1.h5
	[box]
	$(printf '%b' "$2")
	[species body]
	count = $3
	[initial]
	$(printf 'state = %b' "$4")
	$(printf '[potential %b' "$5")
	[mover checkerboard_bodies]
	step = 0.1
	turn = 0.1
	trials = 8
	[observable body_order]
	period = 100
	END
    for ((round = 1; round <= rounds; round++)); do
        if [ "$round" = 1 ]; then
            "$program" run "$1.ini" >"$1.said" 2>&1 || { cat "$1.said"; exit 1; }
        else
            "$program" run --resume "$1.h5" --set run.sweeps=$((round * sweeps)) >"$1.said" 2>&1 || { cat "$1.said"; exit 1; }
        fi
        printf '%s, %d sweeps: ' "$1" $((round * sweeps))
        tr '\r' '\n' <"$1.said" | grep 'acceptance' | tail -n 2 | paste -sd ' '
        python3 "$here/../tests/cross_checks/overlaps.py" "$1.h5" "$1" || exit 1
    done
}

bodies hexagon 'dimension = 2\nshape = triangular\ndensity = 0.26943' 65536 lattice 'hard_polygon]\nsides = 6'
bodies octahedron 'dimension = 3\ndensity = 0.7' 32768 'lattice\nlattice = fcc' 'hard_polyhedron]\nshape = octahedron'
