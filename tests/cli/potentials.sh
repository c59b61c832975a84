# What the potentials do in runs, and of what they warn. What they refuse is in tests/refusals.

# electrolyte: 40 hard ions in a sphere with serial moves; a test changes a line.
electrolyte()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 5
	seed = 1
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 8
	[species cation]
	count = 20
	diameter = 1
	charge = 1
	[species anion]
	count = 20
	diameter = 1
	charge = -1
	[initial]
	state = random
	[potential coulomb]
	bjerrum_length = 2
	[potential hard_sphere]
	[potential spherical_wall]
	[mover serial]
	step = 1
	[observable energy]
	END
    echo "what an earlier run has written" >sim.h5
}

# fluid KEYS...: 200 Lennard-Jones particles, two species, in a cube of edge 7.37.
fluid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 5
	seed = 1
	device = cpu
	[box]
	dimension = 3
	density = 0.5
	[species one]
	count = 100
	[species two]
	count = 100
	[mover serial]
	step = 0.1
	[observable energy]
	[potential lennard_jones]
	END
    printf '%s\n' "$@" >>sim.ini
    echo "what an earlier run has written" >sim.h5
}

test_nothing_is_measured_in_a_short_run()
{
    fluid "epsilon = 1" "cutoff = 2.5"
    must run sim.ini --set observable.period=6
    expect_message "sim.ini:14: warning: [observable energy] period = 6 is longer than the run, \
sweeps = 5: nothing is measured"
    must run sim.ini --set observable.period=5 # one sample: no correlation time, and no word of it
    expect_lines 4 # of the lattice start, that it began, that it ended, and the file that was there already
    expect_output "*        none         1            kT"
}

test_electrolyte_in_a_sphere_runs()
{
    electrolyte
    must run sim.ini --set observable.period=1
    expect_lines 3 # that it began, that it ended, and the file that was there already
    grep -q "energy.energy_coulomb" "$out" || fail "no energy"
}

test_net_charge_is_a_warning()
{
    electrolyte
    change '0,/^charge = 1/s//charge = 2/'
    must run sim.ini
    grep -q "the charges of all particles add up to 20, not to 0" "$err" || fail "no warning"
    [ "$(grep -c "add up" "$err")" = 1 ] || fail "said more than once"
}

test_valence_zero_is_a_warning()
{
    electrolyte
    printf '[species neutral]\ncount = 5\ndiameter = 1\n' >>sim.ini
    must run sim.ini
    grep -q "species 'neutral' has charge 0, so this potential does not affect it" "$err" ||
        fail "no warning"
}

test_one_ion()
{
    electrolyte
    change '/^.species anion/,/^charge = -1/d; s/^count = .*/count = 1/'
    must run sim.ini
    grep -q "add up to 1, not to 0" "$err" || fail "no warning"
}

# What unlike pairs have is shown by check and kept in the file: sigma 1.2, sqrt(1.4) and ((1 + 1.4^6) / 2)^(1/6), epsilon
# sqrt(0.5), and less by 2 1.4^3 / (1 + 1.4^6). Kong: epsilon sigma^6 is sqrt(0.5) 1.4^3, and epsilon sigma^12 is
# ((1 + (0.5 1.4^12)^(1/13)) / 2)^13.
test_mixing_rules_are_those_of_the_books()
{
    fluid 'epsilon = 1 0.5' 'sigma = 1 1.4' 'cutoff = 3'
    while read -r rule sigma least depth; do
        must check sim.ini --set "potential lennard_jones.mixing=$rule"
        grep -Eq "^one-two +- +$sigma +$least +$depth *\$" "$out" || fail "$rule gives another pair"
        grep -Eq "^one-one +- +1 +1.12246 +-1 *\$" "$out" || fail "$rule changes like pairs"
    done <<-END
	lorentz_berthelot 1.2 1.34695 -0.707107
	geometric 1.18322 1.32812 -0.707107
	waldman_hagler 1.27345 1.4294 -0.454961
	kong 1.20456 1.35207 -0.635188
	END
    must check sim.ini --set "potential lennard_jones.k_ij=0.2"
    grep -Eq "^one-two +- +1.2 +1.34695 +-0.565685 *\$" "$out" || fail "k_ij does not change the pair"
    change 's/^cutoff = 3/&\nmixing = geometric/; s/^\[mover/[potential lennard_jones_tail]\n&/'
    rm -f sim.h5
    must run sim.ini
    h5dump -d /parameters/effective_ini sim.h5 | grep -Eq '; one-two +- +1.18322 ' || fail "the file does not have the table"
}

# The distance below which the energy of buckingham would fall is shown where hard cores are; likewise other guards.
test_guards_are_shown()
{
    fluid 'epsilon = 1' 'cutoff = 3'
    change 's/lennard_jones/buckingham/; s/^epsilon = 1/a = 20000\nb = 8\nc = 1 0 1/'
    must check sim.ini
    grep -Eq "^one-one +0.346495 +1.58[0-9]* +1.77[0-9]* +-0.01835[0-9]* *\$" "$out" || fail "no guard of like pairs"
    grep -Eq "^one-two +- +- +- +- *\$" "$out" || fail "a guard of pairs without attraction"
    change 's/buckingham/expression/; s/^a = .*/energy = -1\/r^6/; /^b = 8/d; s/^c = .*/guard = 0.9/'
    must check sim.ini
    grep -Eq "^one-two +0.9 +- " "$out" || fail "no guard of a formula"
}

