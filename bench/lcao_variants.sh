#!/bin/sh
# Times variants of the kernels of gaussian_orbitals, and what the test of orbitals on a GPU says of each: lcao_variants.sh
set -eu
. "$(dirname "$0")/common.sh"
awk -v cells=3 -f "$here/gaussian_orbitals.awk" >lcao-108.xml
awk -v cells=3 -v bands=4 -f "$here/free_electrons.awk" >orbitals-108.data
cp "$here/lcao.ini" "$here/splines.ini" .
echo "== splines"
"$plugmc" bench ./splines.ini "$@" || true
for v in "" LANES NO_PRODUCT NO_FUNCTIONS NEAREST "COPY LIMIT=48" "COPY LIMIT=48 NEAREST" DIRECT "DIRECT BLOCKS_ALL=3" DEEP P=16 "P=16 BLOCKS=4" P=64 LIMIT=64 LIMIT=40 \
    BLOCKS_ALL=1 "P=64 COPY LIMIT=48" ""; do
    echo "== variant: $v"
    GAUSSIAN_DEFINES="$v" "$plugmc" bench ./lcao.ini "$@" || true
done
