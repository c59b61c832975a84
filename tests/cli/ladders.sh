# Temperatures, ladders, replica exchange. Fixed seeds; a right program is beyond 4 of its standard
# errors once in 16,000 numbers.

# near NAME EXACT LEAST: the mean of a line of the table is EXACT within 4 errors, which are below LEAST.
near()
{
    awk -v name="$1" -v exact="$2" -v least="$3" '$1 == name {
        found = 1; split($2, part, /[()]/); digits = part[1]
        if (digits ~ /\./) sub(/.*\./, "", digits); else digits = ""
        error = part[2] / 10 ^ length(digits); z = (part[1] - exact) / error
        printf "%s %s +- %g, exact %s, z = %.2f\n", name, part[1], error, exact, z
        if (!(z < 4 && z > -4 && error < least)) bad = 1 }
        END { exit bad || !found }' "$out" || fail "$1 is not $2"
}

# wells: one particle in the double well, four walkers, two on each rung; values of ensembles by
# quadrature.
wells()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 200000
	equilibrate = 1000
	seed = 5
	device = cpu
	walkers = 4
	[box]
	dimension = 2
	lx = 8
	[species point]
	count = 1
	[initial]
	state = lattice
	[ladder]
	vary = run.temperature
	values = 0.1 0.5
	[potential double_well]
	plugin = $TEST_PLUGINS/double_well.so
	centre = 4
	[mover serial]
	step = 1.5
	[observable energy]
	period = 5
	END
}

test_temperatures_of_walkers()
{
    wells
    must run sim.ini
    near energy.energy@0.1 0.052477 0.001
    near energy.energy@0.5 0.272864 0.003
    change '/^\[ladder\]/,/^values/d; s/^walkers = 4/walkers = 2\ntemperature = 0.1 0.5/'
    must run sim.ini
    near energy.energy@0.1 0.052477 0.001
    near energy.energy@0.5 0.272864 0.003
    change 's/^temperature = .*/temperature = 0.5/'
    must run sim.ini
    near energy.energy 0.272864 0.003
}

# Rungs of equal values, and of values that only a seventh digit tells apart, have names of their own. Walkers at one
# temperature have one energy.
test_rungs_of_equal_values_have_different_names()
{
    wells
    change '/^\[ladder\]/,/^values/d; s/^walkers = 4/walkers = 3\ntemperature = 0.5 0.5 0.5/'
    must run sim.ini
    near energy.energy@0.5 0.272864 0.003
    near energy.energy@0.5#2 0.272864 0.003
    near energy.energy@0.5#3 0.272864 0.003
    must run --resume sim.h5 --set run.sweeps=200100
    must analyse sim.h5
    expect_output "energy.energy@0.5#3"
    must run sim.ini --set "run.temperature=0.5 0.5000001 0.1" --set run.sweeps=20 --set run.output=near.h5
    for rung in 0.5 0.5000001 0.1; do expect_output "energy.energy@$rung "; done
    wells
    change 's/^vary = .*/vary = double_well.coupling/; s/^values = .*/values = 1 1\nvary_2 = run.temperature\nvalues_2 = 2 2.0000001/'
    must run sim.ini --set run.sweeps=20 --set run.output=pairs.h5
    for rung in 1@2 1@2.0000001 1#2@2 1#2@2.0000001; do expect_output "energy.energy@$rung "; done
}

# Two sections that measure under one name would write to the same place of the file.
test_quantities_of_one_name_are_refused_before_the_run()
{
    disks
    change 's/^\[mover .*/[mover event_chain]\nperiod = 5/; /^step/d'
    printf '[observable event_chain]\nplugin = hard_pressure\nperiod = 5\n' >>sim.ini
    for what in check run; do
        refused 3 "sim.ini: two quantities are called 'event_chain.pressure': sections that measure need different \
names, as in [observable NAME] with plugin = ..." $what sim.ini
    done
}

