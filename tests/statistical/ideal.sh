#!/bin/bash
# The pair distribution of an ideal gas is 1 at all distances: chi^2 over the 50 bins of ideal.ini.
# chi^2 of 50 numbers is above 95 once in 10^4; and g must be known to 1 %.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
command -v h5dump >/dev/null || { echo "skipped: h5dump is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$PLUGMC" run "$here/ideal.ini" --set run.output="$folder/out.h5" | tee "$folder/results" || exit 1
grep -q '^acceptance 1\.0000 ' "$folder/results" ||
    { echo "FAILED: trial moves of an ideal gas are always accepted"; exit 1; }

# numbers NAME: of the array, one a line
numbers() { h5dump -y -w 1 -d "/plugmc/observables/rdf/point-point/$1" "$folder/out.h5" | grep -Eo '^ *[0-9.e+-]+,?$' | tr -d ', '; }
paste <(numbers mean) <(numbers error) | awk '
{ n++; chi += (($1 - 1) / $2) ^ 2; if (!($2 > 0 && $2 < 0.01)) bad = 1 }
END {
    printf "chi^2 = %.1f of %d bins\n", chi, n
    if (n != 50 || bad) { print "FAILED: expected 50 bins with errors below 0.01"; exit 1 }
    if (!(chi < 95)) { print "FAILED: chi^2 is not below 95"; exit 1 }
}'
