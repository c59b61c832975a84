#!/bin/bash
# bash bodies.sh CASE calls case_CASE: numbers of hard bodies that are known exactly. Results have to be within 4 standard
# errors: a right program fails once in 10^4. Seeds are fixed.
#
# Two bodies in a box of volume V, longer than twice their reach, have beta P V = 2 + 2 B/(V - 2 B), where B is the second
# virial coefficient of the pair: for convex bodies in two dimensions A + U^2/(4 pi), and (A_1 + A_2 + U_1 U_2/(2 pi))/2 for two
# different ones, with areas A and perimeters U (L. A. Santalo, Integral Geometry and Geometric Probability, chapter 6). At a
# constant pressure that of the configurations is the same on average, at any number of bodies.
set -u
export LC_ALL=C
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# is NAME EXPECTED LARGEST_ERROR: a row of the table
is()
{
    awk -v name="$1" -v expected="$2" -v largest="$3" '
    $1 == name {
        found = 1
        split($2, part, /[()]/)
        digits = index(part[1], ".") ? length(part[1]) - index(part[1], ".") : 0
        e = part[2] / 10 ^ digits
        z = (part[1] - expected) / e
        printf "z = %+.2f  %s: %s, expected %s\n", z, name, $2, expected
        if ($2 ~ /\*$/) { print "FAILED: the run is too short for its error bar"; exit 1 }
        if (e > largest) { print "FAILED: the error is above " largest; exit 1 }
        if (!(z < 4 && z > -4)) { print "FAILED: too far from the exact value"; exit 1 }
    }
    END { if (!found) { print "FAILED: no result"; exit 1 } }' results || exit 1
}

# two EDGE SECTION...: two bodies, far from dilute; in $dimension dimensions
dimension=2
two()
{
    local edge=$1
    shift
    printf '%s\n' '[run]' 'sweeps = 40000' 'equilibrate = 500' 'seed = 11' 'walkers = 4' '[box]' "dimension = $dimension" "lx = $edge" \
        '[initial]' 'state = random' '[mover serial]' 'step = 1.4' '[mover rotate]' 'step = 3.1' \
        '[observable body_pressure]' 'period = 2' "$@" >sim.ini
    "$PLUGMC" run sim.ini | tee results
}

case_squares()
{
    two 3 '[species square]' 'count = 2' '[potential hard_polygon]' 'sides = 4'
    is body_pressure.compressibility_factor 1.5104365 0.002 # B = 1 + 16/(4 pi)
}

# Two squares never come nearer than 1, and farther apart than sqrt(2) nothing holds them: there g is V/(V - 2 B).
case_distances()
{
    two 4 '[species square]' 'count = 2' '[potential hard_polygon]' 'sides = 4' '[observable rdf]' 'period = 2' 'bins = 20'
    "$PLUGMC" analyse sim.h5 --print rdf.square-square >distances || exit 1
    awk '!/^#/ {
        bins++
        if ($1 < 1 ? $2 != 0 : !($2 > 0)) { print "FAILED: g(" $1 ") = " $2; bad = 1 }
        if ($1 > 1.45) { z = ($2 - 1.396946) / $3; print "g(" $1 "): z = " z; if (!(z < 4 && z > -4)) bad = 1 }
    }
    END { exit bad || bins != 20 }' distances || { echo "FAILED: too far from V/(V - 2 B)"; exit 1; }
}

# Triangles, whose free paths go behind each other's centres.
case_triangles()
{
    two 4 '[species triangle]' 'count = 2' '[potential hard_polygon]' 'sides = 3' 'edge = 1.6'
    # A = sqrt(3)/4 1.6^2 = 1.1085125, U = 4.8: B = 2.9419775
    is body_pressure.compressibility_factor 1.2908229 0.002
}

