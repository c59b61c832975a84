#!/bin/bash
# Error bars of plugmc reweight: 60 runs of a particle in a double well on four temperatures, each too short to
# be exact. What they say of energy and free energy between the rungs has squares of z that add up to 60 on
# average; beyond the bounds less than once in 10,000 times on either side (chi^2 of 60).
set -u
export LC_ALL=C OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cat >sim.ini <<END
[run]
sweeps = 6000
equilibrate = 500
device = cpu
threads = 1
walkers = 4
[box]
dimension = 2
lx = 8
[species point]
count = 1
[initial]
state = lattice
[ladder]
vary = run.temperature
values = 0.1 0.2 0.35 0.6
[potential double_well]
plugin = $TEST_PLUGINS/double_well.so
centre = 4
[mover serial]
step = 1.5
[mover exchange]
every = 10
[observable energy]
period = 10
END
for seed in $(seq 1 60); do
    rm -f sim.h5
    "$PLUGMC" run sim.ini --set run.seed="$seed" >/dev/null 2>&1 &&
        "$PLUGMC" reweight sim.h5 --csv --at run.temperature=0.15 --at run.temperature=0.5 || exit 1
done >tables
awk -F, 'function exact(T, i, x, u, w) {
        for (i = 0; i < 80000; i++) {
            x = -4 + (i + 0.5) * 1e-4; u = (x * x - 1) ^ 2; w = exp(-u / T) * 1e-4; z[T] += w; mean[T] += u * w }
        mean[T] /= z[T] }
    BEGIN { exact(0.1); exact(0.15); exact(0.5) }
    /free_energy|energy.energy,/ {
        T = $1; gsub(/[^0-9.]/, "", T); sub(/^\./, "", T)
        right = $2 == "free_energy" ? log(z[0.1] / z[T]) : mean[T]
        square[T, $2] += (($3 - right) / $4) ^ 2; number[T, $2]++ }
    END {
        for (k in square) {
            printf "%s: chi^2 %.1f of %d\n", k, square[k], number[k]; n++
            if (number[k] != 60 || square[k] < 27.5 || square[k] > 109.5) bad = 1 }
        exit bad || n != 4 }' tables || { echo "FAILED: error bars do not say what errors are"; exit 1; }
