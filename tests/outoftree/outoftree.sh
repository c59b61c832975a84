#!/bin/bash
# outoftree.sh STEP BUILD SOURCE: a potential and a mover are written in one C file each, built with nothing
# but an installed plugmc, and named in an INI; no file of plugmc changes.
#   install    installs the build, and moves it, so that it has to find its own files
#   cmake      builds through find_package; the mean energies of two movers must agree
#   mover      the mover beside serial, with the same chain as the plugin swap; it is that of docs/plugins/move.md
#   pkgconfig  builds with one command; must give the same chain as the plugin of `cmake`
#   kernels    compiles it into GPU kernels for the oldest and the newest architecture (77: skipped without NVRTC)
set -eu -o pipefail
unset CMAKE_C_COMPILER_LAUNCHER # whoever builds plugmc through a cache: an author has none
step=$1 build=$2 source=$3
work=$build/tests/outoftree
prefix=$work/prefix
own=$source/tests/outoftree

fail() { echo "$*"; exit 1; }

# mean and error of the energy per particle in an output file
energy() {
    for attribute in mean error; do
        h5dump -m %.17g -a "/plugmc/observables/energy/energy/$attribute" "$1" |
            sed -n 's/^ *(0): //p'
    done
}

# sample MOVER OUTPUT
sample() {
    "$prefix/bin/plugmc" run "$work/well.ini" --set "mover.plugin=$1" \
        --set "run.output=$work/$2.h5" >"$work/$2.log" 2>&1 || { cat "$work/$2.log"; exit 1; }
}

show_plugin() {
    "$prefix/bin/plugmc" list | tee "$work/list.log"
    grep -q '^  well ' "$work/list.log" || fail "plugmc list does not show well"
    "$prefix/bin/plugmc" info well | tee "$work/info.log"
    grep -q "^file: $1, " "$work/info.log" || fail "plugmc info does not show $1"
    grep -q '^epsilon = 1$' "$work/info.log" || fail "plugmc info does not show the key epsilon"
}

step_install() {
    rm -rf "$work"
    mkdir -p "$work"
    umask 002 # a common one; the loader refuses what the group may write to
    cmake --install "$build" --prefix "$work/first"
    mv "$work/first" "$prefix"
    find_plugins
    local open
    open=$(find "$plugins" ! -type l -perm /022)
    [ -z "$open" ] || fail "others may write to $open"
    [ "$(readlink "$plugins/hard_sphere.so")" = hard_disk.so ] || fail "hard_sphere is no link"
    local name # that is no part of a longer one: sources in /plugmc are not those of lib/plugmc/
    name=$(printf %s "$source" | sed 's/[][\\.*^$+?(){}|]/\\&/g')
    ! grep -rlE --include=plugmc.pc --include='*.cmake' "(^|[^[:alnum:]_.})-])$name/" "$prefix" &&
        ! grep -rlF --include=plugmc.pc --include='*.cmake' -e "$work/first" "$prefix" ||
        fail "these files name the source or the first place of the installation"
    # a host of the library
    cc "$source/examples/embed/sweeps.c" $(pkg-config --cflags-only-I --libs plugmc) -o "$work/host"
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir plugmc) "$work/host" | grep '^energy.energy = -' ||
        fail "a program with the installed library does not run"
    for file in share/plugmc/bench/hard_disk.ini share/plugmc/plugins/movers/serial.c share/man/man1/plugmc.1; do
        [ -f "$prefix/$file" ] || fail "$file is not installed"
    done
    env -u PLUGMC "$prefix/share/plugmc/bench/vmc.sh" orbitals --set run.device=cpu \
        --set "bench orbitals.which=coalesced" --set "bench orbitals.limit=0.01" \
        --set "bench orbitals.values=216 56 56 16 orbitals-56.data 1"
    "$prefix/bin/plugmc" bench peers --help | grep -q '^usage: plugmc bench peers ' || fail "bench peers does not start"
}

# The folder of plugins, by the one file of the installation that says where it is.
find_plugins() {
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name plugmc.pc)")
    export PKG_CONFIG_PATH
    plugins=$(realpath "$(pkg-config --variable=plugindir plugmc)")
}

