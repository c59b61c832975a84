#!/bin/sh
# sh test.sh [PLUGIN.so]: the density of PLUGIN_NAME.ini in six bins and its exact value. The separation of two hard
# spheres of diameter 1 is uniform outside a ball, so that the density of its component x >= 0 is
#
#     p(x) = 2 (L^2 - A(x)) / (L^3 - 4 pi / 3),    A(x) = pi (1 - x^2) for x < 1, else 0.
#
# z is the deviation in standard errors. Another seed of a right plugin fails (some |z| of six above 4.5) once in 25,000
# times.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -f test.h5
"${PLUGMC:-plugmc}" run "$here/PLUGIN_NAME.ini" --quiet --set run.output=test.h5 \
    --set observable.plugin="${1:-$here/PLUGIN_NAME.so}"
"${PLUGMC:-plugmc}" analyse test.h5 --print PLUGIN_NAME.density | awk '
    function ball(x) { return x < 1 ? pi * (x - x ^ 3 / 3) : pi * 2 / 3 } # integral of A from 0
    BEGIN { pi = atan2(0, -1) }
    $1 ~ /^[0-9.]/ {
        low = $1 - 0.125
        high = $1 + 0.125
        exact = 2 * (9 * 0.25 - ball(high) + ball(low)) / (27 - 4 * pi / 3) / 0.25
        z = $3 > 0 ? ($2 - exact) / $3 : 100
        printf "x = %.3f: %.5f(%.5f), exact %.5f, z = %+.2f\n", $1, $2, $3, exact, z
        bins++
        wrong += !(z > -4.5 && z < 4.5)
    }
    END { exit bins != 6 || wrong }'
