# Clusters that are reflected: a run is the same however it is cut. Their ensemble is tested by
# tests/distributions, what may not stand beside them by tests/refusals.

# mixture: of unlike size
mixture()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	equilibrate = 50
	seed = 8
	walkers = 4
	temperature = 1.1
	pressure = 0.05
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 9
	[species big]
	count = 8
	diameter = 2
	[species small]
	count = 40
	max_count = 120
	activity = 0.1
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 1 0.7 0.5
	sigma = 1.8 1.4 0.9
	cutoff = 2.6
	[mover cluster]
	clusters = 3
	period = 10
	END
}

test_clusters_beside_all_else_are_cut()
{
    mixture
    change 's/^temperature = .*//'
    printf '%s\n' '[mover insert]' 'species = small' 'trials = 10' '[mover volume]' 'step = 0.02' 'target_acceptance = 0' \
        '[ladder]' 'vary = run.temperature' 'values = 1.1 1.3' '[mover exchange]' 'every = 3' '[observable numbers]' \
        'period = 10' >>sim.ini
    must run sim.ini
    grep -q '^cluster.cluster_size@1.1 *0\.' "$out" || fail "no cluster was measured"
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=3 --set run.output=three.h5
    same_chain one.h5 three.h5
    must run sim.ini --set run.sweeps=133 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=300
    same_chain one.h5 parts.h5
}

# Nothing is no size of a cluster, and would be averaged with those that there are.
test_clusters_that_are_measured_too_often()
{
    mixture
    change '/^max_count/d; /^activity/d; s/^\[mover cluster\]/&\nevery = 20/; s/^clusters = 3/clusters = 1/'
    printf '%s\n' '[mover serial]' >>sim.ini
    plugmc run sim.ini
    expect_exit 3
    grep -q "\[mover cluster\] no cluster was made since the last measurement: period must be a multiple of every" \
        "$err" || fail "it was measured"
    must run sim.ini --set "mover cluster.period=20"
    grep -q '^cluster.cluster_size *0\.' "$out" || fail "no cluster was measured"
}
