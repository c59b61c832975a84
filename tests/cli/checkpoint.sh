# Files that no run can be resumed from, and what may change when one is resumed.

# checkpointed: sim.h5 is that of a finished run.
checkpointed()
{
    disks
    rm sim.h5
    must run sim.ini
}

test_truncated_checkpoint()
{
    checkpointed
    local size
    size=$(stat -c %s sim.h5)
    for bytes in 0 7 8 96 2048 $((size / 2)) $((size - 1)); do
        head -c $bytes sim.h5 >short.h5
        plugmc run --resume short.h5
        expect_exit 6
        grep -q "^cannot read short.h5: it is " "$err" || fail "expected what is wrong"
        expect_lines 1
        expect_untouched
    done
}

test_damaged_checkpoint()
{
    checkpointed
    cp sim.h5 damaged.h5
    local size
    size=$(stat -c %s sim.h5)
    # in the middle, where the averages of arrays are
    printf %0512d 7 | dd of=damaged.h5 bs=1 seek=$((size / 2)) conv=notrunc status=none
    cmp -s sim.h5 damaged.h5 && fail "nothing was damaged"
    plugmc run --resume damaged.h5
    expect_exit 6
    grep -q "^cannot read damaged.h5: " "$err" || fail "expected what is wrong"
    expect_untouched
}

test_missing_checkpoint()
{
    disks
    refused 6 "cannot read none.h5: No such file or directory" run --resume none.h5
}

test_checkpoint_that_is_no_hdf5()
{
    disks
    refused 6 "cannot read sim.ini: it is not an HDF5 file" run --resume sim.ini
}

test_foreign_hdf5_for_a_checkpoint()
{
    disks
    "$H5TOOL" foreign weather.h5 || fail "h5tool"
    refused 6 "cannot read weather.h5: it has no checkpoint of plugmc" run --resume weather.h5
}

test_checkpoint_of_another_version()
{
    checkpointed
    "$H5TOOL" format sim.h5 2 || fail "h5tool"
    refused 6 "cannot read sim.h5: its checkpoint has format 2, this plugmc reads formats 3 and 4" \
        run --resume sim.h5
}

test_resume_cannot_change_the_chain()
{
    checkpointed
    refused 2 "--set run.seed=4 would change a run that is resumed" \
        run --resume sim.h5 --set run.seed=4
    refused 2 "--set mover.step=0.1 would change a run that is resumed" \
        run --resume sim.h5 --set mover.step=0.1
}

test_resume_cannot_make_a_run_shorter()
{
    checkpointed
    plugmc run --resume sim.h5 --set run.sweeps=10
    expect_exit 3
    expect_message "cannot resume from sim.h5 with [run] sweeps = 10: with equilibration these are \
10, and it has made 20 already"
    expect_untouched
}

test_resume_without_a_plugin_of_the_run()
{
    disks
    mkdir -m 755 mine
    cp "$PLUGINS/hard_disk.so" mine/
    change 's|^\[potential hard_disk\]|&\nplugin = mine/hard_disk.so|'
    rm sim.h5
    must run sim.ini
    rm mine/hard_disk.so
    plugmc run --resume sim.h5
    expect_exit 4
    grep -q "^sim.ini:17: " "$err" || fail "the line of the section is not named"
    expect_untouched
}

test_origins_of_values_outlast_a_resume()
{
    disks
    rm sim.h5
    must run sim.ini --set mover.step=0.1
    mv sim.ini away.ini
    for sweeps in 30 40; do # the second time from what a resumed run has written
        must run --resume sim.h5 --set run.sweeps=$sweeps
        h5dump -d /parameters/effective_ini sim.h5 >"$out"
        expect_output "sweeps = $sweeps  ; --set"
        expect_output "step = 0.1  ; --set"
        expect_output "seed = 3  ; sim.ini:3"
        expect_output "shape = square  ; default"
    done
}

test_finished_run_resumed()
{
    checkpointed
    cp sim.h5 finished.h5
    must run --resume sim.h5
    same_chain finished.h5 sim.h5
}

# A resumed run goes on in the memory of a series that is longer than a new one is made.
test_long_series_resumed()
{
    disks
    local few=(--set "species disk.count=4" --set mover.plugin=serial)
    local many=(--set run.walkers=64 --set observable.period=1)
    must run sim.ini "${few[@]}" "${many[@]}" --set run.sweeps=1300
    mv sim.h5 whole.h5
    must run sim.ini "${few[@]}" "${many[@]}" --set run.sweeps=1200
    must run --resume sim.h5 --set run.sweeps=1300
    same_chain whole.h5 sim.h5
}
