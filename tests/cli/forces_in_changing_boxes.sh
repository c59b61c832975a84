# hmc beside a mover that changes boxes: the mean of the pressure of the moment is the one imposed, as in
# changing_boxes.sh. Fixed seeds; a right program is beyond 4 of its standard errors once in 16,000 numbers.

. "$here/changing_boxes.sh" # boxes, near

# trajectories SETTING...: 36 Lennard-Jones atoms in two dimensions, trajectories that must lead back.
trajectories()
{
    boxes 2 36 0.7 1 8 12000 <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.8
	truncation = force_shift
	[observable virial_pressure]
	period = 4
	[observable box_size]
	period = 4
	END
    change 's/^\[mover serial\]/[mover hmc]\ncheck_reversal = yes\nsteps = 8/; s/^step = 0.4/time_step = 0.03/; s/^equilibrate = .*/equilibrate = 1000/'
    for setting; do change "$setting"; done
}

# Cells change, too: the box is some nine cutoffs wide at most, and four at least.
right_pressure()
{
    trajectories "$@"
    must run sim.ini
    near virial_pressure.pressure 0.7 0.02
    near virial_pressure.pressure_x 0.7 0.03
    grep -Eq '^acceptance 0\.[4-9][0-9]* .* of hmc.trajectory' "$out" || fail "trajectories are rejected"
}

test_pressure_by_hmc_is_the_one_imposed() { right_pressure; }
test_pressure_by_hmc_is_the_one_imposed_on_a_gpu() { gpu; right_pressure 's/^device = cpu/device = gpu/'; }
test_pressure_by_hmc_in_double_is_the_one_imposed_on_a_gpu()
{
    gpu
    right_pressure 's/^device = cpu/device = gpu/' 's/^\[mover hmc\]/&\nprecision = double/'
}

# At another temperature trajectories follow the same forces: those of half the well at temperature 1 are
# those of the whole well at 2, with momenta and time in the unit of energy.
test_trajectories_at_another_temperature()
{
    trajectories '/^\[mover volume\]/,/^step/d' 's/^pressure = .*//' 's/^sweeps = .*/sweeps = 400/' 's/^equilibrate = .*/equilibrate = 0/'
    must run sim.ini --set run.temperature=2 --set "mover hmc.time_step=0.016"
    accepted_at_two=$(awk '/^acceptance/ { print $2 }' "$out")
    must run sim.ini --set "potential lennard_jones.epsilon=0.5" --set "mover hmc.time_step=0.022627416997969522"
    accepted=$(awk '/^acceptance/ { print $2 }' "$out")
    echo "accepted: $accepted_at_two at temperature 2, $accepted with half the well"
    # 800 trajectories each: the difference has a standard error below 0.025
    awk -v a="$accepted_at_two" -v b="$accepted" 'BEGIN { exit !(a > 0.5 && a - b < 0.1 && b - a < 0.1) }' ||
        fail "acceptances differ: $accepted_at_two and $accepted"
}

test_hmc_in_changing_boxes_is_resumed()
{
    trajectories 's/^equilibrate = .*/equilibrate = 10/'
    must run sim.ini --set run.output=whole.h5 --set run.sweeps=60
    must run sim.ini --set run.sweeps=21
    must run --resume sim.h5 --set run.sweeps=60
    same_chain whole.h5 sim.h5
    must run sim.ini --set run.output=threads.h5 --set run.threads=3 --set run.sweeps=60
    same_chain whole.h5 threads.h5
}
