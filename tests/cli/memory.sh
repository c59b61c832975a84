# Memory that is short. FAILED_ALLOCATIONS=500 ctest -R failed_allocations spreads as many over each
# run as are asked for; here there are few.

# spread NAME ARGUMENT...: runs with one failed allocation each, spread over all that such a run
# makes. A run ends well or with a code that is documented and a sentence; the library of OpenMP ends
# the program by itself, with 1, and the loader of libraries with 127.
spread()
{
    local name=$1 count=${FAILED_ALLOCATIONS:-30} all n code
    shift
    LD_PRELOAD=$FAIL_MALLOC COUNT_ALLOCATIONS=$work/said/all "$PLUGMC" "$@" >"$out" 2>"$err" ||
        fail "$name does not run"
    all=$(cat "$work/said/all")
    [ "$all" -gt 1000 ] || fail "only $all allocations were seen"
    for ((i = 0; i < count; i++)); do
        n=$((1 + all * i / count))
        prepare
        command="plugmc $* with allocation $n of $all failing"
        LD_PRELOAD=$FAIL_MALLOC FAIL_ALLOCATION=$n timeout 60 "$PLUGMC" "$@" >"$out" 2>"$err"
        status=$?
        case $status in
        0) ;;
        1) grep -q '^libgomp: ' "$err" || fail "a code that is not documented" ;;
        127) grep -q 'error while loading shared libraries' "$err" || fail "not of the loader" ;;
        [3-9]) tail -1 "$err" | grep -q '[a-z]' || fail "there is no sentence" ;;
        *) fail "a signal, or a code that is not documented" ;;
        esac
        [ -z "$(find . -name '*.tmp*')" ] || fail "a temporary file is left: $(ls)"
    done
}

test_failed_allocations_of_a_run()
{
    disks
    change '$a[observable trajectory]\nperiod = 5'
    prepare() { rm -f sim.h5*; }
    prepare
    spread "a run" run sim.ini
}

test_failed_allocations_of_a_resumed_run()
{
    disks
    change '$a[observable trajectory]\nperiod = 5'
    rm sim.h5
    must run sim.ini
    mv sim.h5 first.h5
    prepare() { cp first.h5 sim.h5; }
    prepare
    spread "a resumed run" run --resume sim.h5 --set run.sweeps=30
}

test_failed_allocations_of_a_run_from_a_file()
{
    disks
    change '$a[observable trajectory]\nperiod = 5'
    rm sim.h5
    must run sim.ini --set run.output=start.h5
    change 's/^state = .*/state = file\nfile = start.h5/'
    prepare() { rm -f sim.h5*; }
    spread "a run from a file" run sim.ini
}

# limited KIB: a run with so much memory. It ends well, or before it begins.
limited()
{
    command="plugmc run sim.ini, $1 KiB"
    rm -f sim.h5
    (ulimit -v "$1" && exec timeout 60 "$PLUGMC" run sim.ini) >"$out" 2>"$err"
    status=$?
    case $status in
    11) return 0 ;; # enough, and its time is over
    1) grep -q '^libgomp: ' "$err" || fail "a code that is not documented" ;;
    127) ;;
    4 | 5 | 8) grep -q 'sweeps/s' "$err" && fail "found after the sampling" ;;
    *) fail "a signal, or a code that is not documented" ;;
    esac
    [ -e sim.h5 ] && fail "there is a file"
    return 1
}

# Whatever limit there is on memory: a run that cannot write its file says so before it begins. The
# limits close in on the least that is enough, where sampling itself takes what was there before it.
test_short_memory_is_found_before_the_sampling()
{
    disks
    change -e '/^sweeps/s/=.*/= 100000000/' -e '/^count/s/=.*/= 16384/'
    change '/^\[run\]/a time_limit = 0.3'
    local few=$((20 * 1024)) enough=$((280 * 1024)) middle
    limited $few && fail "too little was enough"
    limited $enough || fail "no limit was enough"
    while [ $((enough - few)) -gt 32 ]; do
        middle=$(((few + enough) / 2))
        if limited $middle; then enough=$middle; else few=$middle; fi
    done
}

# Of descriptors, processes and threads: what is short is said, with the code of a shortage, and where fewer do, the run
# has fewer.
test_few_descriptors_and_processes()
{
    disks
    for few in 6 8 10; do
        command="plugmc run with $few descriptors"
        (ulimit -n $few && exec "$PLUGMC" run sim.ini --quiet) >"$out" 2>"$err" </dev/null
        status=$?
        expect_exit 8
        grep -q "Too many open files" "$err" || fail "expected what is short"
        grep -q "Invalid argument" "$err" && fail "that is nobody's argument"
    done
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "there is no user without processes"
    change 's/^count = .*/count = 20000/; s/^threads = .*/threads = 8/'
    chmod 777 . "$work/said"
    chmod 755 "$work"
    command="plugmc run with 8 processes"
    setpriv --reuid=65531 --regid=65531 --clear-groups bash -c "ulimit -u 8; exec '$PLUGMC' run sim.ini \
        --set run.output=few.h5 --quiet" >"$out" 2>"$err" </dev/null
    status=$?
    grep -q "Permission denied\|closed to others" "$err" && skip "another user cannot run $PLUGMC"
    expect_exit 0
    grep -q "^warning: 8 threads cannot be started here (Resource temporarily unavailable; ulimit -u says how many \
processes and threads a user may have): the run has [1-7]$" "$err" || fail "expected how many threads it has"
    must run sim.ini --set run.output=many.h5
    same_chain many.h5 few.h5
}
