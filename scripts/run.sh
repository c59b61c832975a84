#!/bin/bash
# scripts/run.sh FILE.ini [ARGUMENT...]: `plugmc run` with these arguments, from a fresh clone: what
# is missing of the packages (Debian, Ubuntu) is installed, and plugmc is built into build/, with its plugins and
# the programs of its commands. Afterwards it is build/plugmc.
set -euo pipefail
. "$(dirname "$0")/common.sh"

if [ $# = 0 ] || [ "$1" = --help ]; then
    echo "usage: scripts/run.sh FILE.ini [--set SECTION.KEY=VALUE]... (see plugmc run --help)" >&2
    exit 2
fi
begin
install_packages "${build_packages[@]}" "${report_packages[@]}"
targets="plugmc plugmc_plugins plugmc_programs plugmc_mpi"
if [ -f "$build/CMakeCache.txt" ]; then # perhaps of test.sh: its tests are left as they are
    build_plugmc "$targets"
else
    build_plugmc "$targets" -DBUILD_TESTING=OFF
fi
finish
exec "$build/plugmc" run "$@"
