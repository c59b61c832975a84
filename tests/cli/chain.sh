# The same input gives the same chain bit for bit: whatever the number of threads, and however
# often a run was stopped, killed and resumed. Compared is all of the output but /parameters, which
# says how and where it ran, and /plugmc/volatile, the wall time.
#
# chain.ini has what a resumed run could get wrong: two species, several walkers, a step that is
# tuned while equilibrating, scalars, arrays, values derived from them and a trajectory.

# chain MOVER FACTOR [SCRIPT]: sim.ini with this mover, FACTOR times as long, then edited.
chain()
{
    cp "$here/chain.ini" sim.ini
    sed -i "s/^\[mover .*/[mover $1]/; s/^sweeps = .*/sweeps = $((3000 * $2))/
        s/^equilibrate = .*/equilibrate = $((1000 * $2))/" sim.ini
    [ -z "${3-}" ] || change "$3"
}

# undisturbed MOVER SECONDS [SCRIPT]: whole.h5 by a run that is not stopped and takes at least that
# long, `took` seconds; the run to be disturbed will write sim.h5.
undisturbed()
{
    local mover=$1 wanted=$2 factor=1 begin
    while :; do
        chain "$mover" $factor "${3-}"
        begin=$(seconds)
        must run sim.ini
        took=$(arithmetic "$(seconds) - $begin")
        [ "$(arithmetic "$took >= $wanted")" = 1 ] && break
        factor=$((factor * 2))
        rm whole.h5
    done
    change 's/^output = .*/output = sim.h5/; s/^csv = .*/csv = sim.csv/'
}

# finished_as_undisturbed: sim.h5 and its table are those of the run that was not disturbed.
finished_as_undisturbed()
{
    same_chain whole.h5 sim.h5
    cmp whole.csv sim.csv || fail "the tables differ"
}

# begin or go on, in words for the program.
words() { if [ -e sim.h5 ]; then echo --resume sim.h5; else echo sim.ini; fi; }

# ---- Threads ----

threads()
{
    chain "$1" 1
    change 's/^sweeps = .*/sweeps = 1500/; s/^equilibrate = .*/equilibrate = 500/'
    must run sim.ini
    for threads in 2 3; do
        must run sim.ini --set run.threads=$threads --set run.output=$threads.h5
        same_chain whole.h5 $threads.h5
    done
    # the comparison sees another chain
    must run sim.ini --set run.seed=12 --set run.output=other.h5
    h5diff --exclude-path /parameters --exclude-path /plugmc/volatile whole.h5 other.h5 >"$out" 2>&1
    [ $? = 1 ] || fail "chains of two seeds compare as equal"
}

test_threads_checkerboard() { threads checkerboard; }
test_threads_serial() { threads serial; }

# ---- Stopped in good order ----

time_limit()
{
    undisturbed "$1" 1
    change "s/^seed/time_limit = $(arithmetic "$took / 8")\nseed/"
    local stops=0
    while plugmc run $(words); do
        [ "$status" = 0 ] && break
        expect_exit 11
        grep -q "^time limit reached after sweep [0-9]*; go on with: plugmc run --resume sim.h5$" \
            "$err" || fail "expected where the run stopped"
        stops=$((stops + 1))
        [ $stops -lt 100 ] || fail "the run does not end"
    done
    [ $stops -ge 2 ] || fail "the run was not stopped often enough: $stops times"
    finished_as_undisturbed
}

test_time_limit_checkerboard() { time_limit checkerboard; }
test_time_limit_serial() { time_limit serial; }

# signalled SIGNAL DELAY: starts or resumes the run and sends it a signal so long after it has said
# where it runs.
signalled()
{
    command="plugmc run $(words), sent $1 after $2 s"
    : >"$err"
    "$PLUGMC" run $(words) >"$out" 2>"$err" </dev/null &
    local process=$!
    until grep -q "^on the CPU" "$err" || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
    sleep "$2"
    kill -"$1" $process 2>/dev/null
    wait $process 2>/dev/null
    status=$?
}

# Fractions of the time that the undisturbed run took, drawn once.
delays="0.14 0.11 0.29 0.52 0.07 0.33 0.21 0.45 0.16 0.27 0.36 0.24 0.49 0.31 0.19 0.42"

