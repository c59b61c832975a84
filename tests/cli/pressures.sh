# Constant pressure: exact volumes (values by quadrature, for the rule V^N exp(-beta P V)), resumed runs,
# and what cannot follow a box. Fixed seeds; a right program is beyond 4 of its standard errors once in
# 16,000 numbers.

. "$here/ladders.sh" # near

# boxes DIMENSION N PRESSURE DIAMETER LENGTH SWEEPS [KEY...]: hard particles, or an ideal gas.
boxes()
{
    cat >sim.ini <<-END
	[run]
	sweeps = $6
	equilibrate = 2000
	seed = 5
	device = cpu
	walkers = 2
	pressure = $3
	[box]
	dimension = $1
	lx = $5
	[species ball]
	count = $2
	diameter = $4
	[initial]
	state = lattice
	[potential hard]
	plugin = $([ "$1" = 2 ] && echo hard_disk || echo hard_sphere)
	[mover serial]
	step = 0.8
	[mover volume]
	step = 0.9
	target_acceptance = 0
	[observable box_size]
	period = 10
	END
    printf '%s\n' "${@:7}" >>sim.ini
}

# With N for N + 1, or a missing P V, the mean is wrong by one, and by more.
test_ideal_gas_at_constant_pressure()
{
    boxes 3 1 1 0 1.5 200000
    must run sim.ini
    near box_size.volume 2 0.02
    boxes 2 2 1 0 1.5 200000
    must run sim.ini
    near box_size.volume 3 0.03
    near box_size.density 1 0.03
    boxes 3 2 1 0 1.5 200000
    change 's/^\[mover volume\]/&\nshape = axes/; s/^step = 0.9/step = 0.5/'
    must run sim.ini
    near box_size.volume 3 0.05
    boxes 3 100 1 0 4.6 10000
    change 's/^step = 0.9/step = 0.2/; s/^target_acceptance = 0/target_acceptance = 0.4/'
    must run sim.ini
    near box_size.volume 101 0.5
}

test_two_hard_particles_at_constant_pressure()
{
    boxes 2 2 1 1 3 400000
    must run sim.ini
    near box_size.volume 5.23656 0.02
    boxes 3 2 1 1 3 400000
    must run sim.ini
    near box_size.volume 5.33873 0.02
}

# The values are those of pressure over kT.
test_pressure_is_over_kt()
{
    boxes 2 2 0.5 1 3 400000
    change 's/^pressure = .*/&\ntemperature = 0.5/'
    must run sim.ini
    near box_size.volume 5.23656 0.02
}

test_ladder_of_pressures()
{
    boxes 2 2 1 1 3 400000
    printf '[ladder]\nvary = run.pressure\nvalues = 1 0.2\n[mover exchange]\nevery = 10\n' >>sim.ini
    must run sim.ini
    near box_size.volume@1 5.23656 0.03
    near box_size.volume@0.2 16.91929 0.1
}

test_changing_boxes_are_resumed()
{
    boxes 2 20 1 1 8 3000
    change 's/^equilibrate = .*/equilibrate = 100/; s/^step = 0.9/step = 0.1/; s/^\[mover volume\]/&\nevery = 3/'
    change 's/^target_acceptance = 0/target_acceptance = 0.4/'
    must run sim.ini --set run.output=whole.h5
    must run sim.ini --set run.sweeps=1001
    must run --resume sim.h5 --set run.sweeps=1503
    must run --resume sim.h5 --set run.sweeps=3000
    same_chain whole.h5 sim.h5
    must run sim.ini --set run.output=threads.h5 --set run.threads=3
    same_chain whole.h5 threads.h5
}

test_a_box_that_becomes_too_small_for_a_cutoff()
{
    boxes 3 20 30 1 5 100000
    change 's/^plugin = .*/plugin = lennard_jones\nepsilon = 1\nsigma = 1\ncutoff = 2.4/'
    plugmc run sim.ini
    expect_exit 3
    grep -q "would have a volume of .*, and half of it would be less than the range of a potential" "$err" ||
        fail "the box that is too small is not named"
}

# The forces that are sampled are those of the potentials times their couplings: half of twice as much is the same to
# the last digit, for pairs, for sums over waves and at contact, and a rung has its own.
salt()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	seed = 5
	device = cpu
	[box]
	dimension = 3
	lx = 5
	[species cation]
	count = 10
	charge = 1
	[species anion]
	count = 10
	charge = $1
	[initial]
	state = random
	[potential ions]
	plugin = coulomb_ewald
	bjerrum_length = 1
	[potential shell]
	plugin = yukawa
	bjerrum_length = 1
	kappa = 1
	cutoff = 2.4
	[mover serial]
	END
    printf '%s\n' "${@:2}" 'period = 10' >>sim.ini
}

# Means without errors.
pressures_of() { must run "$@" && awk '$1 ~ /pressure/ && $2 ~ /[0-9]/ { sub("@.*", "", $1); sub("[(].*", "", $2); print $1, $2 }' "$out"; }

couplings_are_strengths()
{
    pressures_of sim.ini >once
    [ -s once ] || fail "there are no pressures"
    pressures_of sim.ini --set "potential ions.coupling=0.5" --set "potential ions.bjerrum_length=2" \
        --set "potential shell.coupling=2" --set "potential shell.bjerrum_length=0.5" | diff once - ||
        fail "a coupling is not the strength of a force"
}

test_pressures_know_couplings()
{
    salt -1 '[potential hard_sphere]' '[observable pressure]'
    couplings_are_strengths
    salt 1 '[observable virial_pressure]'
    couplings_are_strengths
    pressures_of sim.ini --set run.first_walker=1 --set "potential ions.bjerrum_length=2" >twice
    printf '%s\n' '[ladder]' 'vary = ions.coupling' 'values = 1 2' >>sim.ini
    pressures_of sim.ini --set run.walkers=2 | sort | diff <(sort once twice) - ||
        fail "the pressure of a rung is not that of its coupling"
}
