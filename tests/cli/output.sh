# Output that cannot be written, and what becomes of files that are in the way.

# as_nobody: from here on the program runs without the rights of root.
as_nobody()
{
    [ "$(id -u)" = 0 ] || return 0
    command -v setpriv >/dev/null || skip "setpriv is not installed"
    local program=$PLUGMC
    printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s" "$@"\n' \
        "$program" >"$work/as_nobody"
    chmod 755 "$work/as_nobody" "$work" "$work/run"
    PLUGMC=$work/as_nobody
    "$PLUGMC" list 2>/dev/null | grep -q "^  hard_disk" ||
        skip "the build folder is closed to others than its owner"
    "$PLUGMC" --version >"$out" 2>&1 || skip "another user cannot run $program"
}

test_unwritable_folder()
{
    disks
    mkdir -m 555 locked
    change 's/^seed = 3/&\noutput = locked\/sim.h5/'
    as_nobody
    for what in run check; do
        refused 5 "cannot write locked/sim.h5: Permission denied (in folder locked); [run] output \
names another place" $what sim.ini
    done
}

test_output_in_no_folder()
{
    disks
    refused 5 "cannot write none/sim.h5: No such file or directory (in folder none); [run] \
output names another place" \
        run sim.ini --set run.output=none/sim.h5
}

test_output_that_is_a_folder()
{
    disks
    mkdir folder.h5
    refused 5 "cannot write folder.h5: it is a folder" run sim.ini --set run.output=folder.h5
}

test_output_that_would_be_an_ini()
{
    disks
    refused 3 "sim.ini:1: [run] output = sim.ini: this name would be read as an INI file" \
        run sim.ini --set run.output=sim.ini
}

test_existing_output_is_moved_aside()
{
    disks
    cp sim.h5 first
    must run sim.ini
    expect_message "sim.h5: warning: was there already and is now sim.h5.1"
    cp sim.h5 second
    must run sim.ini
    expect_message "sim.h5: warning: was there already and is now sim.h5.2"
    cmp first sim.h5.1 && cmp second sim.h5.2 || fail "what was there is not kept"
    same_chain second sim.h5
}

# Where files can be made, and the output could not be put in place at the end.
test_output_that_cannot_be_replaced()
{
    disks
    mkdir -m 1777 sticky
    echo "what an earlier run has written" >sticky/sim.h5
    echo "what an earlier run has written" >mounted.h5
    if mount --bind sim.h5 mounted.h5 2>/dev/null; then
        trap 'umount "$work/run/mounted.h5"; rm -rf "$work"' EXIT
        for what in run check; do
            refused 5 "cannot write mounted.h5: this file is mounted by itself, so that it cannot be replaced: mount \
its folder" $what sim.ini --set run.output=mounted.h5
        done
    fi
    [ "$(id -u)" = 0 ] || skip "files of another user cannot be made"
    chown 1 sticky
    as_nobody
    for what in run check; do
        refused 5 "cannot write sticky/sim.h5: it belongs to another user, who alone may replace it in this folder" \
            $what sim.ini --set run.output=sticky/sim.h5
    done
}

# A limit on the size of files stands for a full disk: write fails in the same places.
limited()
{
    local blocks=$1
    shift
    before=$(contents)
    command="plugmc $* with at most $blocks KiB a file"
    (ulimit -f "$blocks" && exec "$PLUGMC" "$@") >"$out" 2>"$err" </dev/null
    status=$?
}

test_full_disk()
{
    disks
    for blocks in 1 8 64 200; do
        limited $blocks run sim.ini
        expect_exit 5
        expect_message "cannot write sim.h5: File too large (nothing was changed)"
        expect_untouched
    done
    must run sim.ini
}