# A square, and a disk: a small triangle that is rounded.
case_square_and_disk()
{
    two 3.2 '[species square]' 'count = 1' '[species disk]' 'count = 1' '[potential hard_polygon]' 'radius = 0 0.5' \
        'square = -0.5 -0.5 0.5 -0.5 0.5 0.5 -0.5 0.5' 'disk = -1e-5 -1e-5 1e-5 -1e-5 0 1e-5'
    # 2 B = 1 + pi/4 + 4 pi/(2 pi) = 3.7853982, V = 10.24
    is body_pressure.compressibility_factor 1.2932324 0.002
}

case_many_sides()
{
    two 3 '[species disk]' 'count = 2' '[potential hard_polygon]' 'sides = 48' 'edge = 0.0654031'
    # U = 3.1393488, A = U times the inner radius / 2 = 0.7831565: 2 B = 3.1348662, near the pi of disks
    is body_pressure.compressibility_factor 1.2672459 0.002
}

# Other shapes; their virial coefficients are those of tests/hard_bodies.h.
case_discorectangles()
{
    two 4.1 '[species rod]' 'count = 2' '[potential spherocylinder]' 'length = 1'
    is body_pressure.compressibility_factor 1.4306020 0.002 # A = 1 + pi/4, U = 2 + pi
}

case_ellipses()
{
    two 4.1 '[species ellipse]' 'count = 2' '[potential hard_ellipse]' 'a = 1' 'b = 0.5'
    is body_pressure.compressibility_factor 1.3461185 0.002
}

case_cubes()
{
    dimension=3 two 4 '[species cube]' 'count = 2' '[potential hard_polyhedron]' 'shape = cube'
    is body_pressure.compressibility_factor 1.1037736 0.001
}

case_rods()
{
    dimension=3 two 4.1 '[species rod]' 'count = 2' '[potential spherocylinder]' 'length = 1'
    is body_pressure.compressibility_factor 1.1058645 0.001
}

case_ellipsoids()
{
    dimension=3 two 6.1 '[species spheroid]' 'count = 2' '[potential hard_ellipsoid]' 'a = 1.5' 'b = 0.5' 'c = 0.5'
    is body_pressure.compressibility_factor 1.0408236 0.001
}

# Concave: two bricks in the shape of an L, which interlock. B is that of tests/hard_bodies.h.
ell='4 -0.5 -0.5 1 -0.5 1 0.5 -0.5 0.5  4 -0.5 0.5 0.5 0.5 0.5 1.5 -0.5 1.5'
case_ells()
{
    two 6.5 '[species ell]' 'count = 2' '[potential union_of_polyhedra]' "ell = $ell"
    is body_pressure.compressibility_factor 1.2022861 0.002
}

# ... among many, whose pressure is that which is applied.
case_ells_at_constant_pressure()
{
    squares_and_bars
    sed -i -e 's/^pressure = .*/pressure = 0.6/' -e 's/^density = .*/density = 0.15/' -e '/^bar = /d; /^radius/d' -e "s/^square = .*/square = $ell/" \
        -e 's/hard_polygon/union_of_polyhedra/' -e '/^\[species bar/,/^count/d' sim.ini
    clusters
    is body_pressure.pressure 0.6 0.012
}

# Concave: dumbbells whose free paths go through each other's waists.
case_dumbbells()
{
    dimension=3 two 4.1 '[species dumbbell]' 'count = 2' '[potential union_of_spheres]' 'dumbbell = -0.5 0 0 0.5  0.5 0 0 0.5'
    is body_pressure.compressibility_factor 1.0991109 0.001
}

# Squares and rounded bars.
squares_and_bars()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 10000
	equilibrate = 1000
	seed = 5
	walkers = 4
	pressure = 1.5
	[box]
	dimension = 2
	density = 0.35
	[species square]
	count = 14
	[species bar]
	count = 10
	[initial]
	state = random
	[potential hard_polygon]
	radius = 0 0.2
	square = -0.5 -0.5 0.5 -0.5 0.5 0.5 -0.5 0.5
	bar = -0.8 -0.1 0.8 -0.1 0.8 0.1 -0.8 0.1
	[mover serial]
	step = 0.6
	[mover rotate]
	step = 0.8
	[mover volume]
	[observable body_pressure]
	period = 5
	[observable box_size]
	period = 5
	END
}

