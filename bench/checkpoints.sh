#!/bin/bash
# What checkpoints cost a run of 1,048,576 hard disks, also beside a long trajectory.
#
# Sweeps a second at packing fraction 0.698 (checkerboard) with a checkpoint every P seconds and without, in runs in turn.
#
#     bench/checkpoints.sh [--period P] [--count C] [--rounds R] [--trajectory GB] [--disks N] [--device gpu|cpu]
#
# Sweeps a second are those between the progress lines of one run from P/2 seconds after its beginning to C periods
# later (C = 2), so C checkpoints are begun and as good as all of them ended in that time; the last one, at the end of
# a run, is not in it. R pairs of runs (2), P = 10.
#
# With --trajectory the output file has so many GB more, as the frames of a long trajectory would be there; each checkpoint
# copies them where the file system cannot share blocks. They are copies of frames of this very system, added by h5copy
# (package hdf5-tools), since a run that writes them by itself takes hours. $TMPDIR says where the file is.
set -eu
period=10 count=2 rounds=2 gigabytes=0 disks=1048576 device=gpu
while [ $# -gt 1 ]; do
    case $1 in
    --period) period=$2 ;;
    --count) count=$2 ;;
    --rounds) rounds=$2 ;;
    --trajectory) gigabytes=$2 ;;
    --disks) disks=$2 ;;
    --device) device=$2 ;;
    *) break ;;
    esac
    shift 2
done
[ $# = 0 ] || { echo "checkpoints.sh: there is no '$1': see its head" >&2 && exit 2; }
. "$(dirname "$0")/common.sh"

cat >sim.ini <<END
[run]
sweeps = 1000000000
equilibrate = 0
seed = 1
device = $device
output = sim.h5
[box]
dimension = 2
packing_fraction = 0.698
[species disk]
count = $disks
[initial]
state = lattice
[potential hard_disk]
[mover checkerboard]
trials = 4
step = 0.16
END

fail() { cat error.txt >&2 && echo "checkpoints.sh: $1" >&2 && exit 1; }

# A file with a checkpoint, and what a long trajectory adds to it.
make_file()
{
    local frames
    "$plugmc" run sim.ini --quiet --set run.sweeps=1 --set run.output=begin.h5 >/dev/null 2>error.txt ||
        fail "a run has failed"
    [ "$gigabytes" != 0 ] || return 0
    frames=$(awk -v gb="$gigabytes" -v n="$disks" 'BEGIN { print int(gb * 1e9 / 24 / n / 16) + 1 }')
    printf '[observable trajectory]\nperiod = 1\n' | cat sim.ini - >frames.ini
    "$plugmc" run frames.ini --quiet --set run.sweeps="$frames" --set run.output=frames.h5 >/dev/null 2>error.txt ||
        fail "a run with a trajectory has failed"
    for ((k = 0; k < 16; k++)); do
        h5copy -i frames.h5 -s /particles/trajectory/position/value -o begin.h5 -d "/more_frames_$k" 2>error.txt ||
            fail "h5copy has failed"
    done
    rm frames.h5
}

# rate SECONDS: sweeps a second with a checkpoint every so many, 0: none.
rate()
{
    local status=0
    cp begin.h5 sim.h5
    "$plugmc" run --resume sim.h5 --json --set run.sweeps=1000000000 --set run.checkpoint="$1" \
        --set run.time_limit="$(awk -v p="$period" -v c="$count" 'BEGIN { print p * (c + 0.5) + 1.5 }')" \
        >said.txt 2>error.txt </dev/null || status=$?
    [ $status = 11 ] || fail "a run has failed" # it ends by its time limit
    sed -n 's/.*"progress".*"sweep": \([0-9]*\),.*"sweeps_per_second": \([0-9.e+-]*\),.*/\1 \2/p' said.txt |
        awk -v p="$period" -v c="$count" '$2 > 0 {
                t = $1 / $2
                if (t < p / 2 || t > p * (c + 0.5) + 1) next
                if (!begun++) { from = t; n = $1 }
                to = t; m = $1
            }
            END {
                if (to - from < p * (c - 0.5)) exit 1
                printf "%.6g\n", (m - n) / (to - from)
            }' || fail "there are too few progress lines in $period seconds"
}

echo "$("$plugmc" --version | head -1), commit $(git -C "$(dirname "$plugmc")" rev-parse --short HEAD 2>/dev/null || echo '?')"
echo "$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1) \
$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); \
$(stat -f -c %T .)"
make_file
echo "$disks disks, $(stat -c %s begin.h5 | awk '{ printf "%.3f", $1 / 1e9 }') GB, a checkpoint every $period s"
printf '%16s %16s %10s\n' "none: sweeps/s" "with: sweeps/s" cost
for ((r = 0; r < rounds; r++)); do
    without=$(rate 0)
    with=$(rate "$period")
    printf '%16s %16s %9s%%\n' "$without" "$with" \
        "$(awk -v a="$without" -v b="$with" 'BEGIN { printf "%.2f", 100 * (a / b - 1) }')"
done
