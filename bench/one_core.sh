#!/bin/bash
# Processor time of a step of each of 1,536 electrons on one core, ms a walker: one_core.ini by several movers.
#
#     one_core.sh [MOVER...]
#
# Movers: quasi_simultaneous and particle_by_particle, which decide from values of orbitals, and diffusion in its sweeps without
# weights, with drift and gradients, as miniQMC's step. What a run takes beside its sweeps is left out: it is the difference of
# runs of 2 and of 14 sweeps, and the median of five such. Processor time says more than a clock where others use the machine,
# but caches and memory are still shared. OPENBLAS_CORETYPE= and PLUGMC= as everywhere.
set -eu
. "$(dirname "$0")/common.sh"
awk -v orbitals=768 -v atoms=64 -v edge=32 -f "$here/gamma_electrons.awk" >gamma-768.data

mover() # the section of a mover
{
    case $1 in
    quasi_simultaneous) printf '%s\n' "[mover quasi_simultaneous]" "step = 0.6" "target_acceptance = 0" ;;
    particle_by_particle) printf '%s\n' "[mover particle_by_particle]" "step = 0.2236" "target_acceptance = 0" ;;
    diffusion) printf '%s\n' "[mover diffusion]" "period = 1" "tau = 0.05" "variational_tau = 0.05" "variational = 1000000000" \
        "[observable local_energy]" "period = 1000000000" ;;
    *) echo "one_core.sh: $1 is none of its movers" >&2 && exit 2 ;;
    esac
}

seconds() # SWEEPS: user and system time of a run
{
    local TIMEFORMAT="%U %S"
    { time "$plugmc" run sim.ini --quiet --set run.sweeps="$1" --set run.output=sim.h5 >log 2>&1; } 2>spent || {
        cat log >&2
        exit 1
    }
    awk '{ print $1 + $2 }' spent
    rm -f sim.h5
}

[ $# -gt 0 ] || set -- quasi_simultaneous particle_by_particle diffusion
"$plugmc" --version
for name in "$@"; do
    cp "$here/one_core.ini" sim.ini
    mover "$name" >>sim.ini
    for _ in 1 2 3 4 5; do
        few=$(seconds 2)
        awk -v few="$few" -v many="$(seconds 14)" 'BEGIN { printf "%.1f\n", 1000 * (many - few) / 12 / 2 }'
    done | sort -n | awk -v name="$name" '{ all[NR] = $1 } END { printf "%-22s %s ms, from %s to %s\n", name, all[3], all[1], all[5] }'
done
