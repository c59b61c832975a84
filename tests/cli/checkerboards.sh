# Checkerboard beside movers that change what it sweeps: temperatures and couplings of walkers. Fixed
# seeds; a right program is beyond 4 standard errors once in 16,000 numbers.

. "$here/ladders.sh" # near
. "$here/chain.sh"   # undisturbed, disturbed

# liquid WALKERS: 49 Lennard-Jones disks.
liquid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 8000
	equilibrate = 1000
	seed = 5
	device = cpu
	threads = 1
	walkers = $1
	[box]
	dimension = 2
	density = 0.55
	[species atom]
	count = 49
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.2
	truncation = force_shift
	[mover checkerboard]
	step = 0.3
	[observable energy]
	period = 4
	END
}

# mean NAME: mean and error of a line of the table.
mean()
{
    awk -v name="$1" '$1 == name { split($2, part, /[()]/); digits = part[1]
        if (digits ~ /\./) sub(/.*\./, "", digits); else digits = ""
        print part[1], part[2] / 10 ^ length(digits); exit }' "$out"
}

# agree WHAT "MEAN ERROR" "MEAN ERROR" LEAST: both errors are below LEAST, and the difference below 4
agree()
{
    awk -v what="$1" -v a="$2" -v b="$3" -v least="$4" 'BEGIN {
        n = split(a, x); m = split(b, y); error = sqrt(x[2] ^ 2 + y[2] ^ 2); z = (x[1] - y[1]) / error
        printf "%s %s and %s: z = %.2f\n", what, a, b, z
        exit !(n == 2 && m == 2 && z < 4 && z > -4 && x[2] < least && y[2] < least) }' || fail "$1 differs"
}

# Energies on a rung are those of a run at its temperature alone.
test_exchange_beside_the_checkerboard()
{
    liquid 6
    change 's/^walkers/temperature = 0.8 1 1.3\n&/; s/^step = .*/&\ntarget_acceptance = 0.4/'
    printf '[mover exchange]\nevery = 5\n' >>sim.ini
    must run sim.ini
    grep -Eq "^acceptance 0\.(3[89]|4[01])[0-9]* to 0\.(3[89]|4[01])[0-9]* of .*checkerboard.displacement, step" "$out" ||
        fail "the step is not tuned rung by rung"
    grep -q "^acceptance 0\.[1-9].* trial moves of exchange.exchange" "$out" || fail "no exchanges"
    local rung
    cp "$out" ladder
    for rung in 0.8 1 1.3; do
        liquid 2
        change "s/^walkers/temperature = $rung\n&/; s/^seed = .*/seed = 17/"
        must run sim.ini --set run.sweeps=16000
        single=$(mean energy.energy)
        cp "$out" "single$rung" && cp ladder "$out"
        agree "energy at $rung" "$(mean energy.energy@$rung)" "$single" 0.01
    done
}

# walker K FILE: its positions in the checkpoint, as numbers
walker()
{
    h5dump -y -d /plugmc/checkpoint/positions -s "$1,0,0" -c 1,49,3 -m %.17g "$2" |
        awk '/DATA \{/ { on = 1; next } /\}/ { on = 0 } on'
}

# Each walker makes the chain that it makes where all have its temperature: with walkers of two
# temperatures, and then where there is one by now.
test_walkers_of_two_temperatures()
{
    liquid 2
    change 's/^sweeps = .*/sweeps = 400/; s/^equilibrate = .*/equilibrate = 0/'
    must run sim.ini --set "run.temperature=0.9 1.4" --set run.output=both.h5
    must run sim.ini --set run.temperature=0.9 --set run.output=cold.h5
    must run sim.ini --set run.temperature=1.4 --set run.output=warm.h5
    for k in 0 1; do walker $k both.h5 >both$k && walker $k cold.h5 >cold$k && walker $k warm.h5 >warm$k; done
    [ "$(wc -w <both0)" -ge 147 ] || fail "there are no positions"
    cmp both0 cold0 || fail "the walker at 0.9 has another chain"
    cmp both1 warm1 || fail "the walker at 1.4 has another chain"
    ! cmp -s both1 cold1 || fail "the temperature does not matter"
}

# A coupling of two is an energy twice as large.
test_coupling_beside_the_checkerboard()
{
    liquid 2
    change 's/^sweeps = .*/sweeps = 400/; s/^equilibrate = .*/equilibrate = 0/; s/^walkers/temperature = 2\n&/'
    must run sim.ini --set potential.coupling=2 --set run.output=coupled.h5
    must run sim.ini --set potential.epsilon=2 --set run.output=deeper.h5
    h5diff coupled.h5 deeper.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "the chains differ"
    must run sim.ini --set run.output=once.h5
    ! h5diff coupled.h5 once.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "the coupling does not matter"
}

