# Rigid molecules in runs on a GPU: trial moves are made there, one after the other in each walker. Decisions are those of the
# CPU, and places and orientations the same to the last bit.

# run_of WALKERS LINE...: charged dumbbells and bent molecules of uncharged sites, with these lines
run_of()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60
	seed = 9
	walkers = $1
	temperature = 2
	threads = 2
	[box]
	dimension = 3
	lx = 6
	[species a]
	charge = 1
	[species b]
	charge = -1
	[species c]
	[species d]
	[species free]
	count = 6
	END
    shift
    printf '%s\n' "$@" '[initial]' 'state = random' >>sim.ini
}

dumbbells=('[molecule dumbbell]' 'sites = a b' 'places = 0 0 0  0.6 0 0' 'count = 10')
bent=('[molecule bent]' 'sites = c d c' 'places = 0 0 0  0.7 0 0  0.7 0.7 0' 'centre = 0.5 0.2 0' 'count = 10')
atoms=('[potential lennard_jones]' 'epsilon = 1 1 0.7 0.7 0.5' 'sigma = 1' 'cutoff = 2.2')
tail=('[potential tail_correction]')
waves=('[potential coulomb_ewald]' 'bjerrum_length = 1.5' 'cutoff = 2.4' 'alpha = 1.1' 'k_max = 4')
moves=('[mover rigid]' 'step = 0.3' 'turn = 0.4' '[mover serial]' 'step = 0.2')
exchange=('[mover insert_molecule]' 'molecule = dumbbell' 'trials = 20')
results=('[observable energy]' 'period = 5' '[observable numbers]' 'period = 5')
pressure=('[observable virial_pressure]' 'period = 5')

test_molecules_move_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" "${bent[@]}"
    alike "${atoms[@]}" "${tail[@]}" "${moves[@]}" "${results[@]}" "${pressure[@]}"
}

test_molecules_move_beside_waves_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" "${bent[@]}"
    alike "${atoms[@]}" "${waves[@]}" "${moves[@]}" "${results[@]}" "${pressure[@]}"
}

# A reservoir with several positions and orientations, and the change of the waves, of what depends on numbers, and of tails.
test_molecules_come_and_leave_beside_waves_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" 'max_count = 40' 'activity = 0.05' "${bent[@]}"
    alike "${atoms[@]}" "${tail[@]}" "${waves[@]}" "${moves[@]}" "${exchange[@]}" 'trial_positions = 3' 'trial_orientations = 4' \
        "${results[@]}"
}

# Two kinds, and particles that come and leave, too; room is made where there is none.
test_molecules_of_two_kinds_come_and_leave_on_a_gpu()
{
    gpu
    run_of 16 'max_count = 30' 'activity = 0.02' "${dumbbells[@]}" 'activity = 0.05' "${bent[@]}" 'mu = -6'
    alike "${atoms[@]}" "${moves[@]}" "${exchange[@]}" '[mover more]' 'plugin = insert_molecule' 'molecule = bent' 'trials = 20' \
        'trial_positions = 2' '[mover insert]' 'species = free' 'trials = 10' 'trial_positions = 3' "${results[@]}"
}

# The same with charges and tails: what depends on numbers alone is one table of all three.
test_molecules_of_two_kinds_come_and_leave_beside_waves_on_a_gpu()
{
    gpu
    run_of 16 'max_count = 30' 'activity = 0.02' "${dumbbells[@]}" 'max_count = 30' 'activity = 0.05' "${bent[@]}" 'max_count = 25' 'mu = -6'
    change 's/^\[species c\]/&\ncharge = 0.4/; s/^\[species d\]/&\ncharge = -0.8/'
    alike "${atoms[@]}" "${tail[@]}" "${waves[@]}" "${moves[@]}" "${exchange[@]}" '[mover more]' 'plugin = insert_molecule' 'molecule = bent' \
        'trials = 20' 'trial_positions = 2' '[mover insert]' 'species = free' 'trials = 10' "${results[@]}"
}

