# More processes than walkers: several of them sweep one system, and make the chain that one process makes, to the bit.
# So are file and table where measurements are sums of integers; energies are sums of doubles, and agree to 1e-12.
. "$here/processes.sh" # by, must_by, same_file, table, refused_by

# spread [ARGUMENT...]: sim.ini by one process, and by $numbers of them, of which the others alone get the arguments.
spread()
{
    local n
    must run sim.ini --set run.output=1.h5
    table >one.txt
    for n in ${numbers-2 3 4}; do
        must_by "$n" run sim.ini --set "run.output=$n.h5" "$@"
        grep -q "spread over" "$err" || fail "nothing is spread"
        same_file 1.h5 "$n.h5"
        table >many.txt
        cmp -s one.txt many.txt || fail "another table than $(cat one.txt)"
    done
}

# close_files A B: all but how and where it ran, to 1e-12 of each number. Errors and correlation times, and what depends on
# these, are left out: they are differences of nearly equal numbers.
close_files()
{
    local object
    for object in /plugmc/checkpoint/positions /plugmc/movers; do
        h5diff "$1" "$2" $object >said.txt 2>&1 && [ ! -s said.txt ] || fail "another chain: $(head -3 said.txt)"
    done
    h5ls -r "$1" | awk '/(series|block_sums|mean) *Dataset/ { print $1 }' >objects.txt
    grep -q "/energy/.*series" objects.txt || fail "no energies are compared"
    while read -r object; do
        h5diff -p 1e-12 "$1" "$2" "$object" >said.txt 2>&1 && [ ! -s said.txt ] || fail "$(head -5 said.txt)"
    done <objects.txt
}

# spread_sums [ARGUMENT...]: as `spread`, where energies are measured.
spread_sums()
{
    local n
    must run sim.ini --set run.output=1.h5
    for n in ${numbers-2 3 4}; do
        must_by "$n" run sim.ini --set "run.output=$n.h5" "$@"
        grep -q "spread over" "$err" || fail "nothing is spread"
        close_files 1.h5 "$n.h5"
    done
}

# disks [KEYS OF THE MOVER...]: hard ones on 24 rows of cells, whose step is tuned.
disks()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 200
	equilibrate = 80
	seed = 3
	threads = 1
	device = ${DEVICE:-cpu}
	[box]
	dimension = 2
	packing_fraction = 0.65
	[species disk]
	count = 900
	diameter = 1
	[initial]
	state = lattice
	[potential hard_disk]
	[mover checkerboard]
	step = 0.2
	target_acceptance = 0.4
	$(printf '%s\n' "$@")
	[observable hard_pressure]
	period = 20
	[observable hexatic_order]
	period = 10
	[observable rdf]
	period = 40
	r_max = 2.5
	[observable trajectory]
	period = 100
	END
}

# particles_of DENSITY COUNT TEMPERATURE POTENTIAL: in three dimensions; further keys of the mover come last.
particles_of()
{
    cat >sim.ini <<-END
	[run]
	sweeps = ${sweeps-40}
	equilibrate = 20
	seed = 5
	threads = 1
	device = ${DEVICE:-cpu}
	temperature = $3
	[box]
	dimension = 3
	density = $1
	[species a]
	count = $2
	diameter = 1
	[initial]
	state = lattice
	[potential $4]
	$([ "$4" = hard_sphere ] || printf 'epsilon = 0.9\ncutoff = 2.3\n')
	[observable rdf]
	r_max = 2
	period = 10
	[observable $([ "$4" = hard_sphere ] && echo hard_pressure || echo energy)]
	period = 5
	[mover checkerboard]
	step = 0.15
	$(printf '%s\n' "${@:5}")
	END
}

# bodies DIMENSION COUNT DENSITY POTENTIAL: what travels with a body is its orientation.
bodies()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60
	equilibrate = 40
	seed = 4
	threads = 1
	device = ${DEVICE:-cpu}
	[box]
	dimension = $1
	density = $3
	[species body]
	count = $2
	[initial]
	state = random
	$(printf '%b' "$4")
	[mover checkerboard_bodies]
	step = 0.2
	target_acceptance = 0.4
	trials = 3
	[observable body_order]
	period = 10
	[observable rdf]
	r_max = 2
	period = 7
	[observable body_pressure]
	period = 20
	[observable trajectory]
	period = 30
	END
}

