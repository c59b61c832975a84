# Particles with orientations: runs that are the same however they are cut, exact cases of one and two bodies, and what is
# refused.

# squares: hard squares that move, turn and are compressed
squares()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	equilibrate = 60
	seed = 3
	walkers = 3
	threads = 1
	device = cpu
	pressure = 3
	[box]
	dimension = 2
	density = 0.55
	[species square]
	count = 90
	[species hexagon]
	count = 30
	[initial]
	state = random
	[potential hard_polygon]
	sides = 4
	hexagon = 0.6 0  0.3 0.5  -0.3 0.5  -0.6 0  -0.3 -0.5  0.3 -0.5
	[mover serial]
	step = 0.2
	target_acceptance = 0.4
	[mover rotate]
	step = 0.4
	target_acceptance = 0.4
	[mover swap]
	a = square
	b = hexagon
	trials = 20
	[mover volume]
	step = 0.01
	[observable box_size]
	period = 10
	END
}

test_bodies_are_the_same_however_a_run_is_cut()
{
    squares
    must run sim.ini
    expect_output "of rotate.rotation"
    expect_output "of swap.swap"
    expect_output "of volume.volume"
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=110 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=300
    same_chain one.h5 parts.h5
}

test_clusters_of_bodies_are_the_same_however_a_run_is_cut()
{
    squares
    sed -i 's/^\[mover serial\]/[mover cluster_bodies]\nclusters = 5\nperiod = 10\n&/' sim.ini
    must run sim.ini
    expect_output "of cluster_bodies.cluster"
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=110 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=300
    same_chain one.h5 parts.h5
    sed -i -e '/^\[potential/,/^hexagon = /d' -e 's/^\[mover serial\]/[potential hard_disk]\n&/' sim.ini
    no "'cluster'"
}

# P(2) P(0) / P(1)^2 = (1 - 2 B2 / V) / 2 of at most two bodies that come and go, B2 = A + P^2 / (4 pi) of the area and the
# perimeter (A. Isihara, J. Chem. Phys. 18, 1446 (1950)). Blocks of 64 x 1,000 sweeps; beyond 4.5 with a probability of
# 1e-5, in each of three cases.
# two_bodies SIDES TRIAL_POSITIONS EXACT
two_bodies() { come_and_go 2 "hard_polygon]\nsides = $1" "$2" "$3"; }

# come_and_go DIMENSION POTENTIAL TRIAL_POSITIONS EXACT
come_and_go()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 8000
	equilibrate = 20
	seed = 11
	walkers = 64
	threads = 1
	device = cpu
	[box]
	dimension = $1
	lx = 4
	[species body]
	count = 1
	max_count = 2
	activity = $([ "$1" = 2 ] && echo 0.12 || echo 0.02)
	[initial]
	state = random
	$(printf '[potential %b' "$2")
	[mover insert]
	species = body
	trials = 4
	trial_positions = $3
	[observable numbers]
	period = 1
	END
    must run sim.ini
    /usr/bin/python3 - "$4" <<-END >"$out" || fail "$2: P(2) P(0) / P(1)^2 is not $4"
	import sys, h5py, numpy as np
	s = h5py.File("sim.h5")["plugmc/observables/numbers/N_body/series"][:]
	p = np.array([[np.mean(s[:, w] == k) for k in range(3)] for w in range(s.shape[1])])
	ratio = lambda q: q[2] * q[0] / q[1]**2
	mean, n = p.mean(0), len(p)
	jack = [ratio((mean * n - p[i]) / (n - 1)) for i in range(n)]
	error = np.sqrt((n - 1) * np.var(jack))
	z = (ratio(mean) - float(sys.argv[1])) / error
	print(f"{ratio(mean):.6f} ({error:.1e}), exactly {sys.argv[1]}: z = {z:.2f}")
	sys.exit(int(abs(z) > 4.5))
	END
    cat "$out"
}

