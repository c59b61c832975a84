# Particles on their way through the program: none is lost, none overlap, and files that others or
# a run has written are read back as they are.

# 10^4 sweeps of 64^2 disks just below the transition. The last frame is checked by h5tool over all
# pairs, and by the program itself, which checks every initial state.
test_no_particle_lost_and_no_overlap()
{
    disks
    change 's/^count = .*/count = 4096/; s/^packing_fraction = .*/packing_fraction = 0.69/'
    change 's/^sweeps = .*/sweeps = 10000/; s/^threads = .*/threads = 0/; s/^step = .*/step = 0.16/'
    change 's/^\[observable hard_pressure\]/[observable trajectory]\nformat = h5md/; s/^period = .*/period = 10000/'
    must run sim.ini --set run.output=disks.h5
    "$H5TOOL" overlaps disks.h5md 4096 1 >"$out" 2>"$err" || fail "particles are lost or overlap"
    cat "$out"
    # the check can fail
    "$H5TOOL" overlaps disks.h5md 4096 1.01 >"$out" 2>"$err" && fail "all pairs pass as apart"
    "$H5TOOL" overlaps disks.h5md 4095 1 >"$out" 2>"$err" && fail "any number of particles passes"

    change 's/^state = .*/state = file\nfile = disks.h5/; s/^sweeps = .*/sweeps = 1/'
    must run sim.ini --set run.output=next.h5
    plugmc run sim.ini --set run.output=next.h5 --set potential.scale=1.01
    expect_exit 3
    grep -q "of walker 0 overlap: they are 1\.00[0-9]* apart, their contact distance is 1.01$" \
        "$err" || fail "the initial state is not checked"
}

# A frame by the program and the same one as XYZ: both start the same chain, and a run that hardly
# moves them writes them as they were.
test_start_from_files()
{
    disks
    printf '\n[observable trajectory]\nformat = h5md\nperiod = 20\n' >>sim.ini
    must run sim.ini --set run.output=first.h5
    "$H5TOOL" xyz first.h5md disk >first.xyz || fail "h5tool"
    change 's/^state = .*/state = file\nfile = first.h5/'
    must run sim.ini --set run.output=h5.h5
    must run sim.ini --set run.output=xyz.h5 --set initial.file=first.xyz
    same_chain h5.h5 xyz.h5

    change 's/^\[mover checkerboard\]/[mover serial]/; s/^step = .*/step = 1e-12/'
    change 's/^sweeps = .*/sweeps = 1/; s/^period = .*/period = 1/'
    must run sim.ini --set run.output=still.h5
    h5diff -d 1e-10 first.h5md still.h5md /particles/trajectory/position/value >"$out" 2>&1 ||
        fail "positions have changed on the way"
}

# Random numbers are those of the first run if the seed is; walkers of another number have their own.
test_the_seed_of_the_initial_state()
{
    disks
    must run sim.ini --set run.output=first.h5
    change 's/^state = .*/state = file\nfile = first.h5/'
    must run sim.ini --set run.output=second.h5
    expect_message "sim.ini:16: warning: [initial] file = first.h5 is of a run with the same seed, 3: the same random numbers are drawn again, so choose another [run] seed"
    for key in run.seed=77 run.first_walker=8; do
        must run sim.ini --set $key --set run.output=$key.h5
        if grep -F "same seed" "$err"; then fail "a word about another seed"; fi
    done
}

# A binary mixture in three dimensions: species and order survive.
test_start_from_files_of_a_mixture()
{
    disks
    change 's/^dimension = 2/dimension = 3/; s/^count = .*/count = 40\ndiameter = 0.7/'
    change 's/^packing_fraction = .*/packing_fraction = 0.3/'
    change 's/^\[initial\]/[species ball]\ncount = 60\n\n&/; s/^state = .*/state = random/'
    change 's/^\[mover checkerboard\]/[mover serial]/'
    printf '\n[observable trajectory]\nformat = h5md\nperiod = 20\n' >>sim.ini
    must run sim.ini --set run.output=first.h5
    change 's/^state = .*/state = file\nfile = first.h5/; s/^step = .*/step = 1e-12/'
    change 's/^sweeps = .*/sweeps = 1/; s/^period = .*/period = 1/'
    must run sim.ini --set run.output=still.h5
    for array in position/value species id diameter; do
        h5diff -d 1e-10 first.h5md still.h5md /particles/trajectory/$array >"$out" 2>&1 ||
            fail "$array has changed on the way"
    done
}

test_file_of_another_number_of_particles()
{
    disks
    printf '\n[observable trajectory]\nformat = h5md\nperiod = 20\n' >>sim.ini
    must run sim.ini --set run.output=first.h5
    change 's/^state = .*/state = file\nfile = first.h5/'
    plugmc run sim.ini --set "species disk.count=63"
    expect_exit 3
    expect_message "first.h5: the file has 64 particles, the run has 63"
    expect_untouched
}
