# How a run ends when it is told to, whatever it is doing. Limits are generous, since others use this machine, too: most
# of these wait, and other tests run meanwhile.

# slow SECONDS [KEY=VALUE...]: sim.ini with 64 disks moved by serial in a potential that takes twice
# so long a trial move once the run has begun, and further keys of that potential.
slow()
{
    disks
    rm sim.h5
    change 's/mover checkerboard/mover serial/; s/^sweeps = .*/sweeps = 1000000/'
    change 's/^\[observable hard_pressure\]/[observable energy]/; s/^period = .*/period = 1/'
    change 's/^state = .*/state = lattice/' # which takes no call of a potential
    printf '\n[potential faulty]\nplugin = %s/faulty.so\ndelay = %s\nquick = 300\n' "$TEST_PLUGINS" "$1" >>sim.ini
    shift
    printf '%s\n' "$@" >>sim.ini
}

# start ARGUMENT...: in the background, as `process`, until it has said where it runs.
start()
{
    command="plugmc run $*"
    "$PLUGMC" run "$@" >"$out" 2>"$err" </dev/null &
    process=$!
    until grep -q "^on the CPU" "$err" || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
}

# finish: waits for it; `took` seconds since the last call of `tell`.
tell()
{
    kill -"$1" "$process"
    told=$(seconds)
}

finish()
{
    wait "$process"
    status=$?
    took=$(arithmetic "$(seconds) - $told")
}

took_less_than()
{
    [ "$(arithmetic "$took < $1")" = 1 ] || fail "it took $took s to end"
}

# ---- Before the first sweep ----

# begin ARGUMENT...: in the background, until it has its lock.
begin()
{
    command="plugmc run $*"
    "$PLUGMC" run "$@" >"$out" 2>"$err" </dev/null &
    process=$!
    until [ -e sim.h5.lock ] || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
}

# left_before FILE...: it has ended at once, with the sentence of a run that has nothing to save, and
# these files alone are there.
left_before()
{
    expect_exit 10
    took_less_than 2
    grep -Eq "^stopped by signal [0-9]+ before the first sweep; nothing was saved$" "$err" ||
        fail "expected that nothing was saved"
    [ "$(echo *)" = "$*" ] || fail "files were left behind: $(echo *)"
}

test_signal_while_a_plugin_prepares()
{
    slow 0 "prepare = 60"
    for signal in INT TERM HUP USR1 USR2 XCPU; do
        begin sim.ini --set run.csv=sim.csv
        tell $signal
        finish
        left_before sim.ini
    done
}

test_signal_in_the_initial_energy()
{
    slow 1
    change 's/^quick = .*/quick = 0/'
    start sim.ini
    sleep 0.5
    tell TERM
    finish
    left_before sim.ini
}

# Some seconds of compression.
test_signal_in_a_random_start()
{
    disks
    rm sim.h5
    change 's/^count = .*/count = 1200000/; s/^state = .*/state = random/'
    start sim.ini
    sleep 1
    tell TERM
    finish
    left_before sim.ini
}

test_signal_before_a_run_goes_on()
{
    slow 0 "prepare = 3"
    change 's/^sweeps = .*/sweeps = 5/'
    must run sim.ini
    cp sim.h5 before.h5
    for arguments in "--resume sim.h5" "sim.ini --resume-if-there"; do
        begin $arguments --set run.sweeps=9
        tell TERM
        finish
        expect_exit 10
        took_less_than 2
        expect_message "stopped by signal 15 before the first sweep; the file is unchanged, continue with: plugmc run --resume sim.h5"
        cmp sim.h5 before.h5 || fail "the file has changed"
        [ "$(echo *)" = "before.h5 sim.h5 sim.ini" ] || fail "files were left behind: $(echo *)"
    done
    must run --resume sim.h5 --set run.sweeps=9
}

# Nobody reads messages: there is no reason to end before there is something to save.
test_broken_pipe_before_the_first_sweep()
{
    slow 0 "prepare = 2"
    change 's/^sweeps = .*/sweeps = 5/'
    begin sim.ini
    tell PIPE
    finish
    expect_exit 0
}

# At any moment from the start into the run.
test_signals_at_any_moment()
{
    slow 0
    local n name before=0
    for n in $(seq 0 40) 200 400; do # the last ones for a machine so busy that the start takes as long
        rm -f sim.h5
        "$PLUGMC" run sim.ini --set run.checkpoint=0.01 >"$out" 2>"$err" </dev/null &
        process=$!
        # before it is plugmc a signal is taken by bash, which may clean up as at the end of a test
        name=bash
        while [ "$name" = bash ]; do read -r name <"/proc/$process/comm" || name=; done 2>/dev/null
        sleep "$(arithmetic "$n * 0.005")"
        tell TERM
        finish
        took_less_than 5
        case $status in
        143) grep -q . "$err" && fail "the signal was not taken" ;; # it came before main
        10) ;;
        *) fail "expected exit code 10" ;;
        esac
        if [ $status = 143 ] || grep -q "before the first sweep; nothing was saved$" "$err"; then
            before=$((before + 1))
            [ "$(echo *)" = sim.ini ] || fail "files were left behind: $(echo *)"
        else
            [ "$(echo *)" = "sim.h5 sim.ini" ] || fail "expected the output file alone: $(echo *)"
        fi
    done
    [ $before -gt 0 ] || fail "no signal came early"
    [ $before -lt 43 ] || fail "no signal came late"
}

