# Keys that were called otherwise in earlier versions (docs/glossary.md): INI files and output files that have them.

# old_names: sim.ini with them
old_names()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	walkers = 2
	temperature = 1.2
	device = cpu
	threads = 1
	[box]
	dimension = 3
	lx = 8
	[species a]
	count = 20
	most = 60
	activity = 0.05
	[potential lennard_jones]
	epsilon = 1
	cutoff = 2.5
	[mover serial]
	step = 0.5
	[mover insert]
	species = a
	trials = 20
	places = 3
	[observable fraction]
	plugin = widom
	species = a
	drawn = cells
	period = 20
	END
}

told() { expect_message "$1: warning: [$2] the key '$3' is now called '$4'"; }

test_former_keys_are_read_and_told()
{
    old_names
    must check sim.ini
    told sim.ini:12 'species a' most max_count
    told sim.ini:22 'mover insert' places trial_positions
    told sim.ini:26 'observable fraction' drawn placement
    expect_lines 4 # and one of the lattice
    must check sim.ini --set species.most=50 --set "mover insert.places=2"
    told --set 'species a' most max_count
    told --set 'mover insert' places trial_positions
    must check sim.ini --set "mover insert.trial_positions=2"
    expect_lines 3
    change 's/^places = 3/&\ntrial_positions = 4/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:22: [mover insert] key 'trial_positions' given twice, as 'places' too, which is its former name"
    expect_untouched
}

test_former_and_present_keys_are_the_same_run()
{
    old_names
    must run sim.ini
    change 's/^most/max_count/; s/^places/trial_positions/; s/^drawn/placement/; s/^sweeps = .*/sweeps = 80/'
    must run sim.ini --resume-if-there
    grep -q "now called" "$err" && fail "no key has its former name"
    cp sim.h5 resumed.h5
    must run sim.ini --set run.output=undisturbed.h5
    same_chain resumed.h5 undisturbed.h5
    change 's/^trial_positions = 3/trial_positions = 4/'
    refused 6 "sim.ini: cannot resume from sim.h5: [mover insert] trial_positions was 3 and is 4 now; another [run] output begins another run" \
        run sim.ini --resume-if-there
}

# The files are those of an earlier program.
test_outputs_with_former_keys_are_resumed()
{
    local name sweeps total
    for name in group insert umbrella gibbs helium; do
        sweeps=400 total=450
        [ $name != helium ] || sweeps=120 total=140
        gunzip -c "$here/../data/former_keys/$name.h5.gz" >$name.h5
        must report $name.h5
        must run --resume $name.h5 --accept-changed-plugins --set run.sweeps=$sweeps
        grep -q "now called" "$err" && fail "nobody can change what is archived"
        must run --resume $name.h5
        expect_message "$name.h5: this run is finished, $total of $total sweeps; nothing is left to do"
    done
}

# An input of today is compared with the output of an earlier program.
test_an_input_with_present_keys_is_compared_with_a_former_output()
{
    gunzip -c "$here/../data/former_keys/group.h5.gz" >sim.h5
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	equilibrate = 50
	walkers = 2
	temperature = 1.2
	device = cpu
	threads = 1
	[box]
	dimension = 3
	lx = 8
	[species p]
	count = 4
	charge = 1
	max_count = 30
	activity = 0.01
	[species m]
	count = 4
	charge = -1
	max_count = 30
	activity = 0.01
	[potential hard_sphere]
	[potential coulomb]
	bjerrum_length = 1
	minimum_image = yes
	[mover serial]
	step = 0.5
	[mover insert_group]
	group = p m
	max_distance = 2
	[observable energy]
	period = 10
	END
    plugmc run sim.ini --resume-if-there --accept-changed-plugins --set "mover insert_group.max_distance=1.5"
    expect_exit 6
    expect_message "sim.ini: cannot resume from sim.h5: [mover insert_group] max_distance was 2 and is 1.5 now; another [run] output begins another run"
    ! grep -Eq "max_count|most|near " "$err" || fail "a former name is another key"
}

test_a_study_of_twists_has_its_former_key()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 4
	device = cpu
	[box]
	dimension = 3
	lx = 4
	[species up]
	count = 7
	charge = -1
	[initial]
	state = random
	[potential plane_waves]
	[mover particle_by_particle]
	[scan]
	run.seed = 1 2
	[twists]
	of = plane_waves
	grid = 1 1 2
	END
    must scan sim.ini --list
    told sim.ini:17 twists of potential
}