# Two terms, each with a factor of its own, in narrow cells and in wide ones, where a warp would take one.
test_couplings_as_in_serial()
{
    liquid 4
    change 's/^count = .*/&\ncharge = 1/; s/^truncation.*/&\ncoupling = 0.6\n[potential yukawa]\nbjerrum_length = 1\nkappa = 1\ncutoff = 2\ncoupling = 1.7/'
    must run sim.ini
    cp "$out" narrow
    must run sim.ini --set mover.cell=3.4
    cp "$out" wide
    change 's/^\[mover checkerboard\]/[mover serial]/; s/^seed = .*/seed = 23/'
    must run sim.ini
    cp "$out" serial
    for name in energy.energy energy.energy_lennard_jones energy.energy_yukawa; do
        cp serial "$out" && one=$(mean $name)
        for cells in narrow wide; do
            cp $cells "$out"
            agree "$name, $cells cells" "$(mean $name)" "$one" 0.01
        done
    done
}

# A coupling of none: particles go through each other, where energies in float are infinite (below 0.004).
test_coupling_of_none_beside_the_checkerboard()
{
    local cell
    liquid 4
    change 's/^\[box\]/[ladder]\nvary = lennard_jones.coupling\nvalues = 0 1e-9\n\n&/; s/^density = .*/density = 1/'
    change 's/^sweeps = .*/sweeps = 6000/; s/^epsilon = 1/epsilon = 1e9/'
    for cell in 2.2 3.5; do
        must run sim.ini --set run.equilibrate=0 --set mover.cell=$cell
        grep -Eq "^acceptance 0\.[0-9]+ to 0\.[0-9]+ of .*trial moves" "$out" || fail "no acceptances"
    done
}

# A change of energy that is not a number is found on a rung, too.
test_ladder_of_the_checkerboard_names_the_pair_without_a_number()
{
    . "$here/not_a_number.sh"
    hole_of checkerboard 2 64 "step = 0.4"
    change 's/^walkers = .*//; s/^\[box\]/[ladder]\nvary = run.temperature\nvalues = 1 2\n\n&/; s/^\[run\]/&\nwalkers = 2/'
    found test_hole "the (energy|force) of particles [0-9]+ and [0-9]+ of walker [01], 0\.[0-4][0-9]* apart,"
}