# ---- In the run ----

# A sweep of 64 x 0.2 s, and a signal after one second of it. The first calls are of energies.
test_signal_in_a_slow_sweep()
{
    slow 0.1
    start sim.ini
    sleep 1
    tell TERM
    finish
    expect_exit 10
    took_less_than 4 # 0.3 s for the stretch to end, 1.6 s for eight trial moves, the rest for the load
    grep -q "^stopped by signal 15 after sweep [0-9]*; go on with: plugmc run --resume sim.h5$" "$err" ||
        fail "expected where the run stopped"
    grep -q "five seconds" "$err" && fail "the mover did not give up its sweep"
    [ -s sim.h5 ] || fail "nothing was saved"
}

# given_up: a signal after three seconds is obeyed between tasks, not by leaving the mover behind.
given_up()
{
    start sim.ini
    sleep 3 # the first second or so may be of the initial energy
    tell TERM
    finish
    expect_exit 10
    took_less_than 5
    grep -q "five seconds" "$err" && fail "the mover did not give up its sweep"
    [ -s sim.h5 ] || fail "nothing was saved"
}

# A sub-sweep takes about a second, a sweep four.
test_signal_in_a_slow_checkerboard()
{
    slow 0.0002
    change 's/mover serial/mover checkerboard/; s/faulty/faulty_pair/'
    given_up
}

# All trial moves of a sweep are proposed in 0.6 s, between the groups there is time to stop.
test_signal_in_a_slow_brush()
{
    slow 0.005
    change 's/mover serial/mover brush/; s/^quick = .*/quick = 300/'
    given_up
}

# A step of a trajectory takes half a second, a trajectory of 20 ten.
test_signal_in_a_slow_trajectory()
{
    slow 0
    change '/^\[potential/,/^$/d; /^\[mover/,/^$/d'
    printf '\n[mover hmc]\ntime_step = 0.01\n' >>sim.ini
    printf '\n[potential slow]\nplugin = %s/busy.so\nforces_time = 500000\n' "$TEST_PLUGINS" >>sim.ini
    given_up
}

# on_a_gpu MOVER POTENTIAL [KEY=VALUE]: 262,144 charges, of which a sweep takes seconds.
on_a_gpu()
{
    "$PLUGMC" doctor | grep -Eq '^GPU +[0-9]+: ' || skip "there is no GPU"
    cat >sim.ini <<INI
[run]
sweeps = 1000000
device = gpu

[box]
dimension = 3
packing_fraction = 0.1

[species cation]
count = ${4-131072}
charge = 1

[species anion]
count = ${4-131072}
charge = -1

[initial]
state = lattice

[potential hard_disk]

[potential $2]
bjerrum_length = 1
${3-}

[mover $1]
step = 0.1
INI
    command="plugmc run sim.ini"
    "$PLUGMC" run sim.ini >"$out" 2>"$err" </dev/null &
    process=$!
    until grep -q "^on " "$err" || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
    sleep 20 # the initial energy, and into a sweep
    tell TERM
    finish
    expect_exit 10
    took_less_than 5
    grep -q "five seconds" "$err" && fail "the mover did not give up its sweep"
    [ -s sim.h5 ] || fail "nothing was saved"
}

test_signal_on_a_gpu_parallel_reduction() { on_a_gpu parallel_reduction coulomb "minimum_image = yes"; }
test_signal_on_a_gpu_brush() { on_a_gpu brush coulomb "minimum_image = yes"; }
test_signal_on_a_gpu_ewald() { on_a_gpu ewald_serial coulomb_ewald "" 16384; }

test_time_limit_in_a_slow_sweep()
{
    slow 0.1
    start sim.ini --set run.time_limit=1
    told=$(seconds)
    finish
    expect_exit 11
    took_less_than 6
    grep -q "^time limit reached after sweep [0-9]*; go on with: plugmc run --resume sim.h5$" "$err" ||
        fail "expected where the run stopped"
}

# The chain of a run whose sweeps are given up again and again.
test_given_up_sweeps_are_repeated()
{
    slow 0.005
    change 's/^sweeps = .*/sweeps = 20/'
    must run sim.ini --set run.output=whole.h5 --set "potential faulty.delay=0"
    local stops=0
    for signal in HUP PIPE USR1 USR2 XCPU TERM INT; do
        if [ -e sim.h5 ]; then start --resume sim.h5; else start sim.ini; fi
        sleep 1.5
        tell $signal
        finish
        [ "$status" = 0 ] && break
        expect_exit 10
        stops=$((stops + 1))
    done
    [ $stops -ge 2 ] || fail "the run was stopped only $stops times"
    must run --resume sim.h5
    same_chain whole.h5 sim.h5
}

