#!/bin/sh
# plugmc bench of orbitals of Gaussian functions, with the files that lcao.ini, splines.ini and determinants.ini name: made in a
# folder of their own, which is gone afterwards.
#
#     lcao.sh [orbitals|determinants] [--set SECTION.KEY=VALUE]...
#
# orbitals: values, and values with derivatives, of 1,512 contracted functions, beside splines. determinants: C2 in one
# determinant, then in 1,000. Without a table both. C2= names tests/data/lcao/c2.trexio.h5 of the sources, if it is not found;
# PLUGMC= says where the program is, if common.sh does not find it.
set -eu
given=${C2:+$(readlink -f "$C2")}
. "$(dirname "$0")/common.sh"
c2=${given:-$(readlink -f "$here")/../tests/data/lcao/c2.trexio.h5}

values()
{
    awk -v cells=3 -f "$here/gaussian_orbitals.awk" >lcao-108.xml
    awk -v cells=3 -v bands=4 -f "$here/free_electrons.awk" >orbitals-108.data
    cp "$here/lcao.ini" "$here/splines.ini" . # file names in them are relative to them
    "$plugmc" bench ./lcao.ini "$@"
    "$plugmc" bench ./splines.ini "$@"
}

# 999 terms beside the first: an electron of either spin from orbital i to a, all pairs of such substitutions in an order
# that mixes them, with coefficients that fall.
terms()
{
    awk 'BEGIN {
        printf "[potential multideterminant]\nexcitations ="
        for (k = 0; k < 999; k++) {
            n = (k * 7919) % 10816; up = int(n / 104); down = n % 104
            printf " %d>%d/%d>%d", int(up / 26) + 1, up % 26 + 5, int(down / 26) + 1, down % 26 + 5
        }
        printf "\ncoefficients ="
        for (k = 0; k < 999; k++) printf " %.6f", (k % 2 ? -0.1 : 0.1) / (1 + k / 10)
        print ""
    }'
}

determinants()
{
    [ -e "$c2" ] || {
        echo "lcao.sh: C2= does not say where c2.trexio.h5 is" >&2
        exit 2
    }
    cp "$c2" "$here/determinants.ini" .
    cp determinants.ini one.ini
    { cat determinants.ini; echo; terms; } >thousand.ini
    "$plugmc" bench ./one.ini "$@"
    "$plugmc" bench ./thousand.ini "$@"
}

case ${1:-} in
orbitals) shift && values "$@" ;;
determinants) shift && determinants "$@" ;;
*) values "$@" && determinants "$@" ;;
esac
