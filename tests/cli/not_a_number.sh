# Energies that are not numbers end a run with code 9, whatever moves the particles, and the message
# says which potential, which particles and which sweep. Infinite ones are rejected. Those named
# ..._on_a_gpu need one.

# lattice MOVER DIMENSION COUNT KEYS...: points in a box of 8 (or $LX), for 2000 sweeps (or $SWEEPS);
# further sections are to be added.
lattice()
{
    local mover=$1 dimension=$2 count=$3
    shift 3
    cat >sim.ini <<-END
	[run]
	sweeps = ${SWEEPS:-2000}
	seed = 1
	device = ${DEVICE:-cpu}
	[box]
	dimension = $dimension
	lx = ${LX:-8}
	[species point]
	count = $count
	[initial]
	state = lattice
	[mover $mover]
	END
    printf '%s\n' "$@" >>sim.ini
}

# potential NAME KEYS...: one more, of those of the tests.
potential()
{
    printf '[potential %s]\nplugin = %s/%s.so\n' "$1" "$OWN_PLUGINS" "$1" >>sim.ini
    shift
    printf '%s\n' "$@" >>sim.ini
}

# hole CUTOFF KEYS...: particles repel each other, with no energy for pairs nearer than 0.5.
hole()
{
    local cutoff=$1
    shift
    potential test_hole "strength = 0.1" "cutoff = $cutoff" "hole = 0.5" "$@"
}

on_a_gpu()
{
    gpu
    DEVICE=gpu
}