# A potential that does not come back after some sweeps: what was done before is saved. Until then it
# sleeps, and takes no time of the processor.
test_plugin_that_does_not_return()
{
    slow 0.001 "loop = 3000" # two calls a trial move
    start sim.ini
    until [ "$(ps -o cputimes= -p $process)" -ge 3 ]; do
        kill -0 $process 2>/dev/null || fail "the run ended by itself"
        sleep 0.2
    done
    tell TERM
    finish
    expect_exit 10
    took_less_than 12
    expect_message "no plugin has answered for five seconds: the sweep at hand is given up"
    local done
    done=$(sed -n 's/^stopped by signal 15 after sweep \([0-9]*\); .*/\1/p' "$err")
    [ "${done:-0}" -ge 1 ] || fail "nothing of what was done was saved"
    must run --resume sim.h5 --set run.sweeps="$done"
    expect_output "energy"
}

test_second_interrupt_leaves_at_once()
{
    slow 0 "loop = 1000" # beyond the initial energy
    start sim.ini
    sleep 2
    tell INT
    sleep 0.5
    tell INT
    finish
    expect_exit 130
    took_less_than 3
    expect_message "second interrupt: stopped at once; the file is that of the last checkpoint"
}

test_hangup_under_nohup_is_ignored()
{
    slow 0.01
    change 's/^sweeps = .*/sweeps = 3/'
    (trap '' HUP && exec "$PLUGMC" run sim.ini >"$out" 2>"$err" </dev/null) &
    process=$!
    until grep -q "^on the CPU" "$err" || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
    sleep 0.5
    tell HUP
    finish
    expect_exit 0
}

test_first_sweep_that_takes_long()
{
    slow 0.2
    change 's/^quick = .*/quick = 64/' # the energy of the initial state
    start sim.ini --set run.time_limit=12
    told=$(seconds)
    finish
    expect_exit 11
    expect_message "the first sweep has been running for 10 s; if the run is stopped, an unfinished sweep is repeated when it is resumed"
}

# ---- Where the output goes ----

# The reader of the messages goes away: the run saves what it has and ends.
test_messages_into_a_pipe_that_ends()
{
    slow 0.002
    mkfifo pipe
    "$PLUGMC" run sim.ini >"$out" 2>pipe </dev/null &
    process=$!
    head -c 1 pipe >"$err" # and closes
    sleep 1
    tell TERM # a message is written only every 30 s
    finish
    expect_exit 10
    [ -s sim.h5 ] || fail "nothing was saved"
}

test_table_into_a_pipe_that_ends()
{
    disks
    rm sim.h5
    mkfifo pipe
    "$PLUGMC" run sim.ini >pipe 2>"$err" </dev/null &
    process=$!
    told=$(seconds)
    : <pipe
    finish
    expect_exit 5
    expect_message "cannot write to the standard output: Broken pipe"
    must run --resume sim.h5
}

test_full_or_closed_output()
{
    [ -c /dev/full ] || skip "there is no /dev/full"
    disks
    rm sim.h5
    for arguments in "run sim.ini" "check sim.ini" "info hard_disk" --help; do
        command="plugmc $arguments"
        "$PLUGMC" $arguments >/dev/full 2>"$err" </dev/null
        status=$?
        expect_exit 5
        expect_message "cannot write to the standard output: No space left on device"
        "$PLUGMC" $arguments >&- 2>"$err" </dev/null
        status=$?
        expect_exit 5
        expect_message "cannot write to the standard output: Bad file descriptor"
    done
    "$PLUGMC" run sim.ini --set run.output=all.h5 <&- >&- 2>&-
    status=$?
    expect_exit 5
    h5dump -n all.h5 >"$out" 2>&1 || fail "messages were written into the file"
    rm -f all.h5
    must run --resume sim.h5
}

# ---- Crashes ----

# crashed HOW SIGNAL: after some sweeps, of which a checkpoint has been written.
crashed()
{
    slow 0 "how = $1"
    change 's/^sweeps = .*/sweeps = 2/'
    must run sim.ini
    cp sim.h5 before.h5
    change 's/^sweeps = .*/sweeps = 1000000/; s/^output.*//'
    printf 'crash = 1000\n' >>sim.ini
    plugmc run sim.ini --set run.output=sim.h5
    expect_exit 9
    grep -Eq "^crashed \([a-z ]*, $2\)( in [^ ]*)?, in the callback '(sweep' of \[mover serial|measure' of \[observable energy)\]; an output file is that of the last checkpoint$" "$err" ||
        fail "expected who has crashed"
    cmp before.h5 sim.h5 || fail "the file has changed"
}

test_crash_by_a_pointer()
{
    crashed pointer SIGSEGV
    grep -q "in [^ ]*/faulty.so, " "$err" || fail "expected whose code has crashed"
}

test_crash_by_a_division() { crashed division SIGFPE; }
test_crash_by_abort() { crashed abort SIGABRT; }