# Where boxes change, too, tables of numbers and weights of waves are those of each walker's box.
test_molecules_come_and_leave_beside_waves_in_changing_boxes_on_a_gpu()
{
    gpu
    run_of 8 "${dumbbells[@]}" 'max_count = 40' 'activity = 0.05' "${bent[@]}"
    change 's/^temperature = .*/temperature = 2\npressure = 0.3/'
    alike "${atoms[@]}" "${tail[@]}" "${waves[@]/k_max = 4/k_max = 9}" "${moves[@]}" "${exchange[@]}" 'trial_positions = 3' \
        'trial_orientations = 4' '[mover volume]' 'step = 0.01' "${results[@]}"
}

transfer=('[mover transfer]' 'species = dumbbell' 'trials = 20' 'step = 0.02')

# Pairs of boxes share dumbbells, and volume beside waves and tails.
test_molecules_go_between_boxes_beside_waves_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" 'max_count = 40' "${bent[@]}"
    change 's/^lx = .*/lx = 6.4/'
    alike "${atoms[@]}" "${tail[@]}" "${waves[@]/k_max = 4/k_max = 9}" "${moves[@]}" "${transfer[@]}" 'trial_positions = 3' \
        'trial_orientations = 4' "${results[@]}"
    must run sim.ini --set run.device=gpu --set run.sweeps=23 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=60
    same_chain gpu.h5 parts.h5
}

# One position; boxes that stay, and are full now and then; sweeps that the GPU makes in one call.
test_molecules_go_between_boxes_that_stay_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" 'max_count = 11' "${bent[@]}"
    alike "${atoms[@]}" "${moves[@]}" "${transfer[@]}" 'volume_trials = 0' "${results[@]}"
}

test_molecules_go_between_boxes_on_a_ladder_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" 'max_count = 40' "${bent[@]}"
    alike "${atoms[@]}" "${waves[@]}" "${moves[@]}" "${transfer[@]}" 'volume_trials = 0' 'trial_positions = 2' '[ladder]' \
        'vary = run.temperature' 'values = 2 2.5 3 4' '[mover exchange]' "${results[@]}"
}

identity=('[mover identity]' 'a = dumbbell' 'b = bent' 'trials = 20')
swap=('[mover swap]' 'a = dumbbell' 'b = bent' 'trials = 20')

test_molecules_become_others_beside_waves_on_a_gpu()
{
    local orientations
    gpu
    for orientations in 1 4; do
        run_of 16 "${dumbbells[@]}" 'max_count = 40' 'activity = 0.05' "${bent[@]}" 'mu = -3.5' 'max_count = 40'
        change 's/^\[species c\]/&\ncharge = -0.3/; s/^\[species d\]/&\ncharge = 0.6/'
        alike "${atoms[@]}" "${tail[@]}" "${waves[@]}" "${moves[@]}" "${exchange[@]}" "${identity[@]}" "trial_orientations = $orientations" \
            "${swap[@]}" "${results[@]}"
        must run sim.ini --set run.device=gpu --set run.sweeps=23 --set run.output=parts.h5
        must run --resume parts.h5 --set run.sweeps=60
        same_chain gpu.h5 parts.h5
    done
}

# Hard cores, which overlap between the two that trade places as well.
test_molecules_trade_places_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" "${bent[@]}"
    change 's/^\[species .*/&\ndiameter = 0.5/'
    alike '[potential hard_sphere]' "${waves[@]}" "${moves[@]}" "${swap[@]}" "${results[@]}"
}

# Each kind of molecule is a macrostate.
test_weights_of_molecules_that_become_others_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" 'max_count = 20' 'activity = 0.05' "${bent[@]}" 'mu = -3.5' 'max_count = 20'
    change 's/^sweeps = .*/sweeps = 60\nequilibrate = 20/'
    alike "${atoms[@]}" "${moves[@]}" "${identity[@]}" 'trial_orientations = 3' '[mover wang_landau]' 'variable = dumbbell' 'windows = 2' \
        'period = 5' 'learning = 20'
}

