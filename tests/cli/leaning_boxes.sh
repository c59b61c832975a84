# Oblique boxes whose vectors change: what keeps tilts where they may be, and boxes in which nearest images are not found.

# leaning SWEEPS SHAPE: an oblique box of eight particles whose edges change, and lean; potentials and observables
# follow from standard input.
leaning()
{
    local rest
    rest=$(cat)
    cat >sim.ini <<-END
	[run]
	sweeps = $1
	seed = 5
	device = cpu
	walkers = 40
	pressure = 1
	[box]
	dimension = 3
	shape = oblique
	a = 3 0 0
	b = 0 3 0
	c = 0 0 3
	[species ion]
	count = 8
	charge = 1
	[initial]
	state = random
	[mover serial]
	step = 1
	[mover volume]
	shape = $2
	step = 0.1
	target_acceptance = 0
	[mover tilt]
	plugin = volume
	shape = shear
	step = 1
	target_acceptance = 0
	trials = 4
	$rest
	END
}

# Edges that change must not lead out of the tilts that shears keep to: no shear would lead back there.
test_edges_that_change_leave_tilts_as_they_are()
{
    local tilt
    leaning 60 axes <<-END
	[potential lennard_jones]
	epsilon = 1e-9
	sigma = 0.001
	cutoff = 0.002
	[observable box_size]
	period = 1
	END
    must run sim.ini
    for tilt in tilt_ab tilt_ac tilt_bc; do
        h5dump -y -w 1 -m %.12g -d /plugmc/observables/box_size/$tilt/series sim.h5 | tr -d ' ,' |
            awk '/^-?[0-9]/ { n++; out += !($1 <= 0.5 + 1e-9 && $1 >= -0.5 - 1e-9); square += $1 ^ 2 }
                END { exit !(n == 2400 && !out && square / n > 0.07 && square / n < 0.1) }' ||
            fail "$tilt is not anywhere from -1/2 to 1/2"
    done
}

# Pairs of any range count by their nearest images; those that are near alone are found in any box.
test_boxes_too_skewed_for_nearest_images()
{
    leaning 1000 axes <<-END
	[potential coulomb]
	bjerrum_length = 0.001
	minimum_image = yes
	END
    plugmc run sim.ini
    expect_exit 3
    grep -q "the box of walker [0-9]* is too skewed to find nearest images: its heights are " "$err" ||
        fail "the box that is too skewed is not named"
    leaning 200 axes <<-END
	[potential lennard_jones]
	epsilon = 1e-9
	sigma = 0.001
	cutoff = 0.002
	[observable energy]
	period = 1
	END
    must run sim.ini
    printf '[potential coulomb]\nbjerrum_length = 0.001\nminimum_image = yes\nrole = measured\n' >>sim.ini
    plugmc run sim.ini
    expect_exit 3
    grep -q "is too skewed to find nearest images" "$err" ||
        fail "a potential that is measured sees boxes that are too skewed"
}