hexagons() { bodies 2 400 0.24 '[potential hard_polygon]\nsides = 6\n'; }
octahedra() { bodies 3 600 0.4 '[potential hard_polyhedron]\nshape = octahedron\n'; }
# patches [TEMPERATURE]: spheres that attract each other where their patches meet.
patches()
{
    bodies 3 600 0.3 '[potential kern_frenkel]\ndirections = 1 0 0  -1 0 0\nhalf_angle = 1\n'
    change "s/^seed/temperature = ${1-0.5}\nseed/; s/^.observable body_p.*/[observable energy]/"
}

test_bodies_spread_over_processes()
{
    hexagons
    spread
    octahedra
    numbers=2 spread
    patches
    numbers=3 spread
}

# Two walkers at two temperatures over four processes.
test_walkers_of_bodies_spread_over_processes()
{
    patches "0.5 0.8"
    change 's/^seed/walkers = 2\nseed/'
    numbers=4 spread
}

test_several_sweeps_of_bodies_at_once_spread_over_processes()
{
    hexagons
    numbers=2 spread --set "mover checkerboard_bodies.exchange_every=3"
    octahedra
    numbers=3 spread --set "mover checkerboard_bodies.exchange_every=8" # more than there are planes
}

test_disks_spread_over_processes() { disks; spread; }
test_disks_without_identities_spread_over_processes() { disks "identities = no"; numbers=3 spread; }
test_several_sweeps_of_disks_at_once_spread_over_processes()
{
    disks
    numbers=2 spread --set "mover checkerboard.exchange_every=3"
    disks "trials = 2"
    numbers=4 spread --set "mover checkerboard.exchange_every=8" # more than there are rows
}

test_spheres_spread_over_processes() { particles_of 0.6 1000 1 hard_sphere; spread; }

# Seven or eight planes of cells with three or four particles each: a process needs those of all others.
test_lennard_jones_spread_over_processes() { particles_of 0.5 3000 1.5 lennard_jones; spread_sums; }

# A warp of a GPU would take each of these cells.
test_wide_cells_spread_over_processes() { sweeps=10 particles_of 0.8 3000 1.5 lennard_jones "cell = 3.7"; numbers=2 spread_sums; }

# A gas condenses: cells overflow, and all processes go back and begin again with more slots.
test_overflowing_cells_spread_over_processes()
{
    sweeps=400 particles_of 0.05 800 0.4 lennard_jones
    numbers=3 spread_sums
    must run sim.ini --set run.output=few.h5 --set run.sweeps=1 --set run.equilibrate=0
    [ "$(h5dump -d /plugmc/checkpoint/plugins/0/data few.h5 | sed 1d)" != "$(h5dump -d /plugmc/checkpoint/plugins/0/data 1.h5 | sed 1d)" ] ||
        fail "no cell has overflowed"
}

# slots_of FILE: numbers of cells, and of slots in each, as its checkpoint has them.
slots_of()
{
    local k
    for k in $(h5ls "$1/plugmc/checkpoint/plugins" | awk '{ print $1 }'); do
        h5dump -d "/plugmc/checkpoint/plugins/$k/name" "$1" | grep -q '/shape"' &&
            h5dump -d "/plugmc/checkpoint/plugins/$k/data" "$1" | sed 1d
    done
}

# The same of bodies, whose orientations go back, too.
test_overflowing_cells_of_bodies_spread_over_processes()
{
    bodies 3 500 0.02 '[potential kern_frenkel]\ndirections = 1 0 0  -1 0 0\nhalf_angle = 1.5\n'
    change 's/^seed/temperature = 0.25\nseed/; s/^.observable body_p.*/[observable energy]/; s/^sweeps.*/sweeps = 400/
s/^equilibrate.*/equilibrate = 0/; s/^step.*/step = 0.4/; s/^target_acc.*/turn = 0.5/'
    numbers=3 spread
    must run sim.ini --set run.output=few.h5 --set run.sweeps=1
    [ -n "$(slots_of few.h5)" ] && [ "$(slots_of few.h5)" != "$(slots_of 1.h5)" ] || fail "no cell has overflowed"
}

