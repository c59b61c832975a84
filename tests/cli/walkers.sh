# Walkers have numbers: a run of some of them makes the chains that they have in a run of all.

# alone NAME [ARGUMENT...]: walkers 2, 3 and 4 of the seven of sim.ini, in a run of their own, have the positions and
# what observables print that they have beside the others, who have not what they have.
alone()
{
    local name=$1
    shift
    must run sim.ini --set run.walkers=7 --set "run.output=$name-all.h5" "$@"
    must run sim.ini --set run.walkers=3 --set run.first_walker=2 --set "run.output=$name-some.h5" "$@"
    rows "$name-all.h5" 2 >all.txt
    rows "$name-some.h5" 0 >some.txt
    [ -s all.txt ] || fail "there are no positions"
    cmp -s all.txt some.txt || fail "$name: another chain"
    rows "$name-all.h5" 0 >others.txt
    ! cmp -s all.txt others.txt || fail "$name: other walkers have the same chain"
}

# rows FILE FIRST [HOW_MANY]: positions of three walkers, or so many, as the checkpoint has them.
rows()
{
    local n
    n=$(h5dump -H -d /plugmc/checkpoint/positions "$1" | sed -n 's/.*SIMPLE { ( [0-9]*, \([0-9]*\), 3 ).*/\1/p')
    h5dump -y -m %.17g -d /plugmc/checkpoint/positions -s "$2,0,0" -c "${3-3},$n,3" "$1" | sed -n '/DATA {/,$p'
}

# particles NUMBER POTENTIAL...: some of diameter 1 in three dimensions; movers are read from standard input
particles()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 60
	equilibrate = 0
	seed = 5
	threads = 1
	device = ${DEVICE:-cpu}
	temperature = 1.5
	[box]
	dimension = ${dimension:-3}
	density = ${density:-0.3}
	[species a]
	count = $1
	diameter = 1
	[initial]
	state = ${state:-random}
	END
    printf '[potential %s]\n' "${@:2}" | sed '/lennard_jones/a epsilon = 0.7\ncutoff = 2' >>sim.ini
    cat >>sim.ini
}

one_mover()
{
    particles 150 lennard_jones hard_sphere <<-END
	[mover $1]
	step = 0.2
	END
    alone "$1"
}

test_serial_of_some_walkers() { one_mover serial; }
test_checkerboard_of_some_walkers() { one_mover checkerboard; }
test_serial_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu one_mover serial; }
test_checkerboard_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu one_mover checkerboard; }

# The others, each in its time.
several_movers()
{
    particles 100 lennard_jones hard_sphere <<-END
	[species b]
	count = 20
	max_count = 60
	diameter = 0.8
	activity = 0.1
	[mover serial]
	step = 0.1
	[mover swap]
	trials = 40
	a = a
	b = b
	[mover volume]
	step = 0.05
	[mover insert]
	species = b
	trials = 20
	[mover identity]
	a = a
	b = b
	trials = 10
	END
    change 's/^seed/pressure = 1\nseed/; s/^count = 100/count = 100\nmax_count = 140/; s/^diameter = 1$/&\nactivity = 0.1/'
    alone several
}

test_several_movers_of_some_walkers() { several_movers; }
test_several_movers_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu several_movers; }

test_clusters_and_chains_of_some_walkers()
{
    dimension=2 density=0.6 particles 300 hard_disk <<-END
	[mover event_chain]
	[mover cluster]
	END
    alone disks
}

# example NAME SCRIPT: one of the project's, made short, without tuned steps, edited
example()
{
    sed '/^;/d; /^walkers/d; /^threads/d; /^device/d; /^target_acceptance/d; s/^sweeps = .*/sweeps = 20/
        s/^equilibrate = .*/equilibrate = 0\nthreads = 1\ndevice = '"${DEVICE:-cpu}/" "$here/../../examples/$1.ini" >sim.ini
    change "$2"
}

ions_in_a_sphere()
{
    example electrolyte-1-1 's/^count = .*/count = 40/; s/^period = .*/period = 20/'
    sed -i "s/^\[mover brush\]/[mover $1]/" sim.ini
    alone "$1"
}
waves()
{
    example periodic-electrolyte "/^\[observable/,\$d; s/^count = .*/count = 30/; s/^\[mover serial\]/[mover $1]/"
    sed -i 's/^density = .*/density = 0.001/; s/^cutoff = .*/cutoff = 15/' sim.ini
    alone "$1"
}
trajectories_of_hmc()
{
    example molten-nacl '/^\[observable/,$d; s/^count = 256/count = 108/; s/^cutoff = 10/cutoff = 8/'
    alone hmc
}

test_brush_of_some_walkers() { ions_in_a_sphere brush; }
test_hmc_of_some_walkers() { trajectories_of_hmc; }
test_ewald_of_some_walkers() { waves serial; }
test_brush_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu ions_in_a_sphere brush; }
test_parallel_reduction_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu ions_in_a_sphere parallel_reduction; }
test_ewald_serial_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu waves ewald_serial; }
test_hmc_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu trajectories_of_hmc; }

electrons()
{
    example electron-gas 's/^period = 5/period = 2/'
    alone electrons
}
test_electrons_of_some_walkers() { electrons; }
test_electrons_of_some_walkers_on_a_gpu() { gpu; DEVICE=gpu electrons; }

# Two that share particles are neighbours, so the first one has an even number here.
pairs_of_boxes()
{
    example gibbs 's/^count = .*/count = 60/; s/^cutoff = 3/cutoff = 2/'
    local first
    for first in all some; do
        must run sim.ini --set "run.walkers=$([ $first = all ] && echo 6 || echo 2)" \
            --set "run.first_walker=$([ $first = all ] && echo 0 || echo 4)" --set "run.output=$first.h5"
    done
    rows all.h5 4 2 >all.txt
    rows some.h5 0 2 >some.txt
    [ -s all.txt ] && cmp all.txt some.txt || fail "another chain"
}
test_pairs_of_boxes_of_some_walkers() { pairs_of_boxes; }
