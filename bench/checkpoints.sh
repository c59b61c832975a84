#!/bin/bash
# What checkpoints cost a run of 1,048,576 hard disks, also beside a long trajectory.
#
# Sweeps a second at packing fraction 0.698 (checkerboard) with a checkpoint every P seconds and without, in runs in turn.
#
#     bench/checkpoints.sh [--period P] [--count C] [--rounds R] [--trajectory GB] [--disks N] [--packing X] [--device gpu|cpu]
#                         [--processor [--sweeps S]]
#
# Sweeps a second are those between the progress lines of one run over C periods (C = 2): without checkpoints from P/2
# seconds after its beginning on, with them after the first one is there, whose time is printed, too. R pairs of runs (2),
# P = 10. Runs are killed, so that no last checkpoint is waited for. Checkpoints are flushed to the disk, whose file system
# is printed. At the end the size of a checkpoint is printed.
#
# With --processor and --sweeps S (60), what is counted is processor time, user and system, of the program and its children:
# of S sweeps on one thread with as many checkpoints as there is time for, and without any but the last, in R pairs of runs
# in turn; the difference is divided by the number of checkpoints. Their median as a share of one processor, with one
# checkpoint every P seconds, is the cost. Sweeps a second scatter by more than 1 % on a machine that others use, and where
# all processors sweep; this does so less, as waiting does not count, and a run has tens of checkpoints.
#
# With --trajectory the run has a trajectory of so many GB, to which each checkpoint adds. $TMPDIR says where the files are.
set -eu
period=10 count=2 rounds=2 gigabytes=0 disks=1048576 packing=0.698 device=gpu processor=no sweeps=60
while [ $# -gt 0 ]; do
    case $1 in
    --processor)
        processor=yes
        shift
        continue
        ;;
    --sweeps) sweeps=$2 ;;
    --period) period=$2 ;;
    --count) count=$2 ;;
    --rounds) rounds=$2 ;;
    --trajectory) gigabytes=$2 ;;
    --disks) disks=$2 ;;
    --packing) packing=$2 ;;
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
packing_fraction = $packing
[species disk]
count = $disks
[initial]
state = lattice
[potential hard_disk]
[mover checkerboard]
trials = 4
step = 0.16
END

frames_every=10000
[ "$device" = gpu ] || frames_every=40

fail() { cat error.txt >&2 && echo "checkpoints.sh: $1" >&2 && exit 1; }

