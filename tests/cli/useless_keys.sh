# Keys that nothing in the run looks at: check and run say so once and go on.

gas()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 100
	equilibrate = 10
	device = cpu
	threads = 1
	[box]
	dimension = 3
	lx = 8
	[species A]
	count = 20
	[initial]
	state = random
	[potential hard_sphere]
	[mover serial]
	step = 0.5
	END
}

# useless LINE KEY_AND_REASON, with --set: nothing is said without it.
useless()
{
    local set=$1 sentence=$2
    must check sim.ini
    expect_lines 0
    must check sim.ini --set "$set"
    expect_message "--set: warning: $sentence"
}

test_keys_without_effect_are_said()
{
    gas
    useless run.pressure=1 "[run] pressure has no effect: no mover changes the volume"
    useless "mover serial.every=111" \
        "[mover serial] every = 111 is longer than the run, 110 sweeps with equilibration: it never moves anything"
    for key in activity=0.1 mu=-1 max_count=30; do
        plugmc check sim.ini --set "species A.$key"
        expect_exit 3
        grep -q "species A. ${key%=*}: no mover of the run changes the number of A" "$err" ||
            fail "expected: ${key%=*} is refused"
    done
    useless initial.lattice=sc "[initial] lattice has no effect: it is for state = lattice"
    useless initial.frame=3 "[initial] frame has no effect: it is for state = file"
    useless initial.ion_width=2 "[initial] ion_width has no effect: it is for state = near_ions"
}

test_keys_with_effect_are_not()
{
    gas
    printf '[mover volume]\n[mover insert]\nspecies = A\n' >>sim.ini
    must check sim.ini --set run.pressure=1 --set "species A.activity=0.1" --set "species A.max_count=30" \
        --set "mover serial.every=110" --set initial.attempts=1000
    grep -q "no effect" "$err" && fail "said of keys that have one"
    true
}

test_rungs_that_would_be_the_same_are_refused()
{
    gas
    sed -i '/^device/a walkers = 2' sim.ini
    printf '%s\n' '[mover exchange]' '[ladder]' 'vary = run.pressure' 'values = 1 2' >>sim.ini
    refused 3 "sim.ini:19: [ladder] vary = run.pressure: no mover changes the volume, so all rungs would be the same" \
        check sim.ini
    must check sim.ini --set "mover volume.step=0.1"
    refused 3 "sim.ini: [ladder] vary = A.mu: no mover exchanges this species with a reservoir, so all rungs would be the same" \
        check sim.ini --set ladder.vary=A.mu
    must check sim.ini --set ladder.vary=A.mu --set "mover insert.species=A"
}