test_full_disk_while_running()
{
    disks
    printf '\n[observable trajectory]\nperiod = 1\n' >>sim.ini
    must run sim.ini
    cp sim.h5 whole.h5
    limited 600 run --resume sim.h5 --set run.sweeps=2000
    expect_exit 5
    expect_message "cannot write sim.h5: sim.gsd: File too large (the file from the last checkpoint is \
intact: mend this and resume from it)"
    expect_untouched
    must run --resume sim.h5 --set run.sweeps=2000
    must run sim.ini --set run.sweeps=2000 --set run.output=direct.h5
    same_chain direct.h5 sim.h5
    same_frames direct.h5 sim.h5
}

test_full_file_system()
{
    disks
    mkdir small
    mount -t tmpfs -o size=100k none small 2>/dev/null || skip "no file system can be mounted here"
    trap 'umount "$work/run/small"; rm -rf "$work"' EXIT
    echo "what an earlier run has written" >small/sim.h5
    local earlier
    earlier=$(cat small/sim.h5)
    plugmc run sim.ini --set run.output=small/sim.h5
    expect_exit 5
    [ "$(cat small/sim.h5)" = "$earlier" ] || fail "what was there is not kept"
    expect_message "cannot write small/sim.h5: No space left on device (nothing was changed)"
}

# rescued MESSAGE: the run ended with this and its output under another name here, as good as any.
rescued()
{
    local file
    file=$(ls sim.rescued-????????.h5) || fail "no file was written elsewhere"
    expect_message "$1; the run is in $file: go on with plugmc run --resume $file"
    expect_output "hard_pressure.pressure "
    must run --resume "$file" --set run.sweeps=3000
    must run sim.ini --set run.sweeps=3000 --set run.output=direct.h5
    same_chain direct.h5 "$file"
}

# ---- Failures that pass, or that come at the end ----

# start ARGUMENT...: the run in the background, up to its first checkpoint.
start()
{
    command="plugmc $*"
    "$PLUGMC" "$@" >"$out" 2>"$err" </dev/null &
    process=$!
    until [ -e "$written" ]; do
        kill -0 $process 2>/dev/null || fail "the run ended before its first checkpoint"
        sleep 0.02
    done
}

finish()
{
    wait $process
    status=$?
}

# wait_for TEXT: until it is among the messages of the run.
wait_for()
{
    for i in $(seq 1000); do
        grep -q -- "$1" "$err" && return
        sleep 0.02
    done
    fail "expected the message: $1"
}

# long: a run of some seconds that writes all the time, and its undisturbed file direct.h5.
long()
{
    disks
    rm sim.h5
    change 's/^sweeps = .*/sweeps = 240000/; s/^period = .*/period = 400/'
    must run sim.ini --set run.output=direct.h5
    change 's/^seed/checkpoint = 0.02\nseed/'
}

test_output_removed_while_running()
{
    long
    written=sim.h5
    start run sim.ini
    rm sim.h5
    finish
    expect_exit 0
    expect_message "sim.h5: warning: was gone and is written anew"
    same_chain direct.h5 sim.h5
    [ "$(ls sim.h5*)" = sim.h5 ] || fail "something is left behind"
}

test_disk_full_for_a_moment()
{
    long
    mkdir small
    mount -t tmpfs -o size=2m none small 2>/dev/null || skip "no file system can be mounted here"
    trap 'umount "$work/run/small"; rm -rf "$work"' EXIT
    written=small/sim.h5
    start run sim.ini --set run.output=small/sim.h5
    cat /dev/zero >small/filler 2>/dev/null
    wait_for "^small/sim.h5: warning: cannot be written: No space left on device (the file from the \
last checkpoint is intact); the run goes on and tries again at the next checkpoint$"
    rm small/filler
    finish
    expect_exit 0
    expect_message "small/sim.h5: written again"
    same_chain direct.h5 small/sim.h5
}

test_table_of_scalars_that_can_no_longer_be_written()
{
    long
    mkdir tables
    written=tables/sim.csv
    start run sim.ini --set run.csv=tables/sim.csv
    mv tables away
    finish
    expect_exit 5
    expect_message "tables/sim.csv: warning: cannot be written: No such file or directory; the run \
goes on and tries again at the next checkpoint"
    expect_message "cannot write tables/sim.csv: No such file or directory"
    expect_output "hard_pressure.pressure "
    same_chain direct.h5 sim.h5
}