# disturbed CODE SIGNAL...: the run, sent these signals in turn until it ends by itself; each time
# but the last it ends with this code. If it was faster than expected, once more with less delay.
disturbed()
{
    local code=$1 scale=1
    shift
    while :; do
        rm -f sim.h5
        stops=0 resumed=0 in_equilibration=0
        for fraction in $delays; do
            [ -e sim.h5 ] && resumed=$((resumed + 1))
            signalled "$1" "$(arithmetic "0.2 + $fraction * $scale * $took")"
            [ "$status" = 0 ] && break
            expect_exit "$code"
            stops=$((stops + 1))
            [ -e sim.h5 ] && [ "$(sweeps_done)" -lt "$(sed -n 's/^equilibrate = //p' sim.ini)" ] &&
                in_equilibration=$((in_equilibration + 1))
            set -- "${@:2}" "$1"
        done
        [ "$status" = 0 ] || must run $(words)
        [ $resumed -ge 2 ] && break
        scale=$(arithmetic "$scale / 2")
        [ "$(arithmetic "$scale > 0.05")" = 1 ] || fail "stopped $stops times, resumed $resumed times"
    done
    finished_as_undisturbed
}

# of the checkpoint in sim.h5
sweeps_done() { h5dump -a /plugmc/checkpoint/sweep sim.h5 | sed -n 's/.*(0): //p'; }

test_stopped_by_signals_checkerboard()
{
    undisturbed checkerboard 1
    disturbed 10 TERM INT
}

test_stopped_by_signals_serial()
{
    undisturbed serial 1
    disturbed 10 INT TERM
}

test_message_of_a_run_that_is_stopped()
{
    chain checkerboard 1000
    for signal in "INT 2" "TERM 15"; do
        rm -f whole.h5
        signalled ${signal% *} 0.5
        expect_exit 10
        grep -q "^stopped by signal ${signal#* } after sweep [0-9]*; go on with: plugmc run \
--resume whole.h5$" "$err" || fail "expected where the run stopped"
        expect_output "hard_pressure.pressure"
    done
}

test_run_made_longer()
{
    chain checkerboard 1
    must run sim.ini
    change 's/^output = .*/output = sim.h5/; s/^csv = .*/csv = sim.csv/'
    must run sim.ini --set run.sweeps=1300
    must run --resume sim.h5 --set run.sweeps=3000
    finished_as_undisturbed
}

# ---- Killed ----

# A run with a checkpoint every 0.2 s, killed again and again.
test_killed_checkerboard()
{
    undisturbed checkerboard 2
    change 's/^seed/checkpoint = 0.2\nseed/'
    disturbed 137 KILL
}

test_killed_serial()
{
    undisturbed serial 2
    change 's/^seed/checkpoint = 0.2\nseed/'
    disturbed 137 KILL
}

# Most of the run is equilibration, where the step is tuned.
test_killed_in_equilibration()
{
    undisturbed checkerboard 2 \
        's/^sweeps/long/; s/^equilibrate/sweeps/; s/^long/equilibrate/'
    change 's/^seed/checkpoint = 0.2\nseed/'
    disturbed 137 KILL
    [ $in_equilibration -ge 1 ] || fail "never killed in equilibration"
}

# A checkpoint after every few sweeps and a trajectory that grows: the run does little but write.
# Whatever moment it is killed at, the file is there and a run goes on from it.
test_killed_while_writing()
{
    chain checkerboard 1000 's/^equilibrate = .*/equilibrate = 0/; s/^count = 100/count = 1000/'
    change 's/^output = .*/output = sim.h5\ncheckpoint = 1e-9/; /^csv/d; s/^period = 700/period = 50/'
    local readable=0 while_writing=0 begin first
    begin=$(seconds)
    plugmc run sim.ini --set run.output=first.h5 --set run.time_limit=1e-3
    expect_exit 11
    first=$(arithmetic "$(seconds) - $begin") # until a file is written, on this machine
    for fraction in $delays; do
        rm -f sim.h5.tmp-*
        signalled KILL "$(arithmetic "$first + $fraction")"
        expect_exit 137
        ls sim.h5.tmp-* >"$out" 2>&1 && while_writing=$((while_writing + 1))
        [ -e sim.h5 ] || continue
        cp sim.h5 copy.h5
        plugmc run --resume copy.h5 --set run.time_limit=1e-3
        expect_exit 11
        readable=$((readable + 1))
    done
    [ $readable -ge 8 ] || fail "only $readable files were written"
    [ $while_writing -ge 1 ] || fail "the run was never killed while it wrote"
}
