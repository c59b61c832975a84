# Movers that ask the core for energies, in a run on a GPU: energies of configurations and swaps are found
# there, in double precision, in another order of additions than on the CPU. Decisions are the same, unless
# a random number falls within 1e-12 of a probability; positions and boxes then agree to rounding.

# same_on_both: sim.ini on the CPU and on the GPU ends with the same counts and configuration.
same_on_both()
{
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    cat "$out"
    must run sim.ini --set run.device=gpu --set run.output=gpu.h5
    cat "$out"
    h5diff cpu.h5 gpu.h5 /plugmc/movers >"$out" 2>&1 || fail "decisions differ"
    h5diff -d 1e-8 cpu.h5 gpu.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "positions differ"
    h5diff -d 1e-8 cpu.h5 gpu.h5 /plugmc/observables >"$out" 2>&1 || fail "results differ"
}

# mixture DIMENSION DENSITY EXTRA-LINE-OF-RUN: two species; what follows comes from standard input.
mixture()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	seed = 11
	walkers = 4
	$3
	[box]
	dimension = $1
	density = $2
	[species large]
	count = 150
	diameter = 1
	charge = 1
	[species small]
	count = 150
	diameter = 0.7
	charge = -1
	[initial]
	state = lattice
	END
    cat >>sim.ini
}

test_swaps_of_disks_on_a_gpu()
{
    gpu
    mixture 2 0.5 "" <<-END
	[potential hard_disk]
	[mover checkerboard]
	[mover swap]
	a = large
	b = small
	every = 4
	END
    same_on_both
}

test_swaps_of_atoms_on_a_gpu()
{
    gpu
    mixture 3 0.5 "temperature = 1.3" <<-END
	[potential lennard_jones]
	epsilon = 1 1.5 0.5
	sigma = 1 0.9 0.8
	cutoff = 2.2
	[mover checkerboard]
	[mover swap]
	a = small
	b = large
	trials = 100
	every = 4
	[observable energy]
	period = 20
	source = fresh
	END
    same_on_both
}

test_swaps_in_a_sphere_on_a_gpu()
{
    gpu
    mixture 3 0.5 "" <<-END
	[potential coulomb]
	bjerrum_length = 0.7
	[potential core]
	plugin = hard_sphere
	[potential spherical_wall]
	[mover brush]
	[mover swap]
	a = large
	b = small
	every = 4
	END
    change 's/^density.*/shape = sphere\nradius = 8/; s/^state = lattice/state = random/; s/^sweeps.*/sweeps = 40/'
    same_on_both
}

test_volumes_on_a_gpu()
{
    gpu
    mixture 3 0.4 "pressure = 1.5" <<-END
	[potential lennard_jones]
	epsilon = 1 1.5 0.5
	sigma = 1 0.9 0.8
	cutoff = 2.2
	[potential yukawa]
	bjerrum_length = 1
	kappa = 1
	cutoff = 3
	[mover serial]
	step = 0.2
	[mover volume]
	step = 0.01
	trials = 3
	[mover swap]
	a = small
	b = large
	every = 4
	[observable box_size]
	period = 10
	[observable energy]
	period = 10
	source = fresh
	END
    change 's/^sweeps.*/sweeps = 60/'
    same_on_both
    # volumes are decided there, and virials with couplings are summed on the host
    change 's/^cutoff = 2.2/&\ntruncation = force_shift\ncoupling = 0.4/; s/^kappa.*/&\ncoupling = 1.7/'
    printf '[observable %s]\nperiod = 10\n' virial_pressure pressure >>sim.ini
    same_on_both
}

test_volumes_of_disks_on_a_gpu()
{
    gpu
    mixture 2 0.5 "pressure = 2" <<-END
	[potential hard_disk]
	[mover volume]
	step = 0.02
	shape = axes
	[mover serial]
	step = 0.3
	[mover swap]
	a = large
	b = small
	[observable box_size]
	period = 10
	END
    same_on_both
}

salt_in_boxes()
{
    gpu
    mixture 3 0.2 "pressure = 0.3" <<-END
	[potential cores]
	plugin = hard_sphere
	[potential salt]
	plugin = $1
	bjerrum_length = 1
	cutoff = 2.5
	alpha = 1
	tolerance = 1e-2
	$(printf '%s\n' "${@:2}")
	[mover serial]
	step = 0.3
	[mover volume]
	step = 0.02
	[mover swap]
	a = large
	b = small
	trials = 10
	[observable box_size]
	period = 2
	END
    change 's/^sweeps.*/sweeps = 20/; s/^count = 150/count = 30/'
    same_on_both
}

