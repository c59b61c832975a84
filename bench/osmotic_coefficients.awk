# ln of the mean activity coefficient of the restricted primitive model from osmotic coefficients phi, by Gibbs and Duhem:
# ln gamma(c) = phi(c) - 1 + integral of (phi - 1) d ln c from 0. Input: lines of mol/l, phi, its error, concentrations rising.
# Output: mol/l, ln gamma, the error that follows from those of phi, and that of theory alone.
#
# Between the points phi is the mean spherical theory with Carnahan and Starling's hard spheres, for which ln gamma is known
# in closed form, and a rest that goes linearly in sqrt(c) from point to point and is 0 at c = 0.
# 1:1, diameter 4.25 Angstrom, Bjerrum length 7.139 Angstrom.

function theory(c, density, gamma, eta) # sets phi_theory; returns ln gamma
{
    density = 2 * c * 6.02214076e-4
    gamma = (sqrt(1 + 2 * 4.25 * sqrt(4 * pi * 7.139 * density)) - 1) / (2 * 4.25)
    eta = pi / 6 * density * 4.25 ^ 3
    phi_theory = (1 + eta + eta ^ 2 - eta ^ 3) / (1 - eta) ^ 3 - gamma ^ 3 / (3 * pi * density)
    return (8 * eta - 9 * eta ^ 2 + 3 * eta ^ 3) / (1 - eta) ^ 3 - 7.139 * gamma / (1 + 4.25 * gamma)
}

# What the rests add up to point k: rest(c_k) + 2 integral of rest(x) / x dx, x = sqrt(c), piecewise linear, exactly.
function of_rests(k, i, sum, slope)
{
    sum = rest[k]
    for (i = 1; i <= k; i++) {
        slope = (rest[i] - rest[i - 1]) / (x[i] - x[i - 1])
        sum += 2 * slope * (x[i] - x[i - 1])
        if (i > 1) sum += 2 * (rest[i - 1] - slope * x[i - 1]) * log(x[i] / x[i - 1])
    }
    return sum
}

BEGIN { pi = atan2(0, -1); x[0] = rest[0] = 0 }

!/^#/ && NF >= 3 { c[++n] = $1; error[n] = $3; x[n] = sqrt($1); by_theory[n] = theory($1); rest[n] = $2 - phi_theory }

END {
    for (k = 1; k <= n; k++) {
        value = of_rests(k); square = 0
        for (i = 1; i <= k; i++) {
            rest[i] += error[i]; square += (of_rests(k) - value) ^ 2; rest[i] -= error[i]
        }
        printf "%-8s %.4f +- %.4f, theory %.4f\n", c[k], by_theory[k] + value, sqrt(square), by_theory[k]
    }
}
