# Particles that come and go: what may stand beside movers that change their number, what may not, and that
# such runs are the same however they are cut. Their ensembles are tested by tests/distributions.

# reservoir [POTENTIAL]: disks, from none on
reservoir()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 3000
	equilibrate = 200
	seed = 5
	walkers = 3
	threads = 1
	device = cpu
	[box]
	dimension = 2
	lx = 6
	[species a]
	count = 0
	max_count = 40
	activity = 1.5
	[species b]
	count = 7
	max_count = 30
	diameter = 0.8
	mu = -0.4
	[potential ${1:-hard_disk}]
	[mover serial]
	step = 0.7
	[mover insert]
	species = a
	trials = 20
	[mover from_b]
	plugin = insert
	species = b
	[observable numbers]
	period = 10
	END
}

test_reservoirs_of_two_species()
{
    reservoir
    must run sim.ini
    expect_output "of insert.insertion"
    expect_output "of from_b.removal"
    awk '/^numbers.N_a/ { a = $2 } /^numbers.N_b/ { b = $2 } END { exit !(a + 0 > 3 && b + 0 > 3) }' "$out" ||
        fail "hardly anybody came"
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=1000 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=3000
    same_chain one.h5 parts.h5
}

# Cells are filled anew whenever somebody has come or gone.
test_reservoirs_beside_the_checkerboard()
{
    reservoir
    change 's/^\[mover serial\]/[mover checkerboard]/; s/^walkers = .*/walkers = 3\npressure = 2/; s/^step = .*/step = 0.4/'
    printf '%s\n' '[mover volume]' 'every = 4' '[observable box_size]' >>sim.ini
    must run sim.ini
    expect_output "of insert.insertion"
    expect_output "of volume.volume"
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=1003 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=3000
    same_chain one.h5 parts.h5
}

test_reservoir_beside_boxes_swaps_and_a_ladder()
{
    reservoir
    change 's/^walkers = .*/walkers = 4\npressure = 2/; /^mu = /d'
    printf '%s\n' '[ladder]' 'vary = b.mu' 'values = -0.4 0.2' '[mover volume]' 'every = 3' '[mover swap]' \
        'a = a' 'b = b' 'trials = 5' '[mover exchange]' 'every = 10' '[mover identity]' 'a = a' 'b = b' \
        '[observable box_size]' >>sim.ini
    must run sim.ini
    for move in volume.volume swap.swap exchange.exchange identity.identity; do
        grep -Eq "^ *acceptance 0\.[0-9]*[1-9].* of $move|$move" "$out" || fail "no $move was accepted"
    done
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=2 --set run.output=two.h5
    same_chain one.h5 two.h5
    must run sim.ini --set run.sweeps=1111 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=3000
    same_chain one.h5 parts.h5
}

# From one particle to none and back.
test_box_that_empties()
{
    reservoir
    change 's/^activity = .*/activity = 0.01/; s/^mu = .*/mu = -5/'
    must run sim.ini
    awk '/^numbers.N_a/ { a = $2 } /^numbers.N_b/ { b = $2 } END { exit !(a + 0 < 1 && b + 0 < 1) }' "$out" ||
        fail "somebody is left"
}

test_room_that_is_short_is_told()
{
    reservoir
    change 's/^max_count = 40/max_count = 2/'
    must run sim.ini
    expect_message "sim.ini:13: warning: [species a] the number of a reached max_count = 2: the ensemble is cut off there"
}

# Where an energy is no number, somebody comes in and is found.
test_insert_names_the_pair_without_a_number()
{
    reservoir test_hole
    change "s|^\[potential test_hole\]|&\nplugin = $OWN_PLUGINS/test_hole.so\nstrength = 0.1\ncutoff = 1\nhole = 0.5|"
    plugmc run sim.ini
    expect_exit 9
    grep -Eq "^sim.ini:[0-9]+: \[potential test_hole\] the energy of particles [0-9]+ and [0-9]+ of walker [0-2], \
0\.[0-4][0-9]* apart, is not a number: found by \[mover [a-z_]+\] in sweep 0" "$err" || fail "the pair is not named"
}

test_reservoir_is_killed()
{
    reservoir
    change 's/^sweeps = .*/sweeps = 12000\ncheckpoint = 0.05/'
    must run sim.ini --set run.output=whole.h5
    killed_again_and_again
    must run --resume sim.h5
    same_chain whole.h5 sim.h5
}

# Where there is room for others, who do not come in this run, all that is measured is what it is without them.
test_room_for_others_changes_no_measurement()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 200
	seed = 3
	walkers = 2
	device = cpu
	[box]
	dimension = 3
	lx = 6
	[species plus]
	count = 11
	charge = 1
	[species minus]
	count = 13
	charge = -1
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.9
	[potential lennard_jones_tail]
	[potential coulomb]
	bjerrum_length = 0.5
	minimum_image = yes
	[mover serial]
	step = 0.4
	[observable energy]
	period = 10
	[observable virial_pressure]
	period = 10
	END
    must run sim.ini
    grep -E '^(energy|virial_pressure)\.' "$out" >expected
    [ "$(wc -l <expected)" = 9 ] || fail "nine numbers were expected"
    change 's/^count = 11/&\nmax_count = 30\nactivity = 1/; s/^count = 13/&\nmax_count = 40/; s/^\[observable energy\]/[mover insert]\nspecies = plus\nevery = 1000\n&/'
    rm sim.h5
    must run sim.ini
    grep -E '^(energy|virial_pressure)\.' "$out" | diff expected - >differences ||
        fail "other numbers: $(cat differences)"
}

# Of an ideal gas g is 1 at all distances, whatever its numbers: chi^2 of twelve bins.
test_rdf_of_an_ideal_gas_from_a_reservoir()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 4000
	equilibrate = 100
	seed = 21
	walkers = 4
	device = cpu
	[box]
	dimension = 3
	lx = 4
	[species a]
	count = 0
	max_count = 60
	diameter = 0
	activity = 0.3
	[species b]
	count = 3
	diameter = 0
	[potential hard_sphere]
	[mover serial]
	step = 2
	[mover insert]
	species = a
	trials = 60
	[observable rdf]
	bins = 12
	period = 10
	END
    must run sim.ini
    for pair in a-a a-b; do
        h5dump -y -w 0 -d "/plugmc/observables/rdf/$pair/value" sim.h5 | grep -E '^ +[0-9. ,]+$' | tr ',' '\n' >value
        h5dump -y -w 0 -d "/plugmc/observables/rdf/$pair/error" sim.h5 | grep -E '^ +[0-9. ,e-]+$' | tr ',' '\n' >error
        paste value error | awk -v p="$pair" '{ chi += (($1 - 1) / $2) ^ 2; n++ }
            END { print p ": chi^2 = " chi " of " n; exit !(n == 12 && chi < 38) }' || fail "g of $pair is not 1"
    done
}
