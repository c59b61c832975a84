# Neutral groups of ions that come and go (mover insert_group): runs are the same however they are cut.
# Its laws are in tests/distributions, what it does not go with in tests/refusals.

. "$here/energies_on_a_gpu.sh" # same_on_both

# salt LINE...: calcium and chloride ions; lines are added to the INI
salt()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 200
	equilibrate = 0
	seed = 3
	walkers = 3
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 9
	[species Ca]
	count = 4
	max_count = 30
	diameter = 1
	charge = 2
	activity = 0.002
	[species Cl]
	count = 8
	max_count = 60
	diameter = 1
	charge = -1
	activity = 0.03
	[initial]
	state = random
	[potential hard_sphere]
	[mover serial]
	step = 1
	[mover insert_group]
	group = Cl Ca Cl
	trials = 20
	[observable numbers]
	period = 5
	[observable energy]
	period = 5
	END
    printf '%s\n' "$@" >>sim.ini
}

same_however_it_is_cut()
{
    must run sim.ini
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=73 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=200
    same_chain one.h5 parts.h5
    awk '/insert_group.(insertion|removal)/ { if ($2 + 0 > 0.01) good++ } END { exit good < 2 }' "$out" ||
        fail "hardly any group comes or goes"
}

test_groups_of_ions_are_cut()
{
    salt '[potential coulomb]' 'bjerrum_length = 1' 'minimum_image = yes'
    same_however_it_is_cut
}

test_groups_in_ewald_sums_are_cut()
{
    salt '[potential coulomb_ewald]' 'bjerrum_length = 1'
    same_however_it_is_cut
    # beside single ions that move, swapped ones and boxes that change
    change 's/^seed/pressure = 0.05\n&/; s/^\[mover insert_group\]/[mover volume]\nstep = 0.01\n&/'
    change 's/^bjerrum_length = 1/&\ncutoff = 3\nalpha = 1\nk_max = 9/'
    rm -f ./*.h5
    same_however_it_is_cut
}

# The mesh and the waves of one sum, whose pairs are the same: energies differ by some 1e-7, decisions do not.
mesh_and_waves()
{
    salt
    change 's/^sweeps = .*/sweeps = 30/; s/^walkers = .*/walkers = 2/; s/^trials = .*/trials = 10/; s/^period = .*/period = 1/'
    for setting; do change "$setting"; done
    cp sim.ini base.ini
    printf '%s\n' '[potential coulomb_ewald]' 'bjerrum_length = 1' 'cutoff = 4' 'alpha = 1.1' 'k_max = 15' >>sim.ini
    must run sim.ini --set run.output=waves.h5 --set run.device=cpu
    awk '/insert_group.(insertion|removal)/ { if ($2 + 0 > 0.01) good++ } END { exit good < 2 }' "$out" ||
        fail "hardly any group comes or goes"
    cp base.ini sim.ini
    printf '%s\n' '[potential coulomb_spme]' 'bjerrum_length = 1' 'cutoff = 4' 'alpha = 1.1' 'grid = 36' 'order = 8' \
        'precision = double' >>sim.ini
    must run sim.ini --set run.output=mesh.h5
    h5diff -d 1e-8 waves.h5 mesh.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "decisions differ"
    h5diff -d 1e-8 waves.h5 mesh.h5 /plugmc/observables/numbers >"$out" 2>&1 || fail "numbers differ"
    h5diff -d 1e-6 waves.h5 mesh.h5 /plugmc/observables/energy/energy >"$out" 2>&1 || fail "energies differ"
}
test_groups_beside_a_mesh() { mesh_and_waves; }
test_groups_beside_a_mesh_in_changing_boxes()
{
    mesh_and_waves 's/^seed/pressure = 0.05\n&/; s/^\[mover insert_group\]/[mover volume]\nstep = 0.01\n&/'
}
test_groups_beside_a_mesh_on_a_gpu()
{
    gpu
    mesh_and_waves 's/^device = cpu/device = gpu/'
}

test_groups_beside_a_mesh_are_cut()
{
    salt '[potential coulomb_spme]' 'bjerrum_length = 1' 'cutoff = 3.5'
    change 's/^sweeps = .*/sweeps = 40/; s/^walkers = .*/walkers = 2/; s/^trials = .*/trials = 8/'
    must run sim.ini
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=13 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=40
    same_chain one.h5 parts.h5
}

test_groups_near_the_first_are_cut()
{
    salt '[potential coulomb_ewald]' 'bjerrum_length = 1'
    change 's/^trials = 20/&\nmax_distance = 2/'
    same_however_it_is_cut
}

test_groups_beside_waves_on_a_gpu()
{
    gpu
    salt '[potential coulomb_ewald]' 'bjerrum_length = 1'
    must run sim.ini
    must run sim.ini --set run.device=gpu --set run.output=gpu.h5
    h5diff -d 1e-7 sim.h5 gpu.h5 /plugmc/observables/numbers || fail "another chain than on the CPU"
}

# So many walkers that trials are made on the GPU, with waves and with what depends on the numbers of both ions.
test_groups_of_many_walkers_beside_waves_on_a_gpu()
{
    gpu
    salt '[potential coulomb_ewald]' 'bjerrum_length = 1'
    change 's/^walkers = .*/walkers = 16/; s/^sweeps = .*/sweeps = 60/; /^device = /d'
    same_on_both
    change 's/^trials = 20/&\nmax_distance = 2/'
    same_on_both
}