test_two_squares_come_and_go() { two_bodies 4 1 0.357923; }
test_two_squares_with_trial_positions() { two_bodies 4 3 0.357923; }
test_two_triangles_come_and_go() { two_bodies 3 1 0.428174; }
# One patch on half of the sphere, epsilon = 3 kT: B2 = -21.6390; two patches of 1.1 rad.
test_two_patchy_spheres() { come_and_go 3 'kern_frenkel]\nhalf_angle = 1.5707963267948966\nepsilon = 3' 1 0.838115; }
test_two_spheres_with_two_patches()
{
    come_and_go 3 'kern_frenkel]\ndirections = 1 0 0  -1 0 0\nhalf_angle = 1.1\nepsilon = 2' 2 0.$(two_patches)
}

# mean_is SERIES EXACT: the mean of a series of sim.h5, by 64 walkers that are independent; beyond 4.5 standard errors with a
# probability of 2e-5 (Student, 63 degrees of freedom).
mean_is()
{
    /usr/bin/python3 - "$@" <<-END >"$out" || fail "$1 is not $2"
	import sys, h5py, numpy as np
	s = h5py.File("sim.h5")["plugmc/observables/" + sys.argv[1] + "/series"][:].mean(0)
	mean, error, exact = s.mean(), s.std(ddof=1) / np.sqrt(len(s)), float(sys.argv[2])
	z = (mean - exact) / error
	print(f"{mean:.6f} ({error:.1e}), exactly {exact}: z = {z:.2f}")
	sys.exit(int(len(s) != 64 or abs(z) > 4.5))
	END
    cat "$out"
}

# two_in_cells DIMENSION EDGE POTENTIAL OBSERVABLE: two bodies in the cells of a checkerboard
two_in_cells()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 6000
	equilibrate = 50
	seed = 12
	walkers = 64
	threads = 1
	device = cpu
	[box]
	dimension = $1
	lx = $2
	[species body]
	count = 2
	[initial]
	state = random
	$(printf '[potential %b' "$3")
	[mover checkerboard_bodies]
	step = 0.5
	turn = 1.5
	trials = 2
	[observable $4]
	period = 2
	END
    must run sim.ini
}

# rods LENGTH: 1,000 rods that long on a lattice, at a density at which they do not fit on a cubic one
rods()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 2
	device = cpu
	threads = 1
	[box]
	dimension = 3
	density = 0.09
	[species rod]
	count = 1000
	[initial]
	state = lattice
	[potential spherocylinder]
	length = $1
	[mover serial]
	step = 0.2
	END
}

# Upright rods of L/D = 4 fit where the lattice is stretched along them; rods as dense as their bounding boxes fit nowhere.
test_long_bodies_begin_on_a_lattice_that_is_stretched()
{
    rods 4
    must run sim.ini
    rods 10
    no "of walker 0 overlap"
}

# beta P V / N = 1 + B2 / (V - 2 B2) of two squares, whose B2 is 1 + 4 / pi, in a box of 9.
test_pressure_of_two_squares_in_cells()
{
    two_in_cells 2 3 'hard_polygon]\nsides = 4' body_pressure
    mean_is body_pressure/compressibility_factor 1.5104365
}

# The energy is -1 with the probability B e / (V - 4 pi / 3 + B (e - 1)): e = exp(2), and B is the volume in which patches
# that cover chi = 1 - cos(1.1) of a sphere meet, chi^2 4 pi / 3 (1.5^3 - 1). Half of it is each sphere's.
test_energy_of_two_patchy_spheres_in_cells()
{
    two_in_cells 3 4 'kern_frenkel]\ndirections = 1 0 0  -1 0 0\nhalf_angle = 1.1\nepsilon = 2' energy
    mean_is energy/energy "$(awk 'BEGIN { chi = 1 - cos(1.1); s = 4 * atan2(0, -1) / 3; b = s * chi * chi * 2.375
        printf "%.6f", -b * exp(2) / (64 - s + b * (exp(2) - 1)) }')"
}

