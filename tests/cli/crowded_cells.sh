# Cells of the checkerboard hold what a dense liquid puts into them.

# liquid N DENSITY CUTOFF
liquid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 200
	seed = 3
	device = cpu
	[box]
	dimension = 3
	density = $2
	[species atom]
	count = $1
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	cutoff = $3
	[mover checkerboard]
	step = 0.16
	END
    must run sim.ini
    grep -q warning "$err" && fail "there is a warning"
    return 0
}

# Two cells along each edge, with 62 and 125 particles on average.
test_a_liquid_of_500_runs_in_eight_cells() { liquid 500 0.8 2.5; }
test_a_liquid_of_1000_with_a_wide_cutoff_runs() { liquid 1000 0.7 4; }
