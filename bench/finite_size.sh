#!/bin/sh
# The electron gas in boxes of 14, 38, 54 and 66 electrons: energies averaged over twists, and Chiesa's corrections,
# which should take them to one value (docs/twists.md).
#
#     finite_size.sh [RS [DIVISIONS [SWEEPS]]]      1 4 800
#
# Columns, Hartree an electron: N; mean over the twists; the same and what free electrons in these boxes lack at
# these twists (exact); the same and the corrections of structure_factor (b measured); the same with b of the gas; the
# same and the next order of the kinetic one. Below: how far each is from one value for all N, in errors; and lines in
# 1/N. The slope of that through the uncorrected ones should be minus half the plasma frequency (a quarter each of
# potential and kinetic energy).
# METHOD=variational|diffusion (with TAU=), JOBS= runs at a time, THREADS= of each, DEVICE=cpu|gpu|auto,
# NUMBERS="14 38 54 66", WALKERS= of 66 electrons. PLUGMC= says where the program is.
set -eu
. "$(dirname "$0")/common.sh"
rs=${1:-1} divisions=${2:-4} sweeps=${3:-800}
numbers=${NUMBERS:-14 38 54 66} method=${METHOD:-variational} most=${WALKERS:-8}

# A/r (1 - exp(-r/F)), symmetric about the cutoff of half an edge, A = 1/w and F by the cusps, as eight coefficients
# of the B-spline: those that give it at the knots.
jastrow() # N CUSP
{
    awk -v n="$1" -v cusp="$2" -v rs="$rs" 'function u(r) { return a / r * (1 - exp(-r / f)) }
    BEGIN {
        pi = atan2(0, -1); a = sqrt(rs ^ 3 / 3); f = sqrt(a / (2 * cusp))
        cutoff = rs * (4 * pi / 3 * n) ^ (1 / 3) / 2; h = cutoff / 9
        for (k = 0; k < 8; k++) {
            r = k ? k * h : 1e-6
            at[k] = u(r) + u(2 * cutoff - r) - 2 * u(cutoff)
        }
        for (turn = 0; turn < 500; turn++)
            for (k = 0; k < 8; k++)
                p[k] = k ? (6 * at[k] - p[k - 1] - p[k + 1]) / 4 : (6 * at[0] - 2 * h * cusp - 2 * p[1]) / 4
        for (k = 0; k < 8; k++) printf "%s%.8f", k ? " " : "", p[k]
    }'
}

# Kinetic energy of free electrons, an electron: at the twists of the grid, and in an infinite box.
free_electrons() # N
{
    awk -v n="$1" -v rs="$rs" -v q="$divisions" 'BEGIN {
        pi = atan2(0, -1); edge = rs * (4 * pi / 3 * n) ^ (1 / 3)
        for (x = 0; x < q; x++) for (y = x; y < q; y++) for (z = y; z < q; z++) {
            orders = x == y && y == z ? 1 : x == y || y == z ? 3 : 6
            count = 0
            for (i = -4; i <= 4; i++) for (j = -4; j <= 4; j++) for (k = -4; k <= 4; k++) {
                square = (i + (2 * x + 1 - q) / (2 * q)) ^ 2 + (j + (2 * y + 1 - q) / (2 * q)) ^ 2 \
                    + (k + (2 * z + 1 - q) / (2 * q)) ^ 2
                if (square < 14) waves[count++] = square
            }
            for (m = 0; m < n / 2; m++) { # the lowest ones, by selection
                least = m
                for (i = m + 1; i < count; i++) if (waves[i] < waves[least]) least = i
                swap = waves[m]; waves[m] = waves[least]; waves[least] = swap
                sum += orders * waves[m]
            }
        }
        print sum / q ^ 3 * (2 * pi / edge) ^ 2 / n, 0.3 * (9 * pi / 4) ^ (2 / 3) / rs ^ 2
    }'
}

# Of a Monkhorst-Pack grid those that a cube tells apart, and how many each stands for.
twists() # list|weights
{
    awk -v q="$divisions" -v what="$1" 'function at(r) { r = (2 * r + 1 - q) / (2 * q); return r < 0 ? -r : r }
    BEGIN {
        for (x = 0; x < q; x++) for (y = 0; y < q; y++) for (z = 0; z < q; z++) {
            a = at(x); b = at(y); c = at(z)
            if (a > b || b > c) continue
            name = a " " b " " c
            if (!(name in weight)) order[count++] = name
            weight[name] += a == b && b == c ? 1 : a == b || b == c ? 3 : 6
        }
        for (i = 0; i < count; i++) printf "%s", what == "list" ? " \"" order[i] "\"" : " " weight[order[i]]
    }'
}

like="" unlike="" edges="" halves="" walkers=""
for n in $numbers; do
    walkers="$walkers $((most * 66 / n))"
    halves="$halves $((n / 2))"
    edges="$edges $(awk -v n="$n" -v rs="$rs" 'BEGIN { printf "%.9f", rs * (16 / 3 * atan2(1, 1) * n) ^ (1 / 3) }')"
    like="$like \"$(jastrow "$n" 0.25)\""
    unlike="$unlike \"$(jastrow "$n" 0.5)\""
done

period=2 equilibrate=60 mover="[mover quasi_simultaneous]
step = $rs
target_acceptance = 0.5"
if [ "$method" = diffusion ]; then
    period=5
    tau=${TAU:-$(awk -v rs="$rs" 'BEGIN { print 0.01 * rs * rs }')}
    # what is left of |Psi|^2 fades as a plasmon does, e^-6 of it stays
    fading=$(awk -v rs="$rs" -v tau="$tau" 'BEGIN { print int(6 / sqrt(3 / rs ^ 3) / tau) }')
    equilibrate=$((300 + fading))
    mover="[mover diffusion]
