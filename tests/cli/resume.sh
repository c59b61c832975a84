# Going on with a run: one command for every submission, changes of what made it, its history.

# ---- One command ----

test_one_command_for_every_submission()
{
    disks
    rm sim.h5
    change 's/^sweeps = .*/sweeps = 3000/'
    must run sim.ini --set run.output=whole.h5
    cp "$out" table
    local submissions=0
    while plugmc run sim.ini --resume-if-there --set run.time_limit=0.05; do
        [ "$status" = 0 ] && break
        expect_exit 11
        grep -Eq "^UNFINISHED: [0-9]+ of 3000 sweeps, equilibration included$" "$out" ||
            fail "the table of an unfinished run has no mark"
        submissions=$((submissions + 1))
        [ $submissions -lt 500 ] || fail "the run does not end"
    done
    [ $submissions -ge 1 ] || skip "this machine makes 3000 sweeps in 0.05 s"
    same_chain whole.h5 sim.h5
    grep UNFINISHED "$out" && fail "a finished run is called unfinished"
    cp sim.h5 before.h5
    must run sim.ini --resume-if-there --set run.time_limit=0.05
    expect_message "sim.h5: this run is finished, 3000 of 3000 sweeps; nothing is left to do"
    # all but the line with the wall time, and the names of the two files
    diff <(grep -v -e '^acceptance' -e 'h5$' table) <(grep -v -e '^acceptance' -e 'h5$' "$out") ||
        fail "another table than that of the run"
    cmp before.h5 sim.h5 || fail "a finished run was written again"
    must run sim.ini --resume-if-there --set run.sweeps=4000 # a longer run
    must run sim.ini --set run.sweeps=4000 --set run.output=longer.h5
    same_chain longer.h5 sim.h5
}

test_finished_run_prints_its_table_again()
{
    disks
    rm sim.h5
    printf '\n[observable hexatic_order]\nperiod = 5\n' >>sim.ini
    printf '\n[observable rdf]\nperiod = 5\nr_max = 2\nbins = 20\n' >>sim.ini
    must run sim.ini
    cp "$out" table
    must run --resume sim.h5
    expect_message "sim.h5: this run is finished, 20 of 20 sweeps; nothing is left to do"
    diff table "$out" || fail "another table than that of the run"
    must run sim.ini --set run.csv=all.csv --set run.output=other.h5
    must run --resume sim.h5 --set run.csv=late.csv # all that is in it is in the file
    cmp late.csv all.csv || fail "another table of samples"
    head -n 3 all.csv >late.csv # as the process left it that was killed between the two files
    must run --resume sim.h5 --set run.csv=late.csv
    cmp late.csv all.csv || fail "what was missing of the table is missing still"
    echo mine >mine.csv
    must run sim.ini --resume-if-there --set run.csv=mine.csv
    [ "$(cat mine.csv)" = mine ] || fail "a table that is there was written over, and nothing was run"
    plugmc run --resume sim.h5 --set run.csv=none/late.csv
    expect_exit 5
}

test_resume_if_there_of_another_run()
{
    disks
    rm sim.h5
    change 's/^state = .*/state = lattice/'
    must run sim.ini --set run.sweeps=10
    refused 6 "sim.ini: cannot resume from sim.h5: [run] seed was 3 and is 4 now; another [run] output \
begins another run" run sim.ini --resume-if-there --set run.seed=4
    change 's/^step = 0.2/step = 0.1/'
    refused 6 "sim.ini: cannot resume from sim.h5: [mover checkerboard] step was 0.2 and is 0.1 now; \
another [run] output begins another run" run sim.ini --resume-if-there
    change 's/^step = 0.1/step = 0.20/; /^threads/d; /^state/d' # what was default, or is written otherwise
    must run sim.ini --resume-if-there
    printf '\n[observable trajectory]\n' >>sim.ini
    refused 6 "sim.ini: cannot resume from sim.h5: [observable trajectory] was not there and is there \
now; another [run] output begins another run" run sim.ini --resume-if-there
}