test_weights_of_molecules_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" 'max_count = 30' 'activity = 0.05' "${bent[@]}"
    change 's/^sweeps = .*/sweeps = 60\nequilibrate = 20/'
    alike "${atoms[@]}" "${moves[@]}" "${exchange[@]}" '[mover wang_landau]' 'variable = dumbbell' 'windows = 2' 'period = 5' \
        'learning = 20'
}

# Energies of whole configurations, in other boxes and on other rungs, are found on the GPU, too.
in_changing_boxes()
{
    gpu
    run_of 8 "${dumbbells[@]}" "${bent[@]}"
    change 's/^temperature = .*/temperature = 2\npressure = 0.2/'
    alike "${atoms[@]}" "$@" "${moves[@]}" '[mover volume]' 'step = 0.05' "${results[@]}"
}

test_molecules_in_changing_boxes_on_a_gpu() { in_changing_boxes; }

test_molecules_beside_waves_in_changing_boxes_on_a_gpu() { in_changing_boxes "${tail[@]}" "${waves[@]/k_max = 4/k_max = 9}"; }

test_molecules_on_a_ladder_on_a_gpu()
{
    gpu
    run_of 8 "${dumbbells[@]}" "${bent[@]}"
    alike "${atoms[@]}" "${waves[@]}" "${moves[@]}" '[ladder]' 'vary = run.temperature' 'values = 2 2.5 3 4' '[mover exchange]' \
        "${results[@]}"
}

test_molecules_are_resumed_on_a_gpu()
{
    gpu
    run_of 16 "${dumbbells[@]}" 'max_count = 40' 'activity = 0.05' "${bent[@]}"
    printf '%s\n' "${atoms[@]}" "${waves[@]}" "${moves[@]}" "${exchange[@]}" "${results[@]}" >>sim.ini
    must run sim.ini --set run.device=gpu
    must run sim.ini --set run.device=gpu --set run.sweeps=23 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=60
    same_chain sim.h5 parts.h5
}

# on_host MOVER WHY LINE...: the run and its check say, with these lines, that and why the host makes this mover's trial moves.
on_host()
{
    local said="[mover $1] makes its trial moves on the host, not on the GPU: $2"
    shift 2
    printf '%s\n' "$@" >>sim.ini
    change 's/^sweeps = .*/sweeps = 2\ndevice = gpu/'
    must check sim.ini
    expect_output "$said"
    must run sim.ini
    grep -Fq -- "$said" "$out" "$err" || fail "expected: $said"
}

test_it_is_said_that_few_walkers_are_moved_on_the_host_on_a_gpu()
{
    gpu
    run_of 4 "${dumbbells[@]}" "${bent[@]}"
    on_host rigid 'a GPU moves 8 walkers or more, and here are 4' "${atoms[@]}" "${moves[@]}"
}

# In changing boxes each walker has a table of two million energies or less, of all together.
test_it_is_said_that_there_are_too_many_numbers_in_changing_boxes_on_a_gpu()
{
    gpu
    run_of 8 'max_count = 600' 'activity = 0.05' "${dumbbells[@]}" 'max_count = 600' 'activity = 0.05' "${bent[@]}"
    change 's/^temperature = .*/temperature = 2\npressure = 0.2/'
    on_host insert_molecule "'tail_correction' has more than two million energies, one for each combination of the numbers that change in \
each walker's box" "${atoms[@]}" "${tail[@]}" "${moves[@]}" "${exchange[@]}" '[mover insert]' 'species = free' '[mover volume]' 'step = 0.01'
}

