#!/bin/bash
# scripts/fuzz.sh [SECONDS [FORMAT...]]: builds the fuzzing programs of tests/fuzz with clang's
# libFuzzer and the sanitizers for addresses and undefined behaviour, and runs each (or those of the
# formats named) for so many seconds, 600 unless given, on its seeds. What was found is left in
# build/fuzz/found; the end is 1 then.
#   --build FOLDER                     only builds, there; 77 without clang's libFuzzer
#   --built FOLDER SECONDS FORMAT...   only runs what is built there; 77 if nothing is. The inputs are
#                                      the same each time: what fails in CI fails again.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
seeds=$root/tests/fuzz/seeds

has_libfuzzer() {
    command -v clang >/dev/null &&
        echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
        clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null
}

build() {
    cmake -S "$root" -B "$1" -DCMAKE_C_COMPILER=clang -DPLUGMC_FUZZ=ON -DBUILD_TESTING=OFF \
        -DPLUGMC_SANITIZE=address,undefined >/dev/null &&
        cmake --build "$1" --parallel "$(nproc)" --target fuzz_programs
}

# is_of_library LOG FOUND: a crash inside of libhdf5, or memory that libhdf5 itself allocated and lost, which it does
# where what it takes into its caches is damaged. Handles that we leave open are no such leaks; the programs count
# them.
is_of_library() {
    local file
    grep -m1 '^ *#0 ' "$1" | grep -q libhdf5 && return
    for file in "$2"/*; do
        case ${file##*/} in leak-*) ;; *) return 1 ;; esac
    done
    awk '/leak of .* allocated from:$/ { blocks++ }
         /^ *#1 / && /libhdf5/ { library++ }
         END { exit !(blocks > 0 && library == blocks) }' "$1"
}

# search FOLDER SECONDS FORMAT: one line of what it did; 1 if it found something. Crashes inside of
# libhdf5 are no faults of ours, since the program reads such files in a child first: what caused one is
# left in found/FORMAT.libhdf5, and the search goes on.
search() {
    # More memory than there is, is refused by malloc, as it is to the program.
    local -x ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=2048
    local found=$1/found/$3 corpus=$1/corpus/$3 log=$1/found/$3.log
    local end=$((SECONDS + $2)) code=1 runs=0 library=0 clean cover
    rm -rf "$found" "$found.libhdf5"
    mkdir -p "$found" "$found.libhdf5" "$corpus"
    while [ $code != 0 ] && [ $SECONDS -lt $end ]; do
        code=0 clean=true
        "$1/tests/fuzz/fuzz_$3" "${seed[@]}" -max_total_time=$((end - SECONDS)) -timeout=25 -rss_limit_mb=4096 \
            -malloc_limit_mb=2000000000 -max_len=16384 \
            -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$found/" \
            "$corpus" "$seeds/$3" >"$log" 2>&1 || code=$?
        runs=$((runs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | grep . || echo 0)))
        cover=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
        [ $code != 0 ] || break
        is_of_library "$log" "$found" || { clean=false; break; }
        mv "$found"/* "$found.libhdf5/"
        library=$((library + 1))
    done
    if $clean && [ "$runs" -gt 0 ]; then
        printf '%-12s %10s inputs, %5s edges: no crash, no hang, no leak' "$3" "$runs" "$cover"
        [ $library = 0 ] || printf ' but %d in libhdf5' $library
        echo
    else
        printf '%-12s FOUND (exit code %d): %s\n' "$3" "$code" "$(ls "$found")"
        tail -n 60 "$log"
        return 1
    fi
}

seed=()
case ${1-} in
    --help) sed -n '2,8s/^# \?//p' "$0"; exit ;;
    --build)
        has_libfuzzer || { echo "no clang with libFuzzer: seeds only"; exit 77; }
        build "$2"
        exit ;;
    --built) folder=$2 seconds=$3 seed=(-seed=1); shift 3 ;;
    *)
        . "$(dirname "$0")/common.sh"
        seconds=${1-600} folder=$build/fuzz
        [ $# = 0 ] || shift
        begin
        install_packages "${build_packages[@]}" clang libclang-rt-dev
        logged fuzz build "$folder"
        finish ;;
esac
formats=("$@")
[ ${#formats[@]} -gt 0 ] || mapfile -t formats < <(ls "$seeds")
status=0
for format in "${formats[@]}"; do
    [ -x "$folder/tests/fuzz/fuzz_$format" ] || { echo "fuzz_$format is not built"; exit 77; }
    search "$folder" "$seconds" "$format" || status=1
done
exit $status