test_resume_if_there_of_what_is_no_run()
{
    disks
    refused 6 "cannot read sim.h5: it is not an HDF5 file" run sim.ini --resume-if-there
    refused 2 "plugmc: --resume-if-there goes with an INI file, not with --resume; see --help" \
        run --resume sim.h5 --resume-if-there
}

# ---- What has changed ----

# history FILE: into $out.
history() { h5dump -d /parameters/history "$1" >"$out" || fail "no history"; }

test_resume_with_a_changed_plugin()
{
    disks
    rm sim.h5
    mkdir -m 755 mine
    cp "$PLUGINS/hard_disk.so" mine/
    change 's|^\[potential hard_disk\]|&\nplugin = mine/hard_disk.so|'
    must run sim.ini
    printf 'another build' >>mine/hard_disk.so
    plugmc run --resume sim.h5 --set run.sweeps=30
    expect_exit 6
    grep -Eq "^cannot resume from sim.h5: plugin potential mine/hard_disk.so has changed \
\([0-9a-f]+, was [0-9a-f]+\); --accept-changed-plugins goes on all the same$" "$err" ||
        fail "expected which plugin has changed"
    expect_lines 1
    expect_untouched
    plugmc run sim.ini --resume-if-there --set run.sweeps=30
    expect_exit 6
    must run --resume sim.h5 --set run.sweeps=30 --accept-changed-plugins
    grep -q "^sim.h5: warning: plugin potential mine/hard_disk.so has changed" "$err" ||
        fail "expected a warning"
    history sim.h5
    [ "$(grep -c 'plugin: potential mine/hard_disk.so' "$out")" = 2 ] || fail "a part of the history is gone"
    [ "$(grep 'plugin: potential mine/hard_disk.so' "$out" | sort -u | wc -l)" = 2 ] ||
        fail "both parts have the same hash"
    must run --resume sim.h5 --set run.sweeps=40 # the last part counts
}

reading()
{
    disks
    rm sim.h5
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    echo 1 >one
    echo 2 >two
    printf '\n[observable reader]\nperiod = 5\nfile = one\nothers = two one\n' >>sim.ini
}

test_resume_with_a_changed_file()
{
    reading
    must run sim.ini
    grep -Eq '^reader.sum +4' "$out" || fail "not the sum of the files"
    echo 3 >two
    plugmc run --resume sim.h5 --set run.sweeps=30
    expect_exit 6
    grep -Eq "^cannot resume from sim.h5: file of \[observable reader\] others has changed \
\([0-9a-f]{64}, was [0-9a-f]{64}\); " "$err" || fail "expected which file has changed"
    expect_lines 1
    expect_untouched
    echo 2 >two
    must run --resume sim.h5 --set run.sweeps=30
    must run sim.ini --resume-if-there --set run.sweeps=40 # though `reader` has changed a parameter
    echo 3 >two # the run is finished, but not with this file
    plugmc run sim.ini --resume-if-there --set run.sweeps=40
    expect_exit 6
    grep -Eq "^sim.h5 is finished, and file of \[observable reader\] others has changed since \
\([0-9a-f]{64}, was [0-9a-f]{64}\): " "$err" || fail "expected which file has changed"
    expect_lines 1
    must run sim.ini --resume-if-there --set run.sweeps=40 --accept-changed-plugins
    must run --resume sim.h5
}

test_history_of_a_run()
{
    disks
    rm sim.h5
    must run sim.ini --set "run.author=E. Ewald <ewald@example.org>"
    must run --resume sim.h5 --set run.sweeps=25
    must run --resume sim.h5 --set run.sweeps=30
    history sim.h5
    for sweep in 0 20 25; do expect_output "from sweep: $sweep"; done
    [ "$(grep -c "host: $(uname -n)$" "$out")" = 3 ] || fail "not the host of each part"
    [ "$(grep -c "begun: 2" "$out")" = 3 ] || fail "not the time of each part"
    expect_output "command: plugmc run sim.ini --set 'run.author=E. Ewald <ewald@example.org>'"
    expect_output "command: plugmc run --resume sim.h5 --set run.sweeps=25"
    [ "$(grep -c "plugin: potential hard_disk" "$out")" = 3 ] || fail "not the plugins of each part"
    h5dump -a /parameters/author -d /parameters/species sim.h5 >"$out"
    expect_output '"E. Ewald <ewald@example.org>"'
    expect_output '"disk'
}

