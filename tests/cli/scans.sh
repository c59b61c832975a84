# Studies (plugmc scan): which points there are, that they are run once and to their end whatever happens in
# between, and that the tables say what is in the output files of the points.

# study LINE...: study.ini, 64 disks, with these lines in [scan].
study()
{
    sed 's/^sweeps = .*/sweeps = 400/; s/^state = .*/state = lattice/' "$here/disks.ini" >study.ini
    printf '\n[scan]\n' >>study.ini
    printf '%s\n' "$@" >>study.ini
}

# edit SCRIPT: study.ini with sed.
edit() { sed -i "$@" study.ini; }

# points: of --list, a line each: number, state, values.
points() { sed '1d; s/to do/to-do/' "$out" | awk '{ s = $1; for (i = 2; i <= NF; i++) if (i != 3) s = s " " $i; print s }'; }

# expect_points LINE...: those are all.
expect_points()
{
    must scan study.ini --list
    diff <(points) <(printf '%s\n' "$@") || fail "other points"
    expect_untouched
}

# whole: in a folder of its own, study.ini from beginning to end: what the tables are when nothing happens.
whole()
{
    mkdir whole
    cp study.ini whole/
    (cd whole && "$PLUGMC" scan study.ini >"$work/said/whole" 2>&1) || fail "$(cat "$work/said/whole")"
    (cd whole && "$PLUGMC" scan study.ini --table >"$work/said/whole" 2>&1) || fail "$(cat "$work/said/whole")"
}

# like_whole: all three tables, in $out the one that is printed; and all points.
like_whole()
{
    local differences file
    cmp study/summary.csv whole/study/summary.csv || fail "another summary.csv"
    differences=$(h5diff study/summary.h5 whole/study/summary.h5 2>&1) && [ -z "$differences" ] ||
        fail "another summary.h5: $differences"
    diff "$out" "$work/said/whole" || fail "another table is printed"
    for file in whole/study/*=*.h5; do same_chain "$file" "study/$(basename "$file")"; done
}

python() { /usr/bin/python3 -c 'import h5py' 2>/dev/null || skip "h5py is not installed"; }

# ---- Which points there are ----

test_scan_all_combinations()
{
    study "box.packing_fraction = 0.3 0.4" "run.seed = 1 2 3"
    expect_points "0 to-do 0.3 1" "1 to-do 0.3 2" "2 to-do 0.3 3" "3 to-do 0.4 1" "4 to-do 0.4 2" "5 to-do 0.4 3"
    edit 's/^run.seed/mover.step = 0.1 0.2\n&/; $ a zip = run.seed box.packing_fraction'
    edit 's/^run.seed.*/run.seed = 7 8/'
    expect_points "0 to-do 0.3 0.1 7" "1 to-do 0.3 0.2 7" "2 to-do 0.4 0.1 8" "3 to-do 0.4 0.2 8"
    edit 's/^mover.step/zzz/; /^zzz/d'
    expect_points "0 to-do 0.3 7" "1 to-do 0.4 8"
    must scan study.ini
    expect_points "0 finished 0.3 7" "1 finished 0.4 8"
    for point in 0.3,seed=7 0.4,seed=8; do
        [ -f study/packing_fraction=$point.h5 ] || fail "there is no point $point"
        h5dump -d /parameters/effective_ini study/packing_fraction=$point.h5 >"$out"
        grep -q "seed = ${point#*seed=} " "$out" || fail "another seed in $point"
        grep -q "packing_fraction = ${point%,*} " "$out" || fail "another packing fraction in $point"
    done
}

# Sections as --set names them, values with blanks, what a run does with them.
test_scan_names_keys_as_set_does()
{
    study '"run.temperature" = 1' 'species disk.count = 16 36' 'ladder.values = "1 2" "1 3"' \
        'mover checkerboard.step = 0.1 0.2' 'zip = "species disk.count" "mover checkerboard.step"'
    edit '/^"run/d; s/^\[run\]/&\nwalkers = 2/'
    printf '\n[ladder]\nvary = run.temperature\nvalues = 1 2\n' >>study.ini
    must scan study.ini
    [ "$(cd study && echo *.h5)" = "count=16,values=1_2,step=0.1.h5 count=16,values=1_3,step=0.1.h5 \
count=36,values=1_2,step=0.2.h5 count=36,values=1_3,step=0.2.h5 summary.h5" ] || fail "other files: $(ls study)"
    plugmc run study.ini
    expect_exit 3 # [scan] is no section of a run
    sed '/^\[scan\]/,/^$/d' study.ini >run.ini
    must run run.ini --set 'species disk.count=36' --set 'ladder.values=1 3' --set mover.step=0.2
    same_chain run.h5 study/count=36,values=1_3,step=0.2.h5
    # the quantities of the rungs have columns of their own, empty where there is no such rung
    head -1 study/summary.csv | tr , '\n' | grep -Fxq 'hard_pressure.pressure@3 error' || fail "no such column"
    awk -F, 'NR > 1 { gsub(/"/, ""); print NF }' study/summary.csv | sort -u | wc -l | grep -qx 1 ||
        fail "lines of different length"
}