# acceptance of rung 0 with rung 1: trials and accepted ones, by the binomial law of independent trials
# after every tenth sweep (the second well is reached in one step).
test_exchange_accepts_as_it_should()
{
    wells
    printf '[mover exchange]\nevery = 10\n' >>sim.ini
    must run sim.ini
    near energy.energy@0.1 0.052477 0.001
    near energy.energy@0.5 0.272864 0.003
    local trials accepted
    trials=$(h5dump -d /plugmc/movers/exchange/exchange/trials sim.h5 | sed -n 's/.*(0): \([0-9]*\).*/\1/p')
    accepted=$(h5dump -d /plugmc/movers/exchange/exchange/accepted sim.h5 | sed -n 's/.*(0): \([0-9]*\).*/\1/p')
    awk -v n="$trials" -v k="$accepted" 'BEGIN {
        p = 0.4912; z = (k / n - p) / sqrt(p * (1 - p) / n)
        printf "%d of %d exchanges, z = %.2f\n", k, n, z
        exit !(n == 20000 && z < 4 && z > -4) }' || fail "another acceptance than 0.4912"
    grep -Eq "^acceptance 0.49[0-9]* of 2e.04 trial moves of exchange.exchange" "$out" ||
        fail "no line of the exchange"
}

test_exchange_is_resumed()
{
    wells
    change 's/^sweeps = .*/sweeps = 3000/; s/^equilibrate = .*/equilibrate = 100/'
    printf '[mover exchange]\nevery = 10\n' >>sim.ini
    must run sim.ini --set run.output=whole.h5
    must run sim.ini --set run.sweeps=1003
    must run --resume sim.h5 --set run.sweeps=1110
    must run --resume sim.h5 --set run.sweeps=3000
    same_chain whole.h5 sim.h5
}

