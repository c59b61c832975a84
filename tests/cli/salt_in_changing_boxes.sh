# Long-range forces at constant pressure: Ewald sums and particle-mesh Ewald follow the boxes of walkers.
# Fixed seeds.

# salt POTENTIAL SETTING...: 32 ions of molten NaCl at 1100 K in two walkers; lengths in Angstrom.
# Charges by POTENTIAL, cutoff and share of pairs always the same.
salt()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 4000
	equilibrate = 300
	seed = 5
	device = cpu
	walkers = 2
	pressure = 0.05
	[box]
	dimension = 3
	lx = 10
	[species Na]
	count = 16
	charge = 1
	diameter = 1
	[species Cl]
	count = 16
	charge = -1
	diameter = 1
	[initial]
	state = lattice
	[potential born_mayer]
	a = 2.78195 2.22556 1.66917
	b = 3.1546
	sigma = 2.340 2.755 3.170
	c = 11.0620 73.7465 763.803
	d = 5.26761 91.5247 1534.19
	cutoff = 4
	truncation = cut
	[mover serial]
	step = 0.5
	target_acceptance = 0.4
	[mover volume]
	step = 0.2
	target_acceptance = 0
	[observable box_size]
	period = 2
	[potential charges]
	plugin = $1
	bjerrum_length = 151.9
	cutoff = 4
	alpha = 0.65
	END
    printf '%s\n' "${@:2}" >>sim.ini
}

ewald() { salt coulomb_ewald 'k_max = 6' 'n_square = 40' 'tolerance = 2e-3'; }
mesh() { salt coulomb_spme 'tolerance = 5e-3' 'grid = 14'; }

# Ions that have found their neighbours: in melt.h5, where other runs begin.
melt()
{
    ewald
    change '/^\[mover volume\]/,/^period/d; s/^sweeps = .*/sweeps = 200/'
    printf '[observable trajectory]\nperiod = 200\n' >>sim.ini
    must run sim.ini --set run.output=melt.h5
}

molten() { change 's/^state = lattice/state = file\nfile = melt.h5/'; }

# volume_and_error: what the last run says.
volume_and_error()
{
    awk '$1 == "box_size.volume" && $2 ~ /\(/ { split($2, part, /[()]/); digits = part[1]
        if (digits ~ /\./) sub(/.*\./, "", digits); else digits = ""
        print part[1], part[2] / 10 ^ length(digits) }' "$out"
}

# Two sums of the same energy: volumes agree within 4 standard errors of their difference, which right
# sums exceed once in 16,000 seeds; an error of the volume is at most 3 per cent. The volumes of the two
# walkers differ, and no weight of a wave is that of the start.
test_ions_at_constant_pressure()
{
    melt
    ewald
    molten
    must run sim.ini
    local by_sum by_mesh
    by_sum=$(volume_and_error)
    mesh
    molten
    must run sim.ini
    by_mesh=$(volume_and_error)
    echo "$by_sum $by_mesh" | awk '{ z = ($1 - $3) / sqrt($2^2 + $4^2)
        printf "volumes %g +- %g and %g +- %g, z = %.2f\n", $1, $2, $3, $4, z
        exit !(NF == 4 && z < 4 && z > -4 && $2 < 0.03 * $1 && $4 < 0.03 * $3) }' ||
        fail "volumes by Ewald sum and by particle-mesh Ewald differ: $by_sum, $by_mesh"
}

# Structure factors and boxes are as they were, whatever the number of threads.
test_long_range_forces_in_changing_boxes_are_resumed()
{
    melt
    for sum in ewald mesh; do
        $sum
        molten
        change 's/^equilibrate = .*/equilibrate = 10/'
        must run sim.ini --set run.output=whole.h5 --set run.sweeps=60
        must run sim.ini --set run.sweeps=21
        must run --resume sim.h5 --set run.sweeps=60
        same_chain whole.h5 sim.h5
        must run sim.ini --set run.output=threads.h5 --set run.threads=3 --set run.sweeps=60
        same_chain whole.h5 threads.h5
    done
}

# What an Ewald sum keeps is rounded as by all moves since the last new box: a stop between that box and the
# next trial move makes no difference.
test_a_stop_after_a_new_box_is_resumed()
{
    melt
    ewald
    molten
    change 's/^equilibrate = .*/equilibrate = 10/'
    for stop in 21 22 23 24 25 26; do
        must run sim.ini --set run.output=whole.h5 --set run.sweeps=$((stop + 1))
        must run sim.ini --set run.sweeps=$stop
        must run --resume sim.h5 --set run.sweeps=$((stop + 1))
        same_chain whole.h5 sim.h5
    done
}

test_a_box_that_outgrows_waves_or_grid()
{
    melt
    for sum in ewald mesh; do
        $sum
        molten
        change 's/^pressure = .*/pressure = 0/; s/^step = 0.2/step = 0.6/'
        plugmc run sim.ini
        expect_exit 3
        [ $sum = ewald ] && key='set k_max = ' || key='set a finer grid'
        grep -q "\[potential charges\] the box of walker . has grown to a volume of .*: $key" "$err" ||
            fail "the key to set is not named"
        ! grep -q "the plugin failed" "$err" || fail "the mover is blamed as well"
    done
}

# What was there before a box has outgrown the waves is in the output. A run with more waves begins there, and is the same however it is cut.
test_a_run_that_outgrows_waves_is_kept()
{
    melt
    salt coulomb_ewald 'tolerance = 1e-5' 'growth = 1'
    molten
    change 's/^pressure = .*/pressure = 0.001/; s/^checkpoint/; &/; s/^equilibrate = .*/equilibrate = 0/; s/^sweeps = .*/sweeps = 20000/; s/^alpha = .*/alpha = 0.9/; s/^step = 0.2/step = 0.002/'
    plugmc run sim.ini
    expect_exit 3
    grep -q 'warning: .*\[potential charges\] the waves suffice while no edge of the box is more than 1\.0[0-4][0-9] times as long' "$err" ||
        fail "nothing is said at the start"
    grep -q '\[potential charges\] the box of walker . has grown to a volume of .*: set growth = 1\.[0-9]* or more' "$err" || fail "the key to set is not named"
    grep -q 'what was there after sweep [1-9][0-9]* is in sim.h5; a run with other settings begins from it with \[initial\] state = file, file = sim.h5' "$err" ||
        fail "it is not said where the run is"
    expect_output box_size.volume
    cp sim.h5 first.h5
    change 's/^file = melt.h5/file = first.h5/; s/^growth = 1$/growth = 1.3/'
    must run sim.ini --set run.output=whole.h5 --set run.sweeps=60
    ! grep -q 'waves suffice' "$err" || fail "it is said although there is room"
    must run sim.ini --set run.sweeps=21
    must run --resume sim.h5 --set run.sweeps=60
    same_chain whole.h5 sim.h5
}
