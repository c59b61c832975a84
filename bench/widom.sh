#!/bin/bash
# How many test particles the observable widom tries a second (bench/ensembles/widom.ini).
#
# In a dense Lennard-Jones fluid, anywhere and cell by cell, and in a hard-sphere fluid.
#
# Each case is run with a measurement after each sweep and without any, in turn, REPEAT times (default 5); a
# line has the medians of the seconds of production (files and kernels are not in them) and the insertions a
# second of their difference, in which sorting particles and places into cells is counted. At the end it
# prints the chemical potential and its error, which is by configurations and not by insertions. PLUGMC= says
# where the program is, if common.sh does not find it; DEVICE= cpu or gpu; INSERTIONS= a measurement
# (default 1e6 on the CPU, 2e7 on a GPU); SWEEPS= measurements (default 20); THREADS= of the CPU.
set -eu
. "$(dirname "$0")/common.sh"

median() { sort -g | awk '{ x[NR] = $1 } END { printf "%.6g", NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }'; }

# seconds OPTION...: of the production of case.ini
seconds()
{
    rm -f case.h5*
    "$plugmc" run case.ini --set run.output=case.h5 --set "run.device=$device" --set "run.sweeps=$sweeps" \
        --set "observable.insertions=$insertions" --set "run.threads=${THREADS:-0}" "$@" >said 2>errors ||
        { cat errors >&2; exit 1; }
    sed -n 's/.*trial moves.*; \([0-9.e+-]*\) s$/\1/p' said
}

# compare LABEL OPTION...
compare()
{
    local label=$1
    shift
    : >with; : >without
    seconds "$@" >/dev/null # kernels are compiled
    for _ in $(seq "${REPEAT:-5}"); do
        seconds --set observable.period=1000000 "$@" >>without
        seconds "$@" >>with
    done
    awk -v l="$label" -v a="$(median <with)" -v b="$(median <without)" -v n="$sweeps" -v m="$insertions" 'BEGIN {
        printf "%-40s %9.4f s with, %9.4f s without: %9.4g insertions/s\n", l, a, b, n * m / (a - b) }'
    grep -E '^widom\.(mu_excess|ln_activity)' said | sed 's/^/    /; s/  *$//'
}

device=${DEVICE:-}
if [ -z "$device" ]; then
    device=cpu
    ! "$plugmc" doctor | grep -Eq '^GPU +[0-9]+: ' || device=gpu
fi
sweeps=${SWEEPS:-20}
insertions=${INSERTIONS:-$([ "$device" = gpu ] && echo 20000000 || echo 1000000)}
# Program, machine, GPU: the head that every benchmark prints.
"$plugmc" bench hard_disk --set bench.values=1024 --set bench.sweeps=1 --set bench.repeat=1 | grep '^#' | head -n 3
echo "# $insertions insertions a measurement, on the $device"
cp "$here/ensembles/widom.ini" case.ini
compare "32000 LJ, 0.8, anywhere"
compare "32000 LJ, 0.8, cell by cell" --set observable.placement=cells
sed -i 's/^\[potential lennard_jones\]/[potential hard_sphere]/; /^epsilon\|^sigma\|^cutoff/d; s/^temperature.*/temperature = 1/; s/^density.*/density = 0.5/' case.ini
compare "32000 hard spheres, 0.5, anywhere"
compare "32000 hard spheres, 0.5, cell by cell" --set observable.placement=cells