# The same with the patches apart from the spheres, which are rods of length 0.
test_energy_of_two_spheres_with_an_angular_step_in_cells()
{
    two_in_cells 3 4 'spherocylinder]\nlength = 0\n[potential angular_step]\ndirections = 1 0 0  -1 0 0\nhalf_angle = 1.1\nepsilon = 2\ncutoff = 1.5' energy
    mean_is energy/energy "$(awk 'BEGIN { chi = 1 - cos(1.1); s = 4 * atan2(0, -1) / 3; b = s * chi * chi * 2.375
        printf "%.6f", -b * exp(2) / (64 - s + b * (exp(2) - 1)) }')"
}

# Energies of two at a distance of 2, of which the second is turned about z, as HOOMD-blue's tests of AngularStep have them.
test_angular_steps_of_two_that_are_turned()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 1
	device = cpu
	[box]
	dimension = 3
	lx = 12
	[species body]
	count = 2
	[initial]
	state = file
	file = two.xyz
	[potential angular_step]
	pair = lennard_jones
	half_angle = 0.1
	cutoff = 2.5
	[mover serial]
	step = 1e-12
	[observable energy]
	period = 1
	END
    energy_is() # TURN DISTANCE EXPECTED [OPTION...]
    {
        awk -v turn="$1" -v x="$2" 'BEGIN { print 2
            print "Lattice=\"12 0 0 0 12 0 0 0 12\" Properties=species:S:1:pos:R:3:orientation:R:4"
            print "body 3 3 3 0 0 0 1"
            printf "body %.17g 3 3 0 0 %.17g %.17g\n", 3 + x, sin(turn / 2), cos(turn / 2) }' >two.xyz
        must run sim.ini "${@:4}" --set run.output=sim.h5
        must analyse sim.h5 --csv
        awk -F, -v expected="$3" '$1 == "energy.energy" { d = 2 * $2 - expected; found = d < 1e-9 && d > -1e-9 } END { exit !found }' "$out" ||
            fail "turned by $1 at $2: the energy is not $3"
        rm sim.h5
    }
    local pi=3.14159265358979 well=-0.0615234375
    for turn in $pi 3.0426 3.0916; do energy_is $turn 2 $well; done
    energy_is 0 2 0
    energy_is 2.6416 2 0
    energy_is $pi 2.51 0
    energy_is $pi 2 -0.045206546364 --set "potential angular_step.shift=yes"
    energy_is $pi 2 -0.183939720585721 --set "potential angular_step.pair=yukawa"
    energy_is $pi 2 -1 --set "potential angular_step.pair=step"
}

# no SENTENCE [OPTION...]: the run is refused with a sentence that says so.
no()
{
    local sentence=$1
    shift
    plugmc run sim.ini "$@"
    expect_exit 3
    grep -Fq -- "$sentence" "$err" || fail "expected the message: $sentence"
}

# The digits behind 0. of (1 - 2 B2 / V) / 2.
two_patches()
{
    awk 'BEGIN { chi = 1 - cos(1.1); b = 2 * atan2(0, -1) / 3 * (1 - chi * chi * 2.375 * (exp(2) - 1))
                 printf "%06d", 1e6 * (1 - 2 * b / 64) / 2 }'
}

# bad KEYS SENTENCE: other keys of the polygons
bad()
{
    squares
    sed -i "/^sides/d; s/^hexagon = .*/$1/" sim.ini
    no "$2"
}

test_bodies_that_cannot_be()
{
    bad 'sides = 2' 'too few or too many corners'
    bad 'hexagon = 0 0 1 0 1 1' 'does not contain the origin'
    bad 'hexagon = 1 0 -1 1 -0.5 0 -1 -1' 'is not convex at corner 3'
    bad 'hexagon = 1 0 -1 -1 -1 1' 'counter-clockwise'
    bad 'hexagon = 1 0 0 0.5 -1 1 -1 -1' 'three lie on a line'
    bad 'hexagon = 1 0 -1 1 -1' 'odd number of coordinates'
    bad 'radius = 1' 'no species has a polygon'
    bad 'sides = 4\nedge = 12' 'half of the smallest height of the box'
    squares
    sed -i '/^\[potential/,/^hexagon = /d' sim.ini
    sed -i 's/^\[mover serial\]/[potential hard_disk]\n&/' sim.ini
    no 'nothing to turn'
    squares
    sed -i 's/^\[mover serial\]/[mover cluster_bodies]/; s/^step = 0.2$/clusters = 5/; /^\[mover rotate\]/,$d' sim.ini
    sed -i '/^target_acceptance/d' sim.ini
    no 'on the CPU only, but [run] device = gpu' --set run.device=gpu
    squares
    sed -i 's/^\[mover serial\]/[mover checkerboard]\ntrials = 4/' sim.ini
    no 'supports energies of pairs'
    squares
    printf '[observable hard_pressure]\n' >>sim.ini
    no 'is of bodies, whose pressure body_pressure measures'
}

