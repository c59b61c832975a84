# Trajectories of runs that insert and remove, and initial states from them.

# reservoir: two species, of which both come and go
reservoir()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	equilibrate = 0
	seed = 9
	walkers = 3
	threads = 1
	device = ${DEVICE:-cpu}
	temperature = 1.5
	[box]
	dimension = 3
	lx = 6
	[species a]
	count = 30
	max_count = 80
	activity = 0.1
	[species b]
	count = 10
	max_count = 40
	activity = 0.05
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.5
	[mover serial]
	step = 0.3
	[mover insert]
	species = a
	trials = 20
	[mover others]
	plugin = insert
	species = b
	trials = 20
	[observable numbers]
	period = 100
	[observable trajectory]
	format = h5md
	period = 100
	END
}

# absent FILE WALKER FRAME: numbers of particles that are not there, -1 in id
absent()
{
    local group=trajectory
    [ "$2" = 0 ] || group=trajectory_$2
    h5dump -y -w 10 -d "/particles/$group/id/value" -s "$3,0" -c 1,120 "${1%.h5}.h5md" | grep -c -- '-1'
}

# places FILE GROUP FRAME: how many are not there by `count` and by `species`, if the two agree; places are numbers
places()
{
    local n
    h5dump -y -w 1 -d "/particles/$2/position/value" -s "$3,0,0" -c 1,120,3 "${1%.h5}.h5md" | grep -q -i nan && fail "a place is no number"
    n=$(h5dump -y -w 10 -d "/particles/$2/species/value" -s "$3,0" -c 1,120 "${1%.h5}.h5md" | grep -c -- '-1')
    [ "$n" = $((120 - $(h5dump -y -w 10 -d "/particles/$2/count/value" -s "$3" -c 1 "${1%.h5}.h5md" | grep -o '[0-9]\+,\? *$' | tail -1))) ] ||
        fail "count and species differ"
    echo "$n"
}

test_trajectory_with_changing_numbers()
{
    reservoir
    must run sim.ini
    cp sim.h5 one.h5
    cp sim.h5md one.h5md
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=150 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=300
    same_chain one.h5 parts.h5
    h5diff one.h5md parts.h5md /particles || fail "another trajectory"
    local w f n of_all=
    for w in 0 1 2; do
        for f in 0 1 2; do
            n=$(absent one.h5 $w $f)
            [ "$n" = "$(places one.h5 trajectory$([ $w = 0 ] || echo _$w) $f)" ] || fail "ids and places differ"
            of_all="$of_all $n"
        done
    done
    echo "not there: $of_all"
    [ "$(echo $of_all | tr ' ' '\n' | sort -u | wc -l)" -gt 3 ] || fail "numbers did not change"
}

test_initial_state_with_numbers_of_its_own()
{
    reservoir
    must run sim.ini
    mv sim.h5 from.h5
    mv sim.h5md from.h5md
    # nobody comes or goes in one sweep
    change 's/^sweeps = 300/sweeps = 1/; s/^trials = 20/&\nevery = 1000/; s/^period = 100/period = 1/'
    printf '[initial]\nstate = file\nfile = from.h5\n' >>sim.ini
    must run sim.ini --set run.walkers=6 # one after the other, again
    local w
    for w in 0 1 2 3 4 5; do
        [ "$(absent sim.h5 $w 0)" = "$(absent from.h5 $((w % 3)) 2)" ] || fail "walker $w has another number of particles"
    done
    plugmc run sim.ini --set run.output=other.h5 --set "species b.count=1" --set "species b.max_count=5"
    expect_exit 3
    expect_message "from.h5: the file has more than the 5 particles that species b has room for in the run: give it a \`max_count\` of at least that number"
    # without `most` the room follows from `count`
    printf '200\nLattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3\n' >many.xyz
    awk 'BEGIN { for (k = 0; k < 200; k++) print "A", 1.3 * (k % 6) + 0.1, 1.3 * (int(k / 6) % 6) + 0.1, 1.3 * int(k / 36) + 0.1 }' >>many.xyz
    cat >grows.ini <<-END
	[run]
	sweeps = 20
	device = cpu
	[box]
	dimension = 3
	lx = 8
	[species A]
	count = 1
	activity = 0.01
	[initial]
	state = file
	file = many.xyz
	[potential hard_sphere]
	[mover serial]
	[mover insert]
	species = A
	trials = 1
	[observable numbers]
	period = 1
	END
    plugmc run grows.ini
    expect_exit 3
    expect_message "many.xyz:36: the file has more than the 33 particles that species A has room for in the run: give it a \`count\` as large as the number in the file"
    must run grows.ini --set "species A.count=200"
}

test_trajectory_with_changing_numbers_on_a_gpu()
{
    gpu
    DEVICE=gpu reservoir
    must run sim.ini
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    h5diff -d 1e-7 sim.h5md cpu.h5md /particles/trajectory/id/value || fail "another chain than on the CPU"
}