test_output_whose_folder_goes_away()
{
    long
    mkdir results
    written=results/sim.h5
    start run sim.ini --set run.output=results/sim.h5
    mv results away
    finish
    expect_exit 5
    local file
    file=$(ls sim.rescued-????????.h5) || fail "no file was written elsewhere"
    grep -q "^cannot write results/sim.h5: No such file or directory (the file from the last \
checkpoint is gone); the run is in $file: " "$err" || fail "expected where the run is"
    expect_output "hard_pressure.pressure "
    same_chain direct.h5 "$file"
}

# The last write starts a process and opens files. What others use up is waited for; HDF5 is then called in the run's
# own process.
test_processes_used_up_at_the_last_write()
{
    command -v prlimit >/dev/null || skip "prlimit is not installed"
    long
    change 's/^checkpoint = .*/checkpoint = 600/'
    as_nobody
    chmod 777 .
    "$PLUGMC" run sim.ini >"$out" 2>"$err" </dev/null &
    process=$!
    wait_for "^on the CPU"
    sleep 0.5
    local as=""
    [ "$(id -u)" != 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
    $as prlimit --nproc=1:1 --pid $process || fail "the limit cannot be set"
    finish
    expect_exit 0
    expect_message "sim.h5: warning: cannot be written: there is no child process for it: Resource temporarily \
unavailable; it is tried again for 15 seconds"
    same_chain direct.h5 sim.h5
}

test_descriptors_used_up_at_the_last_write()
{
    command -v prlimit >/dev/null || skip "prlimit is not installed"
    long
    change 's/^checkpoint = .*/checkpoint = 600/'
    "$PLUGMC" run sim.ini >"$out" 2>"$err" </dev/null &
    process=$!
    wait_for "^on the CPU"
    sleep 0.5
    prlimit --nofile=3:1024 --pid $process
    wait_for "^sim.h5: warning: cannot be written: Too many open files; it is tried again for 15 seconds$"
    prlimit --nofile=1024:1024 --pid $process
    finish
    expect_exit 0
    same_chain direct.h5 sim.h5
}

# ---- Two runs ----

# one_each OUTPUT: two runs with one output, the second while the first is at work.
test_two_runs_with_one_output()
{
    long
    written=sim.h5
    start run sim.ini
    "$PLUGMC" run sim.ini --set run.seed=4 >second.out 2>second.err
    [ $? = 5 ] || fail "the second run was not refused"
    grep -q "^cannot write sim.h5: another plugmc is writing it (process $process on " second.err ||
        fail "expected who is writing: $(cat second.err)"
    finish
    expect_exit 0
    same_chain direct.h5 sim.h5
    [ "$(ls sim.h5*)" = sim.h5 ] || fail "a lock or temporary file is left behind"
    must run sim.ini --set run.sweeps=20
}

test_lock_of_a_killed_run()
{
    long
    written=sim.h5
    start run sim.ini
    kill -KILL $process
    finish
    [ -e sim.h5.lock ] || fail "there was no lock"
    echo rubbish >sim.h5.tmp-0123456789abcdef
    must run --resume sim.h5
    [ "$(ls sim.h5*)" = sim.h5 ] || fail "something is left behind"
    same_chain direct.h5 sim.h5
}

# Each of the two keeps its own chain whole, in a file of its own.
test_two_runs_where_there_are_no_locks()
{
    long
    must run sim.ini --set run.seed=4 --set run.output=other.h5 --set run.checkpoint=600
    written=sim.h5
    LD_PRELOAD=$NO_LOCKS start run sim.ini
    expect_message "sim.h5.lock: warning: cannot be locked here (No locks available): do not \
start a second run with this output; each would notice only when it writes"
    LD_PRELOAD=$NO_LOCKS "$PLUGMC" run sim.ini --set run.seed=4 --set run.sweeps=240000 >second.out \
        2>second.err
    local second=$?
    finish
    [ "$second" = 0 ] || [ "$status" = 0 ] || fail "neither run has its file"
    for chain in direct other; do
        local found=0
        for file in sim.h5 sim.rescued-????????.h5; do
            h5diff -q --exclude-path /parameters --exclude-path /plugmc/volatile $chain.h5 "$file" \
                2>/dev/null && found=$((found + 1))
        done
        [ $found = 1 ] || fail "$chain.h5 is in $found files: $(ls)"
    done
    [ $((second + status)) = 5 ] || fail "expected one of them to end with 5: $second, $status"
}

test_errors_that_are_lower_bounds_have_a_mark()
{
    disks
    printf '\n[observable hexatic_order]\nperiod = 5\n' >>sim.ini
    printf '\n[observable rdf]\nperiod = 5\nr_max = 2\nbins = 20\n' >>sim.ini
    must run sim.ini # 4 samples
    grep -Eq '^hexatic_order.susceptibility +[^ ]+\)\* *$' "$out" || fail "a derived number without a mark"
    expect_output "rdf.disk-disk: 20 values against r, in sim.h5; 20 of their errors are lower bounds *"
    expect_output "* the run is too short for this error bar: it is a lower bound"
    must run sim.ini --set box.packing_fraction=0.3 --set run.equilibrate=200 --set run.sweeps=4000 \
        --set run.seed=7
    grep -F '*' "$out" && fail "800 independent samples have a mark"
    expect_output "rdf.disk-disk: 20 values against r, in sim.h5"
}

# A few ions in a small sphere: their tails are noise.
test_what_derived_numbers_lack_is_said()
{
    cat >sim.ini <<END
[run]
sweeps = 20
threads = 1
[box]
dimension = 3
shape = sphere
radius = 380
[species cation]
count = 100
charge = 3
[species anion]
count = 300
charge = -1
[initial]
state = random
[potential hard_sphere]
[potential coulomb]
bjerrum_length = 7
[mover serial]
step = 60
[observable dressed_ion]
period = 1
margin = 285
END
    must run sim.ini
    grep -Eq '^dressed_ion.kappa_R +too few data' "$out" || fail "enough data for a fit"
    grep '^too few data' "$out" >said
    [ "$(wc -l <said)" = 1 ] || fail "not said once what is lacking"
    grep -q '^too few data for dressed_ion: between 1/3 and 3 times .*, there is no best fit' said ||
        fail "another reason"
}

test_csv()
{
    disks
    must run sim.ini --set run.csv=sim.csv
    head -n 1 sim.csv >"$out"
    expect_output "sweep,hard_pressure.pressure,hard_pressure.pressure_x,hard_pressure.pressure_y"
    [ "$(cut -d, -f1 sim.csv | tr '\n' ' ')" = "sweep 5 10 15 20 " ] || fail "wrong sweeps"
}

# Nothing that the run reads is written over, whatever it is called.
test_files_that_are_read_are_not_written()
{
    disks
    rm sim.h5
    change 's/^.potential hard_disk.*/[potential tabulated]\nfiles = near.dat u.dat near.dat\ninside = extrapolate/
        s/^.mover checkerboard.*/[mover serial]/; /^.observable/,$d; s/^state = .*/state = lattice/
        s/^count = 64/&\n[species other]\ncount = 0/'
    printf '%s\n' "0.5 4" "0.6 2" "0.7 0" | tee near.dat >u.dat
    ln -s u.dat link.dat
    for key in csv log output; do
        refused 3 "sim.ini:1: [run] $key = ./u.dat: this file is read, by [potential tabulated] files" \
            run sim.ini --set run.$key=./u.dat
    done
    refused 3 "sim.ini:1: [run] csv = link.dat: this file is read, by [potential tabulated] files" \
        check sim.ini --set run.csv=link.dat
    must run sim.ini --set run.csv=sim.csv
    refused 3 "sim.ini:1: [run] log = u.dat: this file is read, by [potential tabulated] files" \
        run --resume sim.h5 --set run.log=u.dat --set run.sweeps=30
    must export sim.h5 --to start.xyz --last
    refused 3 "sim.ini:1: [run] csv = start.xyz: this file is read, by [initial] file" \
        run sim.ini --set initial.state=file --set initial.file=start.xyz --set run.csv=start.xyz
}

# What was measured is not written over the positions, nor is it by a run that goes on.
test_trajectory_is_not_written_over()
{
    disks
    printf '[observable trajectory]\nperiod = 5\n' >>sim.ini
    must run sim.ini
    cp sim.gsd before.gsd
    ln -s sim.gsd link.dat
    for key in csv log; do
        for name in sim.gsd ./sim.gsd link.dat; do
            refused 3 "sim.ini:1: [run] $key = $name: this is a file of the run's trajectory" \
                run sim.ini --set run.$key=$name
            refused 3 "sim.ini:1: [run] $key = $name: this is a file of the run's trajectory" \
                run --resume sim.h5 --set run.sweeps=30 --set run.$key=$name
        done
    done
    refused 3 "sim.ini:1: [run] csv = sim.gsd: this is a file of the run's trajectory" \
        check sim.ini --set run.csv=sim.gsd
    cmp -s sim.gsd before.gsd || fail "the trajectory has changed"
    must run sim.ini --set run.csv=sim.csv --set run.log=other.gsd --set run.output=new.h5
}

test_csv_that_cannot_be_written()
{
    disks
    refused 5 "cannot write none/sim.csv: No such file or directory (in folder none); [run] csv \
names another place" \
        run sim.ini --set run.csv=none/sim.csv
    mv sim.ini sim.txt
    refused 3 "sim.txt:1: [run] csv = sim.txt: this is the input file" \
        run sim.txt --set run.csv=sim.txt
}

test_standard_output_that_is_full()
{
    disks
    for command in list "info hard_disk" manual; do
        "$PLUGMC" $command >/dev/full 2>"$err"
        status=$?
        expect_exit 5
        expect_message "cannot write to the standard output: No space left on device"
    done
}

# An error that is only rounding takes no digits from its number, and says how small it is, if it can be
# known; one that is uncertain has the two digits of its error. Of rounding nothing is said to drift.
test_exact_numbers_keep_their_digits()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    disks
    change 's/^\[observable hard_pressure\]/[observable steady]/; s/^period = .*/period = 1/'
    must run sim.ini --set run.sweeps=20000
    grep -Eq '^steady\.same +10\.0810599204 +[^ ]+ +20000 *$' "$out" || fail "the same number"
    grep -Eq '^steady\.rounded +10\.0810599204( \+- [1-9]e-1[5-9])? +<?[0-9.]+ +20000 *$' "$out" ||
        fail "one bit"
    grep -Eq '^steady\.summed +10\.0810599204 \+- [3-6]e-16 +<?[0-9.]+ +20000 *$' "$out" || fail "rounding"
    grep -Eq '^steady\.nothing +5\.[67][0-9]+e-14 \+- [3-6]e-16 ' "$out" || fail "nothing but rounding"
    grep -Eq '^steady\.rough +10\.0810[4-7][0-9]*\([0-9]{2}\) ' "$out" || fail "an uncertain number"
    grep -Eq '^steady\.thousandfold +10081\.0599204( \+- [1-9]e-1[1-4])? *$' "$out" || fail "a derived number"
    if grep -q 'was it in equilibrium' "$out"; then fail "there is no drift"; fi
}