test_scan_folder_and_names()
{
    study "run.seed = 1 2" "folder = results/of it" "names = numbers" "jobs = 2"
    must scan study.ini
    [ "$(ls "results/of it")" = "$(printf '%s\n' 0.h5 0.ini 0.log 1.h5 1.ini 1.log summary.csv summary.h5)" ] ||
        fail "other files: $(ls results/*)"
    grep -q "^1 of 2: [01] finished ([0-9.]* s)$" "$err" || fail "expected a line for the first point"
    mkdir elsewhere
    (cd elsewhere && "$PLUGMC" scan ../study.ini --list) >"$out" || fail "not from another folder"
    [ "$(grep -c finished "$out")" = 2 ] || fail "points are not found from another folder"
}

# As any name in an INI file, and one that is empty is none.
test_scan_folder_in_quotes()
{
    study "run.seed = 1 2" 'folder = "results of it"'
    must scan study.ini
    ! grep -q UNFINISHED "$out" || fail "the runs are not found again"
    [ -f "results of it/seed=1.h5" ] || fail "another folder: $(ls)"
    study "run.seed = 1 2" 'folder = ""'
    must scan study.ini
    [ -f study/seed=1.h5 ] || fail "expected the default folder: $(ls)"
}

# What was found with the former table is not set beside what is found with this one.
test_scan_of_a_table_that_has_changed()
{
    study "run.seed = 1 2"
    edit 's/^.potential hard_disk.*/[potential tabulated]\nfiles = u.dat\ninside = extrapolate/
        s/^.mover checkerboard.*/[mover serial]/; s/hard_pressure/energy/'
    printf '%s\n' "0.9 4" "1 2" "1.2 0" >u.dat
    must scan study.ini
    cp u.dat former.dat
    printf '%s\n' "0.9 8" "1 4" "1.2 0" >u.dat
    edit 's/^run.seed.*/&3 /; s/23/2 3/'
    plugmc scan study.ini
    expect_exit 6
    grep -q '^point 0 (seed=1) failed: study/seed=1.h5 is finished, and file of .potential tabulated. files has changed' \
        "$err" || fail "expected the reason"
    [ "$(grep -c ',finished,' study/summary.csv)" = 1 ] || fail "expected the new point alone"
    must scan study.ini --table --accept-changed-plugins
    [ "$(grep -c ',finished,' study/summary.csv)" = 3 ] || fail "expected all points"
    cp former.dat u.dat
    plugmc scan study.ini
    expect_exit 6
    [ "$(grep -c ',finished,' study/summary.csv)" = 2 ] || fail "expected the former points"
}

# The reason, not the last line of the table.
test_scan_of_points_that_are_rescued()
{
    study "run.seed = 1 2"
    mkdir small
    mount -t tmpfs -o size=400k none small 2>/dev/null || skip "no file system can be mounted here"
    trap 'umount "$work/run/small"; rm -rf "$work"' EXIT
    edit 's|^sweeps.*|sweeps = 40000|; s|^period.*|period = 2|'
    echo "folder = small/study" >>study.ini
    TMPDIR=$work/run plugmc scan study.ini
    expect_exit 5
    grep -Eq '^point 0 \(seed=1\) failed: its output cannot be written there, and is in .*seed=1.rescued-[0-9a-f]*.h5 instead, see small' \
        "$err" || fail "expected where it is"
}

# A study with the files that it reads can be moved, and a point of it run by hand.
test_scan_reads_files_beside_the_study()
{
    must run "$here/disks.ini" --set run.output=start.h5 --set "observable trajectory.period=20"
    mkdir -p there/data
    mv start.h5 there/data/
    study "run.seed = 1 2"
    edit 's|^state = .*|state = file\nfile = data/start.h5|'
    mv study.ini there/
    must scan there/study.ini
    grep -q "^file = \.\./data/start.h5 " there/study/seed=1.ini || fail "another name of the file"
    mv there moved
    edit2=moved/study.ini
    sed -i 's/^sweeps = .*/sweeps = 500/' $edit2
    must scan $edit2
    must run moved/study/seed=2.ini --resume-if-there
    expect_message "moved/study/seed=2.h5: this run is finished, 500 of 500 sweeps; nothing is left to do"
    sed -i 's|^\[scan\]|&\nfolder = '"$PWD"'/far/away|' $edit2
    must scan $edit2
    grep -q "^file = $PWD/moved/data/start.h5 " far/away/seed=1.ini || fail "another name of the file from far away"
}

