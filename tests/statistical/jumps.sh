#!/bin/bash
# jumps.sh: pressures of energies that jump, at the edge of a square well beside hard cores (square_well.ini) and at a
# cutoff (cut_liquid.ini), against the pressure at which the density is that of the run. A minute. Fixed seeds, |z| < 4:
# a right program fails one such test in 16,000.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# pressure FILE QUANTITY EXACT
pressure()
{
    "$PLUGMC" run "$here/$1" --set run.output="$folder/out.h5" --set run.device=cpu >"$folder/table" 2>"$folder/messages" ||
        { cat "$folder/messages"; exit 1; }
    rm -f "$folder"/out.h5*
    awk -v name="$2" -v exact="$3" '$1 == name && split($2, part, /[()]/) > 1 {
        digits = part[1]; sub(/[^.]*\.?/, "", digits)
        error = part[2] / 10 ^ length(digits); z = (part[1] - exact) / error
        printf "%s %s +- %g, exact %s, z = %.2f\n", name, part[1], error, exact, z
        good = z < 4 && z > -4 && error < 0.05 * exact }
        END { exit !good }' "$folder/table" || failed=1
}

pressure square_well.ini pressure.pressure 14.512
pressure cut_liquid.ini virial_pressure.pressure 0.69
exit $failed
