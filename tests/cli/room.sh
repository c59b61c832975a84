# Species without a largest number: room for them grows with need, and the chain is that of a run with room enough.
# What is measured where numbers change.

# growing: a mixture that condenses from next to nothing, so that room has to grow several times
growing()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	equilibrate = 100
	seed = 3
	walkers = 3
	threads = 1
	device = ${DEVICE:-cpu}
	temperature = 1.5
	[box]
	dimension = 3
	lx = 7
	[species a]
	count = 5
	activity = 0.15
	[species b]
	count = 0
	activity = 0.08
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	[mover serial]
	step = 0.5
	[mover insert]
	species = a
	trials = 60
	[mover others]
	plugin = insert
	species = b
	trials = 60
	[observable numbers]
	period = 10
	[observable energy]
	period = 10
	[observable structure_factor]
	k_max = 3
	shells = 4
	period = 20
	[observable trajectory]
	format = h5md
	period = 100
	END
}

grown() { grep -c "was not enough: the run goes on with room for" "$err"; }

# same_samples A B: all that was measured and counted, bit for bit
same_samples()
{
    local group
    for group in observables movers; do
        h5diff -q "$1" "$2" /plugmc/$group || fail "$1 and $2 differ in $group"
    done
}

# same_frames A B: what is there, whatever the room for others
same_frames()
{
    local walker
    for walker in 0 2; do
        must export "$1" --to one.xyz --walker $walker --force
        must export "$2" --to two.xyz --walker $walker --force
        # ids are numbers of places, which depend on the room
        awk 'NF > 4 { $5 = "" } 1' one.xyz | grep -v Lattice >one
        awk 'NF > 4 { $5 = "" } 1' two.xyz | grep -v Lattice >two
        [ "$(wc -l <one)" -gt 300 ] || fail "there are hardly any particles"
        cmp -s one two || fail "the frames of walker $walker differ"
    done
}

test_room_grows_and_the_chain_does_not_know()
{
    growing
    must run sim.ini --set run.output=enough.h5 --set "species a.max_count=700" --set "species b.max_count=400"
    must run sim.ini
    [ "$(grown)" -ge 3 ] || fail "room grew only $(grown) times"
    same_samples sim.h5 enough.h5
    same_frames sim.h5 enough.h5
    must run sim.ini --set run.threads=3 --set run.output=threads.h5
    same_chain sim.h5 threads.h5
}

# Arrays measured in each sweep from the first one on, so that blocks of many samples are forgotten as room grows: what
# was in them must not be counted again. Compared bit for bit, so a right program never fails.
test_arrays_forget_what_is_measured_again()
{
    growing
    change 's/^equilibrate = .*/equilibrate = 0/; s/^sweeps = .*/sweeps = 200/; s/^period = 20/period = 1/'
    printf '%s\n' '[observable rdf]' 'r_max = 3' 'bins = 20' 'period = 1' >>sim.ini
    must run sim.ini --set run.output=enough.h5 --set "species a.max_count=700" --set "species b.max_count=400"
    must run sim.ini
    [ "$(grown)" -ge 2 ] || fail "room grew only $(grown) times"
    same_samples sim.h5 enough.h5
}

test_room_that_grew_is_resumed()
{
    growing
    must run sim.ini
    must run sim.ini --set run.sweeps=100 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=400
    same_samples sim.h5 parts.h5
    h5diff -q sim.h5md parts.h5md /particles || fail "another trajectory"
    must run sim.ini --set run.sweeps=100 --set run.output=there.h5
    must run --resume-if-there sim.ini --set run.output=there.h5
    same_samples sim.h5 there.h5
}

test_room_that_grows_when_killed()
{
    growing
    must run sim.ini
    local k
    for k in 1 2 3 4 5 6; do
        "$PLUGMC" run --resume-if-there sim.ini --set run.output=killed.h5 --set run.checkpoint=0.1 >"$out" 2>"$err" &
        sleep 0.$((3 * k))
        kill -9 $! 2>/dev/null || break
        wait $! 2>/dev/null
    done
    must run --resume-if-there sim.ini --set run.output=killed.h5
    same_samples sim.h5 killed.h5
}

