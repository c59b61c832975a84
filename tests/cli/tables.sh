# Pair energies from files: what a run with them gives. What is wrong with a file is in tests/refusals.

# fluid POTENTIAL...: 200 particles of two species; the potential's section from standard input.
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
	count = 120
	[species two]
	count = 80
	[initial]
	state = lattice
	[mover ${1:-serial}]
	step = 0.2
	[observable energy]
	period = 2
	END
    cat >>sim.ini
}

# rows SIGMA: Lennard-Jones, zero from 2.5 on, at 2,000 points equidistant in r.
rows()
{
    awk -v s="$1" 'function u(r, x) { x = (s / r) ^ 6; return 4 * x * (x - 1) } BEGIN {
        print "# r u"
        for (i = 0; i <= 2000; i++) { r = 0.7 + i * 1.8 / 2000; printf "%.17g %.17g\n", r, u(r) - u(2.5) }
    }'
}

# The chain is the same decision by decision, but for a trial within 1e-6 of its threshold: 8,000 trials.
test_tables_give_the_chain_of_their_formula()
{
    rows 1 >lj.dat
    for mover in serial checkerboard; do
        fluid $mover <<<"[potential lennard_jones]
epsilon = 1
cutoff = 2.5
truncation = shift"
        must run sim.ini --set run.output=compiled.h5
        fluid $mover <<<"[potential tabulated]
files = lj.dat"
        must run sim.ini --set run.output=table.h5
        /usr/bin/python3 - <<-END || fail "the chains differ"
	import h5py, numpy
	a, b = (numpy.ravel(h5py.File(f)['plugmc/observables/energy/energy/series'][...]) for f in ('compiled.h5', 'table.h5'))
	worst = abs(a - b).max()
	print('largest difference of %d energies: %.1e' % (len(a), worst))
	assert len(a) == 20 and 0 < worst < 2e-5
	END
    done
}

# A file for each pair: sigma 1, 0.9 for unlike ones, as one potential with a matrix.
test_each_pair_of_species_has_its_table()
{
    rows 1 >like.dat
    rows 0.9 >unlike.dat
    fluid <<<"[potential tabulated]
files = unlike.dat like.dat like.dat
species = two-one one-one two-two"
    must run sim.ini
    fluid <<<"[potential tabulated]
files = like.dat unlike.dat like.dat"
    must run sim.ini --set run.output=order.h5
    same_chain sim.h5 order.h5
    fluid <<<"[potential tabulated]
files = like.dat"
    must run sim.ini --set run.output=one.h5
    h5diff -q sim.h5 one.h5 /plugmc/observables/energy && fail "the table of unlike pairs is not used"
    true
}

# Decisions do not depend on what the table has within a guard: nothing, a fall, or a wall.
test_a_guard_forbids_what_is_nearer()
{
    awk 'BEGIN { for (i = 0; i <= 2400; i++) { r = 0.1 + i / 1000; printf "%.17g %.17g\n", r, exp(12 * (1 - r)) - 0.2 / r^6 + 0.2 / 2.5^6 } }' >fall.dat
    awk '$1 >= 0.9499' fall.dat >begins.dat
    fluid <<<"[potential tabulated]
files = fall.dat"
    for inside in forbidden extrapolate; do
        plugmc check sim.ini --set "potential tabulated.inside=$inside"
        expect_exit 3
        grep -Eq "the table of 'one' and 'one' falls to -[0-9.e+]+ kT at r = 0(.1)?, so they would collapse: set guard" "$err" ||
            fail "expected: a table without a floor is refused"
        must run sim.ini --set "potential tabulated.inside=$inside" --set "potential tabulated.guard=0.95" \
            --set run.output=$inside.h5
    done
    same_chain forbidden.h5 extrapolate.h5
    must run sim.ini --set "potential tabulated.files=begins.dat" --set run.output=begins.h5
    /usr/bin/python3 - <<-END || fail "the chains differ"
	import h5py, numpy
	a, b = (numpy.ravel(h5py.File(f)['plugmc/observables/energy/energy/series'][...]) for f in ('forbidden.h5', 'begins.h5'))
	assert len(a) == 20 and numpy.ptp(a) > 1e-2 and abs(a - b).max() < 2e-3, abs(a - b).max()
	END
}
