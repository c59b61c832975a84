# Which mover is good for what, and what is said where another one would be several times faster.

# liquid MOVER COUNT: a Lennard-Jones liquid, to be sampled for long on one processor.
liquid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 1e8
	seed = 1
	threads = 1
	device = cpu
	[box]
	dimension = 3
	density = 0.8
	[species atom]
	count = $2
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	cutoff = 2.5
	truncation = shift
	[mover $1]
	step = 0.16
	END
}

# advice SENTENCE: check and the first lines of a run have it.
advice()
{
    must check sim.ini
    grep -Eq -- "$1" "$err" || fail "expected of check: $1"
    plugmc run sim.ini --set run.time_limit=0.1
    expect_exit 11
    grep -Eq -- "$1" "$err" || fail "expected of run: $1"
}

# spheres: hard ones instead of the liquid.
spheres() { sed -i 's/lennard_jones/hard_sphere/; /^epsilon/d; /^cutoff/d; /^truncation/d' sim.ini; }

# Hard spheres, of which the checkerboard moves those of many cells side by side: 1.3e6 against 3e7 trial moves a second.
test_a_faster_mover_is_named()
{
    liquid serial 32000
    spheres
    advice "^mover 'serial' makes some 1e\+06 trial moves a second here, and 'checkerboard' about (1[5-9]|2[0-9]) times as many \
of the same kind: see plugmc info checkerboard$"
    liquid brush 32000
    advice "^mover 'brush' makes some .*, and 'checkerboard' about [1-4][0-9] times"
}

# That every mover is what it says is checked for the fastest one: nothing is faster.
test_no_mover_is_named_where_none_is_faster()
{
    liquid brush 500
    must check sim.ini
    expect_lines 0
    liquid checkerboard 32000
    must check sim.ini
    expect_lines 0
    liquid checkerboard 500 # a run that is over soon
    must check sim.ini --set run.sweeps=100
    expect_lines 0
}

# One that needs a rectangular box is no advice in another one; nor is one that cannot follow what others change.
test_movers_that_do_not_fit_are_not_named()
{
    local insertions='every = 1\n[species ghost]\ncount = 0\nmax_count = 10\nmu = 0\n[mover insert]\nspecies = ghost\n'
    liquid serial 32000
    spheres
    printf "$insertions" >>sim.ini
    must check sim.ini
    grep -q "and 'checkerboard' about" "$err" || fail "expected the one that follows numbers of particles"
    liquid serial 32000 # for which the checkerboard is named where edges are at right angles
    spheres
    sed -i 's/^density = .*/shape = oblique\na = 36 0 0\nb = 8 36 0\nc = 0 0 36/' sim.ini
    must check sim.ini
    expect_lines 0
}

test_info_says_what_movers_are_good_for()
{
    local mover
    for mover in $("$PLUGMC" list movers | awk '/^  / { print $1 }'); do
        must info "$mover"
        expect_output "  good for "
    done
}

# Trial moves, which are not as many a sweep for every mover.
test_progress_has_trial_moves_a_second()
{
    liquid brush 500
    must run sim.ini --set run.sweeps=200
    grep -Eq "^production: 200 of 200 sweeps .*, [0-9.e+]+ sweeps/s, [0-9.e+]+ trials/s, acceptance" "$err" ||
        fail "expected trial moves a second"
    plugmc run sim.ini --set run.time_limit=1.5 --json
    awk -F'[:,] *' '/"event": "progress"/ {
            for (i = 1; i < NF; i++) {
                if ($i == "\"sweeps_per_second\"") sweeps = $(i + 1)
                if ($i == "\"trials_per_second\"") trials = $(i + 1)
            }
            found++ # the last one may have trial moves that were given up
            if (found == 1 && (trials < 490 * sweeps || trials > 510 * sweeps)) bad = 1
        }
        END { exit bad || !found }' "$out" || fail "500 trial moves a sweep"
}