step_cmake() {
    mkdir -p "$work/author"
    cp "$own/well.c" "$own/species_swap.c" "$own/CMakeLists.txt" "$work/author"
    cp "$own/well.ini" "$work"
    cmake -S "$work/author" -B "$work/author/build" -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "$work/author/build"
    cmake --install "$work/author/build"
    export PLUGMC_PLUGIN_PATH=$plugins
    show_plugin "$plugins/well.so"
    sample serial serial
    sample checkerboard checkerboard
    # false alarms: 6e-5 for a new chain; the seed is fixed
    { energy "$work/serial.h5"; energy "$work/checkerboard.h5"; } | LC_ALL=C awk '
        { value[NR] = $1 }
        END {
            if (NR != 4 || !(value[2] > 0) || !(value[4] > 0)) { print "no energies"; exit 1 }
            z = (value[3] - value[1]) / sqrt(value[2]^2 + value[4]^2)
            printf "z = %+.2f  energy per particle: serial %.6f +- %.6f, checkerboard %.6f +- %.6f\n",
                z, value[1], value[2], value[3], value[4]
            exit !(value[1] < -0.1 && z < 4 && z > -4)
        }' || fail "the two movers do not sample the same energy"
}

# Two species of the well, of which serial displaces and the mover PLUGIN swaps.
swapped() {
    sed -e '/^\[species/,/^diameter/d' -e 's/^sweeps = .*/sweeps = 200/' \
        -e 's/^equilibrate = .*/equilibrate = 50/' "$own/well.ini" >"$work/swap.ini"
    cat >>"$work/swap.ini" <<-END
	[species large]
	count = 100
	[species small]
	count = 156
	diameter = 0.8
	[mover swaps]
	plugin = $1
	every = 2
	a = small
	b = large
	END
    "$prefix/bin/plugmc" run "$work/swap.ini" --set "run.output=$work/$1.h5" >"$work/$1.log" 2>&1 ||
        { cat "$work/$1.log"; exit 1; }
    grep -E '^acceptance 0\.[0-9]*[1-9][0-9]* of 1e\+04 trial moves of swaps\.swap' "$work/$1.log" ||
        fail "$1: there is no acceptance of swaps"
}

step_mover() {
    export PLUGMC_PLUGIN_PATH=$plugins
    "$prefix/bin/plugmc" info species_swap | grep '^  move swap: ' || fail "plugmc info does not show the move"
    swapped species_swap
    swapped swap
    echo "mine: $(energy "$work/species_swap.h5" | tr '\n' ' ')"
    [ "$(energy "$work/species_swap.h5")" = "$(energy "$work/swap.h5")" ] ||
        fail "the mover built outside gives another chain than the plugin swap"
    awk '/^```c$/ { text = ""; inside = 1; next }
         /^```/ { if (inside && text ~ /^\/\* species_swap/) printf "%s", text; inside = 0 }
         inside { text = text $0 "\n" }' "$source/docs/plugins/move.md" >"$work/guide.c"
    cmp "$work/guide.c" "$own/species_swap.c" || fail "docs/plugins/move.md has another file"
}

step_pkgconfig() {
    mkdir -p "$work/author" "$work/mine"
    chmod go-w "$work/mine"
    cp "$own/well.c" "$work/author"
    cp "$own/well.ini" "$work"
    (set -x
     cc -shared $(pkg-config --cflags plugmc) "-DPLUGMC_SOURCE=\"$work/author/well.c\"" \
        "$(pkg-config --variable=units plugmc)/plugmc_double.c" \
        "$(pkg-config --variable=units plugmc)/plugmc_float.c" -o "$work/mine/well.so" -lm)
    chmod go-w "$work/mine/well.so"
    export PLUGMC_PLUGIN_PATH=$work/mine:$plugins
    show_plugin "$work/mine/well.so"
    sample checkerboard by_hand
    echo "by hand: $(energy "$work/by_hand.h5" | tr '\n' ' ')"
    echo "CMake:   $(energy "$work/checkerboard.h5" | tr '\n' ' ')"
    [ "$(energy "$work/by_hand.h5")" = "$(energy "$work/checkerboard.h5")" ] ||
        fail "the plugin built by hand gives another chain than that built by CMake"
}

step_kernels() {
    export PLUGMC_PLUGIN_PATH=$plugins
    local code=0
    "$prefix/bin/plugmc" check "$work/well.ini" --architecture 75 \
        --architecture 120 --set mover.plugin=checkerboard --set "run.output=$work/kernels.h5" >"$work/check.log" 2>&1 ||
        code=$?
    cat "$work/check.log"
    if [ $code = 7 ] && grep -q 'cannot compile kernels' "$work/check.log"; then
        echo "SKIPPED: there is no NVRTC"
        exit 77
    fi
    [ $code = 0 ] || exit $code
    for architecture in 75 120; do
        grep -q " sm_$architecture: [1-9]" "$work/check.log" || fail "nothing for sm_$architecture"
    done
}

[ "$step" = install ] || find_plugins
"step_$step"