tau = $tau
variational_tau = $(awk -v tau="$tau" 'BEGIN { print 4 * tau }')
period = 100"
fi

cat >gas.ini <<EOF
[run]
sweeps = $sweeps
equilibrate = $equilibrate
seed = 14
device = ${DEVICE:-cpu}
${THREADS:+threads = $THREADS}

[box]
dimension = 3
lx = 1

[species up]
count = 7
charge = -1

[species down]
count = 7
charge = -1

[initial]
state = random

[potential plane_waves]

[potential jastrow]

$mover

[observable local_energy]
period = $period

[observable structure_factor]
k_max = $(awk -v rs="$rs" 'BEGIN { print 2.9 / rs }')
period = $period
finite_size = measured

[scan]
run.walkers = $walkers
species up.count = $halves
species down.count = $halves
box.lx = $edges
potential jastrow.like = $like
potential jastrow.unlike = $unlike
zip = run.walkers "species up.count" "species down.count" box.lx "potential jastrow.like" "potential jastrow.unlike"
names = numbers
jobs = ${JOBS:-2}

[twists]
potential = plane_waves
list = $(twists list)
weights = $(twists weights)
EOF
"$plugmc" scan gas.ini >scan.out 2>scan.err || { cat scan.err; exit 1; }

echo "r_s = $rs, Monkhorst-Pack grid $divisions^3; Hartree an electron"
echo "N  mean  with_free_electrons'_kinetic  with_measured_b  with_b_of_the_gas  with_the_next_order  variance"
for n in $numbers; do
    awk -F, -v n="$n" -v rs="$rs" -v free="$(free_electrons "$n")" '
    # finite_size_kinetic_next of structure_factor, with finite_size = gas: in the random phase approximation a wave k
    # has the kinetic energy w/4 - k_F k/3 + ..., k_F of one spin; what a sum over the waves of a cube lacks of the
    # integral of k is 0.2666 times their distance.
    function next_order(n) {
        return 0.2666 / 3 * (9 * atan2(0, -1) / 4) ^ (1 / 3) / rs * 2 * atan2(0, -1) / \
            (rs * (4 * atan2(0, -1) / 3 * n) ^ (1 / 3)) / n
    }
    NR == 1 {
        for (i = 1; i <= NF; i++) column[$i] = i
        split(free, kinetic, " ")
        next
    }
    $column["particles"] == n {
        if ($column["structure_factor.finite_size_b"] == "") { print n, "too few samples for b"; next }
        e = $column["local_energy.energy"] / n; error = $column["local_energy.energy error"] / n
        v = "structure_factor.finite_size_potential"; t = "structure_factor.finite_size_kinetic"
        corrected = e + kinetic[2] - kinetic[1] + ($column[v] + $column[t]) / n
        wider = sqrt(error ^ 2 + (($column[v " error"] - $column[t " error"]) / n) ^ 2)
        gas = e + kinetic[2] - kinetic[1] + sqrt(3 / rs ^ 3) / (2 * n)
        printf "%d  %.6f+-%.6f  %.6f  %.6f+-%.6f  %.6f  %.6f  %.4f  (b %.4f, gas %.4f)\n", n, e, error, \
            e + kinetic[2] - kinetic[1], corrected, wider, gas, gas - next_order(n), $column["local_energy.variance"], \
            $column["structure_factor.finite_size_b"], 1 / (2 * sqrt(3 / rs ^ 3))
    }' gas/twists.csv
done | tee table
awk -v rs="$rs" '
# Weighted means of columns, and what is left of each number over its error.
function level(name, at,    i, sum, weight, squares, text) {
    for (i = 1; i <= count; i++) { sum += value[i, at] / error[i] ^ 2; weight += 1 / error[i] ^ 2 }
    for (i = 1; i <= count; i++) {
        z = (value[i, at] - sum / weight) / error[i]
        squares += z ^ 2
        text = text sprintf("  %+.1f", z)
    }
    printf "one value, %-28s %.6f+-%.6f  z%s  chi^2 %.1f of %d\n", name, sum / weight, weight ^ -0.5, text, squares, count - 1
}
function line(name, at,    i, w, x, s, sx, sy, sxx, sxy, slope, below, squares) {
    for (i = 1; i <= count; i++) {
        w = 1 / error[i] ^ 2; x = 1 / number[i]
        s += w; sx += w * x; sy += w * value[i, at]; sxx += w * x * x; sxy += w * x * value[i, at]
    }
    below = s * sxx - sx * sx; slope = (s * sxy - sx * sy) / below
    for (i = 1; i <= count; i++)
        squares += ((value[i, at] - (sy - slope * sx) / s - slope / number[i]) / error[i]) ^ 2
    printf "line in 1/N, %-25s at 0 %.6f+-%.6f, slope %.4f+-%.4f, chi^2 %.1f of %d\n", name, \
        (sy - slope * sx) / s, (sxx / below) ^ 0.5, slope, (s / below) ^ 0.5, squares, count - 2
}
NF > 6 {
    split($2, mean, "[+]-"); split($4, measured, "[+]-")
    number[++count] = $1; error[count] = mean[2]
    value[count, 1] = $3; value[count, 2] = measured[1]; value[count, 3] = $5; value[count, 4] = $6
}
END {
    if (count < 2) exit
    level("without corrections", 1); level("b of the gas", 3); level("and the next order", 4)
    if (count < 3) exit
    line("without corrections", 1); line("b of the gas", 3); line("and the next order", 4)
    printf "minus half the plasma frequency: %.4f\n", -(3 / rs ^ 3) ^ 0.5 / 2
}' table