test_names_of_species_are_in_the_trajectory()
{
    disks
    rm sim.h5
    printf '\n[species big one]\ncount = 4\n[observable trajectory]\nformat = h5md\nperiod = 10\n' >>sim.ini
    change 's/big one/big_one/; s/packing_fraction = .*/packing_fraction = 0.3/'
    must run sim.ini
    h5dump -a /particles/trajectory/species/names sim.h5md >"$out"
    expect_output '"disk'
    expect_output '"big_one'
}

# ---- Where files are ----

test_file_names_are_relative_to_the_ini()
{
    reading
    mkdir "a folder" "a folder/results" mine
    chmod 755 mine
    cp "$PLUGINS/hard_disk.so" mine/
    mv mine sim.ini one two "a folder"
    change() { sed -i "$@" "a folder/sim.ini"; }
    change 's|^seed = 3|&\noutput = results/out.h5\ncsv = results/out.csv|
            s|^\[potential hard_disk\]|&\nplugin = mine/hard_disk.so|'
    echo 8 >here
    must run "a folder/sim.ini" --set observable\ reader.file=here
    grep -Eq '^reader.sum +11' "$out" || fail "--set is relative to the working directory"
    [ -e "a folder/results/out.csv" ] || fail "no table beside the INI"
    mkdir elsewhere
    cd elsewhere || exit 1
    must run --resume "../a folder/results/out.h5" --set run.sweeps=30
    grep -Eq '^reader.sum +11' "$out" || fail "a resumed run finds the same files"
    [ "$(tail -n 1 "../a folder/results/out.csv" | cut -d, -f1)" = 30 ] || fail "the table is elsewhere"
    must run "../a folder/sim.ini" --resume-if-there --set "observable reader.file=../here" \
        --set run.sweeps=40
    [ -z "$(ls)" ] || fail "something was written here"
    cd .. || exit 1
    mv "a folder/results/out.h5" "a folder/moved.h5"
    must run --resume "a folder/moved.h5" --set run.sweeps=50
}

# ---- Rows of walkers and cells ----

# What plugins archive by rows is read in other pieces than it was written in; rows that are not there are told.
test_rows_in_a_checkpoint()
{
    disks
    rm sim.h5
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    change 's/^\[observable hard_pressure\]/[observable in_rows]/; s/^seed/walkers = 3\n&/'
    must run sim.ini --set run.output=whole.h5
    must run sim.ini --set run.sweeps=10
    must run --resume sim.h5 --set run.sweeps=20
    same_chain whole.h5 sim.h5
    local n shape
    for n in 0 1 2 3 4 5 6 7 8; do
        h5dump -H -g "/plugmc/checkpoint/plugins/$n" sim.h5
    done >shapes 2>/dev/null
    for shape in '( 10, 16 ) / ( 10, 16 )' '( 3, 8 ) / ( 3, 8 )'; do
        grep -Fq "SIMPLE { $shape }" shapes || fail "there are no rows of the shape $shape"
    done
    plugmc run sim.ini --set run.output=bad.h5 --set observable.lie=missing
    expect_exit 9
    expect_message "6 of 10 rows of 'observable in_rows/sums' were saved"
    plugmc run sim.ini --set run.output=bad.h5 --set observable.lie=beyond
    expect_exit 9
    expect_message "[observable in_rows] archives 3 rows of 16 bytes, from 8 on, of the 10 of 'sums'"
    [ ! -e bad.h5 ] || fail "a checkpoint that cannot be right was written"
}