# killed_beside_a_trajectory FORMAT: whoever is killed leaves a checkpoint and the frames that it counts.
killed_beside_a_trajectory()
{
    local killed=0 round
    disks
    rm sim.h5
    change 's/^count = .*/count = 1024/; s/^sweeps = .*/sweeps = 600/; s/^step/trials = 400\n&/'
    printf '\n[observable trajectory]\nperiod = 1\nformat = %s\n' "$1" >>sim.ini
    must run sim.ini --set run.output=direct.h5
    change 's/^seed/checkpoint = 0.02\nseed/'
    written=sim.h5
    start run sim.ini
    for round in 1 2 3 4 5 6; do
        sleep 0.$((17 * round))
        [ -e sim.h5 ] || sleep 1
        kill -KILL $process 2>/dev/null && killed=$((killed + 1))
        wait $process 2>/dev/null
        h5dump -H sim.h5 >/dev/null || fail "what is left is no whole file"
        start run --resume sim.h5 --set run.checkpoint=0.02
    done
    finish
    expect_exit 0
    [ $killed -gt 1 ] || fail "it was killed $killed times"
    same_chain direct.h5 sim.h5
    same_frames direct.h5 sim.h5
    [ "$(echo sim.*)" = "$(echo sim.$1 sim.h5 sim.ini | xargs -n 1 | sort | xargs)" ] || fail "left behind: $(echo sim.*)"
}

