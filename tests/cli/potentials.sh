# What the potentials refuse, and of what they warn.

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

# periodic: the same ions in a cube.
periodic() { change 's/^shape = sphere/shape = square/; s/^radius = 8/lx = 12/; /^.potential spherical_wall/d'; }

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

# The mover is named by its plugin, which may be another than the label of its section, and the advice
# has no mover that the box, another potential or a lack of orbitals would rule out in its turn.
test_advice_for_a_mover_fits_the_system()
{
    electrolyte
    plugmc run sim.ini --set mover.plugin=checkerboard
    expect_exit 3
    expect_message "sim.ini:23: mover 'checkerboard' needs potentials of finite range, but the range of 'coulomb' is infinite: \
use 'brush' or 'parallel_reduction' or 'serial'"
    expect_message "sim.ini:23: mover 'checkerboard' needs a periodic box, but [box] is a sphere"
    expect_untouched
}

test_number_of_values_for_one_species()
{
    fluid "epsilon = 1 2" "cutoff = 2.5"
    change '/^.species two/,+1d'
    refused 3 "sim.ini:13: [potential lennard_jones] epsilon has 2 numbers: for 1 species there must be 1" \
        run sim.ini
}

test_comment_behind_a_list()
{
    fluid "epsilon = 1 # kT" "cutoff = 2.5"
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:16: [potential lennard_jones] epsilon = 1 # kT: a comment behind a value \
begins with a blank and ';'"
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

# salt KEYS...: the fluid with the repulsion and dispersion of ions instead.
salt()
{
    fluid "$@"
    change 's/potential lennard_jones/potential born_mayer/'
}

test_electrolyte_in_a_sphere_runs()
{
    electrolyte
    must run sim.ini --set observable.period=1
    expect_lines 3 # that it began, that it ended, and the file that was there already
    grep -q "energy.energy_coulomb" "$out" || fail "no energy"
}

test_periodic_box_with_bare_charges()
{
    electrolyte
    periodic
    refused 3 "sim.ini:19: [potential coulomb] in a periodic box the bare sum over all images does not converge: use an Ewald sum, a sphere ([box] shape = sphere), or minimum_image = yes to count every pair once, by its nearest image" run sim.ini
    must run sim.ini --set "potential coulomb.minimum_image=yes"
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

test_no_charge_at_all()
{
    electrolyte
    change 's/^charge = .*/charge = 0/'
    refused 3 "sim.ini:19: [potential coulomb] no species has a charge: set 'charge' in [species ...], or remove this potential" run sim.ini
}

test_opposite_charges_without_cores()
{
    electrolyte
    change '/hard_sphere/d'
    falls="species 'cation' and 'anion' attract each other without a core, so they would collapse: add a potential with a core, such as hard_sphere with diameters above 0"
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:19: [potential coulomb] $falls"
    expect_untouched
    electrolyte
    change 's/^diameter = .*/diameter = 0/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:19: [potential coulomb] $falls"
    expect_untouched
    change 's/^.potential coulomb./[potential yukawa]\nkappa = 1/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:19: [potential yukawa] $falls"
    expect_untouched
}

# Two ions on one point, from a file: the cores say so before any energy is asked for.
test_charges_on_one_point()
{
    electrolyte
    change 's/^count = .*/count = 1/; s/^state = .*/state = file\nfile = start.xyz/'
    printf '2\nProperties=species:S:1:pos:R:3\ncation 1 2 3\nanion 1 2 3\n' >start.xyz
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:18: [initial] particles 0 (cation) and 1 (anion) of walker 0 overlap: \
they are 0 apart, their contact distance is 1"
    expect_untouched
}

test_one_ion()
{
    electrolyte
    change '/^.species anion/,/^charge = -1/d; s/^count = .*/count = 1/'
    must run sim.ini
    grep -q "add up to 1, not to 0" "$err" || fail "no warning"
}

test_missing_bjerrum_length()
{
    electrolyte
    change '/^bjerrum/d'
    refused 3 "sim.ini:19: [potential coulomb] bjerrum_length must be given: the distance at which two elementary charges have the energy kT" run sim.ini
}

# What unlike pairs have is shown by check and kept in the file: sigma 1.2, sqrt(1.4) and ((1 + 1.4^6) / 2)^(1/6), epsilon
# sqrt(0.5), and less by 2 1.4^3 / (1 + 1.4^6).
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
	END
    change 's/^cutoff = 3/&\nmixing = geometric/; s/^\[mover/[potential lennard_jones_tail]\n&/'
    rm -f sim.h5
    must run sim.ini
    h5dump -d /parameters/effective_ini sim.h5 | grep -Eq '; one-two +- +1.18322 ' || fail "the file does not have the table"
    refused 3 "--set: [potential lennard_jones] mixing = arithmetic: must be one of lorentz_berthelot, geometric, \
waldman_hagler" check sim.ini --set "potential lennard_jones.mixing=arithmetic"
}

test_checkerboard_needs_a_range()
{
    electrolyte
    periodic
    change 's/^bjerrum.*/&\nminimum_image = yes/; s/mover serial/mover checkerboard/'
    plugmc run sim.ini
    expect_exit 3
    grep -q "mover 'checkerboard' needs potentials of finite range, but the range of 'coulomb' is infinite: use " "$err" ||
        fail "no reason"
    expect_untouched
}

# ---- The wall ----

test_wall_in_a_periodic_box()
{
    electrolyte
    change 's/^shape = sphere/shape = square/; s/^radius = 8/lx = 12/; s/^bjerrum.*/&\nminimum_image = yes/'
    refused 3 "sim.ini:23: [potential spherical_wall] the wall is a sphere around the origin: it needs [box] shape = sphere" run sim.ini
}

test_sphere_too_small_for_an_ion()
{
    electrolyte
    change 's/^.potential spherical_wall./&\nradius = 0.4/'
    refused 3 "sim.ini:22: [potential spherical_wall] a sphere of radius 0.4 is too small for \
species 'cation' of diameter 1" run sim.ini
}

test_sphere_too_small_for_the_ions()
{
    electrolyte
    change 's/^.potential spherical_wall./&\nradius = 1.6/'
    refused 3 "sim.ini:22: [potential spherical_wall] a sphere of radius 1.6 is too small for 40 \
particles: they would fill 1.22 of it, but the maximum is 1" run sim.ini
}

test_wall_outside_of_the_box()
{
    electrolyte
    change 's/^.potential spherical_wall./&\nradius = 9/'
    must run sim.ini
    grep -q "the wall has no effect: no particle centre of \[box\] is farther out than 8" "$err" ||
        fail "no warning"
}

# ---- Screened charges ----

test_shift_without_a_cutoff()
{
    electrolyte
    change 's/^.potential coulomb./[potential yukawa]\nkappa = 1\nshift = yes/'
    refused 3 "sim.ini:19: [potential yukawa] shift = yes needs a cutoff" run sim.ini
}

test_screened_charges_beyond_half_the_box()
{
    electrolyte
    periodic
    change 's/^.potential coulomb./[potential yukawa]\nkappa = 1\ncutoff = 6.5/'
    refused 3 "sim.ini:19: [potential yukawa] cutoff = 6.5 exceeds half the box, 6: pairs would be missed" run sim.ini
    must run sim.ini --set "potential yukawa.cutoff=0"
    grep -q "there is no cutoff: every pair counts once, by its nearest image; beyond half the box, 6, the omitted energy is screened by exp(-kappa r) = 2.5e-03" "$err" || fail "no warning"
}

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

test_wrong_number_of_values()
{
    fluid "epsilon = 1 2 3 4" "cutoff = 2.5"
    refused 3 "sim.ini:15: [potential lennard_jones] epsilon has 4 numbers: for 2 species there \
must be 1, 2 (one per species) or 3 (one per pair of species)" run sim.ini
    salt "a = 10 20" "b = 4" "sigma = 1" "cutoff = 2.5"
    refused 3 "sim.ini:15: [potential born_mayer] a has 2 numbers: for 2 species there must be 1 or 3 (one per pair of species)" run sim.ini
}

test_cutoff_beyond_half_the_box()
{
    fluid "epsilon = 1" "cutoff = 4"
    refused 3 "sim.ini:15: [potential lennard_jones] cutoff = 4 exceeds half the box, 3.68403: pairs would be missed" run sim.ini
}

test_lennard_jones_without_a_cutoff()
{
    fluid "epsilon = 1" "cutoff = 0"
    refused 3 "sim.ini:15: [potential lennard_jones] cutoff = 0 (none) needs a box without periodic images; here the limit is half the box, 3.68403" run sim.ini
    fluid "epsilon = 1" "cutoff = 0" "truncation = shift"
    refused 3 "sim.ini:15: [potential lennard_jones] without a cutoff there is nothing to shift: \
set truncation = cut" run sim.ini
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

# Who leaves out the pairs within molecules needs somebody who holds them together.
test_molecules_that_nothing_binds()
{
    fluid "epsilon = 1" "cutoff = 1.8"
    change 's/^.mover serial./[mover hmc]/; /^step/d; s/^.species one./&\ncharge = 1/
            s/^.species two./&\ncharge = -1/'
    printf '[potential coulomb_spme]\nbjerrum_length = 1\ncutoff = 2\nmolecule = 1 1\n' >>sim.ini
    refused 3 "sim.ini:14: mover 'hmc' would break molecules: potential 'coulomb_spme' excludes pairs within molecules, and no potential binds them" run sim.ini
    must run sim.ini --set "potential coulomb_spme.role=measured"
    must run sim.ini --set "potential coulomb_spme.molecule="
    printf "[potential springs]\nplugin = $TEST_PLUGINS/springs.so\n" >>sim.ini
    must run sim.ini
}

# Who belongs together is part of the state, and of trajectories.
test_molecules_in_trajectories()
{
    fluid "epsilon = 1" "cutoff = 1.8"
    change 's/^.mover serial./[mover hmc]/; /^step/d; s/^.species one./&\ncharge = 1/
            s/^.species two./&\ncharge = -1/; s/^seed/walkers = 2\n&/'
    printf '%s\n' '[potential coulomb_spme]' 'bjerrum_length = 1' 'cutoff = 2' 'molecule = 2 1' '[potential springs]' \
        "plugin = $TEST_PLUGINS/springs.so" '[observable trajectory]' 'period = 1' >>sim.ini
    change 's/^molecule = 2 1/molecule = 1 1/'
    must run sim.ini
    local count walker
    count=$(sed -n '/^\[species one/,/^count/s/^count = //p' sim.ini)
    for walker in $(h5ls sim.h5/particles | awk '{ print $1 }'); do
        h5dump -y -w 1 -d "/particles/$walker/molecule" sim.h5 | sed -n '/DATA {/,/}/p' | tr -cd '0-9\n-' | grep . >found
        { seq 0 $((count - 1)); seq 0 $((count - 1)); } | cmp - found || fail "other molecules in $walker"
    done
    # two potentials that tell of different ones
    printf '%s\n' '[potential other]' 'plugin = coulomb_spme' 'bjerrum_length = 1' 'cutoff = 2' 'molecule = 2 2' >>sim.ini
    refused 3 "sim.ini:$(grep -n 'potential other' sim.ini | cut -d: -f1): [potential other] its molecules differ from those of [potential coulomb_spme]" run sim.ini
}

test_tail_without_its_fluid()
{
    fluid "epsilon = 1" "cutoff = 2.5"
    printf '[potential lennard_jones_tail]\nrole = measured\nof = argon\n' >>sim.ini
    refused 3 "sim.ini:18: [potential lennard_jones_tail] there is no [potential argon]" run sim.ini
    printf '[potential argon]\nplugin = hard_sphere\n' >>sim.ini
    refused 3 "sim.ini:18: [potential lennard_jones_tail] [potential argon] is not a Lennard-Jones potential" run sim.ini
}

test_tail_of_a_shifted_fluid()
{
    fluid "epsilon = 1" "cutoff = 2.5" "truncation = force_shift"
    printf '[potential lennard_jones_tail]\nrole = measured\n' >>sim.ini
    refused 3 "sim.ini:19: [potential lennard_jones_tail] [potential lennard_jones] is shifted: a long-range correction needs truncation = cut" run sim.ini
}

# ---- Ions with soft cores ----

test_dispersion_without_repulsion()
{
    salt "a = 10 0 10" "b = 4" "sigma = 1" "c = 1" "cutoff = 2.5"
    refused 3 "sim.ini:15: [potential born_mayer] species 'one' and 'two' would collapse: a exp(b (sigma - r)) - c/r^6 - d/r^8 has no barrier within the cutoff" run sim.ini
    salt "a = 10 20 10" "b = 4" "sigma = 1" "c = 1" "cutoff = 2.5"
    must run sim.ini
}

test_a_tail_of_another_coupling()
{
    fluid "epsilon = 1 0.8" "cutoff = 2.5" "coupling = 0.5" "[potential lennard_jones_tail]" "coupling = 0.5"
    must run sim.ini
    grep -q "coupling" "$err" && fail "it is the same"
    must run sim.ini --set "potential lennard_jones.coupling=1"
    expect_message "sim.ini:20: warning: [potential lennard_jones_tail] coupling: differs from that of [potential lennard_jones], whose tail this is"
}
