# Movers that make trials of two kinds in one call, with numbers of their own for each. Fixed seeds.

. "$here/ladders.sh"          # near
. "$here/energies_on_a_gpu.sh" # same_on_both, mixture
. "$here/chain.sh"            # undisturbed, finished_as_undisturbed

# Two particles of a kind and two of another on four places: swaps have six states to go to.
four_places()
{
    cat >start.xyz <<-END
	4
	Lattice="8 0 0 0 8 0 0 0 1" Properties=species:S:1:pos:R:3 pbc="T T F"
	plus 1 1 0
	plus 1.9 1.2 0
	minus 1.3 1.8 0
	minus 2.4 2.1 0
	END
    cat >sim.ini <<-END
	[run]
	sweeps = 20000
	equilibrate = 100
	seed = 3
	device = cpu
	threads = 1
	walkers = 8
	temperature = 0.3
	[box]
	dimension = 2
	lx = 8
	[species plus]
	count = 2
	charge = 1
	[species minus]
	count = 2
	charge = -0.6
	[initial]
	state = file
	file = start.xyz
	[potential soft_disk]
	plugin = $OWN_PLUGINS/test_soft_disk.so
	strength = 1.5
	cutoff = 2
	[mover two_kinds]
	plugin = $TEST_PLUGINS/two_kinds.so
	trials = 2
	from = 2
	[observable energy]
	period = 1
	END
}

# Mean energy a particle of the six states.
mean_of_six()
{
    awk 'BEGIN {
        split("1 1.9 1.3 2.4", x); split("1 1.2 1.8 2.1", y)
        for (a = 1; a <= 4; a++) for (b = a + 1; b <= 4; b++) {
            u = 0
            for (i = 1; i <= 4; i++) for (j = i + 1; j <= 4; j++) {
                r = sqrt((x[i] - x[j]) ^ 2 + (y[i] - y[j]) ^ 2)
                qi = i == a || i == b ? 1 : -0.6; qj = j == a || j == b ? 1 : -0.6
                if (r < 2) u += 1.5 * qi * qj * (1 - r / 2) ^ 2
            }
            w = exp(-u / 0.3); all += w; sum += w * u
        }
        printf "%.6f\n", sum / all / 4 }'
}

# A right program is beyond 4 of its standard errors once in 16,000. Kinds that share numbers share draws, of
# which the second then depend on what the first has done: that has to show.
test_two_kinds_of_trials_have_draws_of_their_own()
{
    four_places
    must run sim.ini
    near energy.energy "$(mean_of_six)" 0.001
    must run sim.ini --set mover.from=0
    (near energy.energy "$(mean_of_six)" 0.001) >said && fail "shared draws are not noticed: $(cat said)"
    cat said
    grep -q "z = " said || fail "there is no energy"
}

# made MOVER NAME FILE: trial moves of a kind.
made() { h5dump -d "/plugmc/movers/$1/$2/trials" "$3" | sed -n 's/.*(0): //p'; }

# chain.ini with swaps and displacements, 250 of each a walker and sweep.
kinds='s/^\[mover .*/[mover two_kinds]\nplugin = TEST_PLUGINS\/two_kinds.so\nsecond = displacement\ntrials = 250\nfrom = 250/
    /^target_acceptance/d; s/^step = .*/step = 0.05/; s/^sweeps = .*/sweeps = 300/; s/^equilibrate = .*/equilibrate = 100/'

two_kinds_in_chain()
{
    undisturbed checkerboard 0 "${kinds/TEST_PLUGINS/${TEST_PLUGINS//\//\\/}}; s/^device = .*/device = $1/"
    grep -Eq "^acceptance 0\.[0-9]*[1-9][0-9]* of .* trial moves of two_kinds.swap" "$out" || fail "no swaps"
    grep -Eq "^acceptance 0\.[0-9]*[1-9][0-9]* of .* trial moves of two_kinds.second" "$out" || fail "no moves"
    [ "$(made two_kinds swap whole.h5)" = $((300 * 3 * 250)) ] || fail "swaps are counted wrongly"
    [ "$(made two_kinds second whole.h5)" = $((300 * 3 * 250)) ] || fail "displacements are counted wrongly"
    must run sim.ini --set run.sweeps=1
    must run --resume sim.h5 --set run.sweeps=2
    must run --resume sim.h5 --set run.sweeps=117
    must run --resume sim.h5 --set run.sweeps=300
    finished_as_undisturbed
}

test_two_kinds_of_trials_in_parts()
{
    two_kinds_in_chain cpu
    must run sim.ini --set run.threads=3 --set run.output=threads.h5
    same_chain whole.h5 threads.h5
}

test_two_kinds_of_trials_in_parts_on_a_gpu() { gpu; two_kinds_in_chain gpu; }

# Swaps and swaps, in two launches; swaps there and displacements here.
test_two_kinds_of_trials_on_a_gpu()
{
    gpu
    mixture 3 0.5 "temperature = 1.3" <<-END
	[potential lennard_jones]
	epsilon = 1 1.5 0.5
	sigma = 1 0.9 0.8
	cutoff = 2.2
	[mover two_kinds]
	plugin = $TEST_PLUGINS/two_kinds.so
	trials = 100
	from = 100
	[observable energy]
	period = 20
	source = fresh
	END
    same_on_both
    change 's/^from = .*/&\nsecond = displacement/'
    same_on_both
}
