# g(r) where it is known. Fixed seeds; a right program is beyond 4 of its standard errors once in 16,000 numbers.

# An ideal gas in a sphere whose wall keeps whole particles in: shells around references stay where centres may be,
# and g is 1. Of a margin that is r_max alone the last of the eight bins would have 0.90.
test_no_wall_cuts_shells()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20000
	equilibrate = 200
	seed = 3
	walkers = 2
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 6
	[species point]
	count = 20
	diameter = 2
	[initial]
	state = random
	[potential spherical_wall]
	[mover serial]
	step = 3
	[observable rdf]
	period = 5
	bins = 8
	END
    must run sim.ini
    for part in value error; do
        h5dump -y -w 1 -d "/plugmc/observables/rdf/point-point/$part" sim.h5 | awk '/^ *[0-9.]+,? *$/ { print $1 + 0 }' >$part
    done
    paste value error | awk '{ z = ($1 - 1) / $2; print; if (!(z < 4 && z > -4) || NR > 5 && $2 > 0.02) bad = 1 }
        END { exit bad || NR != 8 }' || fail "g of an ideal gas is not 1"
    must run sim.ini --set "observable rdf.margin=2" --set run.sweeps=10
    expect_message "sim.ini:19: warning: [observable rdf] a wall excludes particles within 1 of the surface, so shells beyond 1 are cut for some reference particles, and g is too small there: margin should be 3"
}

# The Bjerrum length of half of a potential twice as strong.
test_dressed_ions_know_couplings()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 100
	seed = 3
	walkers = 2
	device = cpu
	[box]
	dimension = 3
	lx = 12
	[species cation]
	count = 40
	charge = 1
	[species anion]
	count = 40
	charge = -1
	[initial]
	state = random
	[potential hard_sphere]
	[potential ions]
	plugin = coulomb
	minimum_image = yes
	bjerrum_length = 2
	[mover serial]
	[observable dressed_ion]
	period = 10
	END
    must run sim.ini
    grep '^dressed_ion.debye_length ' "$out" >once || fail "there is no Debye length"
    must run sim.ini --set "potential ions.coupling=0.5" --set "potential ions.bjerrum_length=4"
    grep '^dressed_ion.debye_length ' "$out" | diff once - || fail "a coupling is not the strength of charges"
    printf '%s\n' '[ladder]' 'vary = ions.coupling' 'values = 1 2' >>sim.ini
    refused 3 "sim.ini:23: [observable dressed_ion] no unique bjerrum_length in the potentials of this run: give it here" run sim.ini
}

# 1,275 pairs of 50 species are more than an observable may have; a key names those that are wanted, and they are
# what they are among all.
test_pairs_that_are_wanted_are_named()
{
    cp "$here/../data/faults/fifty-species.ini" sim.ini
    must run sim.ini --set "observable rdf.pairs=d49-d03 d02-d02" --set run.sweeps=100
    [ "$(grep -c '^rdf\.' "$out")" = 2 ] || fail "expected two functions"
    some_among_all cpu
}

# The same on a device: five species, two of their pairs and all.
some_among_all()
{
    cp "$here/../data/faults/fifty-species.ini" sim.ini
    sed -i '/^\[species d0[5-9]/,/^diameter/d; /^\[species d[1-4]/,/^diameter/d; s/^count = 8/count = 100/' sim.ini
    must run sim.ini --set run.output=all.h5 --set run.device=$1
    must run sim.ini --set "observable rdf.pairs=d03-d01 d02-d02" --set run.output=some.h5 --set run.device=$1
    for pair in d01-d03 d02-d02; do
        must analyse all.h5 --print rdf.$pair
        cp "$out" all
        must analyse some.h5 --print rdf.$pair
        cmp "$out" all || fail "g of $pair is another one"
    done
}

test_pairs_that_are_wanted_on_a_gpu()
{
    gpu
    some_among_all gpu
}
