# bench/water_numbers.py: transition counts of several runs, joined and set beside a reference. Steps between numbers of ideal molecules are
# exact, so what is joined is known to rounding.

# counted NAME MIN MAX SEED: the counts of ideal molecules, z V = 5.4, between these numbers
counted()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 600
	equilibrate = 100
	seed = $4
	walkers = 2
	temperature = 1
	threads = 1
	[box]
	dimension = 3
	lx = 3
	[species a]
	diameter = 0
	[species b]
	diameter = 0
	[molecule rod]
	sites = a b
	places = 0 0 0  0.4 0 0
	count = $2
	max_count = 12
	activity = 0.2
	[potential hard_sphere]
	[mover insert_molecule]
	molecule = rod
	[mover transition_matrix]
	variable = rod
	period = 5
	min = $2
	max = $3
	END
    must run sim.ini
    python3 "$here/../../bench/water_numbers.py" take sim.h5 "$1.npz" || fail "no counts of $1"
}

# NIST's curve, as if counted at another activity, comes back where both phases have the same weight; so do errors of its counts.
test_two_phases_are_compared_at_coexistence()
{
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    reference=$here/../data/nist/spce-525-ln-p.csv
    python3 - "$reference" <<-'END' || fail "no counts were made"
	import csv, sys, numpy
	ln_p = numpy.array([float(line[1]) for line in csv.reader(open(sys.argv[1])) if line[0] != "N"])
	step = numpy.diff(ln_p) + 0.004
	sums = numpy.ones((10, len(ln_p), 4))
	sums[:, :-1, 2] = numpy.exp(numpy.minimum(0, step))
	sums[:, 1:, 0] = numpy.exp(numpy.minimum(0, -step))
	sums[:, :, [1, 3]] = 1
	sums[3, 100:, 2] *= 1.08
	sums[6, 100:, 2] *= 0.92
	numpy.savez("counts.npz", numbers=numpy.arange(len(ln_p)), sums=sums)
	END
    python3 "$here/../../bench/water_numbers.py" join "$reference" 0 counts.npz >"$out" 2>"$err" || fail "they are not joined"
    awk '/same weight/ { sub(/\(.*/, "", $NF); exit !($NF + 0 < -0.00395 && $NF + 0 > -0.00405) }' "$out" || fail "the activity of coexistence is another"
    awk '$1 == 3 { exit !($8 < 0.1 && $8 > -0.1 && $5 < 0.02) } $1 == 150 { exit !($5 > 0.05) }' "$out" || fail "the curve is another"
}

# Walkers of one file have different numbers, each in its window.
test_walkers_begin_in_their_windows()
{
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    for least in 0 5; do
        counted "at$least" "$least" $((least + 5)) 1
        must export sim.h5 --last --to "at$least.xyz" --walker 0
    done
    python3 "$here/../../bench/water_numbers.py" starts windows.h5md at0.xyz at5.xyz || fail "no file of them is made"
    change 's/^walkers = 2/walkers = 6/; s/^sweeps = .*/sweeps = 1/; s/^equilibrate = .*/equilibrate = 0/'
    change 's/^min = .*/min = 0\nwindows = 2/; s/^max = .*/max = 10/; s/^molecule = rod/&\ntrials = 1/'
    printf '%s\n' '[initial]' 'state = file' 'file = windows.h5md' >>sim.ini
    must run sim.ini
    must export sim.h5 --last --to end.xyz --walker all
    for walker in 0 1 2 3 4 5; do # a frame begins with its number of sites
        least=$((walker % 2 * 5))
        awk -v least=$least 'NR == 1 { exit !($1 / 2 >= least && $1 / 2 <= least + 5) }' end_$walker.xyz ||
            fail "walker $walker has $(head -n 1 end_$walker.xyz) sites"
    done
}

join() { python3 "$here/../../bench/water_numbers.py" join reference.csv 0.25 "$@" >"$out" 2>"$err"; }

largest_z() { awk '/^# largest/ { sub(/,/, "", $4); print $4 }' "$out"; }

test_transition_counts_of_several_runs_are_joined()
{
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    counted low 0 5 1
    counted again 0 5 2
    counted high 5 11 3
    awk 'BEGIN { print "N,lnPI,lnPIstd"; for (n = 0; n <= 10; n++) { printf "%d,%.15g,1e-9\n", n, ln - 3; ln += log(5.4 / (n + 1)) } }' >reference.csv
    join low.npz again.npz high.npz || fail "they are not joined"
    [ "$(grep -vc '^#' "$out")" = 11 ] || fail "it is not up to the last number of the reference"
    awk -v z="$(largest_z)" 'BEGIN { exit !(z != "" && z < 0.1) }' || fail "they are joined otherwise: z = $(largest_z)"
    sed 's/^8,[^,]*/8,-4/' reference.csv >other.csv
    mv other.csv reference.csv
    join low.npz high.npz || fail "they are not joined"
    awk -v z="$(largest_z)" 'BEGIN { exit !(z > 100) }' || fail "another reference is not seen: z = $(largest_z)"
    ! join high.npz low.npz again.npz "$PWD/none.npz" || fail "a file that is not there is not missed"
    counted far 7 11 4
    ! join low.npz far.npz || fail "numbers that are not connected are joined"
    grep -q 'no run leads from N = 5 to 7' "$err" || fail "it does not say why"
}

# Of two runs with other trial moves one accepts twice as much both ways and ends at N = 5: steps there are those of both.
test_runs_with_other_trial_moves_are_joined()
{
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    awk 'BEGIN { print "N,lnPI,lnPIstd"; for (n = 0; n <= 10; n++) { printf "%d,%.15g,1e-9\n", n, ln - 3; ln += log(5.4 / (n + 1)) } }' >reference.csv
    python3 - <<-'END' || fail "no counts were made"
	import numpy
	for name, last, accepted in ("long", 10, 0.1), ("short", 5, 0.2):
	    n = numpy.arange(last + 1)
	    sums = numpy.zeros((16, last + 1, 4))
	    sums[:, :, 1], sums[:, :, 3] = 50, 50
	    sums[:, last, 1] = 20  # where a run ends it has been less
	    sums[:, :, 2] = accepted * sums[:, :, 3] * numpy.minimum(1, 5.4 / (n + 1))
	    sums[:, 1:, 0] = accepted * sums[:, 1:, 1] * numpy.minimum(1, n[1:] / 5.4)
	    numpy.savez(name + ".npz", numbers=n, sums=sums)
	END
    join long.npz short.npz || fail "they are not joined"
    awk -v z="$(largest_z)" 'BEGIN { exit !(z != "" && z < 0.1) }' || fail "they are joined otherwise: z = $(largest_z)"
}
