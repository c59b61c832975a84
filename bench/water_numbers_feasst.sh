#!/bin/bash
# ln p(N) of SPC/E water at 525 K in a cube of 20 Angstrom by FEASST (https://github.com/usnistgov/feasst, NIST), a program of others, beside a
# table of water_numbers.py: is the curve of plugmc right for the settings that it states?
#
#     water_numbers_feasst.sh TABLE
#
# FEASST= is the program, a text interface that takes a simulation from standard input. WINDOWS= lowest numbers of windows of eleven steps
# (0 11 ... 143), a process each, all beside one another; SECONDS_EACH= of a window (default 400), SECONDS_BEFORE= of the short run of plugmc that
# leaves a state in it (default 20), SEED= (default 1), FILES= a folder for the tables of all windows. From 60 molecules on there are ten trial
# positions, and one below. Energies of the states by both programs are printed first, in K. PLUGMC= and PYTHON= as in water_numbers.sh.
set -eu
table=$(readlink -f "$1")
feasst=$(readlink -f "${FEASST:?says where feasst is}")
[ -z "${FILES:-}" ] || mkdir -p "$FILES"
files=${FILES:+$(readlink -f "$FILES")}
. "$(dirname "$0")/common.sh"
python=${PYTHON:-python3}
peer=$here/peers/feasst_water_numbers.py
ini=$here/ensembles/water_numbers_gpu.ini
seed=${SEED:-1}
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1
gas_constant=8.31446261815324e-3 # kJ/mol/K

begin() # LOWEST: a state between this number and eleven more, and its energy by plugmc
{
    local code=0
    "$plugmc" run "$ini" --quiet --set run.output="$PWD/window$1.h5" --set run.seed="$((seed + $1))" \
        --set run.time_limit="${SECONDS_BEFORE:-20}" --set run.device=cpu --set run.threads=1 --set run.walkers=1 --set run.equilibrate=5 \
        --set "molecule water.count=$(($1 + 5))" --set "molecule water.max_count=270" --set "mover transition_matrix.windows=1" \
        --set "mover transition_matrix.min=$1" --set "mover transition_matrix.max=$(($1 + 11))" --set "mover rigid.trials=200" \
        --set "mover rigid.step=0.4" >"window$1.said" 2>&1 || code=$?
    [ $code = 0 ] || [ $code = 11 ] || return 1
    "$plugmc" export "window$1.h5" --last --to "window$1.xyz" >/dev/null
    "$python" "$peer" state "window$1.xyz" "state$1.xyz"
}

both() # LOWEST: the energy of the state by both programs
{
    local ours theirs sites
    sites=$(head -n 1 "state$1.xyz")
    { head -n 1 "state$1.xyz" && echo 'Lattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3' && tail -n +3 "state$1.xyz"; } >"same$1.xyz"
    sed "/^\[mover/,\$d; /^max_count/d; /^mu /d" "$ini" >"same$1.ini"
    printf '[mover rigid]\ntrials = 1\nstep = 1e-12\nturn = 1e-6\n[observable energy]\nperiod = 1\n' >>"same$1.ini"
    "$plugmc" run "same$1.ini" --quiet --set run.device=cpu --set run.walkers=1 --set run.threads=1 --set run.sweeps=1 --set run.equilibrate=0 \
        --set "molecule water.count=$((sites / 3))" --set initial.state=file --set initial.file="same$1.xyz" --set run.output="same$1.h5" >/dev/null
    ours=$("$plugmc" analyse "same$1.h5" --csv | sed -n 's/^energy.energy,\([^,]*\),.*/\1/p')
    "$python" "$peer" energy "state$1.xyz" >energy.txt
    "$feasst" <energy.txt >energy.said 2>&1 || { tail -n 1 energy.said && return 1; }
    theirs=$(tail -n 1 "state$1.xyz.energy" | cut -d, -f6)
    awk -v n="$sites" -v a="$ours" -v b="$theirs" -v r=$gas_constant \
        'BEGIN { printf "# %d molecules: %.7f K, by FEASST %.7f K\n", n / 3, n * a, b / r }'
}

one() # LOWEST
{
    STEPS=$([ "$1" -lt 60 ] && echo 1 || echo 10) "$python" "$peer" numbers "$1" $(($1 + 11)) $((1000 * seed + $1)) "state$1.xyz" "w$1" >"w$1.txt"
    timeout "${SECONDS_EACH:-400}" "$feasst" <"w$1.txt" >"w$1.said" 2>&1 || [ $? = 124 ] || tail -n 1 "w$1.said"
}

windows=${WINDOWS:-$(seq 0 11 143)}
for lowest in $windows; do begin "$lowest" & done
wait
for lowest in $windows; do both "$lowest"; done
for lowest in $windows; do one "$lowest" & done
wait
if [ -n "$files" ]; then cp w*.csv "$files"; fi
"$python" "$peer" compare "$table" 'w*.csv'
