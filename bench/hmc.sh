#!/bin/sh
# plugmc bench hmc, with the liquids that hmc.ini starts from: made by single moves in a folder of
# their own, which is gone afterwards.
#
#     hmc.sh [--set SECTION.KEY=VALUE]...
#
# PLUGMC= says where the program is, if common.sh does not find it; SIZES= how large the systems are
# (default 32768 262144 2097152); DEVICE= cpu or gpu.
set -eu
. "$(dirname "$0")/common.sh"

liquid() # N: liquid-N.h5, 400 sweeps after the lattice, some 20 correlation times of the energy
{
    cat >liquid.ini <<INI
[run]
sweeps = 1
equilibrate = 400
seed = 1
device = ${DEVICE:-auto}
output = liquid-$1.h5
[box]
dimension = 3
density = 0.8
[species atom]
count = $1
[initial]
state = lattice
[potential lennard_jones]
epsilon = 1
cutoff = 2.5
truncation = shift
[mover checkerboard]
trials = 4
step = 0.16
[observable trajectory]
period = 1
INI
    "$plugmc" run liquid.ini
}
for size in ${SIZES:-32768 262144 2097152}; do liquid "$size"; done
cp "$here/hmc.ini" . # file names in it are relative to it
"$plugmc" bench ./hmc.ini "$@"
