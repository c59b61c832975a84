#!/bin/bash
# The energy per particle of lennard_jones.ini with checkerboard, in the order of additions for many
# neighbours, and with serial: the test passes within 4 standard errors of the difference. Error bars
# are the spread of 16 walkers, so right programs would fail some 3e-4 of such tests; the seed is
# fixed, and only a change of the chain draws anew. Errors must be below 0.01 kT.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

sed -e 's/^\[mover checkerboard\]/[mover serial]/' -e '/^trials = /d' "$here/lennard_jones.ini" \
    >"$folder/serial.ini"
cp "$here/lennard_jones.ini" "$folder/checkerboard.ini"
for mover in serial checkerboard; do
    "$PLUGMC" run "$folder/$mover.ini" --set run.output="$folder/$mover.h5" --set run.device=cpu \
        >"$folder/$mover" || exit 1
    sed "s/^/$mover: /" "$folder/$mover"
done

cat "$folder/serial" "$folder/checkerboard" | awk '
# -3.923(22) is -3.923 +- 0.022
function error(text,    parts, digits) {
    split(text, parts, /[()]/)
    digits = index(parts[1], ".") ? length(parts[1]) - index(parts[1], ".") : 0
    return parts[2] / 10 ^ digits
}
$1 == "energy.energy" {
    n++
    mean[n] = $2 + 0
    bar[n] = error($2)
    if ($2 ~ /\*$/) { print "FAILED: the run is too short for its error bar"; failed = 1 }
    if (!(bar[n] > 0 && bar[n] < 0.01)) { print "FAILED: the error is not below 0.01"; failed = 1 }
}
END {
    if (n != 2) { print "FAILED: no energies in the results"; exit 1 }
    z = (mean[2] - mean[1]) / sqrt(bar[1] ^ 2 + bar[2] ^ 2)
    printf "z = %+.2f  energy per particle, checkerboard less serial: %.5f +- %.5f\n", z,
        mean[2] - mean[1], sqrt(bar[1] ^ 2 + bar[2] ^ 2)
    if (!(z * z < 16)) { print "FAILED: |z| is not below 4"; failed = 1 }
    exit failed
}'
