#!/bin/bash
# What the pressure of 16 x 16,384 hard disks at packing fractions 0.708 to 0.720 costs, by mover.
#
#     dense_disks.sh MOVER...    checkerboard, chains, clusters, ladder
#
# Each case runs SECONDS_EACH (default 11) seconds of wall time, the first part of which is equilibration. A line has
# the pressure, its error bar, the seconds that it took, equilibration included, and error^2 times these seconds, as
# how many of them would give a relative error of 1e-3: an efficiency that is measured as far as the error bar is (a star:
# a lower bound; nothing, if the pressure is still that of the start). Clusters also print which share of all disks
# they take along: if nearly all, nothing relaxes. A ladder in pressure is one run for all
# fractions: where the mean density on it is theirs; its error is that of the density over the slope. PLUGMC= says
# where the program is, FRACTIONS= which fractions.
set -eu
. "$(dirname "$0")/common.sh"

# value QUANTITY: mean, error and star of the table: "9.1747(11)*" is 9.1747 0.0011 *
value()
{
    awk -v q="$1" '$1 == q { split($2, x, /[()]/); n = index(x[1], ".") ? length(x[1]) - index(x[1], ".") : 0
        e = index(x[2], ".") ? x[2] : x[2] / 10 ^ n; print x[1], e, (x[3] ~ /\*/ ? "*" : " "); exit }' said
}

wall() { sed -n 's/.*trial moves.*; \([0-9.e+-]*\) s$/\1/p' said; }
made() { tr '\r' '\n' <errors | sed -n 's/.*production: \([0-9]*\) of.*/\1/p' | tail -1; }

# line LABEL PRESSURE ERROR STAR
line()
{
    awk -v l="$1" -v m="${2:-nan}" -v e="${3:-nan}" -v star="${4:-}" -v t="$(wall)" -v sweeps="$(made)" 'BEGIN {
        printf "%-22s %10.6g +- %-9.3g%1s %10s sweeps %7.2f s   %8.3g s to 1e-3\n", l, m, e, star, sweeps, t,
            t * (e / m / 1e-3) ^ 2 }'
}

# sweeps_of FILE OPTION...: runs it, table in `said`
sweeps_of()
{
    local file=$1
    shift
    rm -f case.h5*
    "$plugmc" run "$here/ensembles/$file.ini" --set run.output="$PWD/case.h5" --set "run.time_limit=${SECONDS_EACH:-11}" \
        "$@" >said 2>errors || [ $? = 11 ] || [ -s said ] || { cat errors >&2; exit 1; }
}

# measure LABEL QUANTITY FILE OPTION...
measure()
{
    local label=$1 quantity=$2
    sweeps_of "${@:3}"
    line "$label" $(value "$quantity")
    awk '$1 == "cluster.cluster_size" { print "    clusters are " $2 " of all disks" }' said
}

# ladder OPTION...: the pressure at each fraction, from densities at thirty pressures between the rungs
ladder()
{
    sweeps_of dense_disks_ladder "$@"
    "$plugmc" reweight case.h5 --csv --scan run.pressure=9.06:9.35:30 >scan
    for fraction in $fractions; do
        line "ladder, $fraction" $(awk -F, -v f="$fraction" '$2 == "box_size.density" { p = $1; sub(/.*=/, "", p)
            rho = f * 4 / 3.14159265358979
            if (n++ && last < rho && $3 >= rho) {
                slope = ($3 - last) / (p - before); print before + (rho - last) / slope, $4 / slope, ($5 ? "*" : ""); exit }
            before = p; last = $3 }' scan)
    done
    awk '/^acceptance/' said | cut -c1-100 | sed 's/^/    /'
}

fractions=${FRACTIONS:-0.708 0.712 0.716 0.720}
"$plugmc" bench hard_disk --set bench.values=1024 --set bench.sweeps=1 --set bench.repeat=1 | grep '^#' | head -n 3
for mover in "$@"; do
    if [ "$mover" = ladder ]; then ladder; continue; fi
    for fraction in $fractions; do
        case $mover in
        checkerboard) measure "checkerboard, $fraction" hard_pressure.reduced_pressure dense_disks --set "box.packing_fraction=$fraction" ;;
        chains) measure "event chains, $fraction" event_chain.reduced_pressure dense_disks_chains --set "box.packing_fraction=$fraction" ;;
        clusters) measure "clusters, $fraction" hard_pressure.reduced_pressure dense_disks_clusters --set "box.packing_fraction=$fraction" ;;
        *) echo "no such mover: $mover" >&2; exit 2 ;;
        esac
    done
done
