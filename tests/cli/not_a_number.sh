# Energies that are not numbers end a run with code 9, whatever moves the particles, and the message
# says which potential, which particles and which sweep. Infinite ones are rejected.

# holes MOVER DIMENSION CUTOFF KEYS...: 64 particles that repel each other, with no energy for pairs
# nearer than 0.5.
holes()
{
    local mover=$1 dimension=$2 cutoff=$3
    shift 3
    cat >sim.ini <<-END
	[run]
	sweeps = 2000
	seed = 1
	device = ${DEVICE:-cpu}
	[box]
	dimension = $dimension
	lx = 8
	[species point]
	count = 64
	[initial]
	state = lattice
	[potential test_hole]
	plugin = $OWN_PLUGINS/test_hole.so
	strength = 0.1
	cutoff = $cutoff
	hole = 0.5
	[mover $mover]
	END
    printf '%s\n' "$@" >>sim.ini
}

# found MOVER: the run ends at a pair.
found()
{
    plugmc run sim.ini
    expect_exit 9
    grep -Eq "^sim.ini:12: \[potential test_hole\] the (energy|force) of particles [0-9]+ and [0-9]+ of \
walker 0, 0\.[0-4][0-9]* apart, is not a number: met by \[mover $1\] in sweep [0-9]+$" "$err" ||
        fail "potential, particles and sweep are not named"
}

test_serial_names_the_pair_without_a_number() { holes serial 2 1 "step = 0.5"; found serial; }
test_checkerboard_names_the_pair_without_a_number()
{
    holes checkerboard 2 1 "step = 0.4"
    found checkerboard
}
test_checkerboard_names_the_pair_in_wide_cells()
{
    holes checkerboard 3 2 "step = 0.5"
    change 's/^count = 64/count = 512/'
    found checkerboard
}
test_brush_names_the_pair_without_a_number() { holes brush 2 1 "step = 0.5"; found brush; }
test_hmc_names_the_pair_without_a_number() { holes hmc 3 1 "time_step = 0.05"; found hmc; }

# field MOVER KEYS...
field()
{
    holes "$1" 2 1 "$2" "[potential test_edge]" "plugin = $OWN_PLUGINS/test_edge.so" "edge = 7.9"
    change 's/^hole = .*/hole = 0/'
    plugmc run sim.ini
    expect_exit 9
    grep -Eq "\[potential test_edge\] the (energy|force) of particle [0-9]+ of walker 0, of species \
'point' at 7\.9[0-9]* .*, is not a number: met by \[mover $1\] in sweep [0-9]+$" "$err" ||
        fail "the field is not named"
}

test_serial_names_the_field_without_a_number() { field serial "step = 0.3"; }
test_brush_names_the_field_without_a_number() { field brush "step = 0.3"; }
test_hmc_names_the_field_without_a_number() { field hmc "time_step = 0.05"; }

test_an_initial_state_without_an_energy_is_refused()
{
    holes serial 2 1 "step = 0.1"
    change 's/^hole = .*/hole = 1.01/; s/^cutoff = .*/cutoff = 1.5/'
    plugmc run sim.ini
    expect_exit 9
    expect_message "sim.ini:12: [potential test_hole] the energy of particles 0 and 8 of walker 0, 1 \
apart, is not a number in the initial state"
}
