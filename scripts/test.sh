#!/bin/bash
# scripts/test.sh [--quick | --slow] [--gpu] [CTEST-OPTION...]: builds plugmc with its tests into
# build/, from a fresh clone too, and runs them.
#   --quick all but those that tests/thorough.txt names: for every change
#   --slow  also those labelled slow
#   --gpu   only those labelled gpu
# One more at once than there are cores, since many wait; those that measure time run alone.
set -euo pipefail
. "$(dirname "$0")/common.sh"

gpu=false slow=false quick=false
while [ $# -gt 0 ]; do
    case $1 in
        --gpu) gpu=true ;;
        --slow) slow=true ;;
        --quick) quick=true ;;
        --help) sed -n '2,7s/^# \?//p' "$0"; exit ;;
        *) break ;;
    esac
    shift
done
selection=()
! $gpu || selection+=(-L '^gpu$')
$slow || selection+=(-LE '^slow$')
! $quick || selection+=(-E "$(grep -v '^#' "$root/tests/thorough.txt" | paste -sd '|')")

begin
install_packages "${build_packages[@]}" "${test_packages[@]}"
build_plugmc all -DBUILD_TESTING=ON
finish
cd "$build"
# Tests share the cores: threads of one that wait for each other leave theirs to another.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY-passive}
exec ctest --parallel "$(($(nproc) + 1))" --output-on-failure "${selection[@]}" "$@"
