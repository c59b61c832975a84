#!/bin/bash
# water.sh [PLUGMC [PYTHON]]: trial moves a second of SPC/E water, 512 molecules at 298 K, cutoff 10 A, Ewald sums with
# relative errors of 1e-5, on one core: mover rigid, and RASPA3 with PYTHON, which has raspalib from PyPI. Both begin with the same
# configuration, whose energies are compared, and take turns five times; times are those of the user. Needs no GPU.
set -eu
plugmc=$(realpath "${1:-build/plugmc}")
python=${2:-python3}
here=$(cd "$(dirname "$0")" && pwd)
edge=24.8586887
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMP_NUM_THREADS=1 LC_ALL=C

# input SWEEPS EQUILIBRATE STEP TURN START EXTRA
input()
{
    sed -e "s/^sweeps = .*/sweeps = $1\nthreads = 1/; s/^equilibrate = .*/equilibrate = $2/; s/^step = .*/step = $3/; s/^turn = .*/turn = $4/" \
        -e "s/^state = .*/$5/; s/tolerance = 1e-4/tolerance = 1e-5/; /^target_acceptance/d; /^\[observable/,\$d" \
        "$here/../examples/water.ini"
    printf '%b' "$6"
}

input 1 200 0.3 0.4 'state = lattice' '[observable trajectory]\nperiod = 1\n' >melt.ini
"$plugmc" run melt.ini --quiet >/dev/null
"$plugmc" export melt.h5 --to melt.xyz --last >/dev/null
awk -v L=$edge -f "$here/whole_water.awk" melt.xyz >start.xyz

input 1 0 1e-9 1e-6 'state = file\nfile = start.xyz' 'trials = 1\n[observable energy]\nperiod = 1\n' >energy.ini
"$plugmc" run energy.ini --quiet | awk '$1 == "energy.energy" { printf "energy here / K: %.1f\n", $2 * 1536 / 0.00831446261815324 }'
# A ball of this radius has the mean square of 1 A along one axis.
for sweeps in 1 41; do input $sweeps 0 0.745 1 'state = file\nfile = start.xyz' '' >rigid$sweeps.ini; done
user() { rm -f "$1.h5"; "$plugmc" run "$1.ini" --quiet --set run.output="$1.h5" >"$1.txt"; }
for _ in 1 2 3 4 5; do
    for sweeps in 1 41; do
        TIMEFORMAT=%U
        seconds[$sweeps]=$({ time user rigid$sweeps; } 2>&1)
    done
    awk -v a="${seconds[1]}" -v b="${seconds[41]}" 'BEGIN { printf "rigid: %.0f trial moves/s\n", 40 * 1024 / (b - a) }'
    "$python" -c 'import raspalib' 2>/dev/null || continue
    "$python" "$here/peers/raspa3_water.py" start.xyz $edge 10 5120 3 | tail -n 1
done
tail -n 4 rigid41.txt | grep acceptance
