# What becomes of a run whose output file is damaged, or is another one, when it is to be written again.

# hard: a run of some seconds that writes frames and series all the time, and its undisturbed file direct.h5.
hard()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 8000
	equilibrate = 100
	seed = 10
	device = cpu
	threads = 1
	walkers = 2
	[box]
	dimension = 2
	density = 0.3
	[species disk]
	count = 64
	diameter = 1
	[initial]
	state = random
	[potential hard_disk]
	[mover serial]
	step = 0.3
	[observable hard_pressure]
	period = 10
	[observable trajectory]
	period = 20
	END
    must run sim.ini --set run.output=direct.h5
}

# begun CHECKPOINT: the run is at work, has written, and stands still.
begun()
{
    command="plugmc run sim.ini"
    "$PLUGMC" run sim.ini --set run.checkpoint="$1" --set run.output=sim.h5 >"$out" 2>"$err" </dev/null &
    process=$!
    until kill -STOP $process && [ -e sim.h5 ] && h5dump -d /particles/trajectory/position/step sim.h5 >/dev/null 2>&1; do
        kill -CONT $process
        sleep 0.02
        [ "$(sed 's/.*) //; s/ .*//' /proc/$process/stat)" != Z ] || fail "the run ended before its first checkpoint"
    done
}

goes_on()
{
    kill -CONT $process
    wait $process
    status=$?
    cp "$err" messages
}

# same_but_frames FILE: chain and series are those of direct.h5.
same_but_frames()
{
    local part differences
    for part in /plugmc/observables /plugmc/movers /plugmc/checkpoint/positions /plugmc/checkpoint/plugins; do
        differences=$(h5diff direct.h5 "$1" $part 2>&1)
        [ $? = 0 ] && [ -z "$differences" ] || fail "$part of $1 differs: $differences"
    done
}

# steps FILE: the sweeps of its frames.
steps() { h5dump -y -w 1 -d /particles/trajectory/position/step "$1" | sed -n 's/^ *\([0-9][0-9]*\),\{0,1\}$/\1/p'; }

# frames_follow WORDS FILE: after `words` the message names frames, and those of FILE are all that come after them.
frames_follow()
{
    local said
    said=$(sed -n "s/.*$1, without the \([0-9]*\) frames of sweeps \([0-9]*\) to \([0-9]*\)$/\1 \2 \3/p" messages)
    [ -n "$said" ] || fail "expected which frames are missing"
    set -- $said "$2"
    [ "$2" = 120 ] && [ $(($2 + 20 * ($1 - 1))) = "$3" ] || fail "$1 frames are not those of sweeps $2 to $3"
    diff <(steps direct.h5 | awk -v after="$3" '$1 > after') <(steps "$4") >/dev/null ||
        fail "frames of $4 are not those after sweep $3"
}

damaged()
{
    hard
    begun 0.1
    "$H5TOOL" damage sim.h5 "$1"
    goes_on
    expect_exit 0
    [ "$(grep -c "^sim.h5: warning: can no longer be added to: .*; it is now sim.h5.1, and what the run has is written anew" "$err")" = 1 ] ||
        fail "expected what became of the file"
    grep -q "intact" "$err" && fail "a damaged file is no intact one"
    same_but_frames sim.h5
    frames_follow "written anew" sim.h5
    plugmc run --resume sim.h5.1
    expect_exit 6
    must run --resume sim.h5 --set run.sweeps=8020
}

test_one_damaged_bit_of_sweeps() { damaged plugmc/observables/hard_pressure/pressure_x/sweep; }
test_one_damaged_bit_of_a_series() { damaged plugmc/observables/hard_pressure/pressure/series; }
test_one_damaged_bit_of_the_trajectory() { damaged particles/trajectory_1/position/value; }

# The file from the last checkpoint is damaged when only the last write is left.
test_one_damaged_bit_before_the_last_write()
{
    hard
    begun 0.1
    "$H5TOOL" damage sim.h5 plugmc/observables/hard_pressure/pressure_x/sweep
    kill -TERM $process
    goes_on
    expect_exit 10
    grep -q "^sim.h5: warning: can no longer be added to: " "$err" || fail "expected what became of the file"
    must run --resume sim.h5
    same_but_frames sim.h5
    frames_follow "written anew" sim.h5
}

test_output_replaced_while_running()
{
    hard
    must run sim.ini --set run.seed=4 --set run.sweeps=200 --set run.output=other.h5
    cp other.h5 another.h5
    begun 0.1
    mv another.h5 sim.h5
    kill -CONT $process
    for i in $(seq 500); do grep -q "is another file now" "$err" && break; sleep 0.02; done
    kill -0 $process || fail "it was saved at the end only"
    goes_on
    expect_exit 5
    cmp sim.h5 other.h5 || fail "the other file was touched"
    local file
    file=$(ls sim.rescued-????????.h5) || fail "no file was written elsewhere"
    expect_message "cannot write sim.h5: another file has taken its place; the run is in $file: go on with \
plugmc run --resume $file"
    expect_output "hard_pressure.pressure "
    grep -q "^sim.h5: warning: is another file now, which is left as it is; the run goes on in $file, without" "$err" ||
        fail "expected where it goes on"
    same_but_frames "$file"
    frames_follow "goes on in $file" "$file"
}