# In a cube energies of pairs are those of waves, to 1e-5 or so.
test_groups_in_a_cube()
{
    salt '[potential coulomb_ewald]' 'bjerrum_length = 1'
    must run sim.ini --set run.output=waves.h5
    salt '[potential coulomb_cube]' 'bjerrum_length = 1'
    same_however_it_is_cut
    h5diff -d 1e-8 waves.h5 sim.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "decisions differ"
    h5diff -d 1e-4 waves.h5 sim.h5 /plugmc/observables/energy/energy >"$out" 2>&1 || fail "energies differ"
}

# Ions that were put anywhere are removed all too easily: weights that go on believing so keep walkers away from numbers
# where that was seen. With them no removal at all was tried from the least of these numbers, or one in 900 of the most.
test_weights_forget_how_walkers_began()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 200
	equilibrate = 200
	seed = 101
	walkers = 16
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 8
	[species cation]
	count = 16
	max_count = 64
	diameter = 1
	charge = 1
	activity = 1.4e-6
	[species anion]
	count = 16
	max_count = 64
	diameter = 1
	charge = -1
	activity = 1.4e-6
	[initial]
	state = random
	[potential hard_sphere]
	[potential coulomb_cube]
	bjerrum_length = 20
	[mover serial]
	step = 0.5
	target_acceptance = 0.3
	[mover insert_group]
	group = cation anion
	trials = 400
	max_distance = 1.5
	[mover transition_matrix]
	variable = cation
	windows = 4
	period = 10
	END
    must run sim.ini
    must analyse sim.h5 --print transition_matrix.transitions
    awk '!/^#/ && $2 == 1 { if (!n++ || $3 < least) least = $3; if ($3 > most) most = $3 }
        END { exit !(n == 65 && least > 0.02 * most) }' "$out" || fail "some numbers were hardly visited: $(cat "$out")"
}

# ---- Decided on a GPU, where walkers are many ---------------------------------------------------------

decided_on_a_gpu()
{
    gpu
    salt '[potential coulomb_cube]' 'bjerrum_length = 1' "$@"
    change 's/^walkers = .*/walkers = 33/; s/^sweeps = .*/sweeps = 30/'
}

test_groups_on_a_gpu()
{
    decided_on_a_gpu
    same_on_both
    printf '%s\n' '[bench]' 'vary = species Ca.count' 'values = 4' 'which = insert_group' 'sweeps = 1' 'repeat = 1' 'profile = yes' >>sim.ini
    must bench sim.ini --set run.device=gpu
    grep -q walk_make_groups "$out" || fail "they are not decided there"
}

# Up to `most`, near each other and not, beside single ones.
test_groups_near_the_first_on_a_gpu()
{
    decided_on_a_gpu '[mover far]' 'plugin = insert_group' 'group = Ca Cl Cl' 'trials = 20'
    change '/^\[mover insert_group\]/,/^trials/s/^trials.*/&\nmax_distance = 2.5/; s/^max_count = 30/max_count = 8/; s/^max_count = 60/max_count = 16/'
    same_on_both
    change 's/^diameter = 1/diameter = 0.01/; s/coulomb_cube/coulomb/; s/^bjerrum.*/bjerrum_length = 0.001\nminimum_image = yes/'
    same_on_both
}

test_groups_with_weights_on_a_gpu()
{
    decided_on_a_gpu
    change '/^\[observable/,/^period/d'
    printf '%s\n' '[mover transition_matrix]' 'variable = Ca' 'windows = 3' 'period = 5' >>sim.ini
    same_on_both
}

test_groups_are_resumed_on_a_gpu()
{
    decided_on_a_gpu
    change 's/^device = .*/device = gpu/; s/^trials = 20/&\nmax_distance = 2/'
    must run sim.ini --set run.output=one.h5
    must run sim.ini --set run.output=parts.h5 --set run.sweeps=13
    must run --resume parts.h5 --set run.sweeps=30
    same_chain one.h5 parts.h5
}

# Groups with two of a kind beside groups with one of it: steps over a number tell nothing of its neighbours. Ideal
# particles, whose law is a sum; all ln p are within 5 errors (once in 10^5 runs of a right program), which are small.
test_weights_beside_groups_with_two_of_a_kind()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 8000
	equilibrate = 1000
	seed = 5
	walkers = 2
	device = cpu
	[box]
	dimension = 3
	lx = 2
	[species Ca]
	count = 0
	max_count = 3
	charge = 2
	activity = 0.4
	[species Na]
	count = 0
	max_count = 3
	charge = 1
	activity = 0.4
	[species Cl]
	count = 0
	max_count = 6
	charge = -1
	activity = 0.4
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 1e-9
	sigma = 0.001
	cutoff = 0.01
	[mover two]
	plugin = insert_group
	group = Ca Cl Cl
	trials = 10
	[mover one]
	plugin = insert_group
	group = Na Cl
	trials = 10
	[mover transition_matrix]
	variable = Cl
	END
    must run sim.ini
    must analyse sim.h5 --print transition_matrix.ln_p
    awk 'function factorial(n) { return n < 2 ? 1 : n * factorial(n - 1) }
        /^#/ { next } { found[$1] = $2; error[$1] = $3 }
        END { for (a = 0; a < 4; a++) for (b = 0; b < 4; b++) if (2 * a + b < 7) { c = 2 * a + b
                  p[c] += 3.2 ^ (a + b + c) / (factorial(a) * factorial(b) * factorial(c)) }
            for (c = 0; c < 7; c++) sum += p[c]
            for (c = 0; c < 7; c++) { z = (found[c] - log(p[c] / sum)) / error[c]
                print c, found[c], log(p[c] / sum), z
                if (!(z < 5 && z > -5 && error[c] < 0.1)) bad = 1 }
            exit bad }' "$out" || fail "ln p is another"
}