test_killed_beside_a_trajectory() { killed_beside_a_trajectory gsd; }
test_killed_beside_a_trajectory_of_h5md() { killed_beside_a_trajectory h5md; }

# killed_at CALL FORMAT: in the folder of the format a run goes on, until call number CALL of what changes files, in it or in
# the process that writes for it. 1: it has come to its end before.
killed_at()
{
    cd "$work/run/$2" || exit 1
    head -c 8 /dev/zero >calls
    command="plugmc run --resume-if-there sim.ini, killed at call $1 with a trajectory in $2"
    LD_PRELOAD=$KILL_AT KILL_AT=$1 CALLS=$PWD/calls "$PLUGMC" run --resume-if-there sim.ini >"$out" 2>"$err"
    status=$?
    grep -q 'is gone\|others are gone' "$err" && fail "frames that the checkpoint counts are missing"
    [ $status = 0 ] && return 1
    expect_exit 137
    if [ ! -e sim.h5 ]; then
        rm -f sim.h5* sim.*gsd* sim.*h5md*
    elif ! h5dump -H sim.h5 >/dev/null; then
        fail "what is left is no whole file"
    elif [ -e sim.h5md ] && [ ! -e sim.h5md.changes ] && ! h5dump -d /particles/trajectory/position/step sim.h5md >/dev/null; then
        fail "the trajectory that is left is no whole file"
    fi
    return 0
}