test_volumes_of_a_salt_by_mesh_on_a_gpu() { salt_in_boxes coulomb_spme 'grid = 14'; }
test_volumes_of_a_salt_by_waves_on_a_gpu() { salt_in_boxes coulomb_ewald 'k_max = 6' 'n_square = 40'; }

test_exchange_on_a_gpu()
{
    gpu
    mixture 3 0.4 "" <<-END
	[ladder]
	vary = run.temperature
	values = 0.9 1
	[potential lennard_jones]
	epsilon = 1 1.5 0.5
	sigma = 1 0.9 0.8
	cutoff = 2.2
	[mover serial]
	step = 0.2
	[mover swap]
	a = small
	b = large
	every = 2
	[mover exchange]
	every = 3
	[observable energy]
	period = 10
	source = fresh
	END
    change 's/^sweeps.*/sweeps = 60/; s/^count = 150/count = 40/'
    same_on_both
}

# Of few walkers these trials are made on the host, of many on the GPU.
displacements()
{
    gpu
    mixture 2 0.2 "" <<-END
	[potential hard_disk]
	[mover swap]
	a = large
	b = small
	[mover drift]
	plugin = $TEST_PLUGINS/drift.so
	[mover serial]
	step = 0.5
	every = 7
	END
    change "s/^walkers.*/walkers = $1/; s/^sweeps.*/sweeps = 50/"
    same_on_both
}

test_displacements_in_few_walkers_on_a_gpu() { displacements 4; }
test_displacements_in_many_walkers_on_a_gpu() { displacements 40; }

# ---- Particles that come and go ----

# reservoir WALKERS KEYS-OF-RUN: one species; potentials and movers follow from standard input.
reservoir()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60
	seed = 12
	walkers = $1
	$2
	[box]
	dimension = 3
	lx = 6
	[species a]
	count = 20
	max_count = 90
	activity = 0.06
	[initial]
	state = lattice
	[mover serial]
	step = 0.4
	[mover insert]
	species = a
	trials = 150
	[observable numbers]
	distribution = yes
	period = 10
	END
    cat >>sim.ini
}

test_reservoir_of_atoms_on_a_gpu()
{
    gpu
    reservoir 40 "temperature = 1.2" <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	[potential lennard_jones_tail]
	END
    same_on_both
}

test_reservoir_of_hard_spheres_in_a_sphere_on_a_gpu()
{
    gpu
    reservoir 40 "" <<<'[potential hard_sphere]'
    change 's/^lx.*/shape = sphere\nradius = 3/; s/^activity.*/activity = 1/; s/^state.*/state = random/'
    same_on_both
}

# beside_cells [KEYS]: in cells of the checkerboard, which are filled anew whenever somebody has come
beside_cells()
{
    gpu
    reservoir 40 "temperature = 1.2" <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	END
    change "s/^\[mover serial\]/[mover checkerboard]${1:-}/"
    same_on_both
    reservoir 3 "" <<<'[potential hard_disk]'
    change "s/^dimension = 3/dimension = 2/; s/^lx.*/lx = 9/; s/^activity.*/activity = 2/; s/^\[mover serial\]/[mover checkerboard]${1:-}/"
    same_on_both
}
test_reservoirs_beside_cells_on_a_gpu() { beside_cells; }
test_reservoirs_beside_cells_without_identities_on_a_gpu() { beside_cells '\nidentities = no'; }

# All that is there: two species, identities, swaps, boxes, a ladder; of few walkers on the host.
reservoirs()
{
    gpu
    reservoir "$1" "pressure = 0.1" <<-END
	[species b]
	count = 10
	max_count = 60
	charge = -1
	mu = -2
	[ladder]
	vary = b.mu
	values = -2 -1.5
	[potential yukawa]
	bjerrum_length = 2
	kappa = 0.5
	cutoff = 1.5
	[potential hard_sphere]
	[mover swap]
	a = a
	b = b
	trials = 20
	[mover identity]
	a = a
	b = b
	trials = 40
	[mover from_b]
	plugin = insert
	species = b
	[mover volume]
	step = 0.03
	every = 3
	[mover exchange]
	every = 5
	[observable box_size]
	period = 10
	END
    change 's/^activity.*/&\ncharge = 1/'
    same_on_both
}

