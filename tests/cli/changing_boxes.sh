# Observables in boxes that change. At constant pressure the mean of the pressure of the moment is the one
# imposed, whatever N and the potential: the weight V^N exp(-(P V + U) / kT) vanishes at both ends of V, so
# the mean of its logarithmic derivative is 0. Fixed seeds; a right program is beyond 4 of its standard errors
# once in 16,000 numbers.

. "$here/ladders.sh" # near

# boxes DIMENSION N PRESSURE DIAMETER LENGTH SWEEPS: particles, and where their box goes; potentials and
# observables follow from standard input.
boxes()
{
    local rest
    rest=$(cat)
    cat >sim.ini <<-END
	[run]
	sweeps = $6
	equilibrate = 2000
	seed = 9
	device = cpu
	walkers = 2
	pressure = $3
	[box]
	dimension = $1
	lx = $5
	[species ball]
	count = $2
	diameter = $4
	[initial]
	state = lattice
	[mover serial]
	step = 0.4
	[mover volume]
	step = 0.1
	$rest
	END
}

test_pressure_of_a_liquid_is_the_one_imposed()
{
    boxes 2 36 0.7 1 8 40000 <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.8
	truncation = force_shift
	[observable energy]
	period = 10
	[observable virial_pressure]
	period = 10
	[observable pressure]
	period = 10
	[observable rdf]
	period = 10
	r_max = 2
	[observable structure_factor]
	period = 10
	k_max = 3
	[observable hexatic_order]
	period = 10
	[observable charge_density]
	period = 10
	r_max = 2
	[observable box_size]
	period = 10
	END
    change 's/^diameter = 1/&\ncharge = 1/'
    must run sim.ini
    near virial_pressure.pressure 0.7 0.01
    near virial_pressure.pressure_x 0.7 0.02
    near pressure.pressure 0.7 0.01
    for name in energy.energy hexatic_order.psi6_modulus; do
        grep -q "^$name " "$out" || fail "$name is not measured"
    done
    h5ls -r sim.h5 >names
    for name in rdf/ball-ball structure_factor/ball-ball charge_density/ball; do
        grep -q "/$name" names || fail "$name is not measured"
    done
}

test_pressure_of_an_ideal_gas_is_the_one_imposed()
{
    boxes 3 5 0.5 0 2 100000 <<-END
	[potential hard]
	plugin = hard_sphere
	[observable pressure]
	period = 10
	[observable energy]
	period = 10
	END
    change 's/^\[mover volume\]/&\nshape = axes/'
    must run sim.ini
    near pressure.virial 0.5 0.01
    near pressure.pressure 0.5 0.01
}

# The extrapolation of g leaves out no more than a hundredth of its error here.
test_pressure_of_hard_disks_is_the_one_imposed()
{
    boxes 2 20 1 1 8 60000 <<-END
	[potential hard]
	plugin = hard_disk
	[observable hard_pressure]
	period = 10
	[observable pressure]
	period = 10
	END
    must run sim.ini
    near hard_pressure.pressure 1 0.01
    near hard_pressure.pressure_fit 1 0.1
    near pressure.pressure 1 0.1
}

test_ranges_in_a_box_that_changes()
{
    boxes 2 20 1 1 8 100 <<-END
	[potential hard]
	plugin = hard_disk
	[observable rdf]
	END
    change 's/^\[observable rdf\]/&\nr_max = 3/; s/^pressure = 1/pressure = 100/; s/^sweeps = .*/sweeps = 100000/'
    plugmc run sim.ini
    expect_exit 3
    grep -q "has shrunk to a width of .*: r_max, 3, exceeds half of it" "$err" ||
        fail "the box that is too small is not named"
}

# areas FILE GROUP: areas of the boxes of its frames, one a line
areas()
{
    h5dump -y -d "/particles/$2/box/edges/value" -m %.17g "${1%.h5}.h5md" | tr -d ' ,' |
        awk '/^[0-9]/ { edge[n++ % 3] = $1; if (n % 3 == 0) printf "%.17g\n", edge[0] * edge[1] }'
}

# Each walker's frames have its own boxes: those that box_size saw, which are averaged over walkers.
test_trajectory_has_the_box_of_each_walker()
{
    boxes 2 20 1 0 8 200 <<-END
	[potential hard]
	plugin = hard_disk
	[observable box_size]
	period = 1
	[observable trajectory]
	format = h5md
	period = 1
	END
    change 's/equilibrate = 2000/equilibrate = 10/'
    must run sim.ini
    areas sim.h5 trajectory >first
    areas sim.h5 trajectory_1 >second
    [ "$(wc -l <first)" = 200 ] && [ "$(wc -l <second)" = 200 ] || fail "not every frame has a box"
    ! cmp -s first second || fail "two walkers have one box"
    [ "$(sort -u first | wc -l)" -gt 20 ] || fail "the box does not change from frame to frame"
    areas=$(cat first second | awk '{ s += $1 } END { printf "%.10g", s / NR }')
    volume=$(h5dump -y -a /plugmc/observables/box_size/volume/mean -m %.17g sim.h5 | awk '/^ *[0-9]/ { print $1 }')
    awk -v a="$areas" -v b="$volume" 'BEGIN { exit !(a > 0 && a / b - 1 < 1e-9 && 1 - a / b < 1e-9) }' ||
        fail "the mean of the boxes is $areas, that of box_size $volume"
}

