#!/bin/sh
# sh test.sh [PLUGIN.so]: mean energy and pressure of PLUGIN_NAME.ini, and their exact values, once by moves of single
# particles (serial), which test `change` and `settle`, and once by trajectories (hmc), which test forces. The n - 1
# springs of n beads stretch independently of each other, and the chain as a whole is one ideal molecule:
#
#     <U> / n = (3 / 2) (n - 1) / n,    p V = 1    (in kT).
#
# z is the deviation in standard errors. Other seeds of a right plugin fail (some |z| of four above 4.5) once in 37,000
# times.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for mover in serial hmc; do
    rm -f test.h5
    "${PLUGMC:-plugmc}" run "$here/PLUGIN_NAME.ini" --quiet --set run.output=test.h5 --set mover.plugin=$mover \
        --set potential.plugin="${1:-$here/PLUGIN_NAME.so}"
    "${PLUGMC:-plugmc}" analyse test.h5 --csv | awk -F, -v mover=$mover '
        $1 == "energy.energy" { exact = 1.5 * 4 / 5 }
        $1 == "virial_pressure.pressure" { exact = 1 / 1000 }
        $1 == "energy.energy" || $1 == "virial_pressure.pressure" {
            z = $3 > 0 ? ($2 - exact) / $3 : 100
            printf "%s: %s %.6f(%.6f), exact %.6f, z = %+.2f\n", mover, $1, $2, $3, exact, z
            found++
            wrong += !(z > -4.5 && z < 4.5)
        }
        END { exit found != 2 || wrong }'
done