test_reservoirs_of_few_walkers_on_a_gpu() { reservoirs 4; }
test_reservoirs_of_many_walkers_on_a_gpu() { reservoirs 40; }

# Tails of two species, whose numbers change and which become each other.
test_reservoirs_of_a_mixture_with_tails_on_a_gpu()
{
    gpu
    reservoir 40 "temperature = 1.2" <<-END
	[species b]
	count = 10
	max_count = 60
	mu = -2
	[potential lennard_jones]
	epsilon = 1 0.8 0.6
	sigma = 1
	cutoff = 2.5
	[potential tail_correction]
	[mover identity]
	a = a
	b = b
	trials = 40
	[mover from_b]
	plugin = insert
	species = b
	END
    same_on_both
}

test_reservoir_is_resumed_on_a_gpu()
{
    gpu
    reservoir 40 "device = gpu" <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	END
    must run sim.ini --set run.output=one.h5
    must run sim.ini --set run.output=parts.h5 --set run.sweeps=23
    must run --resume parts.h5 --set run.sweeps=60
    same_chain one.h5 parts.h5
}

# ---- Weights of macrostates, and boxes that share particles ----

# weighed WALKERS KEY...: numbers of atoms, by these movers
weighed()
{
    gpu
    reservoir "$1" "temperature = 1.2" <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	[potential lennard_jones_tail]
	END
    change '/^\[observable numbers\]/,/^period/d'
    printf '%s\n' "${@:2}" >>sim.ini
}

test_weights_of_few_walkers_on_a_gpu()
{
    weighed 4 '[mover transition_matrix]' 'variable = a' 'windows = 2' 'period = 10'
    same_on_both
}

test_weights_of_many_walkers_on_a_gpu()
{
    weighed 40 '[mover transition_matrix]' 'variable = a' 'windows = 4' 'period = 10'
    same_on_both
    weighed 40 '[mover wang_landau]' 'variable = a' 'learning = 20' 'period = 10'
    change 's/^sweeps.*/&\nequilibrate = 20/'
    same_on_both
}

test_weights_are_resumed_on_a_gpu()
{
    weighed 40 '[mover transition_matrix]' 'variable = a' 'windows = 4' 'period = 10'
    change 's/^seed.*/&\ndevice = gpu/'
    must run sim.ini --set run.output=one.h5
    must run sim.ini --set run.output=parts.h5 --set run.sweeps=23
    must run --resume parts.h5 --set run.sweeps=60
    same_chain one.h5 parts.h5
}

test_shared_boxes_on_a_gpu()
{
    weighed 4 '[mover transfer]' 'species = a' 'trials = 20' 'period = 10'
    change '/^\[mover insert\]/,/^trials/d; /^activity/d'
    same_on_both
}

# More than are summed pair by pair: in cells, also of a box that changes.
test_energies_of_many_particles_on_a_gpu()
{
    gpu
    mixture 3 0.6 "" <<-END
	[potential lennard_jones]
	epsilon = 1 1.5 0.5
	sigma = 1 0.9 0.8
	cutoff = 2.2
	[potential yukawa]
	bjerrum_length = 1
	kappa = 1
	cutoff = 3
	[mover checkerboard]
	[observable energy]
	period = 1
	END
    change 's/^sweeps.*/sweeps = 2/; s/^walkers.*/walkers = 2/; s/^count = 150/count = 4200/'
    same_on_both
    change 's/^walkers.*/&\npressure = 2/'
    printf '[mover volume]\nstep = 0.01\n' >>sim.ini
    same_on_both
}

# Of few particles all pairs are looked at, in single precision first: also where a range is as long as the box allows.
test_energies_of_few_particles_on_a_gpu()
{
    gpu
    mixture 3 0.4 "" <<-END
	[potential lennard_jones]
	epsilon = 1 1.5 0.5
	sigma = 1 0.9 0.8
	cutoff = 3.99
	[mover serial]
	step = 0.3
	[observable energy]
	period = 5
	END
    change 's/^density.*/shape = rectangle\nlx = 8\nly = 9.5\nlz = 11/; s/^sweeps.*/sweeps = 40/'
    same_on_both
    change 's/^dimension = 3/dimension = 2/; s/^lx = 8/lx = 24/; s/^ly = 9.5/ly = 25/; /^lz/d; s/^cutoff.*/cutoff = 11/'
    same_on_both
}
