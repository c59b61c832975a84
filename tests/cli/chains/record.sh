#!/bin/bash
# What the chains of this folder are: record.sh PLUGMC DEVICE [FILE.ini...] runs each file on DEVICE (cpu or gpu), and
# prints for its last positions and for every series a line "NAME DATASET HASH". Tables of a commit are made by
#
#   tests/cli/chains/record.sh build/plugmc cpu >tests/cli/chains/cpu.txt
#   tests/cli/chains/record.sh build/plugmc gpu >tests/cli/chains/gpu.txt
#
# record.sh --of FILE.ini OUTPUT.h5 prints these lines of an output that is there.
#
# THREADS: of a run, 1 if it is not given; JOBS: files that run side by side, likewise.
#
# Numbers are hashed to the last digit, as a chain is the same on every machine. Functions of the C library, BLAS and
# FFTW are not: files say "; Rounded: series" where observables come from them, "; Rounded: all" where moves do. There
# numbers have seven digits. local_energy/drift is left out, which is what rounding makes of matrices.

set -u
export LC_ALL=C OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1
if [ "$1" = --of ]; then of=$3; shift; else of=; fi
plugmc=$(realpath "$1")
device=$2
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -gt 2 ] || set -- "$1" "$2" "$folder"/*.ini
command -v h5dump >/dev/null || { echo "h5dump is not installed (Debian: hdf5-tools)" >&2; exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# hashed FILE FORMAT DATASET
hashed() { h5dump -y -w 1 -m "$2" -d "$3" "$1" | sed -n '/DATA {/,/}/p' | sha256sum | cut -c1-16; }

# lines FILE.ini OUTPUT.h5: what the output is
lines()
{
    local name exact=%.17g moves=%.17g path
    name=$(basename "$1" .ini)
    case $(sed -n 's/^; Rounded: //p' "$1") in
    all) exact=%.6e moves=%.6e ;;
    series) exact=%.6e ;;
    esac
    echo "$name positions $(hashed "$2" "$moves" /plugmc/checkpoint/positions)"
    h5ls -r "$2" | sed -n 's,^\(/plugmc/observables/.*/\(series\|mean\)\) .*,\1,p' |
        grep -v /local_energy/drift/ | while read -r path; do
        echo "$name ${path#/plugmc/observables/} $(hashed "$2" "$exact" "$path")"
    done
}

# recorded FILE.ini: its lines; nothing where no mover of it runs on the device
recorded()
{
    local name
    name=$(basename "$1" .ini)
    "$plugmc" run "$1" --quiet --set run.device="$device" --set run.threads="${THREADS:-1}" --set run.output="$work/$name.h5" \
        >"$work/$name.out" 2>&1 </dev/null || {
        grep -q "on .* only, but \[run\] device = $device" "$work/$name.out" && return 0
        cat "$work/$name.out" >&2
        return 1
    }
    lines "$1" "$work/$name.h5"
}

if [ "$of" ]; then
    lines "$1" "$of"
    exit
fi
for file in "${@:3}"; do
    while [ "$(jobs -r | wc -l)" -ge "${JOBS:-1}" ]; do wait -n; done
    { recorded "$file" >"$work/$(basename "$file" .ini).lines" || touch "$work/failed"; } &
done
wait
cat "$work"/*.lines
[ ! -e "$work/failed" ]
