# [units]: what is converted, and that nothing else changes.

# melt: 64 ions of sodium chloride, in kT and Angstrom; of the force field of Tosi and Fumi. MOVER from stdin.
melt()
{
    cat >kT.ini <<-END
	[run]
	sweeps = 12
	seed = 1100
	device = cpu
	threads = 1
	[box]
	dimension = 3
	density = 0.03174
	[species Na]
	count = 32
	charge = 1
	[species Cl]
	count = 32
	charge = -1
	[initial]
	state = lattice
	[potential born_mayer]
	a = 2.78195 2.22556 1.66917
	b = 3.1546
	sigma = 2.340 2.755 3.170
	c = 11.0620 73.7465 763.803
	d = 5.26761 91.5247 1534.19
	cutoff = 6
	truncation = shift
	[potential $1]
	bjerrum_length = 151.90995172572
	cutoff = 6
	tolerance = 1e-4
	[observable energy]
	period = 2
	[observable virial_pressure]
	period = 2
	END
    cat >>kT.ini
}

# real_units: real.ini, the same in kJ/mol, K and bar. k_B 1100 K is 9.145908879968562 kJ/mol.
real_units()
{
    awk -v kT=9.145908879968562 '
    /^\[box\]/ { print "temperature = 1100"; print "[units]"; print "length = angstrom"; print "energy = kJ/mol" }
    /^[acd] = / { for (i = 3; i <= NF; i++) $i = sprintf("%.17g", $i * kT) }
    !/^bjerrum/ { print }' kT.ini >real.ini
}

# compare WHAT FACTOR ERROR: series of real.h5 over those of kT.h5, to that share of the largest.
compare()
{
    /usr/bin/python3 - "$@" <<-END || fail "$1 differs"
	import sys, h5py, numpy
	a, b = (numpy.ravel(h5py.File(f)['plugmc/observables/' + sys.argv[1] + '/series'][...]) for f in ('kT.h5', 'real.h5'))
	worst = abs(b / float(sys.argv[2]) - a).max() / abs(a).max()
	print('%s: %d values, largest relative difference %.1e' % (sys.argv[1], len(a), worst))
	assert len(a) > 4 and numpy.ptp(a) > 0 and worst < float(sys.argv[3])
	END
}

