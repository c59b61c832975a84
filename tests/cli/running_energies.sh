# Decisions about boxes are those of fresh sums, although running energies make them: fresh_volume.c always asks for fresh
# sums. Chains are the same bit for bit, whatever movers change the energies meanwhile, and where a run is resumed.

# same_chain: sim.ini ends at the same positions and boxes either way.
same_chain()
{
    local of
    must run sim.ini --set run.output=running.h5
    (
        export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS/../fresh-plugins
        must info volume
        expect_output "fresh-plugins/volume.so"
        must run sim.ini --set run.output=fresh.h5
    ) || exit 1
    for of in running fresh; do
        h5dump -y -w 1 -m %.17g -d /plugmc/checkpoint/positions $of.h5 | sed 1d >$of.positions || fail "h5dump"
        h5dump -y -w 1 -m %.17g -d /plugmc/observables/box_size/volume/series $of.h5 | sed 1d >$of.boxes ||
            fail "h5dump"
    done
    [ "$(wc -l <running.boxes)" -gt 100 ] || fail "there are few boxes"
    cmp running.positions fresh.positions || fail "positions are others than by fresh sums"
    cmp running.boxes fresh.boxes || fail "boxes are others than by fresh sums"
}

# liquid WALKERS KEYS SPECIES_KEYS: 40 particles of two species at constant pressure; further sections follow from standard input.
liquid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	equilibrate = 60
	seed = 9
	device = cpu
	walkers = $1
	temperature = 1.3
	$2
	[box]
	dimension = 3
	lx = 4.6
	[species a]
	count = 25
	$3
	[species b]
	count = 15
	$3
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1 0.7 0.5
	sigma = 1
	cutoff = 1.6
	[potential lennard_jones_tail]
	[observable box_size]
	period = 1
	END
    cat >>sim.ini
}

test_boxes_are_decided_as_by_fresh_sums()
{
    liquid 2 "pressure = 0.6" "" <<-END
	[mover serial]
	step = 0.2
	[mover swap]
	a = a
	b = b
	[mover rigid_group]
	radius = 1.2
	trials = 10
	step = 0.2
	turn = 0.2
	[mover volume]
	step = 0.05
	trials = 5
	END
    same_chain
}

test_boxes_are_decided_as_by_fresh_sums_while_species_change()
{
    liquid 2 "pressure = 0.6" "mu = -3" <<-END
	[mover serial]
	step = 0.2
	[mover identity]
	a = a
	b = b
	trials = 10
	[mover volume]
	step = 0.05
	trials = 5
	END
    same_chain
}
