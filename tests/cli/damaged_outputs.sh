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
    # not while a checkpoint is written: it replaces what is done to the file meanwhile, without a look at it
    until kill -STOP $process && [ -e sim.h5 ] && [ -e sim_1.gsd ] && ! compgen -G 'sim.h5.tmp-*' >/dev/null; do
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
steps()
{
    "$PLUGMC" export "$1" --to "steps-$1.csv" --walker 1 --force >/dev/null 2>&1 || fail "the frames of $1 cannot be read"
    sed 1d "steps-$1.csv" | cut -d, -f2 | uniq
}

# frames_follow WORDS FILE: after `words` the message names frames, and those of FILE are all that come after them.
frames_follow()
{
    local said
    said=$(sed -n "s/.*$1, without the \([0-9]*\) frames\? of sweeps \([0-9]*\) to \([0-9]*\).*$/\1 \2 \3/p" messages)
    [ -n "$said" ] || fail "expected which frames are missing"
    set -- $said "$2"
    [ "$2" = 120 ] && [ $(($2 + 20 * ($1 - 1))) = "$3" ] || fail "$1 frames are not those of sweeps $2 to $3"
    diff <(steps direct.h5 | awk -v after="$3" '$1 > after') <(steps "$4") >/dev/null ||
        fail "frames of $4 are not those after sweep $3"
}

# A checkpoint is written as a whole: what is damaged in the one before is gone with it.
test_damaged_bits_do_not_outlast_the_next_checkpoint()
{
    hard
    begun 0.1
    "$H5TOOL" damage sim.h5 plugmc/observables/hard_pressure/pressure_x/sweep
    "$H5TOOL" damage sim.h5 plugmc/observables/hard_pressure/pressure/series
    plugmc run --resume sim.h5 --set run.sweeps=8020
    expect_exit 6
    goes_on
    expect_exit 0
    grep -q "warning" "$err" && fail "there is nothing to warn of"
    same_but_frames sim.h5
    same_frames direct.h5 sim.h5
    must run --resume sim.h5 --set run.sweeps=8020
}

# overwritten FILE: it no longer begins as its format does.
overwritten() { printf overwritten | dd of="$1" conv=notrunc status=none; }

test_output_that_is_no_output_any_more()
{
    hard
    begun 0.1
    overwritten sim.h5
    goes_on
    expect_exit 0
    [ "$(grep -c "^sim.h5: warning: is damaged: it is not an HDF5 file; it is now sim.h5.1, and what the run has is written anew$" "$err")" = 1 ] ||
        fail "expected what became of the file"
    same_but_frames sim.h5
    same_frames direct.h5 sim.h5
    plugmc run --resume sim.h5.1
    expect_exit 6
    must run --resume sim.h5 --set run.sweeps=8020
}

# The file from the last checkpoint is damaged when only the last write is left.
test_output_damaged_before_the_last_write()
{
    hard
    begun 0.1
    overwritten sim.h5
    kill -TERM $process
    goes_on
    expect_exit 10
    grep -q "^sim.h5: warning: is damaged: " "$err" || fail "expected what became of the file"
    must run --resume sim.h5
    same_but_frames sim.h5
    same_frames direct.h5 sim.h5
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
    grep -q "^sim.h5: warning: is another file now, which is left as it is; the run goes on in $file$" "$err" ||
        fail "expected where it goes on"
    same_but_frames "$file"
    same_frames direct.h5 "$file" # which are where they were
}

# ---- Trajectories ----

test_trajectory_that_is_gone_begins_anew()
{
    hard
    begun 0.1
    rm sim_0.gsd sim_1.gsd
    goes_on
    expect_exit 0
    same_but_frames sim.h5
    frames_follow "its trajectory was gone and begins anew" sim.h5
}

# The checkpoint does not count frames that are not on the disk, and the run is saved with those that are left.
test_trajectory_that_others_have_changed()
{
    hard
    begun 0.1
    truncate -s -100 sim_1.gsd
    goes_on
    expect_exit 5
    grep -q "^sim.h5: warning: cannot be written: sim_1.gsd: it is damaged, or another program has changed it (" "$err" ||
        fail "expected what is wrong with the trajectory"
    local file
    file=$(ls sim.rescued-????????.h5) || fail "no file was written elsewhere"
    same_but_frames "$file"
    frames_follow "the run is in $file" "$file"
    must run --resume "$file" --set run.sweeps=8020
}

test_trajectory_of_another_run_is_kept()
{
    hard
    must run sim.ini --set run.seed=4 --set run.sweeps=200 --set run.output=sim.h5
    cp sim_0.gsd other.gsd
    mv sim.h5 first.h5
    must run sim.ini --set run.output=sim.h5
    expect_message "sim.h5: warning: another trajectory was there already and is now sim.1.gsd"
    cmp sim.1_0.gsd other.gsd || fail "the other trajectory was touched"
    same_frames direct.h5 sim.h5
    refused 6 "cannot read the frames of first.h5: sim_0.gsd is not the trajectory of its run" \
        export first.h5 --to first.csv
    # output and trajectory that are kept together belong together
    must run sim.ini --set run.seed=5 --set run.output=sim.h5
    same_frames direct.h5 sim.h5.1
    # and go on, as they do with other names
    for file in sim.h5.1 moved.h5; do
        must run --resume $file --set run.sweeps=$((8000 + ${#file} * 20))
        mv sim.h5.1 moved.h5
        for w in 0 1; do mv sim.h5.1_$w.gsd moved_$w.gsd; done
    done 2>/dev/null
    [ "$(steps moved.h5 | wc -l)" = $((400 + ${#file})) ] || fail "there are frames missing"
}

# ---- Frames that were cut, or came too late ----

test_frames_behind_the_checkpoint_are_cut()
{
    hard
    for format in gsd h5md; do
        must run sim.ini --set run.sweeps=400 --set run.output=$format.h5 --set "observable trajectory.format=$format"
        cp $format.h5 early.h5
        must run --resume $format.h5 --set run.sweeps=800
        cp early.h5 $format.h5 # as if the run had been killed between frames and checkpoint
        must run --resume $format.h5 --set run.sweeps=600
        must run sim.ini --set run.sweeps=600 --set run.output=whole.h5
        same_frames whole.h5 $format.h5
        rm whole*
    done
}
