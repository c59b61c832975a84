# Insertions that weigh several places (mover insert, key places). Their laws are in tests/distributions.

# condensing: a Lennard-Jones mixture of which one species comes and goes
condensing()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 200
	equilibrate = 40
	seed = 12
	walkers = 3
	threads = 1
	device = ${DEVICE:-cpu}
	temperature = 1.5
	[box]
	dimension = 3
	lx = 5.5
	[species a]
	count = 40
	[species b]
	count = 20
	activity = 0.03
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	[mover serial]
	step = 0.3
	[mover insert]
	species = b
	trials = 20
	trial_positions = 6
	[observable numbers]
	period = 5
	[observable energy]
	period = 5
	END
}

test_several_places_however_the_run_is_cut()
{
    condensing
    must run sim.ini
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain sim.h5 three.h5
    must run sim.ini --set run.sweeps=90 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=200
    same_chain sim.h5 parts.h5
    must run sim.ini --set "mover insert.trial_positions=1" --set run.output=one.h5
    h5diff -q sim.h5 one.h5 /plugmc/observables/numbers && fail "places change nothing"
    awk '$1 == "acceptance" && /insertion/ { exit !($2 > 0) }' "$out" || fail "nobody came"
}

# The same decisions but for rounding, which the numbers would show.
test_several_places_on_a_gpu()
{
    gpu
    DEVICE=gpu condensing
    change 's/^walkers = .*/walkers = 40/; s/^sweeps = .*/sweeps = 60/'
    must run sim.ini
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    h5diff -q sim.h5 cpu.h5 /plugmc/observables/numbers/N_b/series || fail "another chain than on the CPU"
    h5diff -q sim.h5 cpu.h5 /plugmc/movers/insert || fail "other decisions than on the CPU"
}
