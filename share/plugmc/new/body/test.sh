#!/bin/sh
# sh test.sh [PLUGIN.so]: the mean number of bodies in PLUGIN_NAME.ini and its exact value. A convex body of area A and
# perimeter P has the second virial coefficient B = A + P^2 / (4 pi). With x = z V, of at most two of them in an area V at
# the activity z,
#
#     <N> = (x + x^2 (1 - 2 B / V)) / (1 + x + x^2 (1 - 2 B / V) / 2).
#
# z is the deviation in standard errors. Another seed of a right plugin fails (|z| > 4) once in 16,000 times.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -f test.h5
"${PLUGMC:-plugmc}" run "$here/PLUGIN_NAME.ini" --quiet --set run.output=test.h5 \
    --set potential.plugin="${1:-$here/PLUGIN_NAME.so}"
"${PLUGMC:-plugmc}" analyse test.h5 --csv | awk -F, '
    $1 == "numbers.N_body" { mean = $2; error = $3 }
    END {
        length_ = 2
        width = 1
        area = 36
        activity = 0.06
        pi = atan2(0, -1)
        perimeter = 2 * (length_ + width)
        B = length_ * width + perimeter ^ 2 / (4 * pi)
        x = activity * area
        pair = x * x * (1 - 2 * B / area)
        exact = (x + pair) / (1 + x + pair / 2)
        if (!(error > 0)) { print "there is no mean number with an error"; exit 1 }
        z = (mean - exact) / error
        printf "mean number %.5f(%.5f), exact %.5f, z = %+.2f\n", mean, error, exact, z
        exit !(z > -4 && z < 4)
    }'
