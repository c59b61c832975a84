#!/bin/bash
# ln p(N) of SPC/E water at 525 K for N = 0 to 264 in a cube of 20 Angstrom beside NIST's (tests/data/nist/spce-525-ln-p.csv), by transition
# matrices of many walkers on a GPU: bench/ensembles/water_numbers_gpu.ini up to N = 88, and from there with more displacements.
#
#     water_numbers.sh [--set SECTION.KEY=VALUE]...
#
# RUNS= of each part (default 2), FIRST= number of the first one, which gives the seeds (default 1), SECONDS_EACH= of a run of the upper and of the
# lower part (default "300 60"), SHARE= of each run that is left out at its beginning (default 0.25), FILES= a folder for the transition counts of all
# runs in blocks (.npz), which water_numbers.py can join again, LN_P= a file for the table, REFERENCE= another table. PLUGMC= says where the program
# is, PYTHON= which one has numpy and h5py.
set -eu
[ -z "${FILES:-}" ] || mkdir -p "$FILES"
files=${FILES:+$(readlink -f "$FILES")}
table=${LN_P:+$(readlink -f "$LN_P")}
reference=${REFERENCE:+$(readlink -f "$REFERENCE")}
. "$(dirname "$0")/common.sh"
python=${PYTHON:-python3}
reference=${reference:-$here/../tests/data/nist/spce-525-ln-p.csv}
read -r high low <<<"${SECONDS_EACH:-300 60}"
first=${FIRST:-1}
upper=(--set "mover transition_matrix.min=88" --set "mover transition_matrix.max=264" --set "mover transition_matrix.windows=16"
    --set "molecule water.count=180" --set "molecule water.max_count=270" --set "mover rigid.trials=200" --set "mover rigid.step=0.4")

one() # NAME SEED SECONDS KEY...
{
    local name=$1 begun=$SECONDS code=0
    "$plugmc" run "$here/ensembles/water_numbers_gpu.ini" --quiet --set run.output="$PWD/$name.h5" --set run.seed="$2" \
        --set run.time_limit="$3" "${@:4}" >"$name.said" 2>"$name.errors" || code=$?
    echo "# $name: $((SECONDS - begun)) s in all, exit code $code"
    sed -n '/^acceptance/s/^/#     /p; /UNFINISHED/s/^/#     /p' "$name.said"
    [ $code = 0 ] || [ $code = 11 ] || { tail -n 5 "$name.errors" && return; }
    "$python" "$here/water_numbers.py" take "$name.h5" "$name.npz" || return 0
    rm "$name.h5"
    if [ -n "$files" ]; then cp "$name.npz" "$name.said" "$files"; fi
}

for run in $(seq "$first" $((first + ${RUNS:-2} - 1))); do
    one "upper$run" $((525 + 2 * run)) "$high" "${upper[@]}" "$@"
    one "lower$run" $((526 + 2 * run)) "$low" "$@"
done
"$python" "$here/water_numbers.py" join "$reference" "${SHARE:-0.25}" ./*.npz >found
if [ -n "$table" ]; then cp found "$table"; fi
cat found
