#!/bin/bash
# What volume, exchange and swap cost beside the checkerboard, insertions, event chains and test particles.
#
#     plugmc bench ensembles
#
# Of the first ones (bench/ensembles/*.ini) each case is run with the second mover and without it, in turn, REPEAT times (default 11); a line has the
# medians of the seconds of production (files and kernels are not in them) and what one action costs. PLUGMC=
# says where the program is, if common.sh does not find it; DEVICE= cpu or gpu; SWEEPS= scales the runs; CASES= a
# pattern of grep -E for the lines that are wanted (widom for the end).
# Event chains run on one core of the CPU: medians of contacts a second. The end is widom.sh.
set -eu
. "$(dirname "$0")/common.sh"

median() { sort -g | awk '{ x[NR] = $1 } END { printf "%.6g", NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

# seconds OPTION...: of the production of case.ini
seconds()
{
    rm -f case.h5*
    "$plugmc" run case.ini --set run.output=case.h5 --set "run.device=${DEVICE:-auto}" "$@" >said 2>errors ||
        { cat errors >&2; exit 1; }
    sed -n 's/.*trial moves.*; \([0-9.e+-]*\) s$/\1/p' said
}

wanted() { printf '%s\n' "$1" | grep -qE -- "${CASES:-.}"; }

# compare LABEL FILE ACTIONS WITH WITHOUT OPTION...: settings of one key that make the second mover act in
# each `every` of the file, and not
compare()
{
    local label=$1 file=$2 actions=$3 with=$4 without=$5
    shift 5
    wanted "$label" || return 0
    cp "$here/ensembles/$file.ini" case.ini
    : >a; : >b
    seconds "$@" >/dev/null # kernels are compiled
    for _ in $(seq "${REPEAT:-11}"); do
        seconds --set "$with" "$@" >>a
        seconds --set "$without" "$@" >>b
    done
    awk -v l="$label" -v a="$(median <a)" -v b="$(median <b)" -v n="$actions" 'BEGIN {
        printf "%-34s %9.4f s with, %9.4f s without: %+6.1f %%, %9.4g us each\n", l, a, b, 100 * (a / b - 1), (a - b) / n * 1e6 }'
}

# Program, machine, GPU: the head that every benchmark prints.
"$plugmc" bench hard_disk --set bench.values=1024 --set bench.sweeps=1 --set bench.repeat=1 | grep '^#' | head -n 3
s=${SWEEPS:-1}
compare "exchange, 64 x 512 LJ, every 20" exchange $((100 * s)) "mover exchange.every=20" "mover exchange.every=1000000" \
    --set run.sweeps=$((2000 * s))
compare "exchange, 64 x 4096 disks, every 10" exchange_disks $((100 * s)) "mover exchange.every=10" "mover exchange.every=1000000" \
    --set run.sweeps=$((1000 * s))
compare "volume, 4096 disks, every 10" volume $((500 * s)) "mover volume.every=10" "mover volume.every=1000000" \
    --set run.sweeps=$((5000 * s))
compare "volume, 16384 disks, every 10" volume $((500 * s)) "mover volume.every=10" "mover volume.every=1000000" \
    --set run.sweeps=$((5000 * s)) --set "species disk.count=16384" --set "mover volume.step=2e-6"
compare "volume, 577600 disks, every 10" volume $((500 * s)) "mover volume.every=10" "mover volume.every=1000000" \
    --set run.sweeps=$((5000 * s)) --set "species disk.count=577600" --set "mover volume.step=5e-8"
compare "swap, 64 x 4096 disks" swap $((6400000 * s)) "mover swap.trials=10000" "mover swap.trials=1" --set run.equilibrate=0 \
    --set run.sweeps=$((100 * s))
# where there is a GPU it is timed there, though `auto` leaves few walkers and many alike to the CPU
"$plugmc" doctor | grep -qE '^GPU +[0-9]+: ' && gpu=gpu || gpu=auto
compare "insert, 4096 x 288 LJ" insert $((4096 * 1999 * 80 * s)) "mover insert.trials=2000" "mover insert.trials=1" \
    --set run.sweeps=$((80 * s)) --set run.equilibrate=0 --set "run.device=${DEVICE:-$gpu}"

# chains N SWEEPS: contacts of event chains a second; they begin with a lattice that has melted a little
chains()
{
    wanted "event chains, $1" || return 0
    : >a
    for _ in $(seq "${REPEAT:-11}"); do
        rm -f case.h5*
        "$plugmc" run "$here/ensembles/event_chain.ini" --set run.output="$PWD/case.h5" --set "species disk.count=$1" \
            --set "run.sweeps=$(($2 * s))" --set "run.equilibrate=$((($2 * s + 4) / 5))" >said 2>errors ||
            { cat errors >&2; exit 1; }
        awk '$1 == "event_chain.events" { split($2, x, "("); events = x[1] }
            $1 == "acceptance" { print events * $4 / $(NF - 1) }' said >>a
    done
    printf '%-34s %9.4g contacts/s\n' "event chains, $1 disks, one core" "$(median <a)"
}
chains 4096 4000
chains 65536 200
chains 1000000 10
! wanted widom || PLUGMC=$plugmc "$here/widom.sh" | grep -v '^# [^0-9]'
