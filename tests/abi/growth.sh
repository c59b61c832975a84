#!/bin/bash
# growth.sh SOURCE BUILD [CMAKE-OPTION...]: the plugin interface grows by a minor version, and both
# sides go on working. A member is appended to every struct of the headers that may grow, the minor
# version is raised, and the program and some plugins of each kind are built with these headers. Then
#   today's plugins run in the later program,
#   the later plugins, which say that they need no more than today's program, run in it,
#   a later plugin that does not say so is refused in a sentence,
#   the later program writes nothing behind a struct of a plugin that it fills in;
# and every run has the table that today's plugins have in today's program.
set -euo pipefail
source=$1 build=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
plugins="hard_disk lennard_jones tail_correction serial checkerboard energy rdf hard_pressure trajectory"

# Structs that plugins lay out by hand or that are parts of others: they keep their size.
fixed="plugmc_box plugmc_particle plugmc_particles plugmc_derivatives plugmc_counts plugmc_list plugmc_nonlocal_point plugmc_extension"
later=$work/later
mkdir "$later"
cp -r "$source"/{CMakeLists.txt,cmake,core,lib,plugins,programs,bench,docs,examples,README.md,sim.ini} "$later"
header=$later/core/include/plugmc/plugin.h headers=("$later"/core/include/plugmc/{archive,changes,driver,facets,gpu,macrostates,molecule,mover,observable,orbitals,parameter,plugin,domain_decomposition,state,total,trial,view,wave}.h)
sed -i 's/-O3/-O0/' "$later/cmake/PlugmcPlugins.cmake" # what is built here does little
sed -i -E 's/^(#define PLUGMC_ABI_MINOR) ([0-9]+)$/\1 (\2 + 1)/' "$header"
sed -i -E '/^\} plugmc_[a-z_]+;$/{
    /^\} ('"${fixed// /|}"');$/!i\    const void *appended_by_a_later_version;
}' "${headers[@]}"
appended=$(cat "${headers[@]}" | grep -c appended_by_a_later_version)
[ "$appended" -ge 20 ] || { echo "a member was appended to $appended structs only"; exit 1; }
grep -q 'ABI_MINOR (0 + 1)\|ABI_MINOR ([1-9][0-9]* + 1)' "$header" || { echo "no minor version"; exit 1; }

build_later() { # FOLDER FLAGS TARGET...
    local folder=$1 flags=$2
    shift 2
    { [ -e "$folder/CMakeCache.txt" ] ||
        cmake -S "$later" -B "$folder" -DBUILD_TESTING=OFF -DCMAKE_BUILD_TYPE=None \
            -DCMAKE_C_FLAGS="$flags -O0 -DPLUGMC_ONE_TARGET" "${options[@]}" >"$work/log" 2>&1; } &&
        cmake --build "$folder" --parallel "$(nproc)" --target "$@" >>"$work/log" 2>&1 ||
        { tail -n 30 "$work/log"; exit 1; }
}
options=("$@")
build_later "$work/a" -DPLUGMC_NEEDS_MINOR=0 plugmc $plugins
later_program=$work/a/plugmc later_plugins=$work/a/plugins

cat >"$work/disks.ini" <<'INI'
[run]
sweeps = 400
equilibrate = 40
seed = 7
threads = 1
device = cpu
[box]
dimension = 2
packing_fraction = 0.4
[species disk]
count = 64
[initial]
state = random
[potential hard_disk]
[mover checkerboard]
step = 0.2
target_acceptance = 0.4
[observable hard_pressure]
[observable rdf]
[observable trajectory]
period = 100
INI
cat >"$work/liquid.ini" <<'INI'
[run]
sweeps = 100
seed = 3
threads = 1
device = cpu
[box]
dimension = 3
density = 0.3
[species a]
count = 108
[initial]
state = lattice
[potential lennard_jones]
epsilon = 1
sigma = 1
cutoff = 2
[potential tail_correction]
of = lennard_jones
[mover serial]
[observable energy]
period = 5
INI

# run PROGRAM PLUGINS INI NAME: the table of results, without times and file names
run() {
    (cd "$work" && PLUGMC_PLUGIN_PATH=$2 "$1" run "$3.ini" --set "run.output=$4.h5" \
        >"$4.out" 2>"$4.err") || { cat "$work/$4.err"; echo "$4 failed"; exit 1; }
    sed -E 's/; [0-9.e+-]+ s$//; s/in [^ ]+\.h5/in FILE/; /^[^ ]+\.h5$/d' "$work/$4.out" >"$work/$4.table"
    [ -s "$work/$4.table" ] || { echo "$4 has no table"; exit 1; }
}
for ini in disks liquid; do
    run "$build/plugmc" "$build/plugins" $ini $ini.today
    run "$later_program" "$build/plugins" $ini $ini.old_plugins
    run "$build/plugmc" "$later_plugins" $ini $ini.later_plugins
    run "$later_program" "$later_plugins" $ini $ini.later
    for other in old_plugins later_plugins later; do
        diff "$work/$ini.today.table" "$work/$ini.$other.table" ||
            { echo "$ini: the chain of $other is another"; exit 1; }
    done
done

# A view that a plugin of today asks for, and one with room for what the later program knows.
for more in 0 40; do
    { cat "$work/disks.ini"; printf '[observable framed]\nperiod = 5\nmore = %s\n' $more; } >"$work/framed.$more.ini"
    run "$later_program" "$build/plugins:$build/tests/cli/plugins" framed.$more framed.$more
    grep -Eq "^framed.filled +$((more ? 8 : 0))[* ]" "$work/framed.$more.table" &&
        grep -Eq '^framed.spoilt +0[* ]' "$work/framed.$more.table" ||
        { cat "$work/framed.$more.table"; echo "a view with room for $more bytes more"; exit 1; }
done

build_later "$work/b" "" serial
if (cd "$work" && PLUGMC_PLUGIN_PATH=$work/b/plugins:$build/plugins "$build/plugmc" check liquid.ini \
    2>"$work/refused"); then
    echo "a plugin that needs a later program was loaded"
    exit 1
else
    [ $? = 4 ] || { echo "exit code for a plugin that needs a later program"; exit 1; }
fi
grep -q 'was built for plugin ABI 2.2, but this plugmc has 2.1' "$work/refused" ||
    { cat "$work/refused"; exit 1; }

# Bits of `needs` that today's program does not know: an ability is passed over, a restriction is not.
mover=$later/plugins/movers/serial.c
sed -i 's/\.needs = /&1u << 30 | /' "$mover"
build_later "$work/a" -DPLUGMC_NEEDS_MINOR=0 serial
run "$build/plugmc" "$later_plugins" liquid liquid.ability
diff "$work/liquid.today.table" "$work/liquid.ability.table" || { echo "the chain with an ability is another"; exit 1; }
sed -i 's/1u << 30/1u << 17/' "$mover"
build_later "$work/a" -DPLUGMC_NEEDS_MINOR=0 serial
code=0
(cd "$work" && PLUGMC_PLUGIN_PATH=$later_plugins "$build/plugmc" check liquid.ini 2>"$work/refused") || code=$?
[ $code = 4 ] || { echo "exit code $code for a mover with a restriction that is not known"; exit 1; }
grep -q "is a mover with needs that this plugmc does not know (needs = 0x[0-9a-f]*200c0)" "$work/refused" ||
    { cat "$work/refused"; exit 1; }
echo "a member more in $appended structs: old and new work together"