# share_of [KEYS...]: disks on many rows of cells, and which of them each process measures.
share_of()
{
    disks
    change '/^.observable rdf/,$d; s/^sweeps = .*/sweeps = 60/'
    measure_shares "$@"
}
measure_shares()
{
    printf '[observable share_of]\nplugin = %s/share_of.so\nperiod = 5\n' "$TEST_PLUGINS" >>sim.ini
    printf '%s\n' "$@" >>sim.ini
}

# series_of FILE QUANTITY: numbers of the observable share_of, one a line.
series_of()
{
    h5dump -y -w 1 -d "/plugmc/observables/share_of/$2/series" "$1" | sed -n '/ DATA {/,/}/s/^ *\([0-9][0-9.e+-]*\),*$/\1/p'
}

# expect_all FILE QUANTITY CONDITION: of each sample x.
expect_all()
{
    series_of "$1" "$2" | awk "{ x = \$1; if (!($3)) exit 1 } END { if (NR < 10) exit 1 }" ||
        fail "$2 of $1: not always $3: $(series_of "$1" "$2" | tr '\n' ' ')"
}

# expect_shares: of 900 particles, each is one process's own, none sees many more than it needs, and the sums are completed once.
expect_shares()
{
    local n
    must run sim.ini --set run.output=1.h5
    expect_all 1.h5 seen "x == 900"
    for n in 2 3; do
        must_by $n run sim.ini --set run.output=$n.h5
        expect_all $n.h5 own "x == 900"
        expect_all $n.h5 completed "x == 1"
        cmp <(series_of 1.h5 near) <(series_of $n.h5 near) || fail "some within the reach are not seen"
        expect_all $n.h5 seen "x > 900 && x < 900 + $n * 900 / 2"
    done
}

test_shares_of_a_spread_system()
{
    share_of "reach = 1.5"
    expect_shares
}

test_shares_of_spread_bodies()
{
    bodies 2 900 0.24 '[potential hard_polygon]\nsides = 6\n'
    change '/^.observable body_order/,$d'
    measure_shares "reach = 1.5"
    expect_shares
}

# What says that its share is not enough measures all particles, in all processes.
test_share_that_is_not_enough()
{
    share_of "gives_up = yes"
    must_by 3 run sim.ini
    expect_all sim.h5 own "x == 900"
    expect_all sim.h5 seen "x == 900"
    expect_all sim.h5 completed "x == 1"
}

# Disks in half of a box: some fly farther than a process sees, and the pressure is that of one process all the same.
test_pressure_beside_a_void_of_a_spread_system()
{
    disks
    change 's/^packing_fraction.*/shape = rectangle\nlx = 20\nly = 100/; s/^count = .*/count = 640/; s/^sweeps.*/sweeps = 60/
s/^equilibrate.*/equilibrate = 0/; s/^target_acc.*//; s/^state = .*/state = file\nfile = start.xyz/'
    awk 'BEGIN {
        printf "640\nLattice=\"20 0 0 0 100 0 0 0 1\" Properties=species:S:1:pos:R:3\n"
        for (i = 0; i < 640; i++) printf "disk %g %g 0\n", i % 16 * 1.25, int(i / 16) * 1.25
    }' >start.xyz
    numbers="2 3" spread
}

# So thin that each process sees everything.
test_pressure_of_a_thin_spread_system()
{
    disks
    change 's/^packing_fraction.*/packing_fraction = 0.05/; s/^count = .*/count = 400/; s/^step.*/step = 0.5/'
    numbers="2 3" spread
}

# Every process makes the same trials of boxes, chains and single particles, for itself.
test_other_movers_beside_a_spread_one()
{
    disks
    change 's/^seed/pressure = 6\nseed/'
    printf '[mover %s]\nevery = %s\n' volume 3 serial 7 event_chain 5 >>sim.ini
    numbers="2 3" spread
    particles_of 0.5 2000 1.5 lennard_jones
    change 's/^seed/pressure = 1\nseed/'
    printf '[mover volume]\nevery = 4\n' >>sim.ini
    numbers="2 3" spread_sums
}