test_room_grows_on_a_gpu()
{
    gpu
    DEVICE=gpu growing
    change 's/^walkers = .*/walkers = 40/'
    must run sim.ini
    [ "$(grown)" -ge 3 ] || fail "room grew only $(grown) times"
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    h5diff -q -d 1e-7 sim.h5md cpu.h5md /particles/trajectory/count || fail "another chain than on the CPU"
    h5diff -q -d 1e-4 sim.h5 cpu.h5 /plugmc/observables/structure_factor/products_a-b/mean ||
        fail "other products of waves than on the CPU"
}

test_reservoirs_that_nobody_draws_from()
{
    growing
    change '/^\[mover others\]/,/^trials/d'
    refused 3 "sim.ini:17: [species b] activity: no mover exchanges b with a reservoir" run sim.ini
    refused 3 "sim.ini:17: [species b] activity: no mover exchanges b with a reservoir" check sim.ini
}

test_weights_need_a_largest_number()
{
    growing
    change '/^\[observable/,$d'
    printf '[mover transition_matrix]\nvariable = a\n' >>sim.ini
    refused 3 "sim.ini:33: [mover transition_matrix] variable = a: [species a] needs max_count, the largest number that gets a weight" \
        check sim.ini
}

# An ideal gas of disks that come and go: S_aa = 1, S_ab = 0, and the susceptibility of psi_6 is a number.
test_ideal_gas_that_comes_and_goes_has_no_structure()
{
    growing
    change 's/^dimension = 3/dimension = 2/; s/^epsilon = 1/epsilon = 0/; s/^sweeps = .*/sweeps = 1500/
        s/^activity = 0.15/activity = 0.4/; s/^activity = 0.08/activity = 0.2/; s/^period = .*/period = 10/'
    printf '[observable hexatic_order]\nperiod = 10\n' >>sim.ini
    must run sim.ini
    # 1 for a-a and b-b, 0 for a-b: z beyond 4 in 1 of 16,000 cases, twelve of them
    local pair
    for pair in a-a a-b b-b; do
        h5dump -y -w 1 -d /plugmc/observables/structure_factor/$pair/value sim.h5 | grep -E '^ +-?[0-9]' | tr -d ' ,' >value
        h5dump -y -w 1 -d /plugmc/observables/structure_factor/$pair/error sim.h5 | grep -E '^ +-?[0-9]' | tr -d ' ,' >error
        paste value error | awk -v pair=$pair '{ z = ($1 - (pair != "a-b")) / $2; printf "%s z = %.2f\n", pair, z
            if (!(z > -4 && z < 4)) bad = 1 } END { exit bad || NR < 3 }' || fail "S_$pair is not that of an ideal gas"
    done
    expect_output "hexatic_order.susceptibility"
    grep -Eq '^hexatic_order.particles +2[89]\.|^hexatic_order.particles +30\.' "$out" || fail "not z V = 29.4 particles"
}

# The same measurements of the same chain on a GPU.
test_order_of_disks_that_come_and_go_on_a_gpu()
{
    gpu
    DEVICE=gpu growing
    change 's/^dimension = 3/dimension = 2/; s/^period = .*/period = 100/'
    printf '[observable hexatic_order]\nperiod = 100\n' >>sim.ini
    must run sim.ini
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    h5diff -q -d 1e-7 sim.h5md cpu.h5md /particles/trajectory/count || fail "another chain than on the CPU"
    h5diff -q -d 1e-6 sim.h5 cpu.h5 /plugmc/observables/hexatic_order/psi6_real/series || fail "another psi_6"
}

# An array as long as the room there is would not fit once room has grown: the run could not go on with its file.
test_distributions_of_numbers_need_a_largest_one()
{
    growing
    change 's/^\[observable numbers\]/&\ndistribution = yes/'
    plugmc run sim.ini
    expect_exit 3
    grep -q "distribution = yes: \[species a\] needs max_count" "$err" || fail "it is not said what is missing"
    change 's/^activity = .*/&\nmax_count = 300/'
    must run sim.ini
}
