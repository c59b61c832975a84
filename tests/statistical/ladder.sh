#!/bin/bash
# Sixteen temperatures of a Lennard-Jones liquid on one ladder (ladder.ini), with replicas exchanged every ten
# sweeps: the energy on every rung is that of a run at its temperature alone, with a seed of its own. chi^2
# of the sixteen differences, as if rungs were independent; a right program is above 45.9 once in 10^4, and
# |z| of one above 4.5 once in 10^4. Every error must be below 0.02 a particle, of energies from -4 to -3.
# A minute of one core.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
command -v h5dump >/dev/null || { echo "skipped: h5dump is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# run FILE.ini OUTPUT [SETTING...]
run()
{
    local arguments=()
    for setting in "${@:3}"; do arguments+=(--set "$setting"); done
    "$PLUGMC" run "$1" --set run.output="$2" "${arguments[@]}" >"$folder/table" 2>"$folder/messages" ||
        { cat "$folder/messages"; exit 1; }
}

# energy FILE NAME: mean, error and whether the run is long enough for an error, in one line
energy()
{
    for attribute in mean error converged; do
        h5dump -m %.17g -a "/plugmc/observables/energy/$2/$attribute" "$1" | sed -n 's/^ *(0): //p'
    done | tr '\n' ' '
}

run "$here/ladder.ini" "$folder/ladder.h5"
grep '^acceptance' "$folder/table"
sed -e '/^\[ladder\]/,/^values/d' -e '/^\[mover exchange\]/,/^every/d' "$here/ladder.ini" >"$folder/alone.ini"
seed=20260
for temperature in $(sed -n 's/^values = //p' "$here/ladder.ini"); do
    run "$folder/alone.ini" "$folder/alone.h5" run.walkers=1 run.temperature="$temperature" run.seed=$((++seed))
    echo "$temperature $(energy "$folder/ladder.h5" "energy@$temperature")$(energy "$folder/alone.h5" energy)"
done >"$folder/energies"

awk '
{
    bar = sqrt($3 ^ 2 + $6 ^ 2)
    z = ($2 - $5) / bar
    chi2 += z ^ 2
    printf "z = %+.2f  T = %s: energy per particle %.4f +- %.4f on the ladder, %.4f +- %.4f alone\n", z, $1,
        $2, $3, $5, $6
    if ($4 != 1 || $7 != 1) { print "FAILED: the run is too short for its error bar"; failed = 1 }
    if (!($3 > 0 && $6 > 0 && bar < 0.02)) { print "FAILED: the error is not below 0.02"; failed = 1 }
    if (!(z * z < 4.5 ^ 2)) { print "FAILED: |z| is not below 4.5"; failed = 1 }
}
END {
    printf "chi^2 = %.1f of %d rungs\n", chi2, NR
    if (NR != 16) { print "FAILED: expected sixteen rungs"; failed = 1 }
    if (!(chi2 < 45.9)) { print "FAILED: chi^2 is not below 45.9"; failed = 1 }
    exit failed
}' "$folder/energies"
