# critical_point.awk: where ln p(N) of boxes of several sizes and temperatures puts a critical point.
#
# Lines "L T RUN N ln_p", N the number of pairs in a cube of edge L; runs with the same number belong together, and errors
# are those of the mean over the runs. Of each ln p activity is chosen so that the third central moment of N is zero
# (the distribution is as symmetric as it gets), and
#
#     Q = <m^2>^2 / <m^4>,    m = N - <N>,
#
# is linear in T nearby. Where it is 0.6236, the value of the Ising model in a periodic cube at its critical point
# (H. W. J. Bloete, E. Luijten, J. R. Heringa, J. Phys. A 28, 6289 (1995)), is T_c(L), and the density of ions there is
# rho_c(L). T where Q of two sizes is the same needs no such number (Y. C. Kim, M. E. Fisher, E. Luijten, Phys. Rev.
# Lett. 91, 065701 (2003), say for which errors it is known). T_c(L) goes to T_c as L^-2.44, and rho_c(L) as L^-1.41
# (N. B. Wilding, Phys. Rev. E 52, 602 (1995)).
function moments(delta,    k, w, sum, top) {
    top = -1e300
    for (k = 0; k < n; k++) if (lnp[k] + delta * x[k] > top) top = lnp[k] + delta * x[k]
    sum = mean = m2 = m3 = m4 = 0
    for (k = 0; k < n; k++) { w = weight[k] = exp(lnp[k] + delta * x[k] - top); sum += w; mean += w * x[k] }
    mean /= sum
    for (k = 0; k < n; k++) {
        w = weight[k] / sum
        m2 += w * (x[k] - mean) ^ 2; m3 += w * (x[k] - mean) ^ 3; m4 += w * (x[k] - mean) ^ 4
    }
    return m3
}

# From an activity at which a twentieth of the room is filled to one with half of it: m3 falls through zero.
function filled(share,    low, high, k, middle) {
    low = -50; high = 50
    for (k = 0; k < 60; k++) {
        middle = (low + high) / 2
        moments(middle)
        if (mean < share * x[n - 1]) low = middle; else high = middle
    }
    return low
}
function solve(    low, high, middle, k) {
    low = filled(0.05); high = filled(0.6)
    for (k = 0; k < 50; k++) {
        middle = (low + high) / 2
        if (moments(middle) > 0) low = middle; else high = middle
    }
    first = weight[0]; last = weight[n - 1]; most = 0
    for (k = 0; k < n; k++) if (weight[k] > most) most = weight[k]
}

function finish(    key) {
    if (!n) return
    solve()
    key = edge SUBSEP run
    rows[key]++
    temperature[key, rows[key]] = t; quotient[key, rows[key]] = m2 * m2 / m4; density[key, rows[key]] = 2 * mean / edge ^ 3
    if (tell) printf "L %s T %s run %s: Q %.5f, density %.5f, p at both ends %.1e %.1e of the most\n", edge, t, run, m2 * m2 / m4, 2 * mean / edge ^ 3, first / most, last / most
    edges[edge]; runs[run]; n = 0
}

{
    if ($1 != edge || $2 != t || $3 != run) { finish(); edge = $1; t = $2; run = $3 }
    if ($5 == "nan") next
    x[n] = $4; lnp[n++] = $5
}

# y = a + b T over the rows of a key, by least squares
function line(key, y,    k, c, sx, sy, sxx, sxy) {
    for (k = 1; k <= rows[key]; k++) {
        c++; sx += temperature[key, k]; sy += y[key, k]
        sxx += temperature[key, k] ^ 2; sxy += temperature[key, k] * y[key, k]
    }
    b = (c * sxy - sx * sy) / (c * sxx - sx * sx)
    a = (sy - b * sx) / c
}

# mean and its error of z[1 ... count]
function tell_mean(label, z, count,    k, s, ss) {
    for (k = 1; k <= count; k++) { s += z[k]; ss += z[k] ^ 2 }
    s /= count
    if (count == 1) { printf "%-34s %.6f (one run: no error)\n", label, s; return }
    printf "%-34s %.6f +- %.6f (%d runs)\n", label, s, sqrt((ss / count - s * s) / (count - 1)), count
}

# value at infinite size of y(L) = y + c L^-power: over all sizes, by least squares
function at_infinity(y, run, power,    e, c, u, sx, sy, sxx, sxy) {
    for (e in edges) if ((e, run) in y) { c++; u = e ^ -power; sx += u; sy += y[e, run]; sxx += u * u; sxy += u * y[e, run] }
    return (sy - sx * (c * sxy - sx * sy) / (c * sxx - sx * sx)) / c
}

END {
    finish()
    for (e in edges) order[++sizes] = e + 0
    for (i = 1; i <= sizes; i++) for (j = i + 1; j <= sizes; j++)
        if (order[j] < order[i]) { s = order[i]; order[i] = order[j]; order[j] = s }
    for (i = 1; i <= sizes; i++) {
        e = order[i]; count = 0
        for (r in runs) {
            key = e SUBSEP r
            if (rows[key] < 2) continue
            line(key, quotient); aq[key] = a; bq[key] = b
            tc[e, r] = (0.6236 - a) / b
            line(key, density); rc[e, r] = a + b * tc[e, r]
            count++; list[count] = tc[e, r]; list2[count] = rc[e, r]; slopes[count] = bq[key]
        }
        if (!count) continue
        tell_mean("T_c(L = " e ")", list, count)
        tell_mean("rho_c(L = " e ")", list2, count)
    }
    for (i = 2; i <= sizes; i++) {
        count = 0
        for (r in runs) {
            k1 = order[i - 1] SUBSEP r; k2 = order[i] SUBSEP r
            if (!(k1 in aq) || !(k2 in aq)) continue
            list[++count] = (aq[k2] - aq[k1]) / (bq[k1] - bq[k2])
            list2[count] = aq[k1] + bq[k1] * list[count]
        }
        if (!count) continue
        tell_mean("T where Q(" order[i - 1] ") = Q(" order[i] ")", list, count)
        tell_mean("Q there", list2, count)
    }
    if (sizes > 2) {
        count = 0
        for (r in runs) if ((order[sizes], r) in tc) { count++; list[count] = at_infinity(tc, r, 2.44); list2[count] = at_infinity(rc, r, 1.41) }
        tell_mean("T_c", list, count)
        tell_mean("rho_c", list2, count)
    }
}