# So many that the last ones which overlap, while bodies grow, are moved alone. The pressure is not measured where some overlap.
test_many_bodies_start_at_random()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 2
	device = cpu
	output = many.h5
	[box]
	dimension = 3
	density = 0.6
	[species body]
	count = 1200
	[initial]
	state = random
	[potential hard_polyhedron]
	shape = octahedron
	[mover serial]
	step = 0.001
	[observable body_pressure]
	period = 1
	END
    must run sim.ini
    expect_output "2            kT/length^3"
}

# Rods among disks whose cores, and not shapes, fill the box: all of them grow.
test_rods_start_at_random_among_hard_disks()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 2
	device = cpu
	[box]
	dimension = 2
	lx = 40
	[species disk]
	count = 1200
	diameter = 1
	[species rod]
	count = 8
	[initial]
	state = random
	[potential hard_disk]
	[potential spherocylinder]
	length = 0 4
	diameter = 0 1
	[mover serial]
	step = 0.001
	END
    must run sim.ini
    expect_output "of 2416 trial moves"
}

# Two boxes of edge 4 that share two squares: 0 and 2, or 1 and 1, of them. The ratio of probabilities is that of two in a
# box to one in each, P(0,2) / P(1,1) = (1 - 2 B2 / V) for both arrangements together (B2 = 2.273240).
test_two_squares_change_boxes()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 8000
	equilibrate = 20
	seed = 12
	walkers = 64
	threads = 1
	device = cpu
	[box]
	dimension = 2
	lx = 4
	[species body]
	count = 1
	max_count = 2
	[initial]
	state = random
	[potential hard_polygon]
	sides = 4
	[mover transfer]
	species = body
	trials = 4
	volume_trials = 0
	[observable numbers]
	period = 1
	END
    must run sim.ini
    /usr/bin/python3 - <<-END >"$out" || fail "squares in two boxes"
	import sys, h5py, numpy as np
	s = h5py.File("sim.h5")["plugmc/observables/numbers/N_body/series"][:]
	apart = np.array([np.mean(s[:, w] == 1) for w in range(0, s.shape[1], 2)])
	exact = 1 / (1 + (1 - 2 * 2.273240 / 16))
	error = apart.std(ddof=1) / np.sqrt(len(apart))
	z = (apart.mean() - exact) / error
	print(f"one in each: {apart.mean():.6f} ({error:.1e}), exactly {exact:.6f}: z = {z:.2f}")
	sys.exit(int(abs(z) > 4.5))
	END
    cat "$out"
}

# Arrays that are enlarged on the way: the chain is that of a run which has had room from the beginning.
test_bodies_without_a_largest_number()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	equilibrate = 20
	seed = 4
	walkers = 2
	threads = 1
	device = cpu
	[box]
	dimension = 2
	lx = 14
	[species square]
	count = 2
	activity = 3
	[initial]
	state = random
	[potential hard_polygon]
	sides = 4
	[mover serial]
	step = 0.3
	[mover rotate]
	step = 0.5
	[mover insert]
	species = square
	trials = 40
	[observable numbers]
	period = 10
	END
    must run sim.ini
    grep -q 'was not enough' "$err" || fail "the arrays were never enlarged"
    mean=$(awk '/^numbers.N_square/ { print $2 }' "$out")
    sed -i 's/^activity = 3/&\nmax_count = 400/' sim.ini
    must run sim.ini --set run.output=roomy.h5
    [ "$(awk '/^numbers.N_square/ { print $2 }' "$out")" = "$mean" ] || fail "the chain depends on the room: $mean"
}
