#!/bin/sh
# sh test.sh [PLUGIN.so]: the mean energy of PLUGIN_NAME.ini and its exact value. Grains that do not meet each other
# have the density exp(-w y) between the floor, at a = 1/2, and the top of the box, at b = 10, so that
#
#     <u> = w <y> = w a + 1 - w (b - a) / (exp(w (b - a)) - 1).
#
# z is the deviation in standard errors. Another seed of a right plugin fails (|z| > 4) once in 16,000 times.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -f test.h5
"${PLUGMC:-plugmc}" run "$here/PLUGIN_NAME.ini" --quiet --set run.output=test.h5 \
    --set potential.plugin="${1:-$here/PLUGIN_NAME.so}"
"${PLUGMC:-plugmc}" analyse test.h5 --csv | awk -F, '
    $1 == "energy.energy" { mean = $2; error = $3 }
    END {
        w = 0.5
        a = 0.5
        b = 10
        exact = w * a + 1 - w * (b - a) / (exp(w * (b - a)) - 1)
        if (!(error > 0)) { print "there is no mean energy with an error"; exit 1 }
        z = (mean - exact) / error
        printf "energy per particle %.5f(%.5f), exact %.5f, z = %+.2f\n", mean, error, exact, z
        exit !(z > -4 && z < 4)
    }'
