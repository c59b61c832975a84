# Bodies in runs on a GPU: trial moves of one body at a time are made there, in many walkers at a time. Decisions are those of
# the CPU, and positions and orientations the same to the last bit.

# run_of DIMENSION DENSITY COUNT COUNT LINE...: bodies of two species, with these lines
run_of()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	seed = 9
	walkers = 16
	temperature = 1
	threads = 2
	[box]
	dimension = $1
	density = $2
	[species a]
	count = $3
	[species b]
	count = $4
	[initial]
	state = random
	END
    shift 4
    printf '%s\n' "$@" >>sim.ini
}

moves=('[mover serial]' 'step = 0.25' '[mover rotate]' 'step = 0.5' '[mover swap]' 'a = a' 'b = b' 'trials = 20')
patches=('[potential kern_frenkel]' 'directions = 1 0 0  -1 0 0' 'half_angle = 0.9' 'epsilon = 1.3')
polygons=('[potential hard_polygon]' 'sides = 4' 'b = 0.6 0  0.3 0.5  -0.3 0.5  -0.6 0  -0.3 -0.5  0.3 -0.5')
octahedra=('[potential hard_polyhedron]' 'shape = octahedron')
volume=('[mover volume]' 'step = 0.02' '[observable box_size]' 'period = 5')

test_polygons_move_on_a_gpu()
{
    gpu
    run_of 2 0.55 20 12
    alike "${polygons[@]}" "${moves[@]}"
}

# So many that several warps evaluate trials.
test_ellipses_move_on_a_gpu()
{
    gpu
    run_of 2 0.4 120 80
    alike '[potential hard_ellipse]' 'a = 0.8' 'b = 0.4' "${moves[@]}"
}

test_rods_move_on_a_gpu()
{
    gpu
    run_of 3 0.08 30 20
    alike '[potential spherocylinder]' 'length = 2 1' "${moves[@]}"
}

test_polyhedra_move_on_a_gpu()
{
    gpu
    run_of 3 0.5 16 12
    alike "${octahedra[@]}" "${moves[@]}"
}

test_ellipsoids_move_on_a_gpu()
{
    gpu
    run_of 3 0.3 16 12
    alike '[potential hard_ellipsoid]' 'a = 0.8' 'b = 0.4' 'c = 0.3' "${moves[@]}"
}

test_unions_of_spheres_move_on_a_gpu()
{
    gpu
    run_of 3 0.12 30 20
    alike '[potential union_of_spheres]' 'a = 0 0 0 0.5  0.8 0 0 0.4' 'b = 0 0 0 0.5  0 0.6 0 0.5  0 0 0.6 0.5' "${moves[@]}"
}

test_unions_of_polygons_move_on_a_gpu()
{
    gpu
    run_of 2 0.3 30 20
    alike '[potential union_of_polyhedra]' 'b = 3 0.5 -0.3 0 0.6 -0.5 -0.3' \
        'a = 4 0.5 0.5 -0.5 0.5 -0.5 -0.5 0.5 -0.5  4 1 0.5 0.5 0.5 0.5 0 1 0' "${moves[@]}"
}

test_patchy_spheres_move_on_a_gpu()
{
    gpu
    run_of 3 0.4 60 60
    alike "${patches[@]}" "${moves[@]}" '[observable energy]' 'period = 5'
}

# Forces of pairs beside the patches, in an oblique box.
test_bodies_with_forces_of_pairs_move_on_a_gpu()
{
    gpu
    run_of 3 0.2 40 30
    change 's/^density = .*/shape = oblique\na = 7 0 0\nb = 1 7 0\nc = 0 1 7/'
    alike "${patches[@]}" '[potential lennard_jones]' 'epsilon = 0.3' 'sigma = 0.9' 'cutoff = 2' "${moves[@]}" '[observable energy]' 'period = 5'
}

test_polyhedra_at_constant_pressure_on_a_gpu()
{
    gpu
    run_of 3 0.5 16 12
    change 's/^temperature = .*/pressure = 5/'
    alike "${octahedra[@]}" "${moves[@]}" "${volume[@]}"
}

# So few that all pairs are looked at in other boxes, and so many that those in cells are.
test_polygons_at_constant_pressure_on_a_gpu()
{
    gpu
    run_of 2 0.55 20 12
    change 's/^temperature = .*/pressure = 3/'
    alike "${polygons[@]}" "${moves[@]}" "${volume[@]}"
    change 's/^count = .*/count = 70/; s/^sweeps = .*/sweeps = 10/'
    alike
}

# So many that energies in other boxes are summed in cells.
test_patchy_spheres_at_constant_pressure_on_a_gpu()
{
    gpu
    run_of 3 0.35 150 150
    change 's/^temperature = .*/&\npressure = 2/; s/^sweeps = .*/sweeps = 15/'
    alike "${patches[@]}" "${moves[@]}" "${volume[@]}" '[observable energy]' 'period = 5'
}

test_patchy_spheres_on_a_ladder_on_a_gpu()
{
    gpu
    run_of 3 0.35 30 30
    alike "${patches[@]}" "${moves[@]}" '[ladder]' 'vary = run.temperature' 'values = 1 1.1 1.3 1.5' '[mover exchange]' \
        '[observable energy]' 'period = 5'
}

# Bodies that come have random orientations, one for each trial position; those that change their species keep theirs.
test_bodies_come_and_leave_on_a_gpu()
{
    gpu
    run_of 3 0.1 10 10
    change 's/^\[species .\]/&\nmax_count = 40\nactivity = 0.2/'
    alike "${patches[@]}" "${moves[@]}" '[mover insert]' 'species = a' 'trials = 20' '[mover more]' 'plugin = insert' 'species = b' \
        'trials = 20' 'trial_positions = 3' '[mover identity]' 'a = a' 'b = b' 'trials = 10' '[observable numbers]' 'period = 5' \
        '[observable energy]' 'period = 5'
}

test_bodies_are_resumed_on_a_gpu()
{
    gpu
    run_of 2 0.55 20 12
    change 's/^temperature = .*/pressure = 3/'
    printf '%s\n' "${polygons[@]}" "${moves[@]}" "${volume[@]}" >>sim.ini
    must run sim.ini --set run.device=gpu
    must run sim.ini --set run.device=gpu --set run.sweeps=23 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=40
    same_chain sim.h5 parts.h5
}
