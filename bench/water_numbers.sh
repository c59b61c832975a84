#!/bin/bash
# ln p(N) of SPC/E water at 525 K for N = 0 to 264 in a cube of 20 Angstrom beside NIST's (tests/data/nist/spce-525-ln-p.csv), by transition
# matrices of many walkers on a GPU: bench/ensembles/water_numbers_gpu.ini in three parts, thin (up to N = 88), middle (to 176) and dense, of
# eight windows each.
#
#     water_numbers.sh [--set SECTION.KEY=VALUE]...
#
# Walkers begin in their windows, as short runs on the CPU, one for each window, have left two walkers there. PARTS= which parts (default "dense
# middle thin"), SECONDS_EACH= of a run of each of these (default "300 200 60"), RUNS= of each part (default 2), FIRST= number of the first one, which
# gives the seeds (default 1), SECONDS_BEFORE= of the short runs (default 20), SHARE= of each run that is left out at its beginning (default 0.25), FILES=
# a folder for the transition counts of all runs in blocks (.npz), which water_numbers.py can join again, LN_P= a file for the table, REFERENCE=
# another table. PLUGMC= says where the program is, PYTHON= which one has numpy and h5py.
set -eu
[ -z "${FILES:-}" ] || mkdir -p "$FILES"
files=${FILES:+$(readlink -f "$FILES")}
table=${LN_P:+$(readlink -f "$LN_P")}
reference=${REFERENCE:+$(readlink -f "$REFERENCE")}
. "$(dirname "$0")/common.sh"
python=${PYTHON:-python3}
reference=${reference:-$here/../tests/data/nist/spce-525-ln-p.csv}
read -ra parts <<<"${PARTS:-dense middle thin}"
read -ra lasts <<<"${SECONDS_EACH:-300 200 60}"
first=${FIRST:-1}
ini=$here/ensembles/water_numbers_gpu.ini
thin=(0 --set "mover insert_molecule.trial_positions=4" --set "mover rigid.trials=100")
middle=(88 --set "mover insert_molecule.trial_positions=8" --set "mover rigid.trials=200" --set "mover rigid.step=0.5")
dense=(176 --set "mover insert_molecule.trial_positions=16" --set "mover rigid.trials=200" --set "mover rigid.step=0.4")

window() # LOWEST SEED: two walkers between this number and eleven more, on a core
{
    "$plugmc" run "$ini" --quiet --set run.output="$PWD/window$1.h5" --set run.seed="$2" --set run.time_limit="${SECONDS_BEFORE:-20}" \
        --set run.device=cpu --set run.threads=1 --set run.walkers=2 --set run.equilibrate=5 --set "molecule water.count=$(($1 + 5))" \
        --set "molecule water.max_count=270" --set "mover transition_matrix.windows=1" --set "mover transition_matrix.min=$1" \
        --set "mover transition_matrix.max=$(($1 + 11))" --set "mover rigid.trials=200" --set "mover rigid.step=0.4" >"window$1.said" 2>&1 ||
        [ $? = 11 ]
    "$plugmc" export "window$1.h5" --last --to "window$1.xyz" --walker all >/dev/null
}

windows() # LOWEST SEED TO.h5md: of all walkers of a part
{
    local k walker states=()
    for k in 0 11 22 33 44 55 66 77; do window $(($1 + k)) "$2" & done
    wait
    for walker in 0 1; do
        for k in 0 11 22 33 44 55 66 77; do states+=("window$(($1 + k))_$walker.xyz"); done
    done
    "$python" "$here/water_numbers.py" starts "$3" "${states[@]}"
}

one() # NAME SEED SECONDS LOWEST KEY...
{
    local name=$1 begun=$SECONDS code=0
    windows "$4" "$2" "$name.h5md"
    echo "# $name: $((SECONDS - begun)) s for the windows"
    "$plugmc" run "$ini" --quiet --set run.output="$PWD/$name.h5" --set run.seed="$2" --set run.time_limit="$3" --set initial.state=file \
        --set initial.file="$PWD/$name.h5md" --set "molecule water.count=$(($4 + 44))" --set "molecule water.max_count=270" \
        --set "mover transition_matrix.min=$4" --set "mover transition_matrix.max=$(($4 + 88))" "${@:5}" >"$name.said" 2>"$name.errors" || code=$?
    echo "# $name: $((SECONDS - begun)) s in all, exit code $code"
    sed -n '/^acceptance/s/^/#     /p; /UNFINISHED/s/^/#     /p' "$name.said"
    [ $code = 0 ] || [ $code = 11 ] || { tail -n 5 "$name.errors" && return; }
    "$python" "$here/water_numbers.py" take "$name.h5" "$name.npz" || return 0
    rm "$name.h5"
    if [ -n "$files" ]; then cp "$name.npz" "$name.said" "$files"; fi
}

for run in $(seq "$first" $((first + ${RUNS:-2} - 1))); do
    for k in "${!parts[@]}"; do
        declare -n part=${parts[k]}
        one "${parts[k]}$run" $((525 + 10 * run + k)) "${lasts[k]}" "${part[@]}" "$@"
    done
done
"$python" "$here/water_numbers.py" join "$reference" "${SHARE:-0.25}" ./*.npz >found
if [ -n "$table" ]; then cp found "$table"; fi
cat found
