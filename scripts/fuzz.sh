#!/bin/bash
# scripts/fuzz.sh [SECONDS [FORMAT...]]: builds the fuzzing programs of tests/fuzz with clang's
# libFuzzer and the sanitizers for addresses and undefined behaviour, and runs each (or those of the
# formats named) for so many seconds, 600 unless given, on its seeds. What was found is left in
# build/fuzz/found; the end is 1 then.
#   --build FOLDER                     only builds, there; 77 without clang's libFuzzer
#   --built FOLDER SECONDS FORMAT...   only runs what is built there; 77 if nothing is
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

# set_apart PROGRAM FOUND: what was found and crashes inside of libhdf5 goes to FOUND.libhdf5. The program
# reads such files in a child first (docs/testing.md), so that library's crashes are no faults of ours.
set_apart() {
    local input count=0
    rm -rf "$2.libhdf5"
    for input in "$2"/crash-*; do
        [ -f "$input" ] || continue
        "$1" "$input" 2>&1 | grep -m1 '^ *#0 ' | grep -q libhdf5 || continue
        mkdir -p "$2.libhdf5"
        mv "$input" "$2.libhdf5/"
        count=$((count + 1))
    done
    [ $count = 0 ] || echo "; $count inputs crash libhdf5"
}

# search FOLDER SECONDS FORMAT: one line of what it did; 1 if it found something.
search() {
    # More memory than there is, is refused by malloc, as it is to the program.
    local -x ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=2048
    local found=$1/found/$3 corpus=$1/corpus/$3 log=$1/found/$3.log code=0
    rm -rf "$found"
    mkdir -p "$found" "$corpus"
    local of_library=() library=
    case $3 in checkpoint | h5md | eshdf) of_library=(-fork=1 -ignore_crashes=1) ;; esac
    "$1/tests/fuzz/fuzz_$3" -max_total_time="$2" -timeout=25 -rss_limit_mb=4096 \
        -malloc_limit_mb=2000000000 -max_len=16384 "${of_library[@]}" \
        -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$found/" \
        "$corpus" "$seeds/$3" >"$log" 2>&1 || code=$?
    local runs cover
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p; s/^#\([0-9]*\): cov: .*/\1/p' "$log" |
        tail -n 1)
    cover=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    [ ${#of_library[@]} = 0 ] || library=$(set_apart "$1/tests/fuzz/fuzz_$3" "$found")
    [ -z "$(ls "$found")" ] || code=1
    if [ $code = 0 ] && [ -n "$runs" ]; then
        printf '%-12s %10s inputs, %5s edges: no crash, no hang, no leak%s\n' "$3" "$runs" "$cover" \
            "$library"
    else
        printf '%-12s FOUND (exit code %d): %s\n' "$3" "$code" "$(ls "$found")"
        tail -n 60 "$log"
        return 1
    fi
}

case ${1-} in
    --help) sed -n '2,7s/^# \?//p' "$0"; exit ;;
    --build)
        has_libfuzzer || { echo "no clang with libFuzzer: seeds only"; exit 77; }
        build "$2"
        exit ;;
    --built) folder=$2 seconds=$3; shift 3 ;;
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
