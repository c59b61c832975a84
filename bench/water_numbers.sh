#!/bin/bash
# ln p(N) of SPC/E water at 525 K for N = 0 to 264 in a cube of 20 Angstrom beside NIST's (tests/data/nist/spce-525-ln-p.csv), by transition
# matrices of many walkers on a GPU: bench/ensembles/water_numbers_gpu.ini.
#
#     water_numbers.sh [--set SECTION.KEY=VALUE]...
#
# Walkers begin in their windows, as short runs on the CPU, one for each window at a time on a core each, have left two walkers there. RUNS= how many
# (default 2), FIRST= number of the first one, which gives the seeds (default 1), SECONDS_EACH= of a run (default 300), SECONDS_BEFORE= of the short
# runs (default 20), SHARE= of each run that is left out at its beginning (default 0.2), FILES= a folder for the transition counts of all runs in
# blocks (.npz), which water_numbers.py can join again, LN_P= a file for the table, REFERENCE= another table. PLUGMC= says where the program is, PYTHON=
# which one has numpy and h5py.
set -eu
[ -z "${FILES:-}" ] || mkdir -p "$FILES"
files=${FILES:+$(readlink -f "$FILES")}
table=${LN_P:+$(readlink -f "$LN_P")}
reference=${REFERENCE:+$(readlink -f "$REFERENCE")}
. "$(dirname "$0")/common.sh"
python=${PYTHON:-python3}
reference=${reference:-$here/../tests/data/nist/spce-525-ln-p.csv}
first=${FIRST:-1}
ini=$here/ensembles/water_numbers_gpu.ini
export OMP_WAIT_POLICY=passive # runs beside one another
window() # LOWEST SEED: two walkers between this number and eleven more, on a core
{
    "$plugmc" run "$ini" --quiet --set run.output="$PWD/window$1.h5" --set run.seed="$2" --set run.time_limit="${SECONDS_BEFORE:-20}" \
        --set run.device=cpu --set run.threads=1 --set run.walkers=2 --set run.equilibrate=5 --set "molecule water.count=$(($1 + 5))" \
        --set "molecule water.max_count=270" --set "mover transition_matrix.windows=1" --set "mover transition_matrix.min=$1" \
        --set "mover transition_matrix.max=$(($1 + 11))" --set "mover rigid.trials=200" --set "mover rigid.step=0.4" >"window$1.said" 2>&1 ||
        [ $? = 11 ]
    "$plugmc" export "window$1.h5" --last --to "window$1.xyz" --walker all >/dev/null
}

windows() # SEED TO.h5md: of all walkers
{
    local lowest walker states=()
    for lowest in $(seq 0 11 253); do window "$lowest" "$1" & done
    wait
    for walker in 0 1; do
        for lowest in $(seq 0 11 253); do states+=("window${lowest}_$walker.xyz"); done
    done
    "$python" "$here/water_numbers.py" starts "$2" "${states[@]}"
}

one() # NAME SEED KEY...
{
    local name=$1 begun=$SECONDS code=0
    windows "$2" "$name.h5md"
    echo "# $name: $((SECONDS - begun)) s for the windows"
    "$plugmc" run "$ini" --quiet --set run.output="$PWD/$name.h5" --set run.seed="$2" --set run.time_limit="${SECONDS_EACH:-300}" \
        --set initial.state=file --set initial.file="$PWD/$name.h5md" "${@:3}" >"$name.said" 2>"$name.errors" || code=$?
    echo "# $name: $((SECONDS - begun)) s in all, exit code $code"
    sed -n '/^acceptance/s/^/#     /p; /UNFINISHED/s/^/#     /p' "$name.said"
    [ $code = 0 ] || [ $code = 11 ] || { tail -n 5 "$name.errors" && return; }
    "$python" "$here/water_numbers.py" take "$name.h5" "$name.npz" || return 0
    rm "$name.h5"
    if [ -n "$files" ]; then cp "$name.npz" "$name.said" "$files"; fi
}

for run in $(seq "$first" $((first + ${RUNS:-2} - 1))); do
    one "run$run" $((524 + run)) "$@"
done
"$python" "$here/water_numbers.py" join "$reference" "${SHARE:-0.2}" ./*.npz >found
if [ -n "$table" ]; then cp found "$table"; fi
cat found