# as_undisturbed FORMAT. A run that is killed once all is done leaves its lock to whoever writes next, and nobody does.
as_undisturbed()
{
    cd "$work/run/$1" || exit 1
    ! grep -q 'this run is finished' "$err" || rm -f sim.h5.lock
    same_chain direct.h5 sim.h5
    same_frames direct.h5 sim.h5
    [ "$(echo sim.*)" = "$(echo sim.$1 sim.h5 sim.ini | xargs -n 1 | sort | xargs)" ] || fail "left behind: $(echo sim.*)"
    rm sim.h5 "sim.$1"
}

# A checkpoint is due as soon as the last one is written, and takes some hundred calls. A run is killed about once in two of
# them, at moments that a seed gives, over the whole of it: half of the kills each beside GSD and H5MD.
test_killed_at_a_hundred_moments()
{
    local format killed=0 ended=0
    RANDOM=20251
    disks
    change 's/^sweeps = .*/sweeps = 500/; s/^step/trials = 400\n&/; s/^seed/checkpoint = 0.001\n&/'
    for format in gsd h5md; do
        mkdir $format
        cp sim.ini $format
        printf '\n[observable trajectory]\nperiod = 1\nformat = %s\n' $format >>$format/sim.ini
        (cd $format && must run sim.ini --set run.output=direct.h5 --set run.checkpoint=1000) || exit 1
    done
    while [ $killed -lt 100 ]; do
        [ $((killed % 2)) = 0 ] && format=gsd || format=h5md
        if killed_at $((1 + RANDOM % 1000)) $format; then
            killed=$((killed + 1))
        else
            as_undisturbed $format
            ended=$((ended + 1))
        fi
    done
    for format in gsd h5md; do
        cd "$work/run/$format" || exit 1
        must run --resume-if-there sim.ini
        as_undisturbed $format
    done
    echo "killed $killed times in $((ended + 2)) runs"
}