case_constant_pressure()
{
    squares_and_bars
    "$PLUGMC" run sim.ini | tee results
    is body_pressure.pressure 1.5 0.03
}

# Turns by any angle make each sample independent; edges of 1e-3 hardly ever meet.
case_order()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20000
	equilibrate = 10
	seed = 8
	[box]
	dimension = 2
	lx = 50
	[species square]
	count = 20
	[initial]
	state = random
	[potential hard_polygon]
	sides = 4
	edge = 1e-3
	[mover serial]
	step = 10
	[mover rotate]
	step = 3.141592653589793
	[observable body_order]
	period = 4
	fold = 4
	END
    "$PLUGMC" run sim.ini | tee results
    is body_order.psi_squared 0.05 0.001
    is body_order.psi_real 0 0.004
}

# Steps of energy: two patchy spheres, or disks, whose B is that of hard ones times 1 - chi^2 (lambda^d - 1) (e - 1), with chi
# the share that patches cover and e = exp(epsilon / kT).
# patchy BALLS CHI DIMENSION EPSILON EDGE
patchy()
{
    awk -v balls="$1" -v chi="$2" -v d="$3" -v u="$4" -v l="$5" 'BEGIN {
        b = balls * (1 - chi * chi * (1.5 ^ d - 1) * (exp(u) - 1)); printf "%.6f", 1 + b / (l ^ d - 2 * b) }'
}

case_half_spheres()
{
    dimension=3 two 4 '[species ball]' 'count = 2' '[potential kern_frenkel]' 'half_angle = 1.5707963267948966' 'epsilon = 2'
    is body_pressure.compressibility_factor "$(patchy 2.0943951 0.5 3 2 4)" 0.002
}

case_two_patches()
{
    dimension=3 two 4 '[species ball]' 'count = 2' '[potential kern_frenkel]' 'directions = 1 0 0 -1 0 0' 'half_angle = 1.1' 'epsilon = 2'
    is body_pressure.compressibility_factor "$(patchy 2.0943951 0.5464039 3 2 4)" 0.002
}

case_patchy_disks()
{
    two 3.5 '[species disk]' 'count = 2' '[potential kern_frenkel]' 'half_angle = 1' 'epsilon = 1.5'
    is body_pressure.compressibility_factor "$(patchy 1.5707963 0.3183099 2 1.5 3.5)" 0.003
}

# ... among many, and at a temperature that is not 1.
case_patches_at_constant_pressure()
{
    squares_and_bars
    sed -i -e 's/^pressure = .*/pressure = 0.4\ntemperature = 0.8/' -e 's/^density = .*/density = 0.3/' -e 's/dimension = 2/dimension = 3/' \
        -e '/^bar = /d; /^radius/d; /^square = /d' -e 's/hard_polygon\]/kern_frenkel]\nhalf_angle = 1.2\ndirections = 1 0 0 -0.5 0.8 0/' sim.ini
    clusters
    is body_pressure.pressure 0.5 0.02
}

# Two that are moved by half-turns of clusters alone.
clusters()
{
    "$PLUGMC" run sim.ini | tee results
}

case_clusters_of_cubes()
{
    PLUGMC=true dimension=3 two 4 '[species cube]' 'count = 2' '[potential hard_polyhedron]' 'shape = cube' '[mover cluster_bodies]' 'clusters = 3'
    sed -i '/^\[mover serial/,/^step = 1.4/d' sim.ini
    clusters
    is body_pressure.compressibility_factor 1.1037736 0.001
}

# One patch on a half of each of two spheres: they are in the well with the probability p e / (1 - p + p e), where p, a
# quarter of the shell over the volume that spheres leave, is that without attraction.
case_clusters_of_patches()
{
    PLUGMC=true dimension=3 two 4 '[species ball]' 'count = 2' '[potential kern_frenkel]' 'half_angle = 1.5707963267948966' 'epsilon = 2' \
        '[mover cluster_bodies]' 'clusters = 3'
    sed -i -e '/^\[mover serial/,/^step = 1.4/d' -e 's/^\[observable body_pressure/[observable energy/' sim.ini
    clusters
    is energy.energy "$(awk 'BEGIN { s = 4 * atan2(0, -1) / 3; p = s * 2.375 / 4 / (64 - s)
        printf "%.6f", -p * exp(2) / (1 - p + p * exp(2)) }')" 0.004
}

