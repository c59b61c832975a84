#!/bin/bash
# compile.sh PLUGMC MOVER.CASE.ini ARCHITECTURE...: compiles the kernels of a case for these, which
# needs NVRTC but no GPU, even where the mover runs on GPUs alone. Exits with 77 (skipped) where
# there is no NVRTC.
plugmc=$1 case=$2
shift 2
mover=$(basename "$case")
mover=${mover%%.*}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# of a case that begins with "; --processes 2": ...
read -r -a options <<<"$(sed -n '1s/^; \(--[^:]*\):.*/\1/p' "$case")"
for architecture; do options+=(--architecture "$architecture"); done
said=$("$plugmc" check "$case" "${options[@]}" --set "run.output=$scratch/out.h5" 2>&1)
code=$?
echo "$said"
if [ $code = 7 ] && [[ $said == *"cannot compile kernels"* ]]; then
    echo "SKIPPED: there is no NVRTC"
    exit 77
fi
# a mover for GPUs alone: there is nothing to run it on, and its kernels are compiled all the same
[ $code = 7 ] && [[ $said == *"no GPU to run on"* ]] && code=0
[ $code = 0 ] || exit $code
for architecture; do
    grep -q "^$mover.* sm_$architecture: [1-9][0-9]* bytes" <<<"$said" ||
        { echo "no kernel of mover '$mover' was compiled for sm_$architecture"; exit 1; }
done
