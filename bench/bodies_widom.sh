#!/bin/bash
# bodies_widom.sh SWEEPS [SHAPE...]: second virial coefficients by test insertions of bodies. One body in a box of volume V, which is
# longer than twice the distance at which two touch, leaves <exp(-dU/kT)> = 1 - 2 B / V exactly. Prints them beside the exact ones.
#
# PLUGMC is the program, FOLDER where it writes.
set -u
export LC_ALL=C
sweeps=${1:-200} program=${PLUGMC:-plugmc}
shift
mkdir -p "${FOLDER:-bodies_widom}" && cd "${FOLDER:-bodies_widom}" || exit 1

ell='4 -0.5 -0.5 1 -0.5 1 0.5 -0.5 0.5  4 -0.5 0.5 0.5 0.5 0.5 1.5 -0.5 1.5'
# SHAPE DIMENSION EDGE EXACT POTENTIAL KEYS; exact values and their sources: tests/hard_bodies.h, and
# B = B_hard (1 - chi^2 (lambda^d - 1) (exp(epsilon / kT) - 1)) for patches that cover the share chi (Kern, Frenkel, J. Chem. Phys. 118,
# 9882 (2003), eq. 8)
shapes()
{
    cat <<-END
	square 2 3 2.273240 hard_polygon sides = 4
	hexagon 2 4.2 5.462865 hard_polygon sides = 6
	triangle 2 2.5 1.149211 hard_polygon sides = 3
	pentagon 2 3.6 3.709914 hard_polygon sides = 5
	heptagon 2 4.8 7.533209 hard_polygon sides = 7
	octagon 2 5.4 9.921385 hard_polygon sides = 8
	rectangle_2 2 4.6 4.864789 hard_polygon body = -1 -0.5 1 -0.5 1 0.5 -1 0.5
	rectangle_4 2 8.4 11.957747 hard_polygon body = -2 -0.5 2 -0.5 2 0.5 -2 0.5
	rectangle_10 2 20.3 48.515496 hard_polygon body = -5 -0.5 5 -0.5 5 0.5 -5 0.5
	ellipse 2 4.1 3.438202 hard_ellipse a = 1\nb = 0.5
	ellipse_4 2 8.1 8.997644 hard_ellipse a = 2\nb = 0.5
	ellipse_6 2 12.1 17.047176 hard_ellipse a = 3\nb = 0.5
	ellipse_9 2 18.1 33.846821 hard_ellipse a = 4.5\nb = 0.5
	discorectangle 2 4.1 3.889106 spherocylinder length = 1
	long_discorectangle 2 10.2 14.663755 spherocylinder length = 4
	discorectangle_5 2 12.2 19.528542 spherocylinder length = 5
	cube 3 3.6 5.5 hard_polyhedron shape = cube
	tetrahedron 3 2.6 0.907892 hard_polyhedron shape = tetrahedron
	octahedron 3 2.9 2.507395 hard_polyhedron shape = octahedron
	dodecahedron 3 5.7 34.947718 hard_polyhedron shape = dodecahedron
	icosahedron 3 3.9 9.725194 hard_polyhedron shape = icosahedron
	rod 3 4.1 6.021386 spherocylinder length = 1
	rod_2 3 6.1 11.519173 spherocylinder length = 2
	rod_3 3 8.1 18.587755 spherocylinder length = 3
	long_rod 3 12.1 37.437312 spherocylinder length = 5
	rod_10 3 22.1 112.050138 spherocylinder length = 10
	ellipsoid 3 6.1 8.566729 hard_ellipsoid a = 1.5\nb = 0.5\nc = 0.5
	spheroid_2 3 4.1 4.752693 hard_ellipsoid a = 1\nb = 0.5\nc = 0.5
	spheroid_half 3 4.1 9.505385 hard_ellipsoid a = 1\nb = 1\nc = 0.5
	spheroid_5 3 10.1 19.771098 hard_ellipsoid a = 2.5\nb = 0.5\nc = 0.5
	spheroid_10 3 20.1 69.069611 hard_ellipsoid a = 5\nb = 0.5\nc = 0.5
	dumbbell 3 4.1 5.7008 union_of_spheres body = -0.5 0 0 0.5 0.5 0 0 0.5
	short_dumbbell 3 3.3 4.1982 union_of_spheres body = -0.3 0 0 0.5 0.3 0 0 0.5
	ell 2 6.5 6.08483 union_of_polyhedra body = $ell
	patches 3 3.1 -5.850697 kern_frenkel half_angle = 1.5707963267948966\nepsilon = 2
	two_patches 3 3.1 -7.393863 kern_frenkel directions = 1 0 0 -1 0 0\nhalf_angle = 1.1\nepsilon = 2
	patches_0.5_T10 3 3.1 1.963610 kern_frenkel half_angle = 1.5707963267948966\nepsilon = 0.1
	patches_0.7_T1 3 3.1 -2.093662 kern_frenkel directions = 1 0 0 -1 0 0\nhalf_angle = 1.2661036727794992\nepsilon = 1
	patches_0.7_T0.7 3 3.1 -5.638675 kern_frenkel directions = 1 0 0 -1 0 0\nhalf_angle = 1.2661036727794992\nepsilon = 1.4285714285714286
	patchy_disks 2 3.1 $(awk 'BEGIN { pi = atan2(0, -1); printf "%.6f", pi / 2 * (1 - (1 / pi) ^ 2 * (1.5 ^ 2 - 1) * (exp(1.5) - 1)) }') kern_frenkel half_angle = 1\nepsilon = 1.5
	END
}

shapes | while read -r shape dimension edge exact potential keys; do
    [ $# = 0 ] || [[ " $* " == *" $shape "* ]] || continue
    cat >"$shape.ini" <<-END
	[run]
	sweeps = $sweeps
	equilibrate = 10
	seed = 31
	threads = 1
	device = cpu
	output = $shape.h5
	[box]
	dimension = $dimension
	lx = $edge
	[species body]
	count = 1
	[initial]
	state = random
	$(printf '[potential %s]\n%b' "$potential" "$keys")
	[mover serial]
	step = 0.5
	[mover rotate]
	step = 3.141592653589793
	[observable widom]
	species = body
	insertions = 100000
	placement = cells
	period = 1
	END
    rm -f "$shape.h5"*
    "$program" run "$shape.ini" >"$shape.said" 2>&1 || { cat "$shape.said"; exit 1; }
    "$program" analyse "$shape.h5" --csv 2>/dev/null | awk -F, -v d="$dimension" -v l="$edge" -v exact="$exact" -v s="$shape" '
        $1 == "widom.boltzmann_factor" {
            half = l ^ d / 2; found = (1 - $2) * half; e = $3 * half
            printf "| %s | %s | %.5f(%.0f) | %.1e | %+.2f |\n", s, exact, found, e * 1e5, e / (exact < 0 ? -exact : exact), (found - exact) / e
        }'
done