# ---- The wall ----

test_wall_outside_of_the_box()
{
    electrolyte
    change 's/^.potential spherical_wall./&\nradius = 9/'
    must run sim.ini
    grep -q "the wall has no effect: no particle centre of \[box\] is farther out than 8" "$err" ||
        fail "no warning"
}

# ---- Screened charges ----

# ---- Lennard-Jones ----

test_lennard_jones_runs()
{
    fluid "epsilon = 1 0.8" "cutoff = 2.5" "truncation = shift"
    must run sim.ini
    fluid "epsilon = 1 0.8 1.2" "sigma = 1 0.9" "cutoff = 2.5"
    printf '[potential lennard_jones_tail]\nrole = measured\n' >>sim.ini
    must run sim.ini
    grep -q "energy.energy_lennard_jones_tail" "$out" || fail "no tail"
}

# first_sample COLUMN: of sim.csv.
first_sample()
{
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
                          NR == 2 && column { print $column }' sim.csv
}

# The tail is a constant of box and numbers: it is sampled with every mover, whose chain it leaves as it
# is, and it is in energies and virials (as -dU/dV), also those that a mover keeps.
test_tail_goes_with_every_mover()
{
    local mover without with tail kept
    for mover in serial checkerboard hmc brush; do
        fluid "epsilon = 1" "cutoff = 1.8"
        change "s/^.mover serial./[mover $mover]/; /^step/d; s/^.observable energy./&\nperiod = 5/"
        printf '[observable virial_pressure]\nperiod = 5\n' >>sim.ini
        must run sim.ini --set run.csv=sim.csv
        without=$(first_sample energy.energy) pressure=$(first_sample virial_pressure.pressure)
        grep acceptance "$out" | sed 's/;.*//' >before
        printf '[potential lennard_jones_tail]\n' >>sim.ini
        [ $mover = hmc ] || [ $mover = brush ] &&
            printf '[observable kept]\nplugin = energy\nsource = running\nperiod = 5\n' >>sim.ini
        must run sim.ini --set run.csv=sim.csv
        grep acceptance "$out" | sed 's/;.*//' | cmp - before || fail "$mover: another chain"
        with=$(first_sample energy.energy) kept=$(first_sample kept.energy)
        tail=$(first_sample energy.energy_lennard_jones_tail)
        # by hand: U / N = 8 pi rho / 9 (1.8^-9 - 3 1.8^-3), and -dU/dV is rho times that
        awk -v a="$without" -v b="$with" -v t="$tail" -v k="${kept:-$with}" -v p="$pressure" \
            -v q="$(first_sample virial_pressure.pressure)" 'function off(x) { return x * x > 1e-12 }
            BEGIN { pi = 3.14159265358979; high = 1.8 ^ -9; low = 1.8 ^ -3
                    exit off(t - 4 * pi / 9 * (high - 3 * low)) || off(b - a - t) || off(k - b) ||
                         off(q - p - 2 * pi / 9 * (high - 3 * low)) }' ||
            fail "$mover: energy $without and $with, tail $tail, kept $kept"
    done
}

# Who belongs together is part of the state, and of trajectories.
test_molecules_in_trajectories()
{
    fluid "epsilon = 1" "cutoff = 1.8"
    change 's/^.mover serial./[mover hmc]/; /^step/d; s/^.species one./&\ncharge = 1/
            s/^.species two./&\ncharge = -1/; s/^seed/walkers = 2\n&/'
    printf '%s\n' '[potential coulomb_spme]' 'bjerrum_length = 1' 'cutoff = 2' 'molecule = 2 1' '[potential springs]' \
        "plugin = $TEST_PLUGINS/springs.so" '[observable trajectory]' 'format = h5md' 'period = 1' >>sim.ini
    change 's/^molecule = 2 1/molecule = 1 1/'
    must run sim.ini
    local count walker
    count=$(sed -n '/^\[species one/,/^count/s/^count = //p' sim.ini)
    for walker in $(h5ls sim.h5md/particles | awk '{ print $1 }'); do
        h5dump -y -w 1 -d "/particles/$walker/molecule" sim.h5md | sed -n '/DATA {/,/}/p' | tr -cd '0-9\n-' | grep . >found
        { seq 0 $((count - 1)); seq 0 $((count - 1)); } | cmp - found || fail "other molecules in $walker"
    done
    # two potentials that tell of different ones
    printf '%s\n' '[potential other]' 'plugin = coulomb_spme' 'bjerrum_length = 1' 'cutoff = 2' 'molecule = 2 2' >>sim.ini
    refused 3 "sim.ini:$(grep -n 'potential other' sim.ini | cut -d: -f1): [potential other] its molecules differ from those of [potential coulomb_spme]" run sim.ini
}

# ---- Ions with soft cores ----

test_a_tail_of_another_coupling()
{
    fluid "epsilon = 1 0.8" "cutoff = 2.5" "coupling = 0.5" "[potential lennard_jones_tail]" "coupling = 0.5"
    must run sim.ini
    grep -q "coupling" "$err" && fail "it is the same"
    must run sim.ini --set "potential lennard_jones.coupling=1"
    expect_message "sim.ini:20: warning: [potential lennard_jones_tail] coupling: differs from that of [potential lennard_jones], whose tail this is"
}
