#!/bin/bash
# yukawa.sh repulsive|mixture: [observable pressure] of hard spheres with a Yukawa potential (yukawa.ini)
# against numbers that need no simulation of others. Three minutes each.
#
# Low density, rho = 0.005: the virial series of just these N particles in their box,
#     P V / N kT = 1 + (1/N) [ sum over pairs of 2 B / V + 4 B^2 / V^2, over triples of 6 B3 / V^2 ],
# with B and B3 integrated here. What is left out, of order rho^3, is taken as an error of 1e-4.
#
# Densities 0.4 to 0.5: the free energy F over that of hard spheres is found in two ways. Switching the
# potential on in a fixed volume, F = integral of <U> over its strength from 0 to 1, by energies alone;
# between two volumes, F(V2) - F(V1) = - integral of P - P_hard dV, with P_hard by the rifts of
# hard_pressure. Both at the same N and in the same box, so that it is exact for any N. Integrals by
# three points of Gauss; five give the same (docs/validation.md).
#
# |z| < 3 for both: a right program fails 0.5 % of such tests. The seeds are fixed.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
case $1 in
repulsive) charge=1 ;;
mixture) charge=-1 ;;
*) echo "yukawa.sh repulsive|mixture"; exit 1 ;;
esac
number=128 range=2.5 kappa=1.8 bjerrum=12.1 # of yukawa.ini

# run LABEL QUANTITY SETTING...: one line more in results: label, mean, error.
seed=20226
run()
{
    local label=$1 quantity=$2 arguments=(--set "species b.charge=$charge" --set run.seed=$((++seed)))
    shift 2
    for setting; do arguments+=(--set "$setting"); done
    "$PLUGMC" run "$here/yukawa.ini" --set run.output="$folder/out.h5" "${arguments[@]}" \
        >"$folder/table" 2>"$folder/messages" || { cat "$folder/messages"; exit 1; }
    rm -f "$folder"/out.h5*
    awk -v label="$label" -v quantity="$quantity" '
    # 2.7169(41) is 2.7169 +- 0.0041
    $1 == quantity && $2 ~ /^-?[0-9.]+\([0-9]+\)$/ {
        split($2, parts, /[()]/)
        digits = index(parts[1], ".") ? length(parts[1]) - index(parts[1], ".") : 0
        print label, parts[1], parts[2] / 10 ^ digits
        found = 1
    }
    END { exit !found }' "$folder/table" >>"$folder/results" ||
        { cat "$folder/table"; echo "FAILED: no sound $quantity of $label"; exit 1; }
    tail -n 1 "$folder/results"
}

run dilute pressure.osmotic_coefficient box.density=0.005 mover.step=14 run.sweeps=50000
# Of a mixture <U> comes from charges that hardly feel each other where the strength is low, and that
# drift about slowly; its share is divided by the strength.
sweeps=(0 20000 20000 20000)
[ "$1" = mixture ] && sweeps=(0 120000 60000 20000)
# Points of Gauss between 0 and 1, and between the volumes of densities 0.5 and 0.4
for k in 1 2 3; do
    read -r strength density < <(awk -v k=$k -v n=$number 'BEGIN {
        x = 0.5 + (k - 2) * sqrt(0.15); v1 = n / 0.5; v2 = n / 0.4
        printf "%.17g %.17g\n", x, n / (v1 + x * (v2 - v1)) }')
    for at in 0.5 0.4; do
        run "energy $at $k $strength" energy.energy box.density=$at run.sweeps="${sweeps[k]}" \
            "potential yukawa.bjerrum_length=$(awk "BEGIN { printf \"%.17g\", $bjerrum * $strength }")"
    done
    run "pressure $k $density" pressure.pressure box.density="$density" run.sweeps=40000
    run "hard $k $density" hard_pressure.pressure box.density="$density" \
        "potential yukawa.role=measured" "observable hard_pressure.period=5"
