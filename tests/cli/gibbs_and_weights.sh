# Boxes that share particles, and weights of macrostates: that such runs are the same however they are cut. Their
# ensembles are tested by tests/distributions, what is refused by tests/refusals.

# atoms [WALKERS]: of which a few come and go
atoms()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 600
	equilibrate = 100
	seed = 5
	walkers = ${1:-4}
	temperature = 1.2
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 5.5
	[species a]
	count = 10
	max_count = 40
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	[potential lennard_jones_tail]
	[mover serial]
	step = 0.5
	END
}

# shared: two pairs of boxes
shared()
{
    atoms
    printf '%s\n' '[mover transfer]' 'species = a' 'trials = 10' 'step = 0.02' 'target_acceptance = 0' \
        'period = 5' "$@" >>sim.ini
    change 's/^lx = .*/lx = 8/; s/^cutoff = .*/cutoff = 1.5/'
}

# weighed MOVER [KEY...]
weighed()
{
    atoms
    change 's/^max_count = .*/&\nactivity = 0.05/'
    printf '%s\n' '[mover insert]' 'species = a' 'trials = 20' "[mover $1]" 'variable = a' 'period = 5' "${@:2}" >>sim.ini
}

# cut: threads, and a run in two parts, make one chain
cut()
{
    must run sim.ini
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=150 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=600
    same_chain one.h5 parts.h5
    # in equilibration, too
    must run sim.ini --set run.sweeps=1 --set run.equilibrate=100 --set run.output=parts.h5 --set run.time_limit=1000
    must run --resume parts.h5 --set run.sweeps=600
    same_chain one.h5 parts.h5
}

test_shared_boxes_are_cut()
{
    shared
    cut
    grep -Eq '^acceptance 0\.[0-9]*[1-9].* of transfer.transfer' "$out" || fail "no transfer was accepted"
    grep -Eq '^acceptance 0\.[0-9]*[1-9].* of transfer.volume' "$out" || fail "no volumes were exchanged"
    expect_output "transfer.density_dense"
}

test_densities_of_shared_boxes_are_per_area_in_the_plane()
{
    shared
    change 's/^dimension = 3/dimension = 2/; /^\[potential lennard_jones_tail\]/d'
    must run sim.ini --set run.sweeps=50
    for phase in thin dense; do
        grep -Eq "^transfer.density_$phase .* length\^-2$" "$out" || fail "the unit of density_$phase is another one"
    done
}

# Pairs of a rung share boxes, and rungs exchange.
# Densities of a pair are those of its boxes also before the first transfer of a process.
test_shared_boxes_that_seldom_share_are_cut()
{
    shared 'every = 30'
    cut
}

test_shared_boxes_on_a_ladder()
{
    shared
    change 's/^temperature = .*//'
    printf '%s\n' '[ladder]' 'vary = run.temperature' 'values = 1.2 1.4' '[mover exchange]' 'every = 5' >>sim.ini
    cut
    expect_output "transfer.density_thin@1.2"
}

# What a pair shares stays with it: on each rung there are as many particles as a pair began with, and as much room.
test_pairs_of_boxes_change_rungs_together()
{
    shared
    change 's/^temperature = .*//'
    printf '%s\n' '[ladder]' 'vary = run.temperature' 'values = 1.2 1.25' '[mover exchange]' '[observable numbers]' \
        'period = 5' >>sim.ini
    must run sim.ini
    awk '/^numbers.N_a@/ { lines++; bad += $2 != "10" } /of .*exchange.exchange/ { tried = $2 > 0.01 }
        END { exit bad || lines != 2 || !tried }' "$out" || fail "pairs have not kept their particles"
}

# Both numbers of a pair are one sample.
test_shared_boxes_are_one_sample()
{
    shared
    change 's/^walkers = .*/walkers = 2/'
    must run sim.ini
    awk '$1 == "transfer.density_thin" { n = $4 } END { exit n != 120 }' "$out" ||
        fail "two walkers that hang together are more than 120 samples"
}

test_weights_are_cut()
{
    weighed transition_matrix 'windows = 2' 'every = 3'
    cut
    expect_output "transition_matrix.ln_p: 41 values"
    weighed wang_landau 'learning = 60' 'every = 2'
    cut
    weighed umbrella 'strength = 0.1' 'center = 15'
    cut
    atoms
    change 's/^temperature = .*/&\npressure = 0.5/; /^max_count/d; s/^cutoff = .*/cutoff = 1.4/'
    printf '%s\n' '[mover volume]' '[mover wang_landau]' 'variable = volume' 'min = 30' 'max = 300' 'bins = 30' \
        'learning = 80' >>sim.ini
    cut
}

test_weights_are_killed()
{
    weighed transition_matrix
    change 's/^sweeps = .*/sweeps = 3000\ncheckpoint = 0.05/'
    must run sim.ini --set run.output=whole.h5
    killed_again_and_again
    must run --resume sim.h5
    same_chain whole.h5 sim.h5
}

test_two_phases_are_found()
{
    weighed transition_matrix 'coexistence = yes'
    change 's/^max_count = .*/max_count = 130/; s/^temperature = .*/temperature = 1/; s/^activity = .*/activity = 0.02/
            s/^trials = .*/trials = 400/; s/^cutoff = .*/cutoff = 2.5/; s/^walkers = .*/walkers = 8/; s/^period = .*/&\nwindows = 8/'
    must run sim.ini
    awk '$1 == "transition_matrix.ln_z_coexistence" { z = $2 + 0 } END { exit !(z < -3.5 && z > -4.1) }' "$out" ||
        fail "ln z is not near -3.8"
}

test_weights_that_are_learned_for_too_long()
{
    weighed wang_landau 'learning = 150'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:28: [mover wang_landau] learning = 150 exceeds equilibration: increase [run] equilibrate \
to at least that number"
}

# Nearly all insertions have a probability of 1e-20 here, others 1. So have the first trials from a number that has just been reached, and weights from
# these alone would keep walkers away from it for good: without the rule of transition_matrix N = 0 to 3 are never seen here.
test_weights_wait_for_more_than_a_few_trials()
{
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    printf '13\nLattice="4 0 0 0 4 0 0 0 4" Properties=species:S:1:pos:R:3\n' >walls.xyz
    printf 'guest %s\n' '0 0 0' '0 0 2' '0 2 0' '2 0 0' '2 2 2' >>walls.xyz
    printf 'wall %s\n' '1 1 1' '1 1 3' '1 3 1' '1 3 3' '3 1 1' '3 1 3' '3 3 1' '3 3 3' >>walls.xyz
    cat >sim.ini <<-END
	[run]
	sweeps = 20000
	equilibrate = 500
	seed = 7
	walkers = 1
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 4
	[species wall]
	count = 8
	[species guest]
	count = 5
	max_count = 6
	activity = 1
	[initial]
	state = file
	file = walls.xyz
	[potential square_well]
	epsilon = 0 -46 0
	sigma = 0.1
	lambda = 1 15.4 1
	[mover insert]
	species = guest
	trials = 1
	[mover transition_matrix]
	variable = guest
	max = 5
	period = 2
	END
    must run sim.ini
    python3 - >&2 <<-'END' || fail "walkers stay away from a number"
	import h5py, numpy
	mean = h5py.File('sim.h5')['plugmc/observables/transition_matrix/transitions/mean'][:]
	trials = 10000 * (mean[:, 1] + mean[:, 3])
	print('trials from each number', trials)
	assert trials.min() > 500
	END
}
