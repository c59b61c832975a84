#!/bin/sh
# plugmc bench diffusion, with the files that diffusion.ini and diffusion_diamond.ini name: in a folder of their own,
# which is gone afterwards.
#
#     diffusion.sh [steps|diamond] [--set SECTION.KEY=VALUE]...
#
# Without a table both, as far as there are files. DIAMOND= is the folder with diamondC.pwscf.h5 and C.BFD.xml (tests/data/qmc
# of the sources, if it is not said); PLUGMC= says where the program is, if common.sh does not find it.
set -eu
given=${DIAMOND:+$(cd "$DIAMOND" && pwd)}
. "$(dirname "$0")/common.sh"
diamond=${given:-$(readlink -f "$here")/../tests/data/qmc}

orbitals() # CELLS BANDS: orbitals-L.data, L = CELLS^3 BANDS
{
    awk -v cells="$1" -v bands="$2" -f "$here/free_electrons.awk" \
        >"orbitals-$(($1 * $1 * $1 * $2)).data"
}

steps()
{
    orbitals 1 4
    orbitals 3 4
    orbitals 4 12
    cp "$here/diffusion.ini" . # file names in it are relative to it
    "$plugmc" bench ./diffusion.ini "$@"
}

solid()
{
    cp "$here/diffusion_diamond.ini" "$diamond/diamondC.pwscf.h5" "$diamond/C.BFD.xml" .
    "$plugmc" bench ./diffusion_diamond.ini "$@"
}

case ${1:-} in
steps) steps "$@" ;;
diamond) solid "$@" ;;
*)
    steps "$@"
    if [ -e "$diamond/diamondC.pwscf.h5" ]; then
        solid "$@"
    else
        echo "# without diamond: DIAMOND= does not say where diamondC.pwscf.h5 and C.BFD.xml are"
    fi
    ;;
esac
