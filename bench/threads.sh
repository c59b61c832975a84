#!/bin/bash
# Sweeps a second with one thread, with all processors and with plugmc's own choice.
#
# threads.sh [PLUGMC [SECONDS]]: sweeps a second of 4096 hard disks with one thread, with as many as
# there are processors whatever happens, and with plugmc's own choice; on processors left alone and
# beside other programs, one and four a processor. Prints commit, machine and figures, medians of
# five runs taken in turn. The chain does not depend on any of this.
set -u
plugmc=$(realpath "${1:-${PLUGMC:?which plugmc?}}")
seconds=${2:-5}
folder=$(mktemp -d) || exit 1
trap 'kill $others 2>/dev/null; rm -rf "$folder"' EXIT
others=
cd "$folder" || exit 1
cat >sim.ini <<INI
[run]
sweeps = 1000000000
equilibrate = 0
seed = 1
device = cpu
time_limit = $seconds
checkpoint = 0

[box]
dimension = 2
packing_fraction = 0.7

[species disk]
count = 4096

[initial]
state = lattice

[potential hard_disk]

[mover checkerboard]
step = 0.1
INI
processors=$(nproc)

# rate THREADS: sweeps a second.
rate()
{
    rm -f sim.h5
    "$plugmc" run sim.ini --set run.threads="$1" 2>said >/dev/null
    sed -n 's/.* sweeps, \([0-9.e+]*\) sweeps\/s.*/\1/p' said | tail -1
}

median() { sort -g | sed -n 3p; }

echo "$("$plugmc" --version), commit $(git -C "$(dirname "$plugmc")" rev-parse --short HEAD 2>/dev/null)"
echo "$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $processors processors, load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-28s %12s %12s %12s\n' "other programs" "1 thread" "$processors threads" chosen
for busy in 0 1 4; do
    for ((k = 0; k < busy * processors; k++)); do
        while :; do :; done &
        others="$others $!"
    done
    : >one; : >many; : >chosen
    for _ in 1 2 3 4 5; do
        rate 1 >>one
        rate "$processors" >>many
        rate 0 >>chosen
    done
    printf '%-28s %12s %12s %12s\n' "$((busy * processors))" "$(median <one)" "$(median <many)" "$(median <chosen)"
    [ -z "$others" ] || kill $others
    wait 2>/dev/null
    others=
done