# Triangles and bars, which are not their own images, in clusters of many.
case_clusters_at_constant_pressure()
{
    squares_and_bars
    sed -i -e 's/^\[mover serial\]/[mover cluster_bodies]\nclusters = 12/' -e '/^step = 0.6/d' \
        -e 's/^square = .*/square = -0.5 -0.3 0.5 -0.3 0 0.7/' sim.ini
    clusters
    is body_pressure.pressure 1.5 0.03
}

# Two spheres with a patch on one half of each, epsilon = 1 kT: while they are in the well, the sign of the cosines with the way
# from one to the other decides, and <u_i . u_j> = -(e - 1)/16 / (1 + (e - 1)/4); outside it is 0.
case_correlations()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60000
	equilibrate = 100
	seed = 9
	walkers = 8
	[box]
	dimension = 3
	lx = 3
	[species ball]
	count = 2
	[initial]
	state = random
	[potential kern_frenkel]
	half_angle = 1.5707963267948966
	[mover serial]
	step = 2
	[mover rotate]
	step = 3.141592653589793
	[observable body_correlations]
	period = 2
	axis = x
	bins = 6
	END
    "$PLUGMC" run sim.ini >results || exit 1
    "$PLUGMC" analyse sim.h5 --print body_correlations.P1 >polar || exit 1
    awk '!/^#/ && $1 > 1 {
        bins++
        z = ($2 + ($1 < 1.5 ? (exp(1) - 1) / 16 / (1 + (exp(1) - 1) / 4) : 0)) / $3
        print "P1(" $1 ") = " $2 " +- " $3 ": z = " z
        if (!(z < 4 && z > -4 && $3 < 0.01)) bad = 1
    }
    END { exit bad || bins != 2 }' polar || { echo "FAILED: too far from the exact value"; exit 1; }
}

# Test insertions of bodies, which draw orientations. One in a box of volume V leaves <exp(-dU/kT)> = 1 - 2 B / V.
test_insertions()
{
    PLUGMC=true two "$@" '[observable widom]' 'species = body' 'insertions = 20000' 'placement = cells'
    sed -i -e 's/^sweeps = .*/sweeps = 100/' -e 's/^walkers = .*/walkers = 1/' -e '/^\[observable body_pressure/,/^period/d' sim.ini
    echo 'period = 1' >>sim.ini
    clusters
}

case_test_insertions_of_hexagons()
{
    test_insertions 4.2 '[species body]' 'count = 1' '[potential hard_polygon]' 'sides = 6'
    is widom.boltzmann_factor 0.380620 0.0004 # B = 5.4628650
}

case_test_insertions_of_cubes()
{
    dimension=3 test_insertions 3.6 '[species body]' 'count = 1' '[potential hard_polyhedron]' 'shape = cube'
    is widom.boltzmann_factor 0.764232 0.0004
}

case_test_insertions_of_patches()
{
    dimension=3 test_insertions 3.1 '[species body]' 'count = 1' '[potential kern_frenkel]' 'half_angle = 1.5707963267948966' 'epsilon = 2'
    is widom.boltzmann_factor 1.392783 0.002 # B = -5.850697
}

# Among up to ten squares that come and go their activity is found, which is given.
case_test_insertions_beside_insertions()
{
    PLUGMC=true two 5 '[species body]' 'count = 5' 'max_count = 10' 'activity = 0.9' '[potential hard_polygon]' 'sides = 4' \
        '[mover insert]' 'species = body' 'trials = 8' '[observable widom]' 'species = body' 'insertions = 500' 'period = 4'
    sed -i '/^\[observable body_pressure/,/^period/d' sim.ini
    clusters
    is widom.ln_activity -0.1053605 0.01
}

"case_$1"
