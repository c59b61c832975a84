#!/bin/sh
# sh test.sh [PLUGIN.so]: the mean energy of PLUGIN_NAME.ini and its exact value. Of two particles in a box of volume V
# it is, per particle,
#
#     <u> / 2 = integral u exp(-u) 4 pi r^2 dr / (V + integral (exp(-u) - 1) 4 pi r^2 dr) / 2,    0 < r < cutoff.
#
# z is the deviation in standard errors. Another seed of a right plugin fails (|z| > 4) once in 16,000 times.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -f test.h5
"${PLUGMC:-plugmc}" run "$here/PLUGIN_NAME.ini" --quiet --set run.output=test.h5 \
    --set potential.plugin="${1:-$here/PLUGIN_NAME.so}"
"${PLUGMC:-plugmc}" analyse test.h5 --csv | awk -F, '
    function u(r) { return 4 * (1 - r * r) ^ 2 } # height = 4, cutoff = 1
    $1 == "energy.energy" { mean = $2; error = $3 }
    END {
        pi = atan2(0, -1)
        n = 1000
        for (i = 0; i <= n; i++) { # Simpson
            r = i / n
            weight = (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) / (3 * n) * 4 * pi * r * r
            above += weight * u(r) * exp(-u(r))
            below += weight * (exp(-u(r)) - 1)
        }
        exact = above / (8 + below) / 2 # V = 8
        if (!(error > 0)) { print "there is no mean energy with an error"; exit 1 }
        z = (mean - exact) / error
        printf "energy per particle %.5f(%.5f), exact %.5f, z = %+.2f\n", mean, error, exact, z
        exit !(z > -4 && z < 4)
    }'
