# Reservoirs in the words of the field: activity, chemical potential, fugacity, pressure. All are one and the same, and what
# is measured in contact with them has exact values for few particles.

# gas: disks of an ideal gas, or of what is in stdin; [species a] and [mover insert] come last
gas()
{
    cat >sim.ini <<-END
	[run]
	sweeps = ${1:-2000}
	equilibrate = 100
	seed = 7
	walkers = 2
	threads = 1
	device = cpu
	temperature = 2
	[box]
	dimension = 3
	lx = 4
	[potential hard_sphere]
	[mover serial]
	step = 0.5
	[mover insert]
	species = a
	trials = 20
	[observable numbers]
	period = 2
	[species a]
	count = 0
	max_count = 90
	diameter = 0
	END
}

# in_words KEY=VALUE...: a run with these keys of [species a], in KEY.h5 of the first one
in_words()
{
    local word name=${1%%=*}
    gas
    for word; do echo "${word%%=*} = ${word#*=}" >>sim.ini; done
    must run sim.ini --set run.output="$name.h5"
}

# Numbers are such that no digit is lost on the way: kT is 2, and the logarithm of 1 is 0.
test_a_reservoir_is_the_same_in_all_words()
{
    local word
    in_words activity=0.5
    cp activity.h5 one.h5
    in_words fugacity=1
    in_words pressure=2 fugacity_coefficient=0.5
    in_words mu=-1.3862943611198906
    in_words chemical_potential=-1.3862943611198906 thermal_wavelength=1
    for word in fugacity pressure mu chemical_potential; do same_chain one.h5 "$word.h5"; done
    awk '/^numbers.N_a/ { if (($2 - 32) ^ 2 > 1) exit 1 }' "$out" || fail "an ideal gas has z V particles, here 32"
    for word in "activity z = 0.5 length^-3" "mu = kT ln z = -1.3862944 energy" \
        "fugacity f = kT z = 1 energy/length^3" "thermal wavelength 1 length"; do
        expect_output "$word"
    done
    must analyse one.h5
    expect_output "reservoir of a: activity z = 0.5 length^-3"
    must run sim.ini --json --set run.output=json.h5
    tail -n 1 "$out" | /usr/bin/python3 -c '
import json, sys
all = json.load(sys.stdin)["reservoirs"]
assert len(all) == 1 and all[0]["species"] == "a" and all[0]["activity"] == {"value": 0.5, "unit": "length^-3"}
assert all[0]["fugacity"] == {"value": 1.0, "unit": "energy/length^3"} and "pressure" not in all[0]
' || fail "reservoirs are not in the JSON"
}

# Against numbers that Python works out, in the units of the run.
test_reservoirs_are_told_in_the_units_of_the_run()
{
    gas
    change 's/^temperature = 2/temperature = 300/'
    cat >>sim.ini <<-END
	pressure = 50
	fugacity_coefficient = peng_robinson
	critical_temperature = 190.564
	critical_pressure = 45.992
	acentric_factor = 0.01142
	thermal_wavelength = mass
	mass = 16.0425
	[units]
	length = nm
	energy = kJ/mol
	END
    must check sim.ini
    /usr/bin/python3 - "$out" <<-'END' || fail "these are not the numbers of the reservoir"
	import re, sys
	from math import log, exp, sqrt, pi
	import numpy
	line = [l for l in open(sys.argv[1]) if l.startswith('reservoir of a')][0]
	def told(words, unit):
	    value, found = re.search(re.escape(words) + r' ([-+.0-9e]+) ?([^,;\n]*)', line).groups()
	    assert found == unit, (words, found)
	    return float(value)
	k, N, h, u = 1.380649e-23, 6.02214076e23, 6.62607015e-34, 1.66053906660e-27
	T, P, t, p, w = 300., 50e5, 300 / 190.564, 50 / 45.992, 0.01142
	kappa = 0.37464 + 1.54226 * w - 0.26992 * w * w
	A = 0.457235529 * p / t ** 2 * (1 + kappa * (1 - sqrt(t))) ** 2
	B = 0.0777960739 * p / t
	Z = max(r.real for r in numpy.roots([1, B - 1, A - 3 * B * B - 2 * B, B ** 3 + B * B - A * B]) if abs(r.imag) < 1e-9)
	phi = exp(Z - 1 - log(Z - B) - A / (2 * sqrt(2) * B) * log((Z + (1 + sqrt(2)) * B) / (Z + (1 - sqrt(2)) * B)))
	z = phi * P / (k * T) * 1e-27
	Lambda = h / sqrt(2 * pi * 16.0425 * u * k * T) * 1e9
	kT = k * T * N / 1e3
	for words, unit, right in [('activity z =', 'nm^-3', z), ('mu = kT ln z =', 'kJ/mol', kT * log(z)),
	        ('fugacity f = kT z =', 'bar', phi * 50), ('pressure', 'bar', 50), ('fugacity coefficient', '', phi),
	        ('density', 'nm^-3', P / (k * T * Z) * 1e-27), ('thermal wavelength', 'nm', Lambda),
	        ('chemical potential with the de Broglie factor', 'kJ/mol', kT * log(z * Lambda ** 3))]:
	    assert abs(told(words, unit) / right - 1) < 1e-7, (words, told(words, unit), right)
	END
    # The other way round: pressure and density from the fugacity.
    local fugacity
    fugacity=$(sed -n 's/^reservoir.*f = kT z = \([^ ]*\) bar.*/\1/p' "$out")
    change "s/^pressure = 50/fugacity = $fugacity/; /^fugacity_coefficient/d"
    must check sim.ini
    expect_output "bar; pressure 50 bar, fugacity coefficient 0.9013714"
    change 's/^thermal_wavelength = mass/thermal_wavelength = 0.02516/; /^mass/d; s/^length = nm/length = angstrom/'
    must check sim.ini
    expect_output ", thermal wavelength 0.02516 angstrom"
}

