#!/bin/sh
# Fused kernels against kernels written by hand, on a machine with nvcc and a GPU; compare.c says
# what is compared and how.
#
#     run.sh COMPARE PLUGINS
#
# COMPARE is the program by_hand_compare of a build (cmake --build BUILD --target by_hand_compare),
# PLUGINS the folder of the plugins of the same build; neither needs CUDA to be built. nvcc is
# looked for as $NVCC, then in the path, then in /usr/local/cuda; kernels are compiled for sm_90, or
# $SM. With CUBINS=FOLDER the cubins are kept there; with COMPARE = - they are only made.
set -eu
if [ $# -ne 2 ]; then
    echo "usage: run.sh COMPARE PLUGINS" >&2
    exit 2
fi
compare=$1 plugins=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ -n "${CUBINS:-}" ]; then
    cubins=$CUBINS
    mkdir -p "$cubins"
else
    cubins=$(mktemp -d)
    trap 'rm -rf "$cubins"' EXIT
fi

# The options of lib/gpu/nvrtc.c; its -default-device has no counterpart, and the texts mark
# their functions themselves.
cubin() # FILE.cu NAME.cubin OPTIONS...
{
    source=$1 name=$2
    shift 2
    "$nvcc" -O3 -arch="sm_${SM:-90}" --std=c++17 -Drestrict=__restrict__ "$@" \
        -I "$root/core/include" -I "$root/plugins/movers" \
        -cubin -o "$cubins/$name" "$here/$source"
}
cubin hard_disk.cu hard_disk_577600.cubin -fmad=false -DDISKS=577600
cubin hard_disk.cu hard_disk_2310400.cubin -fmad=false -DDISKS=2310400
cubin coulomb.cu coulomb.cubin -fmad=true
[ "$compare" != - ] || exit 0

echo "# $(uname -n), $(date -u +%Y-%m-%d), $(nproc) CPUs"
echo "# nvcc: $("$nvcc" --version | grep -i release)"
if command -v nvidia-smi >/dev/null; then
    asked=name,driver_version,clocks.sm,clocks.max.sm
    echo "# $(nvidia-smi --query-gpu=$asked --format=csv,noheader | head -n 1)"
fi
"$compare" "$plugins" "$cubins"