test_other_movers_beside_spread_bodies()
{
    hexagons
    change 's/^seed/pressure = 1\nseed/'
    printf '[mover %s]\nevery = %s\n' volume 3 serial 7 rotate 5 >>sim.ini
    numbers="2 3" spread
}

# They have to follow from one walker alone, and one mover has to spread.
test_movers_that_cannot_be_beside_a_spread_one()
{
    disks
    change 's/^seed/walkers = 2\nseed/'
    printf '[ladder]\nvary = run.pressure\nvalues = 5 6\n[mover volume]\n[mover exchange]\n' >>sim.ini
    refused_by 4 3 "mover 'exchange' cannot divide a walker among 2 processes: start at most 2" run sim.ini
}

# Two walkers over four processes.
test_walkers_spread_over_processes()
{
    disks
    change 's/^seed/walkers = 2\nseed/'
    numbers=4 spread
    refused_by 3 3 "[run] walkers = 2 cannot be distributed over 3 processes: each needs at least 1" run sim.ini
}

# resumed_by_fewer N SWEEPS ALL: a run of N processes is stopped after ten sweeps, goes on as two and ends as one.
resumed_by_fewer()
{
    must run sim.ini --set run.output=one.h5
    must_by "$1" run sim.ini --set run.output=many.h5 --set run.sweeps=10
    must_by 2 run --resume many.h5 --set "run.sweeps=$2"
    must run --resume many.h5 --set "run.sweeps=$3"
    rows one.h5 0 1 >one.txt
    rows many.h5 0 1 >many.txt
    [ -s one.txt ] && cmp one.txt many.txt || fail "another chain"
}

test_checkpoint_of_a_spread_system()
{
    particles_of 0.5 2000 1.5 lennard_jones
    resumed_by_fewer 3 20 40
}

test_checkpoint_of_spread_bodies()
{
    octahedra
    resumed_by_fewer 3 20 60
    same_file one.h5 many.h5
}

test_lost_process_of_a_spread_system()
{
    disks
    change 's/^seed/checkpoint = 0.2\nseed/'
    lost_of 1 --enable-recovery
    grep -q 'rank 1 on .* is lost: all processes end; the file is that of the last checkpoint' said.txt ||
        fail "it is not said who is gone"
}

test_lost_process_of_spread_bodies()
{
    hexagons
    change 's/^seed/checkpoint = 0.2\nseed/'
    lost_of 1 --enable-recovery
    grep -q 'rank 1 on .* is lost: all processes end; the file is that of the last checkpoint' said.txt ||
        fail "it is not said who is gone"
}

# signal_to_one [MOVER...]: between two processes that wait for each other in every sweep, and make these beside.
signal_to_one()
{
    local pid made
    disks
    change 's/^seed/checkpoint = 0.2\nseed/'
    [ $# = 0 ] || printf '[mover %s]\n' "$@" >>sim.ini
    by 1 --version
    timeout --kill-after=5 100 mpirun --quiet -n 3 "$PLUGMC" run sim.ini --set run.sweeps=100000000 >"$out" \
        2>"$err" </dev/null &
    local launcher=$!
    wait_for_file
    kill -TERM "$(process_of $launcher 2)"
    wait $launcher
    status=$?
    [ $status = 10 ] || fail "exit code $status, not 10"
    made=$(sed -n 's/.*after sweep \([0-9]*\).*/\1/p' "$err")
    must_by 2 run --resume sim.h5 --set "run.sweeps=$made"
}

test_signal_to_one_of_a_spread_system() { signal_to_one; }
test_signal_to_one_of_a_spread_system_with_other_movers() { signal_to_one serial event_chain; }

# An energy that is not a number is found by one process and said once.
test_not_a_number_in_a_spread_system()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 2000
	seed = 1
	threads = 1
	device = cpu
	[box]
	dimension = 2
	lx = 8
	[species point]
	count = 64
	[initial]
	state = lattice
	[potential test_hole]
	plugin = $OWN_PLUGINS/test_hole.so
	strength = 0.1
	cutoff = 1
	hole = 0.5
	[mover checkerboard]
	END
    plugmc run sim.ini
    expect_exit 9
    grep "is not a number" "$err" >one.txt || fail "there is no such energy"
    refused_by 3 9 "$(sed 's/: found by.*//' one.txt)" run sim.ini
}

