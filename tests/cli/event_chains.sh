# Event chains of hard disks and spheres. Fixed seeds; a right program is beyond 4 of its standard errors once in
# 16,000 numbers.

# near NAME EXACT LEAST: as in ladders.sh
near()
{
    awk -v name="$1" -v exact="$2" -v least="$3" '$1 == name {
        found = 1; split($2, part, /[()]/); digits = part[1]
        if (digits ~ /\./) sub(/.*\./, "", digits); else digits = ""
        error = part[2] / 10 ^ length(digits); z = (part[1] - exact) / error
        printf "%s %s +- %g, exact %s, z = %.2f\n", name, part[1], error, exact, z
        if (!(z < 4 && z > -4 && error < least)) bad = 1 }
        END { exit bad || !found }' "$out" || fail "$1 is not $2"
}

# hard DIMENSION LENGTH NUMBER SWEEPS
hard()
{
    cat >sim.ini <<-END
	[run]
	sweeps = $4
	equilibrate = $(($4 / 20))
	seed = 7
	walkers = 4
	device = cpu
	[box]
	dimension = $1
	lx = $2
	[species ball]
	count = $3
	[initial]
	state = random
	[potential $([ "$1" = 2 ] && echo hard_disk || echo hard_sphere)]
	[mover event_chain]
	period = 10
	END
}

# Two in a box have beta P = 1 / V + 1 / (V - v), v the volume that one leaves to the other.
test_chains_have_the_pressure_of_two_particles()
{
    hard 2 3 2 40000
    must run sim.ini
    near event_chain.pressure 0.281806 0.001
    hard 3 3 2 40000
    change 's/^\[mover event_chain\]/&\nlength = 2.7\nchains = 3/'
    must run sim.ini
    near event_chain.pressure 0.0808751 0.0002
    # cells that are smaller than the box
    hard 2 6.5 2 40000
    change 's/^\[mover event_chain\]/&\nlength = 20/'
    must run sim.ini
    near event_chain.pressure 0.0492386 0.0004
}

test_reflected_chains_have_the_pressure_of_two_particles()
{
    hard 2 3 2 60000
    change 's/^\[mover event_chain\]/&\nkind = reflected/'
    must run sim.ini
    near event_chain.pressure 0.281806 0.001
    hard 3 3 2 40000
    change 's/^\[mover event_chain\]/&\nkind = reflected\nlength = 2.7\nchains = 3/'
    must run sim.ini
    near event_chain.pressure 0.0808751 0.0002
    hard 2 6.5 2 40000
    change 's/^\[mover event_chain\]/&\nkind = reflected\nlength = 20/'
    must run sim.ini
    near event_chain.pressure 0.0492386 0.0004
}

# A mixture, against contacts as another observable counts them.
test_chains_of_a_mixture_agree_with_contacts()
{
    hard 2 9 30 6000
    printf '%s\n' '[species large]' 'count = 12' 'diameter = 1.5' '[observable hard_pressure]' 'period = 10' >>sim.ini
    must run sim.ini
    awk '$1 == "event_chain.pressure" || $1 == "hard_pressure.pressure" { split($2, part, /[()]/); digits = part[1]
            sub(/.*\./, "", digits); x[++n] = part[1]; e[n] = part[2] / 10 ^ length(digits) }
        END { z = (x[1] - x[2]) / sqrt(e[1] ^ 2 + e[2] ^ 2); printf "%g and %g, z = %.2f\n", x[1], x[2], z
            exit !(n == 2 && z < 4 && z > -4 && e[1] < 0.02 * x[1] && e[2] < 0.04 * x[2]) }' "$out" ||
        fail "the pressures differ"
}

# The equation of state of hard disks at a packing fraction of 0.5: 2.6142(1), less the effect of 256.
test_chains_of_many_disks()
{
    hard 2 1 256 3000
    change 's/^lx = .*/packing_fraction = 0.5/'
    must run sim.ini
    near event_chain.pressure 2.6098 0.02
    change 's/^\[mover event_chain\]/&\nkind = reflected/'
    rm sim.h5
    must run sim.ini
    near event_chain.pressure 2.6098 0.02
}

# Integers that overflow end the program there.
test_chains_of_many_disks_overflow_no_integer()
{
    hard 2 1 256 200
    change 's/^lx = .*/packing_fraction = 0.5/'
    must run sim.ini --set run.output=plain.h5
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS/../trapping-plugins
    must info event_chain
    expect_output "trapping-plugins/event_chain.so"
    must run sim.ini
    same_chain plain.h5 sim.h5
}

test_chains_are_cut()
{
    hard 2 9 30 400
    change 's/^walkers = 4/walkers = 3/; s/^count = 30/&\nmax_count = 60\nactivity = 2/'
    printf '%s\n' '[mover insert]' 'species = ball' 'trials = 5' '[observable numbers]' 'period = 10' >>sim.ini
    cut
    change 's/^\[mover event_chain\]/&\nkind = reflected/'
    rm -f ./*.h5
    cut
}

cut()
{
    must run sim.ini
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=133 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=400
    same_chain one.h5 parts.h5
}

# Chains that hardly meet anybody go everywhere: four balls in a cube, for which sqrt(N) edges would be two. S(k) of the
# smallest k is 1 - 3 v f / (V - v), v what one ball keeps from another, f the transform of that ball, but for 1e-4.
test_chains_of_a_thin_gas_reach_all_places()
{
    hard 3 6 4 40000
    change 's/^count = 4/&\ndiameter = 0.6/'
    printf '%s\n' '[observable structure_factor]' 'period = 1' 'k_max = 1.1' >>sim.ini
    must run sim.ini
    near structure_factor.ball-ball 0.98787 0.01
    must run sim.ini --set mover.length=12 --set run.sweeps=10
    expect_message "--set: warning: [mover event_chain] length: 12 is 2 times the edge of the box along x, so a particle without contacts would return to its position: choose another length"
}

# A third of this edge, three times, is less than the edge by its last bit: a chain along x has to leave the last of
# three cells all the same.
test_chains_leave_the_last_cell()
{
    hard 3 3.5883853099650076 9 200
    change 's/^seed = 7/&\ntime_limit = 20/'
    must run sim.ini
}