# ---- However it is cut ----

test_scan_goes_on_after_signals()
{
    study "box.packing_fraction = 0.3 0.4 0.5" "run.seed = 1 2" "jobs = 2"
    edit 's/^sweeps = .*/sweeps = 6000\ncheckpoint = 0.1/'
    whole
    local times=0 signal
    while :; do
        for signal in INT KILL TERM; do
            command="plugmc scan study.ini, then $signal"
            "$PLUGMC" scan study.ini >"$out" 2>"$err" </dev/null &
            process=$!
            sleep "$(awk -v n=$times 'BEGIN { print 0.7 + 0.1 * n }')" # longer where other tests keep it busy
            kill -$signal $process 2>/dev/null
            wait $process
            status=$?
            case $status in
            0) break 2 ;;
            10) [ $signal != KILL ] || fail "a kill that was noticed" ;;
            137) ;;
            130 | 143) ;; # before it began to listen
            *) fail "expected code 0, 10, 130, 137 or 143" ;;
            esac
            times=$((times + 1))
        done
        [ $times -lt 100 ] || fail "the study does not end"
    done
    [ $times -ge 2 ] || skip "this machine makes all points in 1.4 s"
    must scan study.ini
    expect_message "study.ini: all 6 points are finished"
    like_whole
}

test_scan_job_by_job()
{
    study "box.packing_fraction = 0.3 0.4 0.5" "run.seed = 1 2" "zip = box.packing_fraction run.seed"
    edit 's/^run.seed.*/run.seed = 1 2 3/'
    whole
    for job in 2 0 1; do
        must scan study.ini --job $job
        [ ! -e study/summary.csv ] || fail "a single point makes no tables"
    done
    must scan study.ini --table
    like_whole
    must scan study.ini --job 1
    expect_message "study.ini: all 1 points are finished"
    refused 2 "study.ini: --job 3: there are 3 points, the first one is 0" scan study.ini --job 3
    refused 2 "plugmc scan: --job needs the number of a point; see --help" scan study.ini --job x
}

# A longer list, a longer run: what is there is kept.
test_scan_of_a_study_that_grows()
{
    study "run.seed = 1 3"
    must scan study.ini
    cp study/seed=3.h5 before.h5
    edit 's/^run.seed.*/run.seed = 1 2 3/'
    expect_points "0 finished 1" "1 to-do 2" "2 finished 3"
    must scan study.ini
    cmp before.h5 study/seed=3.h5 || fail "a finished point was run again"
    edit 's/^sweeps = .*/sweeps = 600/'
    expect_points "0 interrupted 1" "1 interrupted 2" "2 interrupted 3"
    must scan study.ini
    whole
    must scan study.ini --table
    like_whole
}

# By numbers, too: a point is known by its values, whatever is added before or behind it, or taken away.
test_scan_numbers_stay_when_values_are_added()
{
    study "box.packing_fraction = 0.3 0.4 0.5" "run.seed = 1 3 4" "names = numbers" "jobs = 2"
    edit 's/^sweeps = .*/sweeps = 20/'
    must scan study.ini # 0 ... 8
    contents >before
    edit 's/^run.seed.*/run.seed = 1 2 3 4/; s/^box.packing_fraction = .*/box.packing_fraction = 0.3 0.4 0.5 0.6/'
    must scan study.ini --list
    [ "$(grep -c finished "$out")" = 9 ] || fail "points that are finished are not known"
    must scan study.ini --job 15 # the last of seven new ones: 0.6, 4
    [ -f study/15.h5 ] || fail "another name of the last point: $(ls study)"
    must scan study.ini
    [ "$(cd study && echo [0-9]*.h5)" = "0.h5 1.h5 10.h5 11.h5 12.h5 13.h5 14.h5 15.h5 2.h5 3.h5 4.h5 5.h5 6.h5 7.h5 8.h5 9.h5" ] ||
        fail "other names: $(ls study)"
    contents | grep -E ' \./study/[0-8]\.(h5|ini)$' | diff - <(grep -E ' \./study/[0-8]\.(h5|ini)$' before) ||
        fail "a finished point was run again, or its INI written anew"
    h5dump -y -d /parameters/effective_ini study/9.h5 >"$out"
    grep -q "packing_fraction = 0.3 " "$out" && grep -q "seed = 2 " "$out" || fail "9 is not the first new point"
    [ "$(awk -F, 'NR > 1 && $2 == "finished"' study/summary.csv | wc -l)" = 16 ] || fail "not all are finished"
    edit 's/^run.seed.*/run.seed = 4 5/; s/^box.packing_fraction = .*/box.packing_fraction = 0.5/'
    must scan study.ini
    [ -f study/16.h5 ] || fail "a number is given again: $(ls study)"
    expect_points "0 finished 0.5 4" "1 finished 0.5 5"
}