# chain.ini with charged disks at three temperatures. Three divides 1203 and 2301, so there the movers of the
# last sweep were checkerboard and, after it, exchange: cells are current, multipliers are not.
rungs='s/^walkers = 3/walkers = 6\ntemperature = 0.7 1 1.5/; s/^diameter = .*/&\ncharge = 1/
    s/^\[mover .*/[potential yukawa]\nbjerrum_length = 1\nkappa = 1\ncutoff = 2\n\n&/
    s/^count = 100/count = 30/; s/hard_pressure/energy/
    $a [mover exchange]\nevery = 3'

test_ladder_of_the_checkerboard_is_resumed()
{
    undisturbed checkerboard 0 "$rungs"
    must run sim.ini --set run.sweeps=203
    must run --resume sim.h5 --set run.sweeps=1300
    must run --resume sim.h5 --set run.sweeps=1301
    must run --resume sim.h5 --set run.sweeps=3000
    finished_as_undisturbed
    must run sim.ini --set run.threads=2 --set run.output=threads.h5
    same_chain whole.h5 threads.h5
}

test_ladder_of_the_checkerboard_is_killed()
{
    undisturbed checkerboard 2 "$rungs"
    change 's/^seed/checkpoint = 0.2\nseed/'
    disturbed 137 KILL
}

# ---- Boxes that change ----

# pressed PRESSURE: the liquid of two walkers at this pressure, whose boxes have 4 x 4 to 8 x 8 cells.
pressed()
{
    liquid 2
    change "s/^walkers/pressure = $1\n&/; s/^\[mover check.*/[mover volume]\nstep = 0.1\n\n&/; s/^cutoff = .*/cutoff = 1.6/"
    change 's/^\[observable energy\]/[observable box_size]\nperiod = 4\n&/'
}

# The mean of the pressure of the moment is the one imposed, and volumes are those by mover serial.
test_pressure_beside_the_checkerboard()
{
    pressed 0.6
    printf '[observable virial_pressure]\nperiod = 4\n' >>sim.ini
    must run sim.ini --set run.sweeps=20000
    near virial_pressure.pressure 0.6 0.02
    near virial_pressure.pressure_x 0.6 0.02
    cp "$out" cells
    change 's/^\[mover checkerboard\]/[mover serial]/; s/^seed = .*/seed = 23/'
    must run sim.ini --set run.sweeps=20000
    local volume
    volume=$(mean box_size.volume) && energy=$(mean energy.energy)
    cp cells "$out"
    agree volume "$(mean box_size.volume)" "$volume" 1.5
    agree energy "$(mean energy.energy)" "$energy" 0.01
}

# An ideal gas: (N + 1) / P.
test_volume_of_an_ideal_gas_by_the_checkerboard()
{
    boxes_of_points=$(liquid 2 && sed '/^\[potential/,/^truncation/d; s/^\[mover check/[potential hard_disk]\n[mover volume]\nstep = 0.2\n&/
        s/^count = .*/&\ndiameter = 0/; s/^walkers/pressure = 1\n&/; s/^\[observable energy\]/[observable box_size]/' sim.ini)
    echo "$boxes_of_points" >sim.ini
    must run sim.ini
    near box_size.volume 50 0.5
}

# hard DIMENSION N PRESSURE LENGTH: hard disks or spheres of two sizes.
hard()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 12000
	equilibrate = 1000
	seed = 4
	device = cpu
	threads = 1
	walkers = 2
	pressure = $3
	[box]
	dimension = $1
	lx = $4
	[species small]
	count = $2
	diameter = 0.8
	[species large]
	count = $2
	diameter = 1
	[initial]
	state = random
	[potential hard_$([ "$1" = 2 ] && echo disk || echo sphere)]
	[mover checkerboard]
	step = 0.2
	target_acceptance = 0.4
	[mover volume]
	step = 0.05
	[observable box_size]
	period = 5
	END
}

test_hard_particles_at_constant_pressure_by_the_checkerboard()
{
    local dimension least one
    for dimension in 2 3; do
        [ $dimension = 2 ] && hard 2 30 2 9 || hard 3 20 2 4.5
        [ $dimension = 2 ] && least=1.2 || least=2
        must run sim.ini
        cp "$out" cells
        change 's/^\[mover checkerboard\]/[mover serial]/; s/^seed = .*/seed = 14/'
        must run sim.ini
        one=$(mean box_size.volume)
        cp cells "$out"
        agree "volume in $dimension dimensions" "$(mean box_size.volume)" "$one" $least
    done
}

# Ladders of pressures: volumes on a rung are those at its pressure.
test_ladder_of_pressures_beside_the_checkerboard()
{
    pressed 0.5
    change 's/^walkers = 2/walkers = 4/; s/^\[box\]/[ladder]\nvary = run.pressure\nvalues = 0.5 0.7\n\n&/'
    change 's/^\[mover volume\]/[mover exchange]\nevery = 2\n\n&\nevery = 3/'
    must run sim.ini --set run.sweeps=16000
    cp "$out" ladder
    local pressure one
    for pressure in 0.5 0.7; do
        pressed $pressure
        must run sim.ini --set run.sweeps=16000 --set run.seed=9
        one=$(mean box_size.volume)
        cp ladder "$out"
        agree "volume at $pressure" "$(mean box_size.volume@$pressure)" "$one" 1.5
    done
}

# cells FILE: the cell of every particle, of 4 x 4 at the corner of the box
cells()
{
    for k in 0 5 15; do
        walker $k "$1" | tr ', ' '\n\n' | awk -v edge="$(awk 'BEGIN { print sqrt(49 / 0.55) / 4 }')" '/./ {
            line = line int($1 / edge) " "; if (++n % 3 == 0) { print line; line = "" } }'
    done
}

