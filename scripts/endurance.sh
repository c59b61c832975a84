#!/bin/bash
# scripts/endurance.sh killed [CHAINS [MOVER...]]        (15 each)
# scripts/endurance.sh allocations [COUNT [MOVER...]]    (500 each)
# What takes too long for a test, with the movers of tests/endurance, one line each: all that run on a
# CPU, or those that are named (gpu/ewald_serial and gpu/parallel_reduction, where there is a GPU). The
# end is 1 if anything was found, which is left in build/endurance.
#   killed       runs that are killed at random moments, at least twice, and resumed, end as the one
#                that nothing disturbs, bit for bit; the table of results included
#   allocations  runs in which one allocation fails, spread over all that such a run makes, end well
#                or with an exit code that is documented (9, a crash, is not meant) and a sentence,
#                and leave no temporary file
# It takes build/plugmc as it is (PLUGMC: another); SEED chooses the moments.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
plugmc=${PLUGMC-$root/build/plugmc}
fail_malloc=$root/build/tests/cli/bad-plugins/libfail_malloc.so
export LC_ALL=C OMP_WAIT_POLICY=passive
RANDOM=${SEED-1}

case ${1-} in
    killed) count=${2-15} ;;
    allocations) count=${2-500} ;;
    *) sed -n '2,13s/^# \?//p' "$0"; exit 2 ;;
esac
what=$1
shift $(($# < 2 ? $# : 2))
movers=("$@")
[ ${#movers[@]} -gt 0 ] ||
    mapfile -t movers < <(cd "$root/tests/endurance" && basename -s .ini -- *.ini)
work=$root/build/endurance/$what
rm -rf "$work"
mkdir -p "$work"

seconds() { date +%s.%N; }
arithmetic() { awk "BEGIN { print ($*) }"; }

# ---- Killed and resumed ----

# same_chain A B: all but how and where it ran. h5diff of objects it cannot compare says so and ends
# with 0.
same_chain()
{
    local said
    said=$(h5diff --exclude-path /parameters --exclude-path /plugmc/volatile "$1" "$2" 2>&1) &&
        [ -z "$said" ]
}

# The table without the wall time and the names of files.
table() { sed -e '/^acceptance/d' -e 's/[a-z]*\.h5//' "$1"; }

# disturbed: runs sim.ini until it ends by itself; adds to kills. `scale` is how long a command may
# live, in times of an undisturbed run.
disturbed()
{
    local code=137 start=(sim.ini) mine=0
    rm -f sim.h5*
    while [ $code = 137 ]; do
        [ ! -e sim.h5 ] || start=(--resume sim.h5)
        code=0
        { # which keeps the shell from saying each time that something was killed
            timeout -s KILL "$(arithmetic "$startup + $RANDOM / 32768 * $scale * $took")" \
                "$plugmc" run "${start[@]}" >out 2>err </dev/null || code=$?
        } 2>/dev/null
        [ $code != 137 ] || mine=$((mine + 1))
        [ $mine -lt 200 ] || { echo "does not end"; return 1; }
    done
    kills=$((kills + mine)) own_kills=$mine
    [ $code = 0 ] || { echo "exit code $code"; return 1; }
}

killed()
{
    local mover=$1 begin took startup scale=0.8 kills=0 own_kills equal=0 i
    cp "$root/tests/endurance/$mover.ini" sim.ini
    begin=$(seconds)
    "$plugmc" check sim.ini >out 2>&1
    startup=$(arithmetic "($(seconds) - $begin) / 2")
    begin=$(seconds)
    "$plugmc" run sim.ini --set run.output=whole.h5 >whole.out 2>err
    took=$(arithmetic "$(seconds) - $begin")
    for ((i = 0; i < count; i++)); do
        own_kills=0
        while [ $own_kills -lt 2 ]; do # one that came to its end too soon does not count
            disturbed || { echo "$mover: chain $i: see $PWD"; return 1; }
            [ $own_kills -ge 2 ] || scale=$(arithmetic "$scale * 0.9")
        done
        if same_chain whole.h5 sim.h5 && cmp -s <(table whole.out) <(table out); then
            equal=$((equal + 1))
        else
            mkdir "differs.$i"
            cp sim.h5 out "differs.$i"
        fi
    done
    printf '%-22s %4d of %d equal, %4d kills, undisturbed %.1f s\n' "$mover" $equal "$count" \
        "$kills" "$took"
    [ $equal = "$count" ]
}

# ---- Allocations that fail ----

# A fraction of the run: starting, sampling, writing and ending are all in it.
short_run()
{
    local key
    for key in sweeps equilibrate; do
        echo --set
        echo "run.$key=$(($(sed -n "s/^$key = //p" sim.ini) / 20))"
    done
}

# The libraries of OpenMP and, while it is loaded, of Fortran end the program by themselves, with 1, and the
# loader of libraries with 127.
documented()
{
    case $1 in
    0) ;;
    1) grep -Eq '^libgomp: |^Allocating cleared memory failed' err ;;
    127) grep -q 'error while loading shared libraries' err ;;
    [3-9]) tail -n 1 err | grep -q '[a-z]' ;;
    *) false ;;
    esac
}

allocations()
{
    local mover=$1 all n i code words bad=0 left=0 some
    declare -A codes=()
    cp "$root/tests/endurance/$mover.ini" sim.ini
    mapfile -t words < <(short_run)
    LD_PRELOAD=$fail_malloc COUNT_ALLOCATIONS=$PWD/all "$plugmc" run sim.ini "${words[@]}" \
        >out 2>err </dev/null
    all=$(cat all)
    for ((i = 0; i < count; i++)); do
        n=$((1 + all * i / count)) code=0
        rm -f sim.h5*
        LD_PRELOAD=$fail_malloc FAIL_ALLOCATION=$n timeout 120 "$plugmc" run sim.ini \
            "${words[@]}" >out 2>err </dev/null || code=$?
        codes[$code]=$((${codes[$code]-0} + 1))
        # 9, a fault of the program, is documented too, but there should be none
        if ! documented $code || [ $code = 9 ]; then
            echo "$mover: allocation $n of $all: exit code $code: $(tail -n 1 err)"
            bad=$((bad + 1))
        elif [ -n "$(find . -name '*.tmp*')" ]; then
            left=$((left + 1)) some=$n
        fi
    done
    [ $left = 0 ] ||
        echo "$mover: a temporary file is left $left times, as with allocation $some of $all"
    printf '%-22s %d of %d allocations, a code and how often:' "$mover" "$count" "$all"
    for code in $(printf '%s\n' "${!codes[@]}" | sort -n); do
        printf ' %s: %d' "$code" "${codes[$code]}"
    done
    echo
    [ $((bad + left)) = 0 ]
}

status=0
for mover in "${movers[@]}"; do
    mkdir -p "$work/$mover"
    cd "$work/$mover"
    if $what "$mover"; then cd "$work" && rm -rf "${work:?}/$mover"; else status=1; fi
done
exit $status