# Files have another path as seen from the folder of the study.
test_scan_numbers_stay_with_files_as_values()
{
    study "potential tabulated.files = a.dat b.dat" "names = numbers"
    edit 's/^.potential hard_disk.*/[potential tabulated]\ninside = extrapolate/
        s/^.mover checkerboard.*/[mover serial]/; s/hard_pressure/energy/; s/^sweeps = .*/sweeps = 20/'
    awk 'BEGIN { for (r = 0.4; r < 1.6; r += 0.1) print r, r < 1.5 ? (1.5 - r) ^ 2 : 0 }' >a.dat
    for file in b c; do cp a.dat $file.dat; done
    must scan study.ini
    cp study/1.h5 before.h5
    edit 's/^potential tabulated.files.*/potential tabulated.files = c.dat b.dat a.dat/'
    expect_points "0 to-do c.dat" "1 finished b.dat" "2 finished a.dat"
    must scan study.ini
    cmp before.h5 study/1.h5 && [ -f study/2.h5 ] || fail "b.dat has another number"
}

# Sound output files take no process each, which would be 60 ms of a processor; it is 8 without.
test_scan_of_many_finished_points_is_quick()
{
    study "run.seed = $(seq -s' ' 1 40)" "jobs = 2"
    edit 's/^sweeps = .*/sweeps = 4/; s/^period = .*/period = 1/'
    must scan study.ini
    local ticks
    ticks=$(awk '{ print $16 + $17 }' /proc/$$/stat)
    must scan study.ini --table
    ticks=$(($(awk '{ print $16 + $17 }' /proc/$$/stat) - ticks))
    echo "$ticks ticks of $(getconf CLK_TCK) a second"
    [ "$ticks" -lt $(($(getconf CLK_TCK) * 40 * 25 / 1000)) ] || fail "more than 25 ms of a processor a point"
    [ "$(grep -c ,finished, study/summary.csv)" = 40 ] || fail "not all are finished"
}

# Whatever an output file does to who reads it, the other points are listed.
test_scan_of_files_that_end_their_reader()
{
    local file k=0
    study "run.seed = $(seq -s' ' 1 20)" "jobs = 2"
    edit 's/^sweeps = .*/sweeps = 4/; s/^period = .*/period = 1/'
    must scan study.ini
    for file in "$here"/../data/faults/*.h5; do
        k=$((k + 2))
        cp "$file" "study/seed=$k.h5"
    done
    must scan study.ini --list
    [ "$(grep -c "^[0-9]* *failed" "$out")" = $((k / 2)) ] || fail "another number of points has failed"
    [ "$(grep -c "^[0-9]* *finished" "$out")" = $((20 - k / 2)) ] || fail "points beside damaged ones are lost"
    [ "$(grep -c "^point [0-9]* failed: cannot read study/seed=" "$out")" = $((k / 2)) ] || fail "it is not said why"
}

# Spreadsheets would take them for formulas.
test_scan_cells_that_begin_like_formulas()
{
    study 'run.author = "=1+1" "@x" "-y" "+1"' "run.temperature = 1e0"
    edit 's/^sweeps = .*/sweeps = 20/'
    must scan study.ini
    tail -n +2 study/summary.csv | cut -d, -f3 >cells
    printf '%s\n' "\"'=1+1\"" "\"'@x\"" "\"'-y\"" "+1" | diff - cells || fail "other cells"
}

test_scan_time_limit()
{
    study "run.seed = 1 2"
    edit 's/^sweeps = .*/sweeps = 20000\ntime_limit = 0.2/'
    local times=0
    while plugmc scan study.ini; do
        [ $status = 0 ] && break
        expect_exit 11
        grep -q "^UNFINISHED: [12] of 2 points$" "$out" || fail "the table of an unfinished study has no mark"
        times=$((times + 1))
        [ $times -lt 200 ] || fail "the study does not end"
    done
    [ $times -ge 1 ] || skip "this machine makes 20000 sweeps in 0.2 s"
    edit '/^time_limit/d'
    whole
    must scan study.ini --table
    cp whole/study/summary.csv expected
    cmp expected study/summary.csv || fail "another summary.csv"
}