# An activity that stays while the temperature varies is not the fugacity that does.
test_each_rung_has_its_reservoir()
{
    gas 20
    change 's/^temperature = 2/temperature = 1 2/'
    echo 'fugacity = 0.5' >>sim.ini
    must check sim.ini
    expect_output "reservoir of a@1: activity z = 0.5 length^-3, mu = kT ln z = -0.69314718 kT"
    expect_output "reservoir of a@2: activity z = 0.25 length^-3, mu = kT ln z = -2.7725887 energy"
    gas 20
    printf '%s\n' '[ladder]' 'vary = a.mu' 'values = 0 -2' >>sim.ini
    must check sim.ini
    expect_output "reservoir of a@0: activity z = 1 length^-3"
    expect_output "reservoir of a@-2: activity z = 0.36787944 length^-3"
}

# At most two particles in a cube of edge 4, with Lennard-Jones energies cut at 2: all averages are integrals over one
# distance, which lies within the cube for shorter ones.
test_adsorption_of_two_particles_is_exact()
{
    gas 60000
    change 's/^\[potential hard_sphere\]/[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 2\ntruncation = cut/
        s/^temperature = 2/temperature = 0.8/; s/^max_count = 90/max_count = 2/; s/^trials = 20/trials = 4/'
    printf '%s\n' 'activity = 0.02' '[observable adsorption]' 'species = a' 'bulk_density = 0.02' 'free_fraction = 0.5' \
        'period = 2' '[observable widom]' 'species = a' 'insertions = 20' 'period = 10' >>sim.ini
    must run sim.ini
    /usr/bin/python3 - "$out" <<-'END' || fail "adsorption of two particles"
	import re, sys
	import numpy as np
	from math import log
	kT, z, L, rho = 0.8, 0.02, 4., 0.02
	r = (np.arange(2000000) + 0.5) * 1e-6
	u = 4 * (r ** -12 - r ** -6)
	shell = 4 * np.pi * r * r * 1e-6
	weight = np.exp(-u / kT)
	V = L ** 3
	Q = V * (V - 4 * np.pi / 3 * 8 + (weight * shell).sum()) / 2
	E = V * (weight * u * shell).sum() / 2
	w = np.array([1, z * V, z * z * Q])
	p = w / w.sum()
	U2 = z * z * E / w.sum()                       # <U>, of two particles alone
	N, NN, UN = p[1] + 2 * p[2], p[1] + 4 * p[2], 2 * U2
	right = {'numbers.N_a': N, 'adsorption.loading': N, 'adsorption.total_energy': U2,
	    'adsorption.isosteric_heat': kT - (UN - U2 * N) / (NN - N * N),
	    'adsorption.excess_loading': N - rho * 0.5 * V, 'widom.ln_activity': log(z), 'widom.mu': kT * log(z),
	    'widom.fugacity': kT * z}
	for line in open(sys.argv[1]):
	    words = line.split()
	    if not words or words[0] not in right: continue
	    value, digits = re.match(r'([-.0-9]+)\((\d+)\)', words[1]).groups()
	    error = int(digits) * 10. ** -len(value.partition('.')[2])
	    expected = right.pop(words[0])
	    print('%-28s %10s +- %.1g, exactly %.6g: %.1f' % (words[0], value, error, expected, (float(value) - expected) / error))
	    assert error < 0.02 * abs(expected) or words[0] == 'adsorption.excess_loading', words
	    assert abs(float(value) - expected) < 4 * error, words
	assert not right, right
	END
}

test_excess_of_an_ideal_gas_is_none()
{
    gas 4000
    cat >>sim.ini <<-END
	pressure = 1
	fugacity_coefficient = peng_robinson
	critical_temperature = 0.001
	critical_pressure = 1000
	acentric_factor = 0
	[potential lennard_jones]
	epsilon = 0
	cutoff = 1.5
	[observable adsorption]
	species = a
	period = 2
	END
    must run sim.ini
    awk '/^adsorption.excess_loading/ { split($2, a, "[()]"); found = 1; if (a[1] ^ 2 > 0.3 ^ 2) exit 1 }
         /^adsorption.isosteric_heat/ { split($2, b, "[()]"); heat = 1; if ((b[1] - 2) ^ 2 > 1e-16) exit 1 }
         END { exit !(found && heat) }' "$out" || fail "an ideal gas has no excess, and kT as isosteric heat"
}