# A box is taken after every sweep, in some walker at least, and particles are put into cells anew. These
# stay shifted: else nobody would ever leave the cell where it began.
test_cells_stay_shifted_beside_another_mover()
{
    liquid 16
    change 's/^equilibrate = .*/equilibrate = 0/; s/^walkers/pressure = 1\n&/
        s/^\[mover check/[mover volume]\nstep = 1e-9\ntarget_acceptance = 0\n&/'
    must run sim.ini --set run.sweeps=1 --set run.output=first.h5
    must run sim.ini --set run.sweeps=301 --set run.output=last.h5
    cells first.h5 >first
    cells last.h5 >last
    [ "$(wc -l <first)" = 147 ] || fail "there are no positions"
    [ "$(paste -d: first last | awk -F: '$1 != $2' | wc -l)" -gt 90 ] || fail "particles stay in their cells"
}

# Three divides 1203 and 2301: stopped where cells are those of an older box, and where they are current, with any threads.
changing='s/^walkers = 3/walkers = 2\npressure = 0.6/; s/^count = 100/count = 20/; s/^packing_fraction.*/lx = 7/
    s/^r_max = 3/r_max = 1.5/
    $a [mover volume]\nevery = 3\nstep = 0.1'

test_checkerboard_in_changing_boxes_is_resumed()
{
    undisturbed checkerboard 0 "$changing"
    must run sim.ini --set run.sweeps=203
    must run --resume sim.h5 --set run.sweeps=1300
    must run --resume sim.h5 --set run.sweeps=1301
    must run --resume sim.h5 --set run.sweeps=1599
    must run --resume sim.h5 --set run.sweeps=3000
    finished_as_undisturbed
    must run sim.ini --set run.threads=2 --set run.output=threads.h5
    same_chain whole.h5 threads.h5
}

# The checkerboard gives its places back when somebody looks at them. That it may be asked about a box
# before or after that makes no difference.
test_boxes_do_not_hang_on_who_looks()
{
    hard 2 30 2 9
    must run sim.ini --set run.sweeps=3000 --set run.output=seldom.h5 --set observable.period=1000
    must run sim.ini --set run.sweeps=3000 --set run.output=often.h5 --set observable.period=1
    for what in checkpoint/positions movers; do
        h5diff seldom.h5 often.h5 /plugmc/$what >"$out" 2>&1 || fail "$what differs"
    done
}

test_checkerboard_in_changing_boxes_is_killed()
{
    undisturbed checkerboard 2 "$changing"
    change 's/^seed/checkpoint = 0.2\nseed/'
    disturbed 137 KILL
}

test_box_that_becomes_too_small_for_the_checkerboard()
{
    hard 2 2 50 9
    change 's/^\[mover checkerboard\]/&\ncell = 2/'
    plugmc run sim.ini
    expect_exit 3
    grep -Eq "^sim.ini:[0-9]+: \[mover checkerboard\] a box has become so small that its edge 3\.[0-9]+ is below twice \
the cell 2, so there is no checkerboard of cells \(mover 'serial' takes any\)$" "$err" ||
        fail "the box that is too small is not named"
}

# ---- On a GPU ----

# on_both WHAT: the chain on the GPU is that on the CPU.
on_both()
{
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    must run sim.ini --set run.device=gpu --set run.output=gpu.h5
    for what in checkpoint/positions movers; do
        h5diff cpu.h5 gpu.h5 /plugmc/$what >"$out" 2>&1 || fail "$1: $what differs"
    done
}

# Cells that a thread takes, with several walkers in a warp; that a warp takes; patches of disks.
test_ladder_of_the_checkerboard_on_a_gpu()
{
    gpu
    liquid 8
    change 's/^sweeps = .*/sweeps = 300/; s/^equilibrate = .*/equilibrate = 300/'
    change 's/^walkers/temperature = 0.8 1 1.3 2\n&/; s/^step = .*/&\ntarget_acceptance = 0.4/'
    printf '[mover exchange]\nevery = 7\n' >>sim.ini
    on_both "one thread a cell"
    change 's/^dimension = 2/dimension = 3/; s/^count = .*/count = 500/; s/^density = .*/density = 0.7/; s/^cutoff = .*/cutoff = 2.5/'
    on_both "one warp a cell"
    change '/^\[potential/,/^truncation/d; s/^\[mover check.*/[potential hard_disk]\n&/; s/^dimension = 3/dimension = 2/'
    change 's/^count = .*/count = 4096/; s/^step = .*/step = 0.16/'
    on_both "patches of disks"
}

test_boxes_of_the_checkerboard_on_a_gpu()
{
    gpu
    pressed 0.6
    change 's/^sweeps = .*/sweeps = 300/; s/^equilibrate = .*/equilibrate = 300/; s/^\[mover volume\]/&\nevery = 7/'
    on_both "one thread a cell"
    change 's/^dimension = 2/dimension = 3/; s/^count = .*/count = 500/; s/^density = .*/density = 0.7/; s/^cutoff = .*/cutoff = 2.5/; s/^step = 0.1$/step = 0.02/'
    on_both "one warp a cell"
    change '/^\[potential/,/^truncation/d; s/^\[mover check.*/[potential hard_disk]\n&/; s/^dimension = 3/dimension = 2/'
    change 's/^count = .*/count = 4096/; s/^step = 0.3/step = 0.16/; s/^step = 0.02/step = 2e-4/; s/^pressure = .*/pressure = 8/'
    on_both "patches of disks"
    change 's/^count = .*/count = 577600/; s/^\[mover volume\]/&\nshape = axes/; s/^sweeps = .*/sweeps = 20/; s/^equilibrate = .*/equilibrate = 0/; s/^walkers = .*/walkers = 1/; s/^step = 2e-4/step = 1e-6/; s/^every = 7/every = 3/'
    on_both "pieces of rows of disks"
}
