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
    refused 5 "cannot write locked/sim.h5: Permission denied (in folder locked)" run sim.ini
    refused 5 "cannot write locked/sim.h5: Permission denied (in folder locked)" check sim.ini
}

test_output_in_no_folder()
{
    disks
    refused 5 "cannot write none/sim.h5: No such file or directory (in folder none)" \
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
    refused 3 "sim.ini:1: [run] output = sim.ini: would be taken for an INI file" \
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
    limited 500 run --resume sim.h5 --set run.sweeps=2000
    expect_exit 5
    expect_message "cannot write sim.h5: File too large (the file from the last checkpoint is \
intact: mend this and resume from it)"
    expect_untouched
    must run --resume sim.h5 --set run.sweeps=2000
    must run sim.ini --set run.sweeps=2000 --set run.output=direct.h5
    same_chain direct.h5 sim.h5
}

test_full_file_system()
{
    disks
    mkdir small
    mount -t tmpfs -o size=100k none small 2>/dev/null || skip "no file system can be mounted here"
    trap 'umount "$work/run/small"; rm -rf "$work"' EXIT
    echo "what an earlier run has written" >small/sim.h5
    plugmc run sim.ini --set run.output=small/sim.h5
    expect_exit 5
    expect_message "cannot write small/sim.h5: No space left on device (nothing was changed)"
    expect_untouched
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
    grep -q '^too few data for dressed_ion: between 1/3 and 3 times .*, no decay fits' said ||
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

test_csv_that_cannot_be_written()
{
    disks
    refused 5 "cannot write none/sim.csv: No such file or directory (in folder none)" \
        run sim.ini --set run.csv=none/sim.csv
    mv sim.ini sim.txt
    refused 3 "sim.txt:1: [run] csv = sim.txt: this is the file that is read" \
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
