#!/bin/bash
# What the pressure of 16 x 16,384 hard disks at packing fractions 0.708 to 0.720 costs, by mover.
#
#     dense_disks.sh MOVER...    checkerboard, chains
#
# Each case runs SECONDS_EACH (default 11) seconds of wall time, the first part of which is equilibration. A line has
# the pressure, its error bar, the seconds that it took, equilibration included, and how many of these give a relative error of 1e-3, were
# errors to fall as one over the square root of time. PLUGMC= says where the program is, FRACTIONS= which fractions.
set -eu
. "$(dirname "$0")/common.sh"

# value QUANTITY: mean, error of the table as two numbers: "9.1747(11)" is 9.1747 0.0011
value()
{
    awk -v q="$1" '$1 == q { split($2, x, /[()]/); n = index(x[1], ".") ? length(x[1]) - index(x[1], ".") : 0
        e = index(x[2], ".") ? x[2] : x[2] / 10 ^ n; print x[1], e; exit }' said
}

# measure LABEL QUANTITY FILE OPTION...
measure()
{
    local label=$1 quantity=$2 file=$3 begin
    shift 3
    rm -f case.h5*
    "$plugmc" run "$here/ensembles/$file.ini" --set run.output="$PWD/case.h5" --set "run.time_limit=${SECONDS_EACH:-11}" \
        "$@" >said 2>errors || [ $? = 11 ] || [ -s said ] || { cat errors >&2; exit 1; }
    set -- $(value "$quantity")
    awk -v l="$label" -v m="${1:-nan}" -v e="${2:-nan}" -v t="$(sed -n 's/.*trial moves.*; \([0-9.e+-]*\) s$/\1/p' said)" \
        -v sweeps="$(sed -n 's/.*production: \([0-9]*\) of.*/\1/p' errors | tail -1)" 'BEGIN {
        printf "%-22s %10.6g +- %-9.3g %10s sweeps %7.2f s   %8.3g s to 1e-3\n", l, m, e, sweeps, t, t * (e / m / 1e-3) ^ 2 }'
}

"$plugmc" bench hard_disk --set bench.values=1024 --set bench.sweeps=1 --set bench.repeat=1 | grep '^#' | head -n 3
for mover in "$@"; do
    for fraction in ${FRACTIONS:-0.708 0.712 0.716 0.720}; do
        case $mover in
        checkerboard) measure "checkerboard, $fraction" hard_pressure.reduced_pressure dense_disks --set "box.packing_fraction=$fraction" ;;
        chains) measure "event chains, $fraction" event_chain.reduced_pressure dense_disks_chains --set "box.packing_fraction=$fraction" ;;
        *) echo "no such mover: $mover" >&2; exit 2 ;;
        esac
    done
done
