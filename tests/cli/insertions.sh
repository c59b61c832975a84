# Test insertions (observable widom): what they go with and what they do not, that runs are the same however
# they are cut, and what is said where nobody fits. Their numbers are tested by tests/statistical/widom.sh.

# liquid: a Lennard-Jones mixture
liquid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 600
	equilibrate = 100
	seed = 5
	walkers = 3
	threads = 1
	device = cpu
	temperature = 1.5
	[box]
	dimension = 3
	lx = 7
	[species a]
	count = 60
	[species b]
	count = 20
	[potential lennard_jones]
	epsilon = 1
	cutoff = 2.5
	[mover serial]
	step = 0.5
	[observable widom]
	species = b
	insertions = 200
	period = 10
	END
}

# wrong LINE MESSAGE: refused by `run` and by `check`
wrong()
{
    rm -f sim.h5
    refused 3 "sim.ini:$1: $2" run sim.ini
    refused 3 "sim.ini:$1: $2" check sim.ini
}

test_insertions_are_the_same_however_they_are_cut()
{
    liquid
    printf '%s\n' '[observable cells]' 'plugin = widom' 'species = a' 'placement = cells' 'period = 20' >>sim.ini
    must run sim.ini
    expect_output "widom.mu_excess"
    expect_output "cells.ln_activity"
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=250 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=600
    same_chain one.h5 parts.h5
}

test_insertions_beside_movers_of_all_kinds()
{
    liquid
    change 's/^walkers = .*/walkers = 4\npressure = 1/; s/^temperature = .*//; s/^count = 20/&\nmax_count = 40\nactivity = 0.1/'
    printf '%s\n' '[ladder]' 'vary = run.temperature' 'values = 1.5 1.8' '[mover volume]' 'every = 3' \
        '[mover insert]' 'species = b' 'trials = 20' '[mover exchange]' 'every = 10' >>sim.ini
    must run sim.ini
    for quantity in boltzmann_factor@1.8 numerator@1.5 denominator@1.8 occupied@1.5 mu_excess@1.5 ln_activity@1.8; do
        expect_output "widom.$quantity"
    done
    grep -Eq '^widom.mu_excess@1.5 .* kT *$' "$out" || fail "rungs of different temperature have no unit but kT"
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=2 --set run.output=two.h5
    same_chain one.h5 two.h5
}

# Walkers of a coupling see other energies: with none of it the gas is ideal.
test_insertions_weigh_energies_as_movers_do()
{
    liquid
    change 's/^walkers = .*/walkers = 2/'
    printf '%s\n' '[ladder]' 'vary = lennard_jones.coupling' 'values = 0 1' >>sim.ini
    must run sim.ini
    grep -Eq '^widom.mu_excess@0 +0(\(0\))? ' "$out" || fail "a gas without a coupling is not ideal"
    grep -Eq '^widom.mu_excess@1 +-[0-9]' "$out" || fail "a liquid of its coupling is no liquid"
}

test_insertions_that_are_refused()
{
    liquid
    change 's/^species = b/species = c/'
    wrong 21 "[observable widom] species = c: there is no such species"
    liquid
    change 's/^lx = .*/shape = sphere\nradius = 6/; s/^insertions/placement = cells\n&/'
    printf '%s\n' '[initial]' 'state = random' >>sim.ini
    wrong 22 "[observable widom] placement = cells needs a periodic box, but [box] is a sphere"
    liquid
    change 's/^count = 60/&\ncharge = 1/; s/^count = 20/&\ncharge = -3/'
    printf '%s\n' '[potential coulomb_ewald]' 'bjerrum_length = 0.1' 'cutoff = 3' '[potential hard_sphere]' >>sim.ini
    wrong 23 "[observable widom] potential 'coulomb_ewald' is a many-body term without the energy of an inserted particle"
}

test_insertions_where_nobody_fits()
{
    liquid
    change 's/^\[potential lenn.*/[potential hard_sphere]/; /^epsilon/d; /^cutoff/d; s/^lx = .*/density = 0.9/'
    change 's/^insertions = .*/insertions = 2/'
    must run sim.ini --set run.sweeps=100
    grep -Fq "no test particle could be inserted: use more insertions or more sweeps" "$out" "$err" ||
        fail "it was not said why there is no chemical potential"
}
