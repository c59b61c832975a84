#!/bin/bash
# Is the core right about the device? Trial moves of the mover serial in a Lennard-Jones liquid of many walkers, all
# decided by the core: how many a second on all processors and on the GPU, the gain, and what the core expects of it
# ([run] device = auto goes by that). Needs a GPU.
#
# devices.sh [SECONDS]: of each run, 4; six runs on each device.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"
cat >sim.ini <<INI
[run]
sweeps = 1000000000
seed = 1
time_limit = ${1:-4}
checkpoint = 0
[box]
dimension = 3
density = 0.8
[species atom]
count = 500
[initial]
state = lattice
[potential lennard_jones]
epsilon = 1
cutoff = 2.5
truncation = shift
[mover serial]
step = 0.16
INI

# rate WORDS...: trial moves a second, of the last progress before the end.
rate()
{
    "$plugmc" run sim.ini --json --set run.output=out.h5 "$@" 2>err >out || [ $? = 11 ] || { cat err >&2; exit 1; }
    rm -f out.h5*
    grep '"event": "progress"' out | tail -n 2 | head -n 1 | sed 's/.*"trials_per_second": \([^,]*\),.*/\1/'
}

"$plugmc" --version
"$plugmc" doctor | grep -E '^(GPU|processor)' || true
printf '%9s %8s %12s %12s %8s %8s\n' particles walkers "CPU" "GPU" gain expected
for case in "500 32" "500 128" "500 1024" "4000 32" "4000 256" "4000 1024"; do
    read -r n w <<<"$case"
    same=(--set "species.count=$n" --set "run.walkers=$w")
    expected=$("$plugmc" check sim.ini "${same[@]}" | sed -n 's/.*about \([^ ]*\) times as many.*/\1/p')
    cpu=$(rate "${same[@]}" --set run.device=cpu)
    gpu=$(rate "${same[@]}" --set run.device=gpu)
    awk -v n="$n" -v w="$w" -v c="$cpu" -v g="$gpu" -v e="$expected" \
        'BEGIN { printf "%9d %8d %12.3g %12.3g %8.2g %8s\n", n, w, c, g, g / c, e }'
done