done

awk -v charge=$charge -v number=$number -v range=$range -v kappa=$kappa -v bjerrum=$bjerrum '
function between(c, x,    i) { # cumulated integrals at the edges of n cells
    x /= h; i = int(x)
    return i < n ? c[i] + (x - i) * (c[i + 1] - c[i]) : c[n]
}
function distance(i, j) { return r[i] > r[j] ? r[i] - r[j] : r[j] - r[i] }
function second(f,    i, sum) { for (i = 0; i < n; i++) sum += f[i] * r[i] ^ 2; return -2 * pi * sum * h }
# -1/3 of the integral of a b c over triangles with these sides
function third(a, b, c,    i, j, cumulated, sum, inner) {
    cumulated[0] = 0
    for (i = 0; i < n; i++) cumulated[i + 1] = cumulated[i] + c[i] * r[i] * h
    for (i = 0; i < n; i++) {
        inner = 0
        for (j = 0; j < n; j++)
            inner += b[j] * r[j] * (between(cumulated, r[i] + r[j]) - between(cumulated, distance(i, j)))
        sum += a[i] * r[i] * inner * h
    }
    return -8 * pi ^ 2 / 3 * sum * h
}
# Half of the particles have one charge, half the other.
function virial_series(rho,    i, u, alike, other, pairs, squares, triples) {
    pi = atan2(0, -1); n = 500; h = range / n
    for (i = 0; i < n; i++) {
        r[i] = (i + 0.5) * h
        u = bjerrum * (exp(-kappa * r[i]) / r[i] - exp(-kappa * range) / range)
        like[i] = r[i] < 1 ? -1 : exp(-u) - 1
        unlike[i] = r[i] < 1 ? -1 : exp(-charge * u) - 1
    }
    alike = second(like); other = second(unlike)
    pairs = ((1 - 2 / number) * alike + other) / 2
    squares = ((1 - 2 / number) * alike ^ 2 + other ^ 2) / number
    triples = (1 - 4 / number) * third(like, like, like) + 3 * third(like, unlike, unlike)
    triples *= (1 - 2 / number) / 4
    printf "B2 of equal charges %.4f, of these particles %.4f; B3 of these %.3f\n", alike, pairs, triples
    return 1 + pairs * rho + (squares + triples) * rho ^ 2
}
function compare(name, found, bar, expected, other, most,    z) {
    z = (found - expected) / sqrt(bar ^ 2 + other ^ 2)
    printf "z = %+.2f  %s: %.5f +- %.5f, expected %.5f +- %.5f\n", z, name, found, bar, expected, other
    if (!(sqrt(bar ^ 2 + other ^ 2) < most)) { print "FAILED: the errors are not below " most; failed = 1 }
    if (!(z * z < 9)) { print "FAILED: |z| is not below 3"; failed = 1 }
    seen++
}
BEGIN { weight[1] = weight[3] = 5 / 18; weight[2] = 8 / 18; width = 1 / 0.4 - 1 / 0.5 } # volume a particle
$1 == "dilute" { compare("P V / N kT at 0.005", $2, $3, virial_series(0.005), 1e-4, 0.002) }
$1 == "energy" { # of strength $4
    w = ($2 == "0.4" ? 1 : -1) * weight[$3] / $4
    switched += w * $5; switched_bar += (w * $6) ^ 2
}
$1 == "pressure" || $1 == "hard" {
    w = ($1 == "hard" ? 1 : -1) * weight[$2] * width
    expanded += w * $4; expanded_bar += (w * $5) ^ 2
}
END {
    compare("F(0.4) - F(0.5) over hard spheres, kT a particle, by pressures", expanded, sqrt(expanded_bar),
            switched, sqrt(switched_bar), 0.004)
    if (seen != 2 || NR != 13) { print "FAILED: expected 13 runs"; failed = 1 }
    exit failed
}' "$folder/results"