# The same terminal sends Ctrl-C to all; a second one leaves.
test_scan_second_interrupt()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS:$PLUGINS
    study "run.seed = 1 2" "jobs = 2"
    edit 's/mover checkerboard/mover serial/; s/^sweeps = .*/sweeps = 1000000/; s/hard_pressure/energy/'
    printf '\n[potential faulty]\ndelay = 60\nquick = 300\n' >>study.ini
    command="plugmc scan study.ini"
    "$PLUGMC" scan study.ini >"$out" 2>"$err" </dev/null &
    process=$!
    until grep -q "^on the CPU" study/seed=1.log 2>/dev/null || ! kill -0 $process; do sleep 0.05; done
    sleep 0.3
    kill -INT $process
    sleep 0.4
    kill -INT $process
    told=$(seconds)
    wait $process
    status=$?
    expect_exit 10
    [ "$(arithmetic "$(seconds) - $told < 3")" = 1 ] || fail "a second Ctrl-C is not at once"
    expect_message "second interrupt: stopped at once; files are those of the last checkpoints"
}

# Two at once do not disturb each other.
test_scan_beside_another()
{
    study "run.seed = 1 2 3"
    edit 's/^sweeps = .*/sweeps = 3000/'
    whole
    "$PLUGMC" scan study.ini >other 2>&1 &
    process=$!
    until [ -e study/seed=1.log ] || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
    must scan study.ini
    wait $process || fail "the other one failed: $(cat other)"
    must scan study.ini --table
    like_whole
}

# ---- Points that fail ----

test_scan_failing_point()
{
    study "box.packing_fraction = 0.3 0.89 0.4"
    edit 's/^state = .*/state = random\nattempts = 10/'
    plugmc scan study.ini
    expect_exit 3
    [ -f study/packing_fraction=0.4.h5 ] || fail "a point that fails stops the others"
    grep -q "^point 1 (packing_fraction=0.89) failed: .*, see study/packing_fraction=0.89.log$" "$err" ||
        fail "expected which point failed"
    grep -q "^UNFINISHED: 1 of 3 points$" "$out" || fail "the table has no mark"
    grep -q "^0.89  *-  *-" "$out" || fail "what is missing is not empty"
    grep -q "^1,failed,0.89,,," study/summary.csv || fail "what is missing is not empty in summary.csv"
    must scan study.ini --list
    grep -q "^1  *failed  *0/400  *0.89$" "$out" || fail "the list does not show it"
    grep -q "^point 1 failed: .*, see study/packing_fraction=0.89.log$" "$out" || fail "nor why"
    plugmc scan study.ini
    expect_exit 3
    grep -q "^1 of 1: packing_fraction=0.89 failed with code 3$" "$err" || fail "only that one is run again"
}

# ... which is not the end of the study, and which the next call mends.
test_scan_of_a_run_that_is_killed()
{
    study "run.seed = 1 2"
    edit 's/^sweeps = .*/sweeps = 20000\ncheckpoint = 0.1/'
    whole
    command="plugmc scan study.ini"
    "$PLUGMC" scan study.ini >"$out" 2>"$err" </dev/null &
    process=$!
    until [ -e study/seed=1.h5 ] || ! kill -0 $process 2>/dev/null; do sleep 0.02; done
    kill -KILL $(pgrep -P $process -x plugmc)
    wait $process
    status=$?
    expect_exit 9
    expect_message "point 0 (seed=1) failed: ended by signal 9, see study/seed=1.log"
    must scan study.ini --list
    grep -q "^0  *failed  *[1-9][0-9]*/20000  *1$" "$out" || fail "the list does not show it"
    must scan study.ini
    must scan study.ini --table
    like_whole
}

# An output file of another run, or a damaged one, is not taken for the point's.
test_scan_of_files_that_do_not_fit()
{
    study "run.seed = 1 2 3"
    must scan study.ini
    truncate -s 5000 study/seed=3.h5
    cp study/seed=1.h5 study/seed=2.h5
    must scan study.ini --table
    for seed in 2 3; do
        grep -q "^$((seed - 1)),failed,$seed,,," study/summary.csv || fail "values of a file that does not fit"
    done
    plugmc scan study.ini
    expect_exit 6
    grep -q "^point 1 (seed=2) failed: .*\[run\] seed was 1 and is 2 now" "$err" || fail "expected what differs"
    grep -q "^point 2 (seed=3) failed: cannot read study/seed=3.h5: " "$err" || fail "expected what is wrong"
    edit 's/^step = .*/step = 0.1/'
    must scan study.ini --list
    [ "$(grep -c "^[012]  *failed" "$out")" = 3 ] || fail "points of another study are taken for those of this"
}

# ---- Refusals ----