# Energies twice as large at twice the temperature: a factor of two is exact, so is every decision.
same_at_two()
{
    cp "$here/chain.ini" one.ini
    sed -i "s/^sweeps = .*/sweeps = 300/; s/^equilibrate = .*/equilibrate = 100/; s/^dimension = 2/dimension = 3/
        s/^packing_fraction.*/packing_fraction = 0.2/; s/^diameter = 0.8/&\ncharge = 1/; s/^diameter = 1$/&\ncharge = -1/
        /^\[observable hard/,/^\[observable rdf/{/^\[observable rdf/!d}
        s/^\[potential hard_disk\]/[potential hard_sphere]\n[potential $2]/; s/^\[mover .*/[mover $1]/
        s/^step = .*/step = 0.2/" one.ini
    sed "s/^\[potential $2\]/&\n$3/" one.ini >sim.ini
    must run sim.ini
    sed "s/^\[potential $2\]/&\n$4/; s/^walkers/temperature = 2\n&/" one.ini >sim.ini
    must run sim.ini --set run.output=two.h5
    h5diff whole.h5 two.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "$1 has another chain"
    change '/^temperature/d'
    must run sim.ini --set run.output=three.h5
    ! h5diff whole.h5 three.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "the temperature does not matter"
}

yukawa_once="bjerrum_length = 2\nkappa = 1\ncutoff = 2.5"
yukawa_twice="bjerrum_length = 4\nkappa = 1\ncutoff = 2.5"
test_temperature_of_serial() { same_at_two serial yukawa "$yukawa_once" "$yukawa_twice"; }
test_temperature_of_checkerboard() { same_at_two checkerboard yukawa "$yukawa_once" "$yukawa_twice"; }
test_temperature_of_brush()
{
    same_at_two brush coulomb "minimum_image = yes\nbjerrum_length = 2" "minimum_image = yes\nbjerrum_length = 4"
}

# Two Lennard-Jones particles of twice the depth: twice the energy of tuning.sh.
test_temperature_of_hmc()
{
    . "$here/tuning.sh"
    two_particles 0.01
    change 's/^epsilon = 1/epsilon = 2/; s/^walkers/temperature = 2\n&/; s/^length = 1/length = 0.7/'
    must run sim.ini
    near energy.energy "$(arithmetic "2 * $(exact_energy)")" 0.004
}

# Coupling times energy over kT is all that counts.
test_coupling_is_an_inverse_temperature()
{
    wells
    change 's/^vary = .*/vary = double_well.coupling/; s/^values = .*/values = 10 2/'
    must run sim.ini --set run.output=coupled.h5
    near energy.energy@10 0.052477 0.001
    near energy.energy@2 0.272864 0.003
}

test_ladders_that_cannot_be()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    wells
    sed -i 's/^sweeps = .*/sweeps = 10/; s/^equilibrate = .*/equilibrate = 0/' sim.ini
    cp sim.ini right.ini
    change 's/^values = .*/values = 0.1 0.2 0.3/'
    refused 3 "sim.ini:14: [ladder] has 3 values for 4 walkers: each value needs the same number of walkers" \
        run sim.ini
    cp right.ini sim.ini
    change 's/^vary = .*/vary = run.seed/'
    refused 3 "sim.ini:14: [ladder] vary = run.seed: possible keys are run.temperature, run.pressure, SPECIES.mu and LABEL.coupling of a sampled potential" run sim.ini
    cp right.ini sim.ini
    change 's/^values = .*/values = 0.1 -1/'
    refused 3 "sim.ini:14: a temperature of -1 is not possible" run sim.ini
    cp right.ini sim.ini
    change '/^\[ladder\]/,/^values/d; s/^\[mover serial\]/[mover exchange]\n&/'
    refused 3 "sim.ini:17: [mover exchange] there is no ladder: give a section [ladder]" run sim.ini
    cp right.ini sim.ini
    change "s|^\[mover serial\]|[mover refusing]|; /^step = /d"
    refused 3 "sim.ini:20: mover 'refusing' needs the same temperature and couplings in all walkers, but run.temperature differs" run sim.ini
}

# ---- On a GPU ----

# chain.ini for the GPU, in a folder of its own.
on_the_gpu()
{
    gpu
    sed 's/^device = cpu/device = gpu/' "$here/chain.ini" >../chain.ini
    here=$(cd .. && pwd)
}

test_temperature_of_checkerboard_on_a_gpu()
{
    on_the_gpu
    same_at_two checkerboard yukawa "$yukawa_once" "$yukawa_twice"
}

test_temperature_of_brush_on_a_gpu()
{
    on_the_gpu
    same_at_two brush coulomb "minimum_image = yes\nbjerrum_length = 2" "minimum_image = yes\nbjerrum_length = 4"
}

test_temperature_of_hmc_on_a_gpu()
{
    gpu
    . "$here/tuning.sh"
    two_particles 0.01
    change 's/^epsilon = 1/epsilon = 2/; s/^walkers/temperature = 2\n&/; s/^length = 1/length = 0.7/; s/^device = .*/device = gpu/'
    must run sim.ini --set run.walkers=64 --set run.sweeps=2500
    near energy.energy "$(arithmetic "2 * $(exact_energy)")" 0.004
}

# Of hard disks all exchanges are accepted whatever their coupling, so each walker goes up and down without a halt: a
# round trip of four rungs takes eight exchanges. At first nobody has been at an end.
test_round_trips()
{
    disks
    change '/^\[observable/,$d; s/^sweeps = .*/sweeps = 800\nequilibrate = 16\nwalkers = 4/; /^equilibrate = 0/d; /^walkers = 1/d'
    printf '%s\n' '[ladder]' 'vary = hard_disk.coupling' 'values = 1 2 3 4' '[mover exchange]' \
        '[observable round_trips]' 'period = 1' >>sim.ini
    rm -f sim.h5
    must run sim.ini
    for line in 'upward@1 1' 'upward@2 0.5' 'upward@3 0.5' 'upward@4 0' 'round_trips@1 0.5' 'round_trips@2 0'; do
        awk -v name="round_trips.${line% *}" -v exact="${line#* }" '$1 == name { off = $2 - exact; found = off * off < 1e-5 }
            END { exit !found }' "$out" || fail "$line was expected"
    done
    must run sim.ini --set run.sweeps=101 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=800
    same_chain sim.h5 parts.h5
    change '/^\[ladder\]/,/^\[mover exchange\]/d'
    refused 3 "sim.ini:$(grep -n round_trips sim.ini | cut -d: -f1): [observable round_trips] there is no ladder: give a \
section [ladder]" run sim.ini
}
