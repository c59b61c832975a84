#!/bin/sh
# sh test.sh [PLUGIN.so]: mean energy and pressure of PLUGIN_NAME.ini, and their exact values, once by moves of single
# particles (serial) and once by trajectories (hmc). The n - 1 springs of n beads
# stretch independently of each other, and the chain as a whole is one ideal molecule:
#
#     <U> / n = (3 / 2) (n - 1) / n,    p V = 1    (in kT).
#
# z is the deviation in standard errors. Other seeds of a right plugin fail (some |z| above 4.5) once in 70,000 times.
# Wrong forces do not change averages, but fewer trajectories are accepted than 94 %.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for mover in "serial" "hmc --set mover.target_acceptance=0 --set mover.time_step=0.1 --set mover.steps=9"; do
    rm -f test.h5
    # shellcheck disable=SC2086 # options, too
    "${PLUGMC:-plugmc}" run "$here/PLUGIN_NAME.ini" --quiet --set run.output=test.h5 --set mover.plugin=$mover \
        --set potential.plugin="${1:-$here/PLUGIN_NAME.so}" >test.log
    cat test.log
    "${PLUGMC:-plugmc}" analyse test.h5 --csv | awk -F, -v mover="${mover%% *}" '
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
awk '$1 == "acceptance" { good = $2 > 0.92 } END { exit !good }' test.log
