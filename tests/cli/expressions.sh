# Pair energies as formulas: they give the chains of the potentials that are compiled. What is wrong with one is in
# tests/refusals.

# fluid MOVER: 200 particles of two species; the potential's section from standard input, from line 20 on.
fluid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	seed = 5
	device = cpu
	threads = 1
	[box]
	dimension = 3
	density = 0.5
	[species one]
	count = 100
	charge = 1
	[species two]
	count = 100
	charge = -1
	[initial]
	state = lattice
	[mover $1]
	step = 0.2
	[observable energy]
	period = 2
	END
    cat >>sim.ini
}

# same_energies TOLERANCE: 20 energies of runs a and b agree, a chain of the same decisions.
same_energies()
{
    /usr/bin/python3 - "$1" <<-END || fail "the chains differ"
	import h5py, numpy, sys
	a, b = (numpy.ravel(h5py.File(f)['plugmc/observables/energy/energy/series'][...]) for f in ('a.h5', 'b.h5'))
	worst = abs(a - b).max()
	print('largest difference of %d energies: %.1e' % (len(a), worst))
	assert len(a) == 20 and numpy.ptp(a) > 1e-2 and worst < float(sys.argv[1])
	END
}

# Decisions differ where a random number is within rounding of a probability: 1e-6 in single precision, 8,000
# trials.
test_a_formula_gives_the_chain_of_lennard_jones()
{
    for mover in serial checkerboard; do
        fluid $mover <<<"[potential lennard_jones]
epsilon = 1 0.8 0.5
sigma = 1 0.9 0.8
cutoff = 2.5
truncation = shift"
        must run sim.ini --set run.output=a.h5
        fluid $mover <<<"[potential expression]
energy = 4*epsilon*((sigma/r)^12 - (sigma/r)^6)
epsilon = 1 0.8 0.5
sigma = 1 0.9 0.8
cutoff = 2.5
shift = yes"
        must run sim.ini --set run.output=b.h5
        same_energies 1e-12
    done
}

test_a_formula_gives_the_chain_of_yukawa()
{
    for mover in serial checkerboard; do
        fluid $mover <<<"[potential repulsion]
plugin = lennard_jones
epsilon = 1
cutoff = 1.122462048309373
truncation = shift
[potential yukawa]
bjerrum_length = 2
kappa = 0.8
cutoff = 3"
        must run sim.ini --set run.output=a.h5
        fluid $mover <<<"[potential repulsion]
plugin = lennard_jones
epsilon = 1
cutoff = 1.122462048309373
truncation = shift
[potential expression]
energy = length * q1*q2 * exp(-kappa*r)/r
length = 2
kappa = 0.8
cutoff = 3"
        must run sim.ini --set run.output=b.h5
        same_energies 1e-12
    done
}

# Forces too, and the numbers of names by --set; the file keeps both.
test_a_formula_is_resumed_and_set()
{
    fluid hmc <<<"[potential expression]
energy = depth*(r^-12 - r^-6)
depth = 1
cutoff = 2.5"
    sed -i '/^step/d' sim.ini
    must run sim.ini --set "potential expression.depth=8/2" --set run.output=whole.h5
    must run sim.ini --set "potential expression.depth=4" --set run.sweeps=20 --set run.output=half.h5
    must run --resume half.h5 --set run.sweeps=40
    same_chain whole.h5 half.h5
    must run sim.ini --set run.output=other.h5
    h5diff -q whole.h5 other.h5 /plugmc/observables/energy && fail "--set has no effect"
    h5dump -d /parameters/effective_ini other.h5 | grep -q 'depth = 1  ; sim.ini:22' ||
        fail "the name is not in the effective configuration"
}

# A guard is a hard sphere of that diameter: the same decisions, here of a formula that has no floor. The lattice starts
# with no particle within it.
test_a_guard_is_a_hard_core()
{
    local floorless='energy = exp(12*(1-r)) - 0.2/r^6
cutoff = 2.5'
    for mover in serial checkerboard brush; do
        fluid $mover <<<"[potential expression]
$floorless"
        sed -i 's/^count = 100/&\ndiameter = 0.95/; s/^equilibrate.*//' sim.ini
        refused 3 "sim.ini:24: [potential expression] energy: the formula goes to minus infinity as 'one' and 'one' meet, so they would collapse: set guard to the distance below which pairs are forbidden, or add a potential with a core, such as hard_sphere with diameters above 0" run sim.ini
        refused 3 "sim.ini:24: [potential expression] energy: the formula is below -10000 kT where, at guard, 'one' and 'one' meet, so they would collapse: set it to the distance below which pairs are forbidden, or add a potential with a core, such as hard_sphere with diameters above 0" \
            run sim.ini --set "potential expression.guard=0.1"
        must run sim.ini --set "potential expression.guard=0.95" --set run.output=a.h5
        echo '[potential hard_sphere]' >>sim.ini
        must run sim.ini --set run.output=b.h5
        same_energies 2e-5
    done
}

# Forces have nothing of it, and trial moves into it are rejected.
test_a_guard_and_forces()
{
    fluid hmc <<<"[observable virial_pressure]
[potential expression]
energy = exp(12*(1-r)) - 0.2/r^6
cutoff = 2.5
guard = 0.95 0.9 0.95"
    sed -i 's/^step = .*/time_step = 0.005/' sim.ini
    must run sim.ini
}