test_spread_over_too_many_processes()
{
    disks
    change 's/^count = .*/count = 16/'
    refused_by 4 3 "layers of cells along its last edge, too few for 4 processes" run sim.ini \
        --set "box.packing_fraction=0.3" --set "mover checkerboard.cell=2.5"
    change 's/^.mover checkerboard.$/[mover serial]/; /^target_acceptance/d'
    refused_by 2 3 "2 processes and [run] walkers = 1: mover 'serial' cannot divide a walker among 2 processes: start at most 1" run sim.ini
}

# Without MPI: what the first of many processes does before a run.
test_check_of_many_processes()
{
    disks
    must check sim.ini --processes 4
    grep -q '^the first of 4 processes: a share of 1 walker of 900 particles' "$out" || fail "it is not said"
    must check sim.ini --processes 4 --set run.walkers=8
    grep -q '^the first of 4 processes: 2 walkers of 900 particles' "$out" || fail "it is not said"
    plugmc check sim.ini --processes 30
    expect_exit 3
    grep -q 'layers of cells along its last edge, too few for 30 processes' "$err" || fail "no refusal"
    plugmc check sim.ini --processes none
    expect_exit 2
}

test_disks_spread_over_processes_on_a_gpu() { gpu; DEVICE=gpu disks; spread; }
test_spheres_spread_over_processes_on_a_gpu() { gpu; DEVICE=gpu particles_of 0.6 1000 1 hard_sphere; numbers="2 3" spread; }
test_lennard_jones_spread_over_processes_on_a_gpu()
{
    gpu
    DEVICE=gpu particles_of 0.5 3000 1.5 lennard_jones
    numbers="2 3" spread_sums
    sweeps=400 DEVICE=gpu particles_of 0.05 800 0.4 lennard_jones
    numbers=2 spread_sums
}

# spread_bodies: as `spread`, and the chain is that of the CPU, too.
spread_bodies()
{
    local what
    spread "$@"
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    for what in movers checkpoint/positions checkpoint/plugins; do
        h5diff cpu.h5 1.h5 /plugmc/$what >said.txt 2>&1 && [ ! -s said.txt ] || fail "$what differ from those of the CPU: $(head -3 said.txt)"
    done
}

test_bodies_spread_over_processes_on_a_gpu()
{
    local which
    gpu
    for which in hexagons octahedra patches; do
        DEVICE=gpu $which
        numbers="2 3" spread_bodies
    done
}

test_walkers_of_bodies_spread_over_processes_on_a_gpu()
{
    gpu
    DEVICE=gpu hexagons
    change 's/^seed/walkers = 2\nseed/'
    numbers=4 spread_bodies
    DEVICE=gpu patches "0.5 0.8"
    change 's/^seed/walkers = 2\nseed/'
    numbers=4 spread_bodies
}

test_several_sweeps_of_bodies_at_once_spread_over_processes_on_a_gpu()
{
    gpu
    DEVICE=gpu hexagons
    numbers=2 spread --set "mover checkerboard_bodies.exchange_every=3"
    DEVICE=gpu octahedra
    numbers=3 spread --set "mover checkerboard_bodies.exchange_every=8"
}

test_overflowing_cells_of_bodies_spread_over_processes_on_a_gpu()
{
    gpu
    DEVICE=gpu test_overflowing_cells_of_bodies_spread_over_processes
}

test_other_movers_beside_spread_bodies_on_a_gpu()
{
    gpu
    DEVICE=gpu test_other_movers_beside_spread_bodies
}

test_checkpoint_of_spread_bodies_on_a_gpu()
{
    gpu
    DEVICE=gpu test_checkpoint_of_spread_bodies
}

# ions COUNT [KEYS OF THE MOVER...]: positive and negative ones in a sphere.
ions()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60
	equilibrate = 20
	seed = 4
	threads = 1
	device = ${DEVICE:-gpu}
	[box]
	shape = sphere
	dimension = 3
	radius = $(awk "BEGIN { print 2 * $1 ^ (1 / 3) }")
	[species cation]
	count = $(($1 / 4))
	diameter = 1
	charge = 3
	[species anion]
	count = $(($1 - $1 / 4))
	diameter = 1
	charge = -1
	[initial]
	state = random
	[potential hard_sphere]
	[potential coulomb]
	bjerrum_length = 0.9
	[mover brush]
	step = 4
	target_acceptance = 0.4
	$(printf '%s\n' "${@:2}")
	[observable energy]
	period = 10
	END
}

