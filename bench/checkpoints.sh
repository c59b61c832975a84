#!/bin/bash
# What checkpoints cost a run of 1,048,576 hard disks, also beside a long trajectory.
#
# Sweeps a second at packing fraction 0.698 (checkerboard) with a checkpoint every P seconds and without, in runs in turn.
#
#     bench/checkpoints.sh [--period P] [--count C] [--rounds R] [--trajectory GB] [--disks N] [--device gpu|cpu] [--held]
#
# Sweeps a second are those between the progress lines of one run over C periods (C = 2): without checkpoints from P/2
# seconds after its beginning on, with them after the first one is there. That one copies all of the file, at the
# speed of the disk, where the file system shares no blocks; the next ones copy what is new of it. Its time is
# printed, too. R pairs of runs (2), P = 10. Runs are killed, so that no last checkpoint is waited for.
#
# With --trajectory the output file has so many GB more, as the frames of a long trajectory would be there. They are copies
# of frames of this very system, added by h5copy (package hdf5-tools), since a run that writes them by itself takes hours.
# With --held a third run has somebody else with each of the files open, so that each checkpoint copies all of it, as on
# file systems of several machines. $TMPDIR says where the file is.
set -eu
period=10 count=2 rounds=2 gigabytes=0 disks=1048576 device=gpu
held=false
while [ $# -gt 0 ]; do
    case $1 in
    --held) held=true && shift && continue ;;
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

# Lines with the time at which they come.
stamped() { while IFS= read -r line; do printf '%s %s\n' "$EPOCHREALTIME" "$line"; done; }

# Until the first checkpoint has replaced the file.
first_checkpoint()
{
    local begin=$EPOCHREALTIME inode
    inode=$(stat -c %i sim.h5)
    while [ "$(stat -c %i sim.h5)" = "$inode" ]; do
        kill -0 "$process" 2>/dev/null || fail "a run has failed"
        sleep 0.1
    done
    awk -v p="$period" -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", b - a - p }' >first.txt
}

# Has each file open that comes, for as long as the run goes on.
hold()
{
    local inode=0 now fd
    while kill -0 "$process" 2>/dev/null; do
        now=$(stat -c %i sim.h5)
        if [ "$now" != "$inode" ]; then exec {fd}<sim.h5 && inode=$now; fi
        sleep 0.05
    done
}

# rate SECONDS [hold]: sweeps a second with a checkpoint every so many, 0: none.
rate()
{
    local from
    "$plugmc" run --resume sim.h5 --json --set run.sweeps=1000000000 --set run.checkpoint="$1" --set run.time_limit=0 \
        > >(stamped >said.txt) 2>error.txt </dev/null &
    process=$!
    ${2-true} &
    until grep -q '"progress"' said.txt 2>/dev/null; do
        kill -0 $process 2>/dev/null || fail "a run has failed"
        sleep 0.1
    done
    if [ "$1" = 0 ]; then sleep "$(awk -v p="$period" 'BEGIN { print p / 2 }')"; else first_checkpoint; fi
    from=$EPOCHREALTIME
    sleep "$(awk -v p="$period" -v c="$count" 'BEGIN { print p * c + 1 }')"
    kill -KILL $process
    wait
    sed -n 's/^\([0-9.]*\) .*"progress".*"sweep": \([0-9]*\),.*/\1 \2/p' said.txt |
        awk -v from="$from" -v long="$(awk -v p="$period" -v c="$count" 'BEGIN { print p * c }')" '
            $1 < from || $1 > from + long + 1 { next }
            !begun++ { t = $1; n = $2 }
            { to = $1; m = $2 }
            END {
                if (!(to > t) || to - t < long - 2.5) exit 1
                printf "%.6g\n", (m - n) / (to - t)
            }' || fail "there are too few progress lines in $period seconds"
}

echo "$("$plugmc" --version | head -1), commit $(git -C "$(dirname "$plugmc")" rev-parse --short HEAD 2>/dev/null || echo '?')"
echo "$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1) \
$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); \
$(df -T . | awk 'END { print $2 }')"
make_file
mv begin.h5 sim.h5
echo "$disks disks, $(stat -c %s sim.h5 | awk '{ printf "%.3f", $1 / 1e9 }') GB, a checkpoint every $period s"
cost() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", 100 * (a / b - 1) }'; }
printf '%16s %16s %10s %16s' "none: sweeps/s" "with: sweeps/s" cost "the first: s"
$held && printf '%16s %10s' "held: sweeps/s" cost
echo
for ((r = 0; r < rounds; r++)); do
    without=$(rate 0)
    with=$(rate "$period")
    printf '%16s %16s %9s%% %16s' "$without" "$with" "$(cost "$without" "$with")" "$(cat first.txt)"
    if $held; then
        all=$(rate "$period" hold)
        printf '%16s %9s%%' "$all" "$(cost "$without" "$all")"
    fi
    echo
done
