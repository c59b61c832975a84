# The step that equilibration tunes, and what is said where it cannot come to its target.

# two_particles: Lennard-Jones particles that hardly ever meet, so that nearly every trajectory is
# accepted, whatever its time step.
two_particles()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20000
	equilibrate = 200
	seed = 11
	walkers = 8
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 5.2
	[species A]
	count = 2
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	cutoff = 2.5
	truncation = shift
	[mover hmc]
	time_step = $1
	length = 1
	[observable energy]
	period = 2
	END
}

# Mean energy a particle by the integral over the cell: midpoints of a grid in one octant.
exact_energy()
{
    awk 'function v(r2, s) { s = 1 / (r2 * r2 * r2); return 4 * s * (s - 1) }
    BEGIN {
        n = 120; h = 2.6 / n; cut = v(6.25)
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) {
            r2 = ((i + .5) ^ 2 + (j + .5) ^ 2 + (k + .5) ^ 2) * h * h
            u = r2 < 6.25 ? v(r2) - cut : 0
            if (u > 200) continue
            w = exp(-u); all += w; sum += w * u
        }
        printf "%.6f\n", 0.5 * sum / all
    }'
}

# Fixed seed; a right program is beyond 4 of its standard errors once in 16,000.
test_hmc_tuned_by_acceptance_finds_the_well()
{
    two_particles 0.01
    must run sim.ini
    exact=$(exact_energy)
    grep '^energy.energy ' "$out" | sed 's/[()]/ /g' | awk -v exact="$exact" '{
        digits = $2; sub(/.*\./, "", digits)
        error = $3 / 10 ^ length(digits); z = ($2 - exact) / error
        printf "energy %s +- %g, exact %s, z = %.2f\n", $2, error, exact, z
        exit !(z < 4 && z > -4 && error < 0.002) }' || fail "the energy is not $exact"
}

test_a_target_out_of_reach_is_said()
{
    two_particles 0.1
    change 's/^sweeps = .*/sweeps = 100/'
    must run sim.ini
    grep -q "warning: \[mover hmc\] time_step = 0.1 exceeds 0.0331, up to which leapfrog is stable here" "$err" || fail "the time step is not said to be too long"
    grep -q "warning: \[mover hmc\] acceptance is [01].* at the largest possible step, 0.03311: target_acceptance = 0.65 cannot be reached" "$err" || fail "the target is not said to be out of reach"
}

# Hard disks that touch: no step is accepted.
test_a_step_that_is_never_accepted_is_said()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 1
	equilibrate = 40
	seed = 1
	device = cpu
	[box]
	dimension = 2
	lx = 4.0001
	[species disk]
	count = 16
	diameter = 1
	[initial]
	state = lattice
	[potential hard_disk]
	[mover serial]
	step = 1
	target_acceptance = 0.9
	END
    change 's/^equilibrate = 40/equilibrate = 4/'
    must run sim.ini
    grep -q "warning: \[mover serial\] acceptance is still .* at the end of equilibration, with a step of \
.*, but target_acceptance = 0.9: equilibrate longer" "$err" || fail "the low acceptance is not said"
}

# Averages that begin with a lattice, and a step that nothing tunes: said once, before the run, at the
# line of the key or where it is set.
test_a_run_without_equilibration_is_warned_of()
{
    local lattice="warning: [run] equilibrate = 0 and [initial] state = lattice: averages begin with the \
lattice, which is no state in equilibrium"
    local tuned="warning: [mover checkerboard] target_acceptance = 0.4 has no effect: the step is tuned \
during equilibration, and [run] equilibrate = 0"
    disks
    rm sim.h5
    must run sim.ini --set run.sweeps=40
    grep -q warning "$err" && fail "a random start needs no warning"
    change 's/^state = .*/state = lattice/; s/^step = .*/&\ntarget_acceptance = 0.4/'
    must check sim.ini
    expect_message "sim.ini:1: $lattice"
    expect_message "sim.ini:21: $tuned"
    expect_lines 2
    must run sim.ini --set run.equilibrate=0 --set mover.target_acceptance=0 --set run.output=some.h5
    expect_message "--set: $lattice"
    [ "$(grep -nF "$lattice" "$err" | cut -d: -f1)" = 1 ] || fail "not said first"
    [ "$(grep -c warning "$err")" = 1 ] || fail "one warning is right"
    must run --resume some.h5 --set run.sweeps=40
    grep -q warning "$err" && fail "it is said again of a run that goes on"
    must check sim.ini --set run.equilibrate=1
    expect_lines 0
    change 's/^\[observable hard_pressure\]/[observable trajectory]/'
    must check sim.ini --set mover.target_acceptance=0
    expect_lines 0 # there are no averages
}

# Forces between particles that overlap make a step small, which takes its time to grow again: without a word nearly all
# moves would be accepted, and nothing would move.
test_a_step_that_has_not_grown_again()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 10
	equilibrate = 2000
	seed = 1
	[box]
	dimension = 3
	lx = 5
	[species a]
	count = 64
	[initial]
	state = random
	[potential expression]
	energy = 4*(1/r^12 - 1/r^6)
	cutoff = 2.4
	[mover hmc]
	END
    must run sim.ini
    grep -q "warning: \[mover hmc\] acceptance is 0.9.* with a step of .* that was .* before, but target_acceptance = 0.65: \
the step is still growing" "$err" || fail "the step has not come back, and nobody says so"
    must run sim.ini --set run.equilibrate=8000
    grep -q "still growing" "$err" && fail "the step has come back"
    return 0
}