# A run of two frames, and a frame more for each ten thousand sweeps (on a CPU, which makes some 50 a second, 40). The second one is repeated until the trajectory has
# the gigabytes, since a run takes hours for them.
make_file()
{
    if [ "$gigabytes" != 0 ]; then printf '[observable trajectory]\nperiod = %s\n' $frames_every >>sim.ini; fi
    "$plugmc" run sim.ini --quiet --set run.sweeps=$([ "$gigabytes" = 0 ] && echo 1 || echo $((2 * frames_every))) >/dev/null 2>error.txt ||
        fail "a run has failed"
    [ "$gigabytes" != 0 ] || return 0
    python3 - "$gigabytes" <<'END' 2>error.txt || fail "the trajectory could not be made longer (python3-h5py)"
import struct, sys
import h5py
with open("sim.gsd", "r+b") as f:
    header = bytearray(f.read(256))
    index, room = struct.unpack_from("<QQ", header, 8)
    f.seek(index)
    entries = [list(struct.unpack_from("<QQqIHBB", f.read(32))) for _ in range(room)]
    entries = [e for e in entries if e[2]]
    last = [e for e in entries if e[0] == 1]
    size = {1: 1, 3: 4, 4: 8, 9: 4, 10: 8}
    first = last[0][2]
    end = last[-1][2] + last[-1][1] * last[-1][3] * size[last[-1][5]]
    f.seek(first)
    data = f.read(end - first)
    frames = int(float(sys.argv[1]) * 1e9 / len(data)) + 1
    f.seek(0, 2)
    for k in range(2, frames):
        at = f.tell()
        f.write(data)
        entries += [[k, e[1], e[2] - first + at, *e[3:]] for e in last]
    room = 2 * len(entries)
    struct.pack_into("<QQ", header, 8, f.tell(), room)
    f.write(b"".join(struct.pack("<QQqIHBB", *e) for e in entries) + bytes(32 * (room - len(entries))))
    f.seek(0)
    f.write(header)
with h5py.File("sim.h5", "r+") as f:
    f["plugmc/checkpoint/trajectory"].attrs.modify("frames", frames)
END
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

# rate SECONDS: sweeps a second with a checkpoint every so many, 0: none.
rate()
{
    local from
    "$plugmc" run --resume sim.h5 --json --set run.sweeps=1000000000 --set run.checkpoint="$1" --set run.time_limit=0 \
        > >(stamped >said.txt) 2>error.txt </dev/null &
    process=$!
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

# seconds CHECKPOINT: processor time of the sweeps, and how often the file was written. A run beside a long trajectory
# goes on from the file that make_file has left, and first cuts what the one before it has added.
seconds()
{
    local TIMEFORMAT='%U %S' what=(sim.ini) last=$sweeps
    rm -f sim.h5
    if [ "$gigabytes" != 0 ]; then
        cp first.h5 sim.h5
        what=(--resume sim.h5) last=$((2 * frames_every + sweeps))
    fi
    { time "$plugmc" run "${what[@]}" --quiet --set run.sweeps="$last" --set run.threads=1 --set run.checkpoint="$1" \
        >/dev/null 2>error.txt; } 2>time.txt || fail "a run has failed"
    grep -aoE '[0-9a-f]{32} [0-9]+' sim.h5 | awk 'NR == 1 { print $2 }' | paste -d ' ' time.txt - |
        awk 'NF == 3 { print $1 + $2, $3; good = 1 } END { exit !good }' || fail "a file does not say how often it was written"
}

# Of both runs the file is made once to see that it can be, and written at the end.
count_processor()
{
    local r without with
    printf '%16s %16s %14s %18s\n' "none: s" "with: s" checkpoints "s for a checkpoint"
    for ((r = 0; r < rounds; r++)); do
        without=$(seconds 0)
        with=$(seconds 1e-9)
        awk -v a="$without" -v b="$with" 'BEGIN {
            split(a, none); split(b, some)
            n = some[2] - none[2]
            if (n < 1) exit 1
            printf "%16.2f %16.2f %14d %18.4f\n", none[1], some[1], n, (some[1] - none[1]) / n
        }' || fail "there was no time for a checkpoint: --sweeps makes the runs longer"
    done | tee rounds.txt
    [ "$(wc -l <rounds.txt)" = "$rounds" ] || exit 1
    sort -g -k 4 rounds.txt | awk -v p="$period" '{ t[NR] = $4 } END {
        m = (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2
        printf "one every %g s: %.2f %% of a processor (median)\n", p, 100 * m / p }'
}

echo "$("$plugmc" --version | head -1), commit $(git -C "$(dirname "$plugmc")" rev-parse --short HEAD 2>/dev/null || echo '?')"
echo "$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1) \
$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); \
$(df -T . | awk 'END { print $2 }')"
if [ $processor = yes ]; then
    if [ "$gigabytes" != 0 ]; then
        make_file
        cp sim.h5 first.h5
    fi
    echo "$disks disks, $sweeps sweeps, trajectory of $(stat -c %s sim.gsd 2>/dev/null | awk '{ printf "%.3f", $1 / 1e9 }') GB"
    count_processor
    echo "a checkpoint has $(stat -c %s sim.h5 | awk '{ printf "%.1f", $1 / 1e6 }') MB"
    exit 0
fi
make_file
echo "$disks disks, trajectory of $(stat -c %s sim.gsd 2>/dev/null | awk '{ printf "%.3f", $1 / 1e9 }') GB, a checkpoint every $period s"
cost() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", 100 * (a / b - 1) }'; }
printf '%16s %16s %10s %16s' "none: sweeps/s" "with: sweeps/s" cost "the first: s"
echo
for ((r = 0; r < rounds; r++)); do
    without=$(rate 0)
    with=$(rate "$period")
    printf '%16s %16s %9s%% %16s' "$without" "$with" "$(cost "$without" "$with")" "$(cat first.txt)"
    echo
done
echo "a checkpoint has $(stat -c %s sim.h5 | awk '{ printf "%.1f", $1 / 1e6 }') MB"