# The same trial moves are accepted; energies in kJ/mol, pressures in bar.
test_a_melt_in_real_units_is_that_in_kt()
{
    for ewald in coulomb_ewald coulomb_spme; do
        melt $ewald <<-END
	[mover serial]
	step = 0.2
	END
        real_units
        must run kT.ini --quiet
        must run real.ini --quiet
        grep -Eq '^energy.energy .* kJ/mol$' "$out" || fail "the energy has another unit"
        grep -Eq '^virial_pressure.pressure .* bar$' "$out" || fail "the pressure has another unit"
        compare energy/energy 9.145908879968562 1e-10
        compare virial_pressure/pressure "$(arithmetic '1.380649e-23 * 1100 * 1e30 / 1e5')" 1e-5 # forces in single precision
        acceptance=$(grep '^acceptance' "$out" | sed 's/,.*//')
        must run kT.ini --quiet --set run.output=again.h5
        [ "$(grep '^acceptance' "$out" | sed 's/,.*//')" = "$acceptance" ] || fail "not the same trials"
        rm ./*.h5*
    done
}

# A pressure of 5,000 bar moves the box as 5,000 bar do, and is what an isobaric average gives.
test_pressures_come_in_as_bar()
{
    melt coulomb_spme <<-END
	[mover serial]
	step = 0.2
	[mover volume]
	step = 0.02
	every = 2
	[observable box_size]
	period = 1
	END
    change_run() { sed -i "/^seed/a pressure = $2" "$1"; }
    real_units
    change_run kT.ini "$(awk "BEGIN { printf \"%.17g\", 5000 / (1.380649e-23 * 1100 * 1e30 / 1e5) }")"
    change_run real.ini 5000
    must run kT.ini --quiet
    must run real.ini --quiet
    grep -Eq '^box_size.volume .* angstrom\^3$' "$out" || fail "the volume has another unit"
    compare box_size/volume 1 1e-10
}

test_temperatures_of_a_ladder_are_in_kelvin()
{
    melt coulomb_spme <<-END
	[mover serial]
	step = 0.2
	[mover exchange]
	END
    real_units
    for file in kT.ini real.ini; do
        sed -i -e '/^virial/d' -e '/^\[observable virial/,+1d' -e '/^temperature/d' -e '/^seed/a walkers = 2' $file
    done
    printf '[ladder]\nvary = run.temperature\nvalues = 1 1.2\n' >>kT.ini
    printf '[ladder]\nvary = run.temperature\nvalues = 1100 1320\n' >>real.ini
    must run kT.ini --quiet
    must run real.ini --quiet
    grep -q '^energy.energy@1320 .* kJ/mol$' "$out" || fail "no results at 1320 K"
    cp real.h5 saved.h5
    /usr/bin/python3 - <<-END || fail "the chains differ"
	import h5py, numpy
	a, b = (numpy.ravel(h5py.File(f)['plugmc/observables/energy/energy@' + n + '/series'][...])
	        for f, n in (('kT.h5', '1.2'), ('real.h5', '1320')))
	assert len(a) == 6 and abs(b / 9.145908879968562 - a).max() < 1e-9 * abs(a).max()
	END
}

# A Bjerrum length of 4 at kT = 2 is one of 2: the same trials, the same Debye length.
test_screening_knows_the_temperature()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	seed = 1
	device = cpu
	threads = 1
	[box]
	dimension = 3
	shape = sphere
	radius = 10
	[species cation]
	count = 100
	charge = 1
	[species anion]
	count = 100
	charge = -1
	[initial]
	state = random
	[potential coulomb]
	bjerrum_length = 1
	[potential hard_sphere]
	[potential spherical_wall]
	[mover serial]
	step = 1
	[observable dressed_ion]
	margin = 3
	r_max = 3
	fit_from = 1.2
	fit_to = 3
	period = 10
	END
    must run sim.ini --set run.output=one.h5 --quiet
    kappa=$(grep '^dressed_ion.kappa ' "$out")
    must run sim.ini --set run.output=two.h5 --set run.temperature=2 --set "potential coulomb.bjerrum_length=2" --quiet
    [ -n "$kappa" ] && [ "$(grep '^dressed_ion.kappa ' "$out")" = "$kappa" ] || fail "another Debye length: $kappa"
}

# Below the names of scanned keys in the table of a study, in summary.h5 and in reports: what [units] says, or the table
# of the plugin; none for numbers and words.
test_scanned_keys_have_units()
{
    cat >study.ini <<-END
	[run]
	sweeps = 20
	device = cpu
	threads = 1
	[units]
	length = nm
	energy = kJ/mol
	[box]
	dimension = 3
	[species A]
	count = 20
	diameter = 0.3
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 1
	cutoff = 1
	[mover serial]
	[observable energy]
	period = 1
	[scan]
	run.temperature = 300 350
	potential lennard_jones.sigma = 0.3 0.34
	box.density = 1 1.5
	run.seed = 1 2
	initial.lattice = auto
	END
    must scan study.ini
    must scan study.ini --table
    local units
    units=$(sed -n 2p "$out" | tr -s ' ')
    [ "${units% }" = "[K] [nm] [nm^-3] [kJ/mol] [kJ/mol]" ] ||
        fail "expected units of the keys: $units"
    for key in run.temperature=K "potential lennard_jones.sigma=nm" box.density=nm^-3 run.seed=; do
        h5dump -a "/keys/${key%=*}/unit" study/summary.h5 | grep -Fq "(0): \"${key##*=}\"" ||
            fail "expected in summary.h5 $key"
    done
    must report study/summary.csv --output study.html
    grep -Fq '<th>run.<wbr>temperature<br>[K]</th>' study.html || fail "expected the unit of a key in the table"
    grep -Fq '<th>run.<wbr>seed</th>' study.html || fail "expected a key without a unit"
    grep -q 'run.temperature \[K\].*</text>' study.html || fail "expected the unit at the axis of a figure"
    sed -i '/^\[units\]/,/^energy/d; s/^period.*/&/; s/^box.density.*/box.density = 0.1 0.2/' study.ini
    sed -i 's/^cutoff = 1/cutoff = 2/; s/sigma = .*/sigma = 1/; s/^run.temperature.*/run.temperature = 1 2/' study.ini
    rm -r study
    must scan study.ini
    must scan study.ini --table
    sed -n 2p "$out" | tr -s ' ' | grep -Fq "[energy] [length] [length^-3] " || fail "expected units without [units]"
}

# In the plane bar is no unit of pressure: kT = 1 kJ/mol and P = 1 kJ/mol/nm^2 make N + 1 nm^2 of an ideal gas.
test_pressures_in_the_plane_are_energies_over_areas()
{
    cat >sim.ini <<-END
	[units]
	length = nm
	energy = kJ/mol
	[run]
	sweeps = 4000
	equilibrate = 300
	temperature = 120.27236
	pressure = 1
	device = cpu
	threads = 1
	[box]
	dimension = 2
	lx = 4.6
	[species a]
	count = 20
	diameter = 0
	[potential hard_disk]
	[mover serial]
	step = 1
	[mover volume]
	step = 0.5
	[observable box_size]
	period = 4
	END
    must run sim.ini
    awk '/^box_size.volume/ { found = 1; if ($2 + 0 < 19 || $2 + 0 > 23) exit 1 } END { exit !found }' "$out" ||
        fail "expected 21 nm^2"
}