# gpus N: as many.
gpus() { [ "$("$PLUGMC" doctor | grep -Ec '^GPU +[0-9]+: ')" -ge "$1" ] || skip "there are fewer than $1 GPUs"; }

test_ions_spread_with_each_part_on_a_gpu()
{
    gpus 2
    local keys
    for keys in "precision = single" "precision = double" "refresh = 0"; do
        ions 3000 "$keys"
        numbers=2 spread
        change 's/^period = 10$/&\nsource = running/'
        numbers=2 spread
    done
    ions 70000 # long panels
    change 's/^sweeps.*/sweeps = 10/; s/^equilibrate.*/equilibrate = 0/'
    numbers=2 spread
    ions 40 # one panel, most of it empty
    numbers=2 spread
}

test_other_movers_beside_spread_ions_on_a_gpu()
{
    gpus 2
    ions 1000
    printf '[mover serial]\nevery = 7\nstep = 1\n' >>sim.ini
    numbers=2 spread
    ions 1000
    change 's/^seed/pressure = 0.05\nseed/; s/^shape.*/density = 0.2/; /^radius/d; s/^state.*/state = lattice/
s/^.potential coulomb.*/[potential yukawa]\nkappa = 1\ncutoff = 3/; s/^step.*/step = 1/'
    printf '[mover volume]\nevery = 2\n' >>sim.ini
    numbers=2 spread
}

test_checkpoint_of_spread_ions_on_a_gpu()
{
    gpus 2
    ions 2000
    resumed_by_fewer 2 30 60
}

# lost_of_two: of sim.ini, on two GPUs, whose streams or kernels wait for the one that is gone.
lost_of_two()
{
    change 's/^seed/checkpoint = 0.2\nseed/'
    rm -f sim.h5
    processes=2 lost_of 1 --enable-recovery
    grep -q 'rank 1 on .* is lost: all processes end; the file is that of the last checkpoint' said.txt ||
        fail "it is not said who is gone"
}

test_lost_process_of_spread_ions_on_a_gpu()
{
    gpus 2
    ions 20000
    lost_of_two
}

# Borders go by NCCL, and by memory of the other GPU.
test_lost_process_of_spread_disks_on_a_gpu()
{
    gpus 2
    DEVICE=gpu disks
    PLUGMC_PEER_MEMORY=off lost_of_two
    DEVICE=gpu disks
    PLUGMC_NCCL=off lost_of_two
}

test_lost_process_of_spread_bodies_on_a_gpu()
{
    gpus 2
    DEVICE=gpu hexagons
    lost_of_two
}

test_ions_are_not_spread_on_a_cpu()
{
    DEVICE=cpu ions 100
    refused_by 2 3 "it can divide a system only among GPUs, but this run is on the CPU: use [run] device = gpu, or at most as many processes as walkers" run sim.ini
}

# It takes GPUs, one for each process, that reach each other's memory.
test_ions_that_cannot_be_spread_on_a_gpu()
{
    gpu
    ions 100
    PLUGMC_PEER_MEMORY=off refused_by 2 7 "GPUs can sweep one system only if each can write into the memory of the others, but" \
        run sim.ini
    CUDA_VISIBLE_DEVICES=0 refused_by 2 7 "that is not possible: processes share a GPU" run sim.ini
}

# All parts say that an energy is not a number, once.
test_not_a_number_of_spread_ions_on_a_gpu()
{
    gpus 2
    ions 300
    change 's/^.potential hard_sphere.$/[potential test_hole]/; s/^.potential coulomb.$/strength = 0.1\ncutoff = 3\nhole = 0.1/
/^bjerrum/d; /^target_acc/d'
    sed -i "s|^.potential test_hole.\$|&\nplugin = $OWN_PLUGINS/test_hole.so|" sim.ini
    plugmc run sim.ini
    expect_exit 9
    grep "is not a number" "$err" >one.txt || fail "there is no such energy"
    refused_by 2 9 "$(sed 's/: found by.*//' one.txt)" run sim.ini
}