# A coupling counts in the pressure as in what is sampled, rung by rung, and so does an umbrella on a distance.
test_pressure_with_couplings_is_the_one_imposed()
{
    boxes 2 16 0.7 1 8 40000 <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.5
	truncation = force_shift
	coupling = 0.4
	[potential distance_umbrella]
	form = force
	strength = 3
	coupling = 0.5
	[observable virial_pressure]
	period = 10
	[observable pressure]
	period = 10
	END
    must run sim.ini
    near virial_pressure.pressure 0.7 0.01
    near pressure.pressure 0.7 0.01
    change 's/^coupling = 0.4//'
    printf '[ladder]\nvary = lennard_jones.coupling\nvalues = 0.4 1.6\n[mover exchange]\nevery = 10\n' >>sim.ini
    must run sim.ini
    near virial_pressure.pressure@0.4 0.7 0.02
    near virial_pressure.pressure@1.6 0.7 0.02
    printf '[potential hard_disk]\n' >>sim.ini
    change '/^\[observable virial/,/^period/d'
    refused 3 "sim.ini:30: [observable pressure] walkers have different couplings of 'lennard_jones', but the extrapolation needs a single energy at contact" run sim.ini
    change '/^\[ladder\]/,$d; s/^strength = 3/strength = 0/'
    printf '[potential hard_disk]\n' >>sim.ini
    change 's/^truncation.*/&\ncoupling = 0.4/; s/^temperature.*//; s/^pressure = 0.7/&\ntemperature = 0.8/'
    must run sim.ini
    near pressure.pressure 0.7 0.02
}

# So many that threads share what is proposed, compared and decided, on a ladder with steps of their own.
many_walkers()
{
    boxes 2 12 0.7 1 6 20 <<-END
	[potential lennard_jones]
	epsilon = 1
	cutoff = 1.5
	[ladder]
	vary = run.pressure
	values = 0.6 0.8
	[mover exchange]
	END
    change 's/^walkers = 2/walkers = 600/; s/^equilibrate = .*/equilibrate = 20/; s/^step = 0.1/&\ntarget_acceptance = 0.4/'
    must run sim.ini --set run.threads=1
}

test_boxes_of_many_walkers_by_any_number_of_threads()
{
    many_walkers
    must run sim.ini --set run.threads=3 --set run.output=threads.h5
    same_chain sim.h5 threads.h5
}

test_boxes_of_many_walkers_on_a_gpu()
{
    gpu
    many_walkers
    must run sim.ini --set run.threads=3 --set run.device=gpu --set run.output=gpu.h5
    for what in movers checkpoint/positions; do
        h5diff sim.h5 gpu.h5 /plugmc/$what >"$out" 2>&1 || fail "$what differ"
    done
}

# Where pair energies jump the pressure has a part of its own, in each direction: at a cutoff, with and without what is
# beyond it; at the edges of wells between hard cores; where tables begin and end; rung by rung. Left out, or taken for
# that of g = 1, the means are wrong by 7 and more standard errors.
# jumping_boxes COUNT LENGTH SWEEPS, as boxes.
jumping_boxes()
{
    boxes 2 "$1" 0.7 1 "$2" "$3"
    printf '%s\n' '[observable virial_pressure]' 'period = 5' >>sim.ini
    change 's/^seed = .*/seed = 12/'
}

# is_the_one_imposed [@RUNG]
is_the_one_imposed()
{
    near "virial_pressure.pressure${1-}" 0.7 0.02
    near "virial_pressure.pressure_x${1-}" 0.7 0.03
}

test_pressure_of_a_cut_liquid_is_the_one_imposed()
{
    jumping_boxes 36 8 40000 <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.5
	END
    must run sim.ini
    is_the_one_imposed
    printf '[potential lennard_jones_tail]\n' >>sim.ini
    must run sim.ini
    is_the_one_imposed
}

test_pressure_of_square_wells_is_the_one_imposed()
{
    boxes 3 24 0.7 1 4 30000 <<-END
	[species large]
	count = 6
	diameter = 1.2
	[potential hard_sphere]
	[potential well]
	plugin = expression
	energy = -e
	e = 0.5 1 0.3
	cutoff = 1.5
	[potential collar]
	plugin = expression
	energy = 0.4
	cutoff = 1.6
	[observable pressure]
	period = 5
	fit_range = 0.1
	degree = 3
	END
    must run sim.ini
    near pressure.pressure 0.7 0.03
}

test_pressure_of_tables_is_the_one_imposed()
{
    awk 'BEGIN { for (r = 1; r < 1.801; r += 0.02) printf "%.2f %.6f\n", r, 2 * exp(-3 * (r - 1)) - 0.8 }' >table.dat
    jumping_boxes 25 7 40000 <<-END
	[potential tabulated]
	files = table.dat
	END
    must run sim.ini
    is_the_one_imposed
    grep -q "pressures use pairs near it" "$err" || fail "the edge of the table is not mentioned"
}

test_pressure_of_jumps_on_a_ladder_is_the_one_imposed()
{
    jumping_boxes 16 7 60000 <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.4
	END
    printf '[ladder]\nvary = lennard_jones.coupling\nvalues = 0.4 1.4\n[mover exchange]\nevery = 10\n' >>sim.ini
    must run sim.ini
    is_the_one_imposed @0.4
    is_the_one_imposed @1.4
}

test_pressure_of_jumps_is_the_one_imposed_on_a_gpu()
{
    gpu
    jumping_boxes 400 24 6000 <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.5
	[potential lennard_jones_tail]
	END
    change 's/^device = cpu/device = gpu/; s/^\[mover serial\]/[mover checkerboard]/; s/^step = 0.1/step = 0.01/'
    must run sim.ini
    is_the_one_imposed
}

test_an_umbrella_without_a_virial_is_refused_by_pressures()
{
    boxes 2 16 0.7 1 8 100 <<-END
	[potential hexatic_umbrella]
	strength = 1
	[observable virial_pressure]
	period = 10
	END
    plugmc run sim.ini
    expect_exit 3
    grep -q "the hexatic order has no virial" "$err" || fail "the umbrella is not refused"
}