test_scan_refusals()
{
    study "run.seed = 1 2"
    cp study.ini right.ini
    refused 3 "missing.ini: cannot open this file: No such file or directory" scan missing.ini
    sed '/^\[scan\]/,$d' right.ini >study.ini
    refused 3 "study.ini: there is no section [scan] with lines SECTION.KEY = VALUES: use plugmc run for a single run" \
        scan study.ini
    # lines of study.ini: [scan] is 25, run.seed 26
    cp right.ini study.ini
    refused 3 "study.ini:25: a file with a section [scan] is a study of several runs: use plugmc scan" check study.ini
    with() { cp right.ini study.ini; printf '%s\n' "$@" >>study.ini; }
    with "box.lx ="
    refused 3 "study.ini:27: [scan] box.lx: there are no values" scan study.ini
    with "run.seed = 3"
    refused 3 "study.ini:27: [scan] key 'run.seed' given twice, first in line 26" scan study.ini
    with "mover.step = 0.1 0.2" "mover checkerboard.step = 0.3"
    refused 3 "study.ini:28: [scan] 'mover checkerboard.step' is the same key as 'mover.step' in line 27" scan study.ini
    with "mover.step = 0.1 0.2 0.3" "zip = run.seed mover.step"
    refused 3 "study.ini:28: [scan] zip: 'run.seed' has 2 values, but 'mover.step' has 3: the numbers must be equal" scan study.ini
    with "zip = run.seed run.sed"
    refused 3 "study.ini:27: [scan] zip: 'run.sed' has no values here; did you mean 'run.seed'?" scan study.ini
    with "job = 2"
    refused 3 "study.ini:27: [scan] unknown key 'job'; did you mean 'jobs'?" scan study.ini
    with 'ladder.values = "1 2'
    refused 3 "study.ini:27: [scan] ladder.values: a quote has no end" scan study.ini
    with "run.output = a.h5 b.h5"
    refused 3 "study.ini:27: [scan] run.output: each run of a study writes FOLDER/NAME.h5; choose them by [scan] folder and names" scan study.ini
    cp right.ini study.ini
    edit 's/^\[run\]/&\noutput = sim.h5/'
    refused 3 "study.ini:2: [run] output = sim.h5: all runs of a study would write this file; without it each writes \
FOLDER/NAME.h5" scan study.ini
    with "box.packing_fraction = $(seq -s' ' 1 60000)"
    refused 3 "study.ini:25: [scan] makes more than 100000 points" scan study.ini
    cp right.ini study.ini
    edit 's/^run.seed.*/jobs = 2/'
    refused 3 "study.ini:25: [scan] has no line SECTION.KEY = VALUES, so nothing is scanned" scan study.ini
    refused 2 "plugmc scan: --list, --table, --slurm and --job exclude each other: '--table'; see --help" \
        scan study.ini --list --table
}

test_scan_refuses_files_that_two_points_write()
{
    study "run.csv = a.csv ./a.csv"
    refused 3 "study.ini:26: a.csv would be written both by point 0 (csv=a.csv) and by point 1 (csv=._a.csv)" \
        scan study.ini
    study "run.seed = 1 2"
    edit 's|^\[run\]|&\ncsv = study/summary.csv|'
    refused 3 "study.ini:2: study/summary.csv would be written both by point 0 (seed=1) and by the study" scan study.ini
    study "run.seed = 1 2 1"
    plugmc scan study.ini
    expect_exit 3
    grep -q "^study.ini:25: study/seed=1.h5 would be written both by point 0 (seed=1) and by point 2 (seed=1); \[scan\] \
names = numbers names them 0, 1, ...$" "$err" || fail "expected which points"
    expect_untouched
    edit 's/^\[scan\]/&\nnames = numbers/'
    must scan study.ini
    same_chain study/0.h5 study/2.h5
}

test_scan_refuses_to_write_over_its_study()
{
    study "run.seed = 1 2" "folder = ."
    mv study.ini seed=1.ini
    refused 3 "seed=1.ini:25: seed=1.ini is this study, which point seed=1 would overwrite: choose another [scan] folder" scan seed=1.ini
    mv seed=1.ini mine.ini
    mkdir into
    ln mine.ini "into/seed=2.ini"
    sed 's/^folder = .*/folder = into/' mine.ini >text
    cat text >mine.ini
    refused 3 "mine.ini:25: into/seed=2.ini is this study, which point seed=2 would overwrite: choose another [scan] folder" scan mine.ini
}

