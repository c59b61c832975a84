#!/bin/sh
# plugmc bench vmc, with the files of orbitals that vmc.ini names: made in a folder of their own, which
# is gone afterwards.
#
#     vmc.sh [TABLE] [--set SECTION.KEY=VALUE]...
#
# PLUGMC= says where the program is, if common.sh does not find it.
set -eu
. "$(dirname "$0")/common.sh"

orbitals() # CELLS BANDS: orbitals-L.data, L = CELLS^3 BANDS
{
    awk -v cells="$1" -v bands="$2" -f "$here/free_electrons.awk" \
        >"orbitals-$(($1 * $1 * $1 * $2)).data"
}
orbitals 2 7
orbitals 2 21
orbitals 4 6
orbitals 3 4
orbitals 3 12
orbitals 4 12
cp "$here/vmc.ini" . # file names in it are relative to it
"$plugmc" bench ./vmc.ini "$@"
