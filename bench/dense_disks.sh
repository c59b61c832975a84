#!/bin/bash
# What the pressure of 16,384 hard disks at packing fractions 0.708 to 0.720 costs, by mover.
#
#     dense_disks.sh MOVER...    checkerboard, chains, clusters, ladder
#
# Each case runs SECONDS_EACH (default 20) seconds of wall time from the start that STARTS= says ("random", "lattice",
# or both, one after the other), and the first half of it counts as equilibration. A line has
#
# - the pressure of the second half, its error bar (a star: a lower bound), and how many errors that is from
#   the literature where it has a value;
# - how many sweeps there were in how many seconds, and how many more seconds the start and the kernels took;
# - how many seconds of sampling give a relative error of 1e-3, equilibration left out: the second half's, times the
#   square of its relative error over 1e-3;
# - whether it was in equilibrium: pressure and |psi_6| of each fifth of the run.
#
# Two starts that agree, and fifths that do, say that the half was enough. Clusters also print which share of all
# disks they take along: if nearly all, nothing relaxes. A ladder in pressure prints the packing fractions that the first,
# the middle and the last of its rungs have come to in each fifth. PLUGMC= says where the program is, FRACTIONS= which fractions, WALKERS=
# how many walkers a run has (default 16).
set -eu
. "$(dirname "$0")/common.sh"

# sweeps_of FILE OPTION...: runs it; table in `said`, file in case.h5. Returns 1 if there is no file to look at.
sweeps_of()
{
    local file=$1 code=0 begin=$EPOCHREALTIME
    shift
    rm -f case.h5*
    "$plugmc" run "$here/ensembles/$file.ini" --set run.output="$PWD/case.h5" --set "run.time_limit=${SECONDS_EACH:-20}" \
        --set "run.walkers=${WALKERS:-16}" --set "initial.state=$start" "$@" >said 2>errors || code=$?
    all=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    swept=$(sed -n 's/.*trial moves.*; \([0-9.e+-]*\) s$/\1/p' said)
    made=$(sed -n 's/^UNFINISHED: \([0-9]*\) of.*/\1/p' said)
    if [ $code = 11 ] && [ -n "$made" ] && [ "$made" -ge 10 ]; then return 0; fi
    echo "    $label: exit code $code after $all s and ${made:-?} sweeps: $(tr '\r' '\n' <errors | tail -n 1)"
    return 1
}

# fifths QUANTITY: its means over each fifth of the run
fifths()
{
    "$plugmc" analyse case.h5 --print "$1" | awk -v n="$made" '!/^#/ { k = int(5 * ($1 - 1) / n)
        for (i = 2; i <= NF; i++) { s[k] += $i; c[k]++ } }
        END { for (k = 0; k < 5; k++) if (c[k]) printf " %.5g", s[k] / c[k]; else printf " -" }'
}

# line QUANTITY: what the second half says
line()
{
    "$plugmc" analyse case.h5 --from $((made / 2)) --csv >half || return 0
    awk -F, -v q="$1" -v l="$label" -v f="$fraction" -v t="$swept" -v all="$all" -v sweeps="$made" '
        $1 == q {
            # Li et al. (2022), 128^2 disks
            if (f == 0.708) { p = 9.17630; e = 0.00074 }
            if (f == 0.712) { p = 9.16554; e = 0.00090 }
            z = p && !($2 == "nan") ? sprintf("z %+.1f", ($2 - p) / sqrt($3 ^ 2 + e ^ 2)) : ""
            printf "%s: %.5f +- %.5f%s tau %s %s; %s sweeps in %.1f s and %.1f s; to 1e-3 %.3g s\n", l, $2, $3,
                ($4 == 1 ? "*" : ""), $5, z, sweeps, t, all - t, t / 2 * ($3 / $2 / 1e-3) ^ 2
            found = 1 }
        END { if (!found) print l ": no " q }' half
    echo "    fifths:$(fifths "$1")$(grep -q psi6_modulus half && echo "; |psi_6|:$(fifths hexatic_order.psi6_modulus)")"
}

# measure QUANTITY FILE OPTION...
measure()
{
    sweeps_of "$2" --set "box.packing_fraction=$fraction" "${@:3}" || return 0
    line "$1"
    awk '$1 == "cluster.cluster_size" { print "    clusters are " $2 " of all disks" }' said
}

# Packing fractions of three rungs in each fifth. What a rung has is the number behind @.
ladder()
{
    label="ladder, $start"
    sweeps_of dense_disks_ladder || return 0
    echo "$label: $made sweeps in $swept s and $(awk -v a="$all" -v t="$swept" 'BEGIN { print a - t }') s; packing fractions in each fifth:"
    for rung in $(awk '$1 ~ /^box_size.density@/ { sub(/.*@/, "", $1); r[n++] = $1 } END { print r[0], r[int(n / 2)], r[n - 1] }' said); do
        "$plugmc" analyse case.h5 --print "box_size.density@$rung" | awk -v n="$made" -v p="$rung" '!/^#/ {
            k = int(5 * ($1 - 1) / n); for (i = 2; i <= NF; i++) { s[k] += $i; c[k]++ } }
            END { printf "    pressure %s:", p; for (k = 0; k < 5; k++) printf " %.5f", c[k] ? s[k] / c[k] * atan2(0, -1) / 4 : 0; print "" }'
    done
    awk '/^acceptance/' said | cut -c1-100 | sed 's/^/    /'
}

"$plugmc" bench hard_disk --set bench.values=1024 --set bench.sweeps=1 --set bench.repeat=1 | grep '^#' | head -n 3
for mover in "$@"; do
    for start in ${STARTS:-random}; do
        if [ "$mover" = ladder ]; then
            ladder
            continue
        fi
        for fraction in ${FRACTIONS:-0.708 0.712 0.716 0.720}; do
            label="$mover, $fraction, $start"
            case $mover in
            checkerboard) measure hard_pressure.reduced_pressure dense_disks ;;
            chains) measure event_chain.reduced_pressure dense_disks_chains ;;
            clusters) measure hard_pressure.reduced_pressure dense_disks_clusters ;;
            *) echo "no such mover: $mover" >&2; exit 2 ;;
            esac
        done
    done
done
