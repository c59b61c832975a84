#!/bin/bash
# totals.sh STEP BUILD SOURCE PLUGMC: examples/totals, silicon by a C++ library and by a Fortran module (77: skipped without
# compilers for these).
#   build      all plugins by CMake, and by hand as the README has it, which has to give the same chains
#   library    energies, forces and virials of both, without plugmc: library.c
#   lattice    the energy of the diamond lattice, -2 epsilon an atom, by both plugins
#   sampling   serial asks for energies, hmc for forces: energies and pressures agree; the cost of a trial move is told
#   moves      trial moves by `change` make the same chain as those by energies of whole configurations
#   failures   an exception that is caught, one that is not, and a Fortran code that stops: a sentence and an exit code
set -eu -o pipefail
export LC_ALL=C OMP_WAIT_POLICY=passive
umask 022
step=$1 build=$2 source=$3 plugmc=$4
work=$build/tests/totals/work
own=$source/tests/totals
prefix=$build/tests/outoftree/prefix
for compiler in c++ gfortran; do
    "$compiler" --version >/dev/null 2>&1 || { echo "skipped: there is no $compiler"; exit 77; }
done
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name plugmc.pc)")
export PKG_CONFIG_PATH PLUGMC_PLUGIN_PATH=$work/cmake:$build/plugins

fail() { echo "$*"; exit 1; }

# run NAME INI ARGUMENT...: NAME.h5 and NAME.log; `status` is the exit code.
run()
{
    local name=$1 ini=$2
    shift 2
    rm -f "$name".h5*
    status=0
    "$plugmc" run "$ini" --set "run.output=$name.h5" "$@" >"$name.log" 2>&1 || status=$?
    cat "$name.log"
}

must()
{
    run "$@"
    [ $status = 0 ] || fail "exit code $status"
}

# stops CODE SENTENCE: what the last run, in the log NAME, came to.
stops()
{
    [ $status = "$2" ] || fail "expected exit code $2, not $status"
    [ "$(grep -cxF -- "$3" "$1.log")" = 1 ] || fail "expected, once: $3"
}

# result QUANTITY FILE: its mean and error.
result()
{
    for attribute in mean error; do
        h5dump -m %.17g -a "/plugmc/observables/$1/$attribute" "$2" | sed -n 's/^ *(0): //p'
    done
}