# found POTENTIAL WHAT: by the mover of sim.ini.
found()
{
    local mover line
    mover=$(sed -n 's/^\[mover \(.*\)\]/\1/p' sim.ini)
    line=$(grep -n "^\[potential $1\]" sim.ini | cut -d: -f1)
    plugmc run sim.ini
    expect_exit 9
    grep -Eq "^sim.ini:$line: \[potential $1\] $2 is (not a number|minus infinity)( in single precision)?: found by \
\[mover $mover\] in sweep [0-9]+$" "$err" || fail "potential, particles and sweep are not named"
    [ "$(grep -c "^sim.ini:[0-9]*: \[" "$err")" = 1 ] || fail "expected one message"
}

pair="the (energy|force) of particles [0-9]+ and [0-9]+ of walker 0, 0\.[0-4][0-9]* apart,"
single="the (energy|force) of particle [0-9]+ of walker 0, of species 'point' at 7\.9[0-9]* .*,"
one_of_all="the energy of walker 0, with particle [0-9]+ moved to 7\.9[0-9]* .*,"
force_of_all="the force on particle [0-9]+ of walker 0"

# energy_of_minus_infinity: instead of NaN.
energy_of_minus_infinity() { change 's/^hole = .*/&\ninside = minus_infinity/'; }

# rejected POTENTIAL KEY: moves to where the NaN is are made, and rejected if it is infinity; no energy
# that is measured is infinite.
rejected()
{
    [ "$ENERGY" = no ] || printf '[observable energy]\nperiod = 1\n' >>sim.ini
    plugmc run sim.ini
    expect_exit 9
    grep -q "is not a number.*: found by " "$err" || fail "nobody goes there"
    must run sim.ini --set "potential $1.$2=infinity"
    awk '$1 == "acceptance" { accepted = $2 } END { exit !(accepted > 0 && accepted < 1) }' "$out" ||
        fail "expected moves that are accepted and moves that are rejected"
}
ENERGY=yes

# ---- Pairs ----

hole_of() { lattice "$@" && hole 1; }
pair_of() { hole_of "$@" && found test_hole "$pair"; }
attraction_of() { hole_of "$@" && energy_of_minus_infinity && found test_hole "$pair"; }
infinite_pair_of() { hole_of "$@" && rejected test_hole inside; }
# Many neighbours: lanes share the pairs of a trial move.
wide_cells() { lattice checkerboard 3 512 "step = 0.5" && hole 2; }

test_serial_names_the_pair_without_a_number() { pair_of serial 2 64 "step = 0.5"; }
test_checkerboard_names_the_pair_without_a_number() { pair_of checkerboard 2 64 "step = 0.4"; }
test_checkerboard_names_the_pair_in_wide_cells() { wide_cells && found test_hole "$pair"; }
test_brush_names_the_pair_without_a_number() { pair_of brush 2 64 "step = 0.5"; }
test_brush_names_the_pair_in_double() { pair_of brush 2 64 "step = 0.5" "precision = double"; }
test_hmc_names_the_pair_without_a_number() { pair_of hmc 3 64 "time_step = 0.05"; }

test_serial_names_the_pair_of_minus_infinity() { attraction_of serial 2 64 "step = 0.5"; }
test_checkerboard_names_the_pair_of_minus_infinity() { attraction_of checkerboard 2 64 "step = 0.4"; }
test_brush_names_the_pair_of_minus_infinity() { attraction_of brush 2 64 "step = 0.5"; }
test_hmc_names_the_pair_of_minus_infinity() { attraction_of hmc 3 64 "time_step = 0.05"; }

test_serial_rejects_an_infinite_pair() { infinite_pair_of serial 2 64 "step = 0.5"; }
test_checkerboard_rejects_an_infinite_pair() { infinite_pair_of checkerboard 2 64 "step = 0.4"; }
test_checkerboard_rejects_an_infinite_pair_in_wide_cells() { wide_cells && rejected test_hole inside; }
test_brush_rejects_an_infinite_pair() { infinite_pair_of brush 2 64 "step = 0.5"; }
test_hmc_rejects_an_infinite_pair() { infinite_pair_of hmc 3 64 "time_step = 0.05"; }

# ---- Fields ----

edge_of() { lattice "$@" && potential test_edge "edge = 7.9"; }
field_of() { edge_of "$@" && found test_edge "$single"; }
infinite_field_of() { edge_of "$@" && rejected test_edge beyond; }

test_serial_names_the_field_without_a_number() { field_of serial 2 64 "step = 0.3"; }
test_brush_names_the_field_without_a_number() { field_of brush 2 64 "step = 0.3"; }
test_hmc_names_the_field_without_a_number() { field_of hmc 2 64 "time_step = 0.01"; }

test_serial_rejects_an_infinite_field() { infinite_field_of serial 2 64 "step = 0.3"; }
test_brush_rejects_an_infinite_field() { infinite_field_of brush 2 64 "step = 0.3"; }
test_hmc_rejects_an_infinite_field() { infinite_field_of hmc 2 4 "time_step = 0.01"; }

# ---- Whole configurations ----

# total_of WHAT FORCES MOVER ...
total_edge_of() { lattice "$@" && potential test_total_edge "edge = 7.9" "forces = $forces"; }
total_of()
{
    local what=$1 forces=$2
    total_edge_of "${@:3}" && found test_total_edge "$what"
}

infinite_total_of() { forces=no && total_edge_of "$@" && rejected test_total_edge beyond; }

test_serial_names_the_total_without_a_number() { total_of "$one_of_all" no serial 2 64 "step = 0.3"; }
test_hmc_names_the_total_without_an_energy()
{
    total_of "the energy of walker 0" no hmc 2 64 "time_step = 0.01"
}
test_hmc_names_the_total_without_a_force() { total_of "$force_of_all" yes hmc 2 64 "time_step = 0.01"; }

test_serial_rejects_an_infinite_total() { infinite_total_of serial 2 64 "step = 0.3"; }
test_hmc_rejects_an_infinite_total() { infinite_total_of hmc 2 4 "time_step = 0.01"; }

# ---- Wave functions ----

# electrons EDGE MOVER KEYS...: three of each spin, in waves along x that end at EDGE.
electrons()
{
    lattice "$2" 3 3 "step = 1" "${@:3}"
    printf '[species down]\ncount = 3\n' >>sim.ini
    change 's/^state = .*/state = random/; s/^seed = .*/seed = 2/'
    potential test_orbital_edge "edge = $1"
}

orbital="an orbital of particle [0-9]+ of walker 0, of species '(point|down)' at 7\.[5-9][0-9]* .*,"
orbital_of() { electrons 7.5 "$@" && found test_orbital_edge "$orbital"; }
jastrow_of() { electrons 9 "$@" && hole 2; }
pair_of_electrons() { jastrow_of "$@" && found test_hole "$pair"; }
infinite_pair_of_electrons() { ENERGY=no && jastrow_of "$@" && rejected test_hole inside; }

test_particle_by_particle_names_the_orbital_without_a_number() { orbital_of particle_by_particle; }
test_quasi_simultaneous_names_the_orbital_without_a_number() { orbital_of quasi_simultaneous; }
test_simultaneous_names_the_orbital_without_a_number()
{
    orbital_of quasi_simultaneous "acceptance = simultaneous"
}
test_configuration_names_the_orbital_without_a_number() { orbital_of configuration; }

test_particle_by_particle_names_the_pair_without_a_number() { pair_of_electrons particle_by_particle; }
test_quasi_simultaneous_names_the_pair_without_a_number() { pair_of_electrons quasi_simultaneous; }
# simultaneous_pairs [CHANGE]: electrons that go in the same sweep do not hide the pair, nor does it come
# undone if both of them go; in most of these runs one of that happens.
simultaneous_pairs()
{
    local seed
    for seed in 1 2 3 4 5 6 7 8; do
        jastrow_of quasi_simultaneous "acceptance = simultaneous"
        sed -i "s/^seed = .*/seed = $seed/" sim.ini
        "${1:-true}"
        found test_hole "$pair"
    done
}
test_simultaneous_names_the_pair_without_a_number() { simultaneous_pairs; }
test_configuration_names_the_pair_without_a_number() { pair_of_electrons configuration; }

attraction_of_electrons()
{
    jastrow_of "$@" && energy_of_minus_infinity && found test_hole "$pair"
}
test_particle_by_particle_names_the_pair_of_minus_infinity()
{
    attraction_of_electrons particle_by_particle
}
test_quasi_simultaneous_names_the_pair_of_minus_infinity() { attraction_of_electrons quasi_simultaneous; }
test_simultaneous_names_the_pair_of_minus_infinity() { simultaneous_pairs energy_of_minus_infinity; }
test_configuration_names_the_pair_of_minus_infinity() { attraction_of_electrons configuration; }

test_particle_by_particle_rejects_an_infinite_pair() { infinite_pair_of_electrons particle_by_particle; }
test_quasi_simultaneous_rejects_an_infinite_pair() { infinite_pair_of_electrons quasi_simultaneous; }
test_configuration_rejects_an_infinite_pair() { infinite_pair_of_electrons configuration; }

# ---- On a GPU: the same ----

# each OF ARGUMENT...: NaN, minus infinity, infinity.
each_pair_of() { pair_of "$@" && attraction_of "$@" && infinite_pair_of "$@"; }

test_checkerboard_and_wrong_pairs_on_a_gpu() { on_a_gpu && each_pair_of checkerboard 2 64 "step = 0.4"; }
test_checkerboard_and_wrong_pairs_in_wide_cells_on_a_gpu()
{
    on_a_gpu
    wide_cells && found test_hole "$pair"
    wide_cells && energy_of_minus_infinity && found test_hole "$pair"
    wide_cells && rejected test_hole inside
}
test_brush_and_wrong_pairs_on_a_gpu() { on_a_gpu && each_pair_of brush 3 64 "step = 0.5"; }
test_brush_and_wrong_pairs_in_double_on_a_gpu()
{
    on_a_gpu && each_pair_of brush 3 64 "step = 0.5" "precision = double"
}
# Several panels of the one, several blocks of the other.
test_brush_and_many_wrong_pairs_on_a_gpu()
{
    on_a_gpu
    LX=16 SWEEPS=50
    each_pair_of brush 3 3000 "step = 0.5"
    each_pair_of parallel_reduction 3 3000 "step = 0.5"
}
test_parallel_reduction_and_wrong_pairs_on_a_gpu()
{
    on_a_gpu && each_pair_of parallel_reduction 3 64 "step = 0.5"
}
test_hmc_and_wrong_pairs_on_a_gpu() { on_a_gpu && each_pair_of hmc 3 64 "time_step = 0.05"; }
test_hmc_and_wrong_pairs_in_double_on_a_gpu()
{
    on_a_gpu && each_pair_of hmc 3 64 "time_step = 0.05" "precision = double"
}
test_ewald_serial_and_wrong_pairs_on_a_gpu() { on_a_gpu && each_pair_of ewald_serial 3 64 "step = 0.5"; }

each_field_of() { field_of "$@" && infinite_field_of "$@"; }

test_brush_and_wrong_fields_on_a_gpu() { on_a_gpu && each_field_of brush 2 64 "step = 0.3"; }
test_parallel_reduction_and_wrong_fields_on_a_gpu()
{
    on_a_gpu && each_field_of parallel_reduction 2 64 "step = 0.3"
}
test_hmc_and_wrong_fields_on_a_gpu()
{
    on_a_gpu
    field_of hmc 3 64 "time_step = 0.01"
    infinite_field_of hmc 3 4 "time_step = 0.01"
}

test_hmc_and_wrong_totals_on_a_gpu()
{
    on_a_gpu
    total_of "the energy of walker 0" no hmc 3 64 "time_step = 0.01"
    total_of "$force_of_all" yes hmc 3 64 "time_step = 0.01"
    infinite_total_of hmc 3 4 "time_step = 0.01"
}

each_of_electrons()
{
    orbital_of "$@"
    pair_of_electrons "$@"
    attraction_of_electrons "$@"
    infinite_pair_of_electrons "$@"
}

test_particle_by_particle_and_wrong_waves_on_a_gpu() { on_a_gpu && each_of_electrons particle_by_particle; }
test_quasi_simultaneous_and_wrong_waves_on_a_gpu() { on_a_gpu && each_of_electrons quasi_simultaneous; }
test_simultaneous_and_wrong_waves_on_a_gpu()
{
    on_a_gpu
    orbital_of quasi_simultaneous "acceptance = simultaneous"
    simultaneous_pairs
    simultaneous_pairs energy_of_minus_infinity
}
test_configuration_and_wrong_waves_on_a_gpu() { on_a_gpu && each_of_electrons configuration; }

# ---- The initial state ----

test_an_initial_state_without_an_energy_is_refused()
{
    lattice serial 2 64 "step = 0.1"
    potential test_hole "strength = 0.1" "cutoff = 1.5" "hole = 1.01"
    plugmc run sim.ini
    expect_exit 9
    expect_message "sim.ini:14: [potential test_hole] the energy of particles 0 and 8 of walker 0, 1 \
apart, is not a number in the initial state"
}
