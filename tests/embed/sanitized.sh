#!/bin/bash
# sanitized.sh SOURCE FOLDER: the rounds of rounds.c with the address sanitizer, in a build of its own of what they
# need. Minutes, the first time.
set -eu
source=$1 build=$2
plugins="serial checkerboard brush lennard_jones energy"
mkdir -p "$build"
logged() { "${@:2}" >"$build/$1" 2>&1 || { tail -20 "$build/$1"; exit 1; }; }
logged configured cmake -S "$source" -B "$build" -DPLUGMC_SANITIZE=address
# shellcheck disable=SC2086
logged built cmake --build "$build" --target plugmc embed_rounds $plugins -j "${JOBS:-2}"
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:allocator_may_return_null=1
"$build/tests/embed/embed_rounds" cpu "${ROUNDS:-100}"
