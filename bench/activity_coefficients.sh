#!/bin/bash
# Mean activity coefficients of a 1:1 electrolyte (examples/salt-reservoir.ini) at three activities, on CPU threads.
#
#     activity_coefficients.sh
#
# SECONDS_EACH (default 40) of each; PLUGMC= says where the program is, SEED= other random numbers. Lines: activity / Angstrom^3, edge of the
# box, mol/l, ln of the mean activity coefficient with its error, and the energy an ion over kT.
set -eu
. "$(dirname "$0")/common.sh"

# of ACTIVITY EDGE CUTOFF
of()
{
    rm -f case.h5*
    "$plugmc" run "$here/../examples/salt-reservoir.ini" --set run.output="$PWD/case.h5" --set run.device=cpu \
        --set "run.time_limit=${SECONDS_EACH:-40}" --set run.sweeps=100000000 --set run.equilibrate=1000 --set "run.seed=${SEED:-1980}" \
        --set "run.walkers=${WALKERS:-$(nproc)}" --set "box.lx=$2" --set "potential coulomb_ewald.cutoff=$3" \
        --set "species cation.activity=$1" --set "species anion.activity=$1" --set "species cation.max_count=200" \
        --set "species anion.max_count=200" >said 2>errors || [ $? = 11 ] || { cat errors >&2; exit 1; }
    awk -v a="$1" -v edge="$2" '$1 == "numbers.N_cation" { split($2, x, /[()]/)
            n = index(x[1], ".") ? length(x[1]) - index(x[1], ".") : 0
            error = index(x[2], ".") ? x[2] : x[2] / 10 ^ n; rho = x[1] / edge ^ 3; star = x[3]; ratio = error / x[1] }
        $1 == "energy.energy" { u = $2 }
        END { printf "%-10s %4s  %.5f mol/l  %.5f +- %.5f%s  U / N kT %s\n", a, edge, rho / 6.02214076e-4, log(a / rho), ratio, star, u }' said
}

of 4.962e-5 100 42
of 1.965e-4 60 25
of 5.308e-4 50 22