step_build()
{
    rm -rf "$work"
    mkdir -p "$work/by_hand"
    env -u CMAKE_C_COMPILER_LAUNCHER -u CMAKE_CXX_COMPILER_LAUNCHER \
        cmake -S "$source/examples/totals" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "$work/cmake"
    cp "$source"/examples/totals/*.* "$work/by_hand"
    cd "$work/by_hand"
    awk '/^## By hand/ { here = 1 } /^```$/ { inside = 0 } here && inside { print > ("block" n ".sh") } here && /^```sh$/ { inside = 1; n++ }' \
        README.md
    export PATH=${plugmc%/*}:$PATH
    built_by block1.sh '^plugmc build' sw_cpp sw_moves sw_fortran
    built_by block2.sh '^cc -shared' sw_cpp sw_fortran
}

# built_by FILE COMMAND NAME...: a block of the README has COMMAND for each plugin and makes it.
built_by()
{
    local file=$1 command=$2 name folder
    shift 2
    [ "$(grep -c "$command" "$file")" = $# ] || fail "$file: expected $# times $command"
    rm -f ./*.so
    sh -eux "$file"
    for name; do
        for folder in "$work/cmake" "$work/by_hand"; do
            must chain silicon.ini --set "potential sw.plugin=$folder/$name.so" --set run.sweeps=20
            result energy/energy chain.h5 >"$(basename "$folder")"
        done
        [ "$(wc -l <cmake)" = 2 ] && cmp cmake by_hand || fail "$name: another chain if it is built by hand"
    done
}

step_library()
{
    # shellcheck disable=SC2046
    cc -O1 -Wall -Werror "-I$source/examples/totals" "$own/library.c" "$work/cmake/libswlib.a" "$work/cmake/libsw_module.a" \
        -lstdc++ -lgfortran -lgomp -lm -o "$work/library"
    "$work/library"
}

step_lattice()
{
    cp "$source"/examples/totals/silicon.* "$work"
    cd "$work"
    for name in sw_cpp sw_fortran; do
        must lattice silicon.ini --set "potential sw.plugin=$name" --set mover.step=1e-9 --set mover.target_acceptance=0 \
            --set run.equilibrate=0 --set run.sweeps=10
        # -2 * 2.168205 eV; a = 5.431 is rounded
        result energy/energy lattice.h5 | awk -v name="$name" 'NR == 1 {
            printf "%s: %.9f eV an atom\n", name, $1
            exit !($1 > -4.33641 - 1e-6 && $1 < -4.33641 + 1e-6) }' || fail "expected -4.33641"
    done
}

step_sampling()
{
    local cost='warning: \[potential sw\] gives energies of whole configurations only, so each trial move of mover auto takes about [0-9.e-]* s; '
    cp "$source"/examples/totals/silicon.* "$work"
    cd "$work"
    printf '[observable virial_pressure]\nperiod = 2\n' | cat silicon.ini - >serial.ini
    sed '/^step = /d; /^target_acceptance/d; s/^\[mover auto\]/[mover hmc]/; s/sw_cpp/sw_fortran/' serial.ini >hmc.ini
    must serial serial.ini --set run.sweeps=4000
    grep -q "$cost" serial.log || fail "the cost of a trial move is not told"
    must hmc hmc.ini --set run.sweeps=2000 --set run.equilibrate=1000 --set run.seed=6
    ! grep -q 'whole configurations' hmc.log || fail "hmc makes no trial moves of single particles"
    # false alarms: 1.3e-4 for new chains; the seeds are fixed. 3/2 kT an atom is 0.129 eV.
    for quantity in energy/energy virial_pressure/pressure; do
        { result $quantity serial.h5; result $quantity hmc.h5; } | awk -v name=$quantity '
            { v[NR] = $1 }
            END {
                if (NR != 4 || !(v[2] > 0) || !(v[4] > 0)) { print "no results"; exit 1 }
                z = (v[3] - v[1]) / sqrt(v[2]^2 + v[4]^2)
                printf "z = %+.2f  %s: serial %.6g +- %.2g, hmc %.6g +- %.2g\n", z, name, v[1], v[2], v[3], v[4]
                exit !(z < 4 && z > -4)
            }' || fail "serial and hmc do not sample the same $quantity"
    done
    result energy/energy serial.h5 | awk 'NR == 1 { exit !($1 > -4.25 && $1 < -4.19) }' || fail "the atoms do not move"
}

# 64 atoms, 2 x 2 x 2 cells.
step_moves()
{
    cd "$work"
    sed -n '3,$p' "$source/examples/totals/silicon.xyz" | awk -v a=5.431 '
        { for (i = 0; i < 8; i++)
              line[n++] = sprintf("Si %.5f %.5f %.5f", $2 + a * (i % 2), $3 + a * (int(i / 2) % 2), $4 + a * int(i / 4)) }
        END {
            printf "%d\nLattice=\"%g 0 0 0 %g 0 0 0 %g\" Properties=species:S:1:pos:R:3\n", n, 2 * a, 2 * a, 2 * a
            for (i = 0; i < n; i++) print line[i]
        }' >cells.xyz
    sed 's/^lx = .*/lx = 10.862/; s/^count = .*/count = 64/; s/^file = .*/file = cells.xyz/
         s/^equilibrate = .*/equilibrate = 20/; s/^sweeps = .*/sweeps = 40/' "$source/examples/totals/silicon.ini" >cells.ini
    must whole cells.ini
    must moves cells.ini --set "potential sw.plugin=sw_moves"
    ! grep -q 'whole configurations' moves.log || fail "a cost is told that nobody pays"
    { result energy/energy whole.h5; result energy/energy moves.h5; } | awk '
        { v[NR] = $1 }
        END {
            printf "energy by whole configurations %.15g, by changes %.15g\n", v[1], v[3]
            d = v[3] - v[1]
            exit !(NR == 4 && v[2] > 0 && d < 1e-9 && d > -1e-9)
        }' || fail "another chain"
    [ "$(grep -o '^acceptance 0[^;]*' whole.log)" = "$(grep -o '^acceptance 0[^;]*' moves.log)" ] || fail "another acceptance"
}

step_failures()
{
    cp "$source/examples/totals/silicon.ini" "$work"
    mkdir -p "$work/failing"
    c++ -O1 -fPIC -c "$own/failing.cpp" -o "$work/failing/cpp.o"
    gfortran -O1 -fPIC -c "$own/failing.f90" -o "$work/failing/f90.o"
    # shellcheck disable=SC2046
    cc -shared $(pkg-config --cflags plugmc) "$own/failing.c" "$work/failing/cpp.o" "$work/failing/f90.o" \
        -lstdc++ -lgfortran -o "$work/failing/failing.so"
    cd "$work"
    sed '/^file = /d; s/^state = file/state = lattice/; s/^lx = .*/lx = 0.9/' silicon.ini >thin.ini
    run thin thin.ini
    stops thin 3 'thin.ini:27: [potential sw] a box side of 0.900000 is too short for the cutoff of 3.771180'
    run thin thin.ini --set "potential sw.plugin=sw_fortran"
    stops thin 3 'thin.ini:27: [potential sw] a box side is too short for the cutoff of 1.8 sigma'

    # in trial moves of the run
    sed '/^epsilon/d; /^sigma/d; s/^plugin = .*/plugin = failing\/failing.so\nhow = caught/; s/^lx = .*/lx = 5/
         /^file = /d; s/^state = file/state = lattice/' silicon.ini >failing.ini
    run failing failing.ini
    stops failing 3 'failing.ini:27: [potential sw] the table of the library ends at 3'
    run failing failing.ini --set "potential sw.how=uncaught"
    stops failing 9 "crashed (abort, SIGABRT), in the callback 'energy' of [potential sw]; an output file is that of the last checkpoint"
    grep -qx '  what():  the table of the library ends at 3' failing.log || fail "the text of the exception is missing"
    run failing failing.ini --set "potential sw.how=stopped"
    stops failing 9 "the program was ended by the callback 'energy' of [potential sw], which must return; an output file is that of the last checkpoint"
    grep -qx 'ERROR STOP the table of the module ends at 3' failing.log || fail "the text of the module is missing"
}

"step_$step"
