#!/bin/bash
# electrolyte.sh WAY CONCENTRATION: osmotic coefficient and energy of the restricted primitive model, as
# [observable pressure] finds them from contacts and virial together. WAY: images (brush, nearest images
# of 512 ions, examples/restricted-primitive-model.ini) or ewald (serial, Ewald sums of 256 ions,
# examples/periodic-electrolyte.ini); CONCENTRATION: one of the table below, mol/l. One to two minutes each.
#
# Reference: canonical Monte Carlo of few ions with nearest images, J. C. Rasaiah, D. N. Card, J. P.
# Valleau, J. Chem. Phys. 56, 248 (1972), table II. z counts both errors, the paper's as one standard
# error; of six tests with two numbers each, independent, a right program fails 3 % at |z| = 3. The
# seeds are fixed. 256 ions are off an infinite system by 0.002 at most (docs/validation.md). The
# Carnahan-Starling equation with the mean spherical approximation is a theory: it has to be within 0.02.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

#   mol/l    per A^3     cutoff  -U/NkT          phi             theory
read -r _ density cutoff energy phi theory < <(awk -v c="$2" '$1 == c' <<'TABLE'
0.10376  1.24974e-4  63      0.2739(14)      0.9445(12)      0.9454
0.42502  5.1191e-4   39      0.4341(17)      0.9774(46)      0.9807
1.0001   1.2046e-3   29      0.5516(16)      1.094(5)        1.0972
TABLE
)
[ "${theory-}" ] || { echo "there is no concentration $2"; exit 1; }
if [ "$1" = images ]; then
    file=restricted-primitive-model
    settings=(run.walkers=2 run.equilibrate=1000 run.sweeps=20000)
else
    file=periodic-electrolyte
    settings=(run.equilibrate=1000 run.sweeps=15000
              "potential coulomb_ewald.cutoff=$cutoff" "observable rdf.r_max=25")
fi
arguments=(--set box.density="$density" --set mover.step=25 --set mover.target_acceptance=0)
for setting in "${settings[@]}"; do arguments+=(--set "$setting"); done
"$PLUGMC" run "$here/../../examples/$file.ini" --set run.device=cpu --set run.threads=1 \
    --set run.output="$folder/out.h5" "${arguments[@]}" | tee "$folder/results"
[ "${PIPESTATUS[0]}" = 0 ] || exit 1

awk -v energy="-$energy" -v phi="$phi" -v theory="$theory" '
# -0.2739(14) is -0.2739 +- 0.0014
function error(text,    parts, digits) {
    split(text, parts, /[()]/)
    digits = index(parts[1], ".") ? length(parts[1]) - index(parts[1], ".") : 0
    return parts[2] / 10 ^ digits
}
function compare(name, found, expected, most,    e, z) {
    e = error(found)
    z = (found - expected) / sqrt(e ^ 2 + error(expected) ^ 2)
    printf "z = %+.2f  %s: %s, expected %s\n", z, name, found, expected
    if (found ~ /\*$/) { print "FAILED: the run is too short for its error bar"; failed = 1 }
    if (!(e > 0 && e < most)) { print "FAILED: the error is not below " most; failed = 1 }
    if (!(z * z < 9)) { print "FAILED: |z| is not below 3"; failed = 1 }
    seen++
}
$1 == "energy.energy" { compare("U/NkT", $2, energy, 0.001) }
$1 == "pressure.osmotic_coefficient" {
    compare("phi", $2, phi, 0.005)
    printf "%+.4f  phi less that of Carnahan-Starling and MSA\n", $2 - theory
    if (!(($2 - theory) ^ 2 < 4e-4)) { print "FAILED: that is not within 0.02"; failed = 1 }
}
END {
    if (seen != 2) { print "FAILED: no energy or no osmotic coefficient in the results"; failed = 1 }
    exit failed
}' "$folder/results"
