#!/bin/bash
# bash pressure.sh NAME runs one line of cases.txt with $PLUGMC and compares the pressure with the
# reference: the test passes within 4 standard errors (default) or 3 (slow, gpu) of the difference.
# Were error bars exact, right programs would fail 6e-5 and 3e-3 of such tests; with some tens of
# independent blocks in an error bar it is 4e-4 and 6e-3. Seeds are fixed: a program that passes
# passes again, and only a change of the chain draws anew.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

read -r name set file reference most settings < <(awk -v name="$1" '$1 == name' "$here/cases.txt")
[ "${name-}" ] || { echo "cases.txt has no $1"; exit 1; }
device=cpu z=4
[ "$set" = default ] || z=3
if [ "$set" = gpu ]; then
    "$PLUGMC" doctor | grep -q '^GPU  *0:' || { echo "skipped: no GPU"; exit 77; }
    device=gpu
fi
arguments=()
for setting in $settings; do arguments+=(--set "$setting"); done
"$PLUGMC" run "$here/$file.ini" --set run.output="$folder/out.h5" --set run.device=$device \
    "${arguments[@]}" | tee "$folder/results" || exit 1
[ "${PIPESTATUS[0]}" = 0 ] || exit 1

awk -v name="$name" -v reference="$reference" -v most="$most" -v limit=$z '
# 9.533(77) is 9.533 +- 0.077
function value(text) { return text + 0 }
function error(text,    parts, digits) {
    split(text, parts, /[()]/)
    digits = index(parts[1], ".") ? length(parts[1]) - index(parts[1], ".") : 0
    return parts[2] / 10 ^ digits
}
$1 == "hard_pressure.reduced_pressure" {
    found = 1
    e = error($2)
    z = (value($2) - value(reference)) / sqrt(e ^ 2 + error(reference) ^ 2)
    printf "z = %+.2f  %s: %s, expected %s\n", z, name, $2, reference
    if ($2 ~ /\*$/) { print "FAILED: the run is too short for its error bar"; exit 1 }
    if (!(e > 0 && e < most)) { print "FAILED: the error is not below " most; exit 1 }
    if (!(z * z < limit * limit)) { print "FAILED: |z| is not below " limit; exit 1 }
}
END { if (!found) { print "FAILED: no pressure in the results"; exit 1 } }' "$folder/results"
