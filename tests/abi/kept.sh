#!/bin/bash
# kept.sh SOURCE BUILD: plugins of version 2.0 of the interface go on working. kept/2.0 has the headers of
# that version and a plugin of each kind: a potential with a pair facet, a mover with take and give, one
# that leaves trials to the core, an observable. They are built with those headers, never with today's,
# and run by the program in BUILD:
#   each is loaded and described,
#   both movers make the chain of the mover serial, whose draws they take, with the same table,
#   the observable finds the energy that the observable `energy` finds, and agrees with itself,
#   a run that is stopped and resumed is the one that is not,
#   the potential compiles into GPU kernels with today's headers (where there is NVRTC).
#
# kept.sh --refresh copied the headers of the day on which version 2.0 was frozen, and is not used any more.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kept=$here/kept/2.0
plugins="kept_well kept_proposer kept_keeper kept_neighbours"

fail() { echo "$*"; exit 1; }

refresh() {
    local source=$1
    grep -q '^#define PLUGMC_ABI_MAJOR 2$' "$source"/core/include/plugmc/*.h &&
        grep -q '^#define PLUGMC_ABI_MINOR 0$' "$source"/core/include/plugmc/*.h ||
        fail "the headers are not of version 2.0 any more: what is kept of it stays as it is"
    mkdir -p "$kept"/{plugmc,units}
    rm -f "$kept"/plugmc/*.h "$kept"/units/*.c
    cp "$source"/core/include/plugmc/*.h "$kept/plugmc"
    cp "$source"/core/units/plugmc_{double,float}.c "$kept/units"
    echo "kept/2.0 has today's headers, $(find "$kept/plugmc" -name '*.h' | wc -l) files."
    echo "Version 2.0 is frozen: only an error in this copy is a reason to do so."
}

if [ "${1-}" = --refresh ]; then
    refresh "$(cd "$here/../.." && pwd)"
    exit
fi

source=$1 program=$2/plugmc own=$2/plugins
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
mkdir "$work/plugins"

broken() { # PLUGIN WHAT
    cat "$work/log"
    fail "$1, a plugin of version 2.0, $2: today's interface breaks plugins built with the headers of" \
        "tests/abi/kept/2.0 (docs/plugin-abi.md). Before 2.0 is released: tests/abi/kept.sh --refresh"
}

# ---- Built with what is kept ------------------------------------------------------------------------

compile() { # PLUGIN
    local text=$kept/plugins/$1.c files=("$kept/plugins/$1.c")
    local flags=(-std=c17 -O1 -DPLUGMC_ONE_TARGET -fPIC -fvisibility=hidden -ffp-contract=off -I "$kept")
    grep -q 'plugmc/potential.h' "$text" && flags+=("-DPLUGMC_SOURCE=\"$text\"") &&
        files=("$kept"/units/plugmc_{double,float}.c)
    "${CC:-cc}" -shared "${flags[@]}" "${files[@]}" -o "$work/plugins/$1.so" -lm >"$work/log" 2>&1 ||
        broken "$1" "does not compile any more"
    "${CC:-cc}" -M "${flags[@]}" "${files[@]}" | tr ' ' '\n' | grep '/plugmc/[a-z_]*\.h' >"$work/headers"
    ! grep -v "^$kept/plugmc/" "$work/headers" || fail "$1 was built with other headers than those kept"
}
for plugin in $plugins; do compile "$plugin"; done

for plugin in $plugins; do
    PLUGMC_PLUGIN_PATH=$work/plugins "$program" info "$plugin" >"$work/log" 2>&1 ||
        broken "$plugin" "is not loaded"
    grep -q "^file: $work/plugins/$plugin.so, " "$work/log" || broken "$plugin" "is not described"
done

# ---- Run --------------------------------------------------------------------------------------------

cat >"$work/sim.ini" <<'INI'
[run]
sweeps = 300
equilibrate = 40
seed = 11
threads = 1
device = cpu
walkers = 2
temperature = 1.25
[box]
dimension = 2
packing_fraction = 0.35
[species large]
count = 40
[species small]
count = 30
diameter = 0.8
[initial]
state = random
[potential well]
plugin = kept_well
epsilon = 3
range = 1.6
[mover displaces]
plugin = serial
step = 0.3
[observable energy]
period = 3
[observable kept_neighbours]
period = 3
range = 1.3
INI

# run NAME [OPTION...]: its table, without times and names of files, in NAME.table
run() {
    local name=$1
    shift
    (cd "$work" && PLUGMC_PLUGIN_PATH=$work/plugins:$own "$program" run sim.ini \
        --set "run.output=$name.h5" "$@" >"$name.out" 2>"$work/log") ||
        broken "${name/serial/kept_well or kept_neighbours}" "does not run"
    table "$name"
}

table() {
    sed -E 's/; [0-9.e+-]+ s$//; s/in [^ ]+\.h5/in FILE/; /^[^ ]+\.h5$/d' "$work/$1.out" >"$work/$1.table"
    [ -s "$work/$1.table" ] || fail "$1 has no table"
}

positions() { # NAME: at the end
    h5dump -d /plugmc/checkpoint/positions -b LE -o "$work/raw" "$work/$1.h5" >/dev/null || fail "h5dump"
    sha256sum <"$work/raw"
}

mean() { # NAME PATH [ATTRIBUTE]
    h5dump -m %.17g -a "/plugmc/observables/$2/${3-mean}" "$work/$1.h5" | sed -n 's/^ *(0): //p'
}

same() { # NAME OTHER
    diff "$work/$1.table" "$work/$2.table" >"$work/log" || broken "$2" "gives other results than $1"
    [ "$(positions "$1")" = "$(positions "$2")" ] || broken "$2" "makes another chain than $1"
}

run serial --set mover.order=sequential
run kept_proposer --set mover.plugin=kept_proposer
run kept_keeper --set mover.plugin=kept_keeper
same serial kept_proposer
same serial kept_keeper

energy=$(mean serial energy/energy) pairs=$(mean serial kept_neighbours/all_pairs)
LC_ALL=C awk -v a="$energy" -v b="$pairs" 'BEGIN { d = a - b; exit !(a < -0.1 && d < 1e-9 && d > -1e-9) }' ||
    fail "kept_neighbours finds the energy $pairs, and the observable energy $energy"
number=$(mean serial kept_neighbours/neighbours) derived=$(mean serial kept_neighbours/from_share value)
LC_ALL=C awk -v a="$number" -v b="$derived" 'BEGIN { d = a - b; exit !(a > 0.5 && d < 1e-9 && d > -1e-9) }' ||
    fail "kept_neighbours finds $number neighbours, and $derived by their shares"

# ---- Resumed ----------------------------------------------------------------------------------------

run half --set mover.plugin=kept_keeper --set run.sweeps=150
(cd "$work" && PLUGMC_PLUGIN_PATH=$work/plugins:$own "$program" run --resume half.h5 --set run.sweeps=300 \
    >half.out 2>"$work/log") || broken kept_keeper "does not resume"
[ "$(positions kept_keeper)" = "$(positions half)" ] || fail "kept_keeper: a resumed run is another"
[ "$(mean kept_keeper energy/energy)" = "$(mean half energy/energy)" ] ||
    fail "kept_keeper: the resumed run has another energy"

# ---- On a GPU ---------------------------------------------------------------------------------------

code=0
(cd "$work" && PLUGMC_PLUGIN_PATH=$work/plugins:$own "$program" check sim.ini --architecture 90 \
    --set mover.plugin=checkerboard >"$work/log" 2>&1) || code=$?
if [ $code = 7 ] && grep -q 'cannot compile kernels' "$work/log"; then
    echo "kernels are left out: there is no NVRTC"
elif [ $code != 0 ] || ! grep -q ' sm_90: [1-9]' "$work/log"; then
    broken kept_well "does not compile into kernels"
fi
echo "plugins built with the headers of version 2.0 work: $plugins"
cmp -s <(cat "$source"/core/include/plugmc/*.h) <(cat "$kept"/plugmc/*.h) ||
    echo "(the headers kept are not today's)"
