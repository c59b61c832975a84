# shellcheck shell=bash disable=SC2034
# Shared by run.sh and test.sh (sourced, bash): packages, configuring and building into build/.
# Nothing is printed but what takes minutes or fails; the rest goes to build/log/.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build
build_packages=(build-essential cmake ninja-build pkg-config libinih-dev libhdf5-dev libexpat1-dev libfftw3-dev
                liblapacke-dev libopenblas-dev)
report_packages=(gnuplot-nox) # which draws the figures of plugmc report
test_packages=(librandom123-dev libcmocka-dev hdf5-tools "${report_packages[@]}" python3-h5py
               python3-gsd python3-pandas python3-matplotlib python3-pip mkdocs file openmpi-bin libopenmpi-dev gfortran)

say() { echo "plugmc: $*" >&2; }

# logged NAME COMMAND...: runs it with its output in build/log/NAME.log, whose end is shown if it
# fails.
logged() {
    local log=$build/log/$1.log
    shift
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 30 "$log" >&2
    say "this failed: $* (all it said: $log)"
    exit 1
}

# One process at a time; files of a build are for its owner alone to write.
begin() {
    umask g-w,o-w
    mkdir -p "$build/log"
    exec 9>"$build/log/lock"
    flock 9
}

# install_packages PACKAGE...: those that are missing, with apt-get. On a system without dpkg it is
# left to CMake to say what is missing.
install_packages() {
    local missing=() package as_root=()
    command -v dpkg-query >/dev/null || return 0
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
            say "these packages are missing: ${missing[*]}. They cannot be installed, since you" \
                "are not root and cannot use sudo. Ask an administrator for" \
                "'apt-get install ${missing[*]}', or build with 'cmake -S . -B build && cmake" \
                "--build build' where the libraries are in other places."
            exit 1
        fi
        sudo true # asks for the password where it can be seen
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    logged packages "${as_root[@]}" update
    logged packages "${as_root[@]}" install --yes --no-install-recommends "${missing[@]}"
}

# build_plugmc TARGETS CMAKE-OPTION...: configures and builds targets ("all", or names separated by
# blanks). The generator is chosen once.
build_plugmc() {
    local targets=$1 options=("${@:2}")
    if [ ! -f "$build/CMakeCache.txt" ]; then
        say "building in $build"
        options+=(-DCMAKE_BUILD_TYPE=Release)
        ! command -v ninja >/dev/null || options+=(-G Ninja)
    fi
    logged configure cmake -S "$root" -B "$build" "${options[@]}"
    # shellcheck disable=SC2086 # several targets are several words
    logged build cmake --build "$build" --parallel "$(nproc)" --target $targets
}

# Lets the next one in; what is started now does not hold the lock.
finish() { exec 9>&-; }