# All that is wrong with the points, each once, before any of them runs.
test_scan_tells_all_errors_at_once()
{
    study "box.packing_fraction = 0.3 abc" "bxo.lx = 1" "mover.stp = 1" "species disk.count = 64 -1"
    edit 's/^device = .*/devise = cpu/'
    plugmc scan study.ini
    expect_exit 3
    expect_message "study.ini:5: [run] unknown key 'devise'; did you mean 'device'?"
    expect_message "study.ini:27: unknown section [bxo]; did you mean [box]?"
    expect_message "study.ini:28: [mover checkerboard] unknown key 'stp'; did you mean 'step'?"
    expect_message "study.ini:26: [box] packing_fraction = abc: is not a number (2 points, the first one 2, \
packing_fraction=abc,lx=1,stp=1,count=64)"
    grep -q "^study.ini:29: \[species disk\] count = -1: .* (2 points, the first one 1, " "$err" || fail "the count"
    expect_lines 5
    expect_untouched
}

# ---- Tables and scripts ----

test_scan_tables_are_what_is_in_the_files()
{
    python
    study "box.packing_fraction = 0.3 0.5" "run.seed = 1 2" "initial.state = lattice random"
    printf '\n[observable hexatic_order]\nperiod = 5\n\n[observable rdf]\nperiod = 5\nr_max = 2\n' >>study.ini
    must scan study.ini
    rm study/packing_fraction=0.5,seed=2,state=random.h5 study/*.log
    must scan study.ini --table
    expect_output "UNFINISHED: 1 of 8 points"
    sed -n 3p "$out" | grep -Fq "[kT/length^2]" || fail "expected units below the names"
    /usr/bin/python3 - >"$out" 2>&1 <<'END' || fail "the tables are not what is in the files"
import csv, h5py, itertools, math
table = list(csv.DictReader(open("study/summary.csv")))
summary = h5py.File("study/summary.h5")
points = list(itertools.product(["0.3", "0.5"], ["1", "2"], ["lattice", "random"]))
assert len(table) == len(points) == 8
seen = stars = 0
for k, (density, seed, state) in enumerate(points):
    row = table[k]
    assert row["point"] == str(k) and summary["point"][k] == k
    assert (row["box.packing_fraction"], row["run.seed"], row["initial.state"]) == points[k]
    assert summary["keys/box.packing_fraction"][k] == float(density)
    assert summary["keys/initial.state"][k].decode() == state
    missing = k == 7
    assert row["state"] == summary["state"][k].decode() == ("to do" if missing else "finished")
    columns = set(summary["values"])
    assert columns == {c for c in row if c + " error" in row}
    if missing:
        assert all(row[c] == row[c + " error"] == row[c + " star"] == "" for c in columns)
        assert all(math.isnan(summary["values"][c][k]) for c in columns)
        continue
    of_file = set()
    with h5py.File(f"study/packing_fraction={density},seed={seed},state={state}.h5") as f:
        for label, group in f["plugmc/observables"].items():
            for name, q in group.items():
                a = q.attrs
                derived = a["kind"] in ("derived", b"derived")
                if "mean" not in a and not derived: continue
                column = f"{label}.{name}"
                if derived and not a["valid"]:
                    assert row[column] == "" and math.isnan(summary["values"][column][k])
                    of_file.add(column)
                    continue
                value, error = a["value" if derived else "mean"], a["error"]
                assert float(row[column]) == value == summary["values"][column][k], column
                assert float(row[column + " error"]) == error == summary["errors"][column][k], column
                bound = not a["converged"]
                assert row[column + " star"] == ("*" if bound else "")
                assert summary["lower_bounds"][column][k] == bound
                unit = summary["values"][column].attrs["unit"]
                assert (unit.decode() if isinstance(unit, bytes) else unit) == \
                    (a["unit"].decode() if isinstance(a["unit"], bytes) else a["unit"])
                of_file.add(column)
                seen += 1
                stars += bound
    assert of_file == columns, (of_file, columns)
assert seen > 40, seen
print(seen, stars)
END
}

# Walkers that hang together are one sample at a time.
test_scan_tables_of_walkers_that_exchange()
{
    python
    study "run.seed = 1 2"
    edit 's/^\[run\]/&\nwalkers = 4/; s/mover checkerboard/mover serial/'
    printf '\n[ladder]\nvary = run.temperature\nvalues = 1 2\n\n[mover exchange]\n' >>study.ini
    must scan study.ini
    /usr/bin/python3 - >"$out" 2>&1 <<'END' || fail "the tables are not what is in the files"
import csv, h5py
seen = 0
for row in csv.DictReader(open("study/summary.csv")):
    with h5py.File(f"study/seed={row['run.seed']}.h5") as f:
        for name, q in f["plugmc/observables/hard_pressure"].items():
            if "mean" not in q.attrs: continue
            column = "hard_pressure." + name
            assert float(row[column]) == q.attrs["mean"] and float(row[column + " error"]) == q.attrs["error"], column
            seen += 1
assert seen >= 4
END
}

test_scan_slurm_script()
{
    study "run.seed = 1 2 3" "mover.step = 0.1 0.2"
    mkdir "it's here"
    cp study.ini "it's here/"
    must scan "it's here/study.ini" --slurm
    cp "$out" job.sh
    bash -n job.sh || fail "the script is not one for bash"
    grep -Fxq '#SBATCH --array=0-5' job.sh || fail "another length of the array"
    ! grep -q -e '--gpus' job.sh || fail "a GPU for a run on the CPU"
    [ ! -e "it's here/study" ] || fail "something was run"
    for task in 0 1 2 3 4 5; do
        SLURM_ARRAY_TASK_ID=$task bash job.sh >"$out" 2>"$err" || fail "task $task fails"
    done
    sed -n 's/^# \(.* --table\)$/\1/p' job.sh >table.sh
    bash table.sh >"$out" 2>"$err" || fail "the tables fail"
    [ "$(grep -c ',finished,' "it's here/study/summary.csv")" = 6 ] || fail "not all points are finished"
    edit 's/^device = .*/device = gpu/'
    must scan study.ini --slurm
    grep -Fxq '#SBATCH --gpus=1' "$out" || fail "no GPU for a run on one"
}