test_it_is_said_that_particles_are_transferred_on_the_host_on_a_gpu()
{
    gpu
    run_of 8 'max_count = 40' "${dumbbells[@]}" "${bent[@]}"
    printf '%s\n' "${atoms[@]}" "${moves[@]}" '[mover transfer]' 'species = free' >>sim.ini
    change 's/^sweeps = .*/sweeps = 2\ndevice = gpu/'
    must check sim.ini
    expect_output '[mover transfer] makes its trial moves on the host, not on the GPU: there only rigid molecules go from box to box'
    must run sim.ini
    grep -Fq '[mover transfer] makes its trial moves on the host, not on the GPU' "$out" "$err" || fail "the run does not say it"
}

# What the GPU does is not mentioned.
test_nothing_is_said_of_molecules_that_a_gpu_moves_on_a_gpu()
{
    gpu
    run_of 8 "${dumbbells[@]}" 'max_count = 40' 'activity = 0.05' "${bent[@]}"
    printf '%s\n' "${atoms[@]}" "${tail[@]}" "${waves[@]}" "${moves[@]}" "${exchange[@]}" >>sim.ini
    change 's/^sweeps = .*/sweeps = 2\ndevice = gpu/'
    for what in check run; do
        must $what sim.ini
        ! grep -q 'on the host' "$out" "$err" || fail "$what says that something is on the host"
    done
}

# ewald_rigid makes the chain of rigid, and ewald_serial that of serial, with order = sequential, in any number of walkers.
# one_by_one LINE...: sim.ini with these lines; gpu.ini has the movers of the GPU
one_by_one()
{
    printf '%s\n' "$@" '[mover molecules]' 'plugin = rigid' 'order = sequential' 'step = 0.3' 'turn = 0.4' '[mover others]' 'plugin = serial' \
        'order = sequential' 'step = 0.2' "${results[@]:0:2}" >>sim.ini
    sed '/^order = /d; s/^plugin = \(rigid\|serial\)$/plugin = ewald_\1/' sim.ini >gpu.ini
    must run sim.ini --set run.output=cpu.h5
    must run gpu.ini --set run.device=gpu
    cat "$out"
    agree
}

charges() { change 's/^\[species c\]/&\ncharge = 0.4/; s/^\[species d\]/&\ncharge = -0.8/; s/^\[species free\]/&\ncharge = 0.5/'; }

test_molecules_one_by_one_beside_waves_on_a_gpu()
{
    gpu
    run_of 3 "${dumbbells[@]}" "${bent[@]}"
    charges
    one_by_one "${atoms[@]}" "${tail[@]}" "${waves[@]}"
    must run gpu.ini --set run.device=gpu --set run.sweeps=23 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=60
    same_chain gpu.h5 parts.h5
}

# More than a batch of molecules, with hard cores, and a kind of move alone whose energies are kept.
test_many_molecules_one_by_one_on_a_gpu()
{
    gpu
    run_of 1 "${dumbbells[@]/count = 10/count = 75}" "${bent[@]/count = 10/count = 1}"
    change 's/^lx = .*/lx = 7/; s/^\[species .*/&\ndiameter = 0.6/'
    one_by_one '[potential hard_sphere]' "${waves[@]}"
    change '/^\[mover others\]/,/^step/d'
    sed '/^order = /d; s/^plugin = rigid$/plugin = ewald_rigid/' sim.ini >gpu.ini
    must run sim.ini --set run.output=cpu.h5
    must run gpu.ini --set run.device=gpu
    agree
    # beside another mover, of almost no moves, energies are computed anew
    printf '%s\n' '[mover little]' 'plugin = rigid' 'trials = 1' 'step = 1e-11' >>gpu.ini
    must run gpu.ini --set run.device=gpu --set run.output=anew.h5
    h5diff -d 1e-6 gpu.h5 anew.h5 /plugmc/observables >"$out" 2>&1 || fail "energies that were kept differ from those computed anew"
}

test_molecules_one_by_one_on_a_ladder_on_a_gpu()
{
    gpu
    run_of 4 "${dumbbells[@]}" "${bent[@]}"
    charges
    one_by_one "${atoms[@]}" "${waves[@]}" '[ladder]' 'vary = coulomb_ewald.coupling' 'values = 0.5 1' '[mover exchange]'
}