# told SECTION.KEY LOG...: what runs were told by --set, in the order of the names.
told() { sed -n "s/^plugmc scan: plugmc run .* --set $1=//p" "${@:2}" | sort | tr '\n' ' '; }

test_scan_shares_gpus()
{
    export LD_LIBRARY_PATH=$TWO_GPUS
    study "run.seed = 1 2 3 4"
    edit 's/^device = .*/device = auto/; s/^sweeps = .*/sweeps = 1000/; s/^count = .*/count = 4096/' # few stay on a CPU
    must scan study.ini # two at a time, each GPU with one
    case $(told run.gpu study/seed=*.log) in
    "0 0 0 1 " | "0 0 1 1 " | "0 1 1 1 ") ;;
    *) fail "not both GPUs: $(told run.gpu study/seed=*.log)" ;;
    esac
    rm -r study
    for job in 0 1 2 3; do must scan study.ini --job $job; done
    [ "$(told run.gpu study/seed=*.log)" = "0 0 1 1 " ] || fail "other GPUs: $(told run.gpu study/seed=*.log)"
    rm -r study
    edit 's/^device = .*/device = auto\ngpu = 0/'
    must scan study.ini
    [ -z "$(told run.gpu study/seed=*.log)" ] || fail "a GPU in place of the one that is given"
    must scan study.ini --slurm
    grep -Fxq '#SBATCH --gpus=1' "$out" || fail "no GPU in the script"
}

test_scan_shares_threads()
{
    study "run.seed = 1 2" "jobs = 2"
    edit '/^threads/d'
    OMP_NUM_THREADS=7 must scan study.ini
    [ "$(told run.threads study/seed=*.log)" = "3 3 " ] || [ "$(nproc)" -lt 7 ] ||
        fail "other threads: $(told run.threads study/seed=*.log)"
    [ -n "$(told run.threads study/seed=*.log)" ] || fail "threads are not shared"
    rm -r study
    edit 's/^jobs.*/jobs = 1/'
    must scan study.ini
    [ -z "$(told run.threads study/seed=*.log)" ] || fail "threads of a single run are none of the study's business"
}

test_scan_help()
{
    must scan --help
    expect_output "usage: plugmc scan STUDY.ini"
    expect_output "exit codes: 0 all points are finished"
    must --help
    grep -q "^  scan " "$out" || fail "plugmc --help lacks scan"
    plugmc scan
    expect_exit 2
    plugmc scan study.ini --lst
    expect_exit 2
}

# One command: Henderson's formula is that of large systems, and at 64 disks some per cent too high.
test_scan_equation_of_state()
{
    sed 's/^\[run\]/&\ndevice = cpu\nthreads = 1/; s/^sweeps = .*/sweeps = 12000/; s/^equilibrate = .*/equilibrate = 2000/' \
        "$here/../../examples/hard-disks-scan.ini" >study.ini
    must scan study.ini
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hard_pressure.reduced_pressure") p = i }
        NR > 1 { x = $3; f = 4 * x / 3.14159265 * (1 + x * x / 8) / (1 - x)^2; d = $p / f - 1
            print x, $p, $(p + 1), f
            if (d > 3 * $(p + 1) / f + 0.002 || d < -0.035 - 3 * $(p + 1) / f || $p <= last) bad = 1
            last = $p; n++ }
        END { exit bad || n != 8 }' study/summary.csv >"$out" || fail "another equation of state"
}
