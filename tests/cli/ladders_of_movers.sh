# Movers with a layout of their own on ladders. Without exchanges each walker makes the chain that it makes in a run
# of all walkers at its temperature, or coupling, alone: bit for bit, since powers of two are exact.

# liquid: 32 particles, four walkers; potentials and the mover come from standard input.
liquid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 30
	equilibrate = 20
	seed = 23
	device = ${device:-cpu}
	walkers = 4
	[box]
	dimension = 3
	lx = 4.5
	[species A]
	count = 20
	charge = 1
	[species B]
	count = 12
	charge = -1
	mass = 2
	[initial]
	state = lattice
	END
    cat >>sim.ini
}

atoms()
{
    cat <<-END
	[potential lennard_jones]
	epsilon = 0.7
	cutoff = 2.1
	truncation = force_shift
	END
}

# places FILE WALKER: of the checkpoint, to the last digit.
places() { h5dump -m %.17g -d /plugmc/checkpoint/positions -s "$2,0,0" -c 1,32,3 "$1" | grep -A99 'DATA {'; }

# each_is_a_single_run KEY COLD HOT: on the ladder KEY walkers 0 and 2 have the first value, 1 and 3 the other one.
each_is_a_single_run()
{
    cp sim.ini alone.ini
    printf '%s\n' '[ladder]' "vary = $1" "values = $2 $3" >>sim.ini
    must run sim.ini
    local key=$1 w
    [ "$key" = run.temperature ] || key="potential $1"
    cp alone.ini sim.ini
    must run sim.ini --set "$key=$2" --set run.output=cold.h5
    must run sim.ini --set "$key=$3" --set run.output=hot.h5
    for w in 0 2; do [ "$(places sim.h5 $w)" = "$(places cold.h5 $w)" ] || fail "walker $w has another chain at $2"; done
    for w in 1 3; do [ "$(places sim.h5 $w)" = "$(places hot.h5 $w)" ] || fail "walker $w has another chain at $3"; done
    [ "$(places cold.h5 1)" != "$(places hot.h5 1)" ] || fail "$1 does not matter"
}

# resumed_with_exchanges: the run goes on after a stop as if there had been none, whatever the threads.
resumed_with_exchanges()
{
    printf '%s\n' '[ladder]' 'vary = run.temperature' 'values = 1 1.1' '[mover exchange]' 'every = 3' >>sim.ini
    change 's/^sweeps = .*/sweeps = 61/'
    must run sim.ini --set run.output=whole.h5
    grep -q 'trial moves of exchange' "$out" || fail "no exchange was tried"
    ! grep -q '^acceptance 0 of .* exchange' "$out" || fail "no exchange was accepted"
    must run sim.ini --set run.sweeps=16
    must run --resume sim.h5 --set run.sweeps=40
    must run --resume sim.h5 --set run.sweeps=61
    same_chain whole.h5 sim.h5
    [ "${device:-cpu}" = gpu ] && return
    must run sim.ini --set run.output=threads.h5 --set run.threads=3
    same_chain whole.h5 threads.h5
}

# In float what counts otherwise on a rung may be rounded otherwise on a GPU.
hmc_with() { liquid <<<"$(cat)
[mover hmc]
precision = double
time_step = 0.01
$1"; }

hmc_ladders()
{
    atoms | hmc_with "steps = 5
target_acceptance = 0"
    each_is_a_single_run run.temperature 0.5 2
    atoms | hmc_with "steps = 5
check_reversal = yes
target_acceptance = 0"
    each_is_a_single_run lennard_jones.coupling 0.5 2
}

test_hmc_on_a_ladder() { hmc_ladders; }
test_hmc_on_a_ladder_on_a_gpu() { gpu; device=gpu hmc_ladders; }

# Times of trajectories are given: each rung has a step and so many steps of its own, once they are tuned, and all
# trajectories lead back.
hmc_of_a_length()
{
    atoms | hmc_with "length = 0.06
check_reversal = yes
target_acceptance = 0.9"
    change 's/^equilibrate = .*/equilibrate = 800/'
    printf '%s\n' '[ladder]' 'vary = run.temperature' 'values = 0.5 8' >>sim.ini
    must run sim.ini
    grep '^acceptance' "$out"
    sed -n 's/^acceptance.* step \([0-9.e-]*\) to \([0-9.e-]*\);.*/\1 \2/p' "$out" |
        awk '{ found = $2 > 1.2 * $1 } END { exit !found }' || fail "rungs have the same step"
}
test_hmc_of_a_length_on_a_ladder() { hmc_of_a_length; }
test_hmc_of_a_length_on_a_ladder_on_a_gpu() { gpu; device=gpu hmc_of_a_length; }

# Sums over waves are totals, with forces that are found apart on a ladder.
beside_waves()
{
    atoms | sed '$a [potential coulomb_spme]\nbjerrum_length = 1\ncutoff = 2.1' | hmc_with "steps = 4
target_acceptance = 0"
}
hmc_beside_waves()
{
    beside_waves
    each_is_a_single_run run.temperature 0.5 2
    beside_waves
    each_is_a_single_run coulomb_spme.coupling 0.5 2
}
test_hmc_beside_waves_on_a_ladder() { hmc_beside_waves; }
test_hmc_beside_waves_on_a_ladder_on_a_gpu() { gpu; device=gpu hmc_beside_waves; }

hmc_resumed()
{
    atoms | hmc_with "length = 0.05
target_acceptance = 0.8"
    resumed_with_exchanges
}
test_hmc_with_exchanges_is_resumed() { hmc_resumed; }
test_hmc_with_exchanges_is_resumed_on_a_gpu() { gpu; device=gpu hmc_resumed; }

# ---- brush, parallel_reduction --------------------------------------------------------------------------

# Hard cores that nobody multiplies, charges without a range, and a step of each rung.
ions()
{
    liquid <<-END
	[potential hard_sphere]
	[potential coulomb]
	bjerrum_length = 1
	minimum_image = yes
	[potential lennard_jones]
	epsilon = 0.3
	cutoff = 2
	[mover $1]
	step = 0.4
	precision = $2
	END
    change 's/^charge = .*/&\ndiameter = 0.8/'
}

ladders_of()
{
    local precision
    for precision in single double; do
        ions "$1" $precision
        each_is_a_single_run run.temperature 0.5 2
        ions "$1" $precision
        each_is_a_single_run coulomb.coupling 0.5 4
    done
}

test_brush_on_a_ladder() { ladders_of brush; }
test_brush_on_a_ladder_on_a_gpu() { gpu; device=gpu ladders_of brush; }
test_parallel_reduction_on_a_ladder_on_a_gpu() { gpu; device=gpu ladders_of parallel_reduction; }

# Hard cores stay where their potential does not count.
test_brush_without_charges()
{
    ions brush single
    each_is_a_single_run coulomb.coupling 0 2
}

brush_resumed()
{
    ions brush single
    printf 'target_acceptance = 0.5\n' >>sim.ini
    resumed_with_exchanges
}
test_brush_with_exchanges_is_resumed() { brush_resumed; }
test_brush_with_exchanges_is_resumed_on_a_gpu() { gpu; device=gpu brush_resumed; }

# Sums over waves, one particle after the other on a GPU.
test_ewald_serial_on_a_ladder_on_a_gpu()
{
    gpu
    local device=gpu
    waves() { atoms | sed '$a [potential coulomb_ewald]\nbjerrum_length = 1\ncutoff = 2.1\n[mover ewald_serial]\nstep = 0.2' | liquid; }
    waves
    each_is_a_single_run run.temperature 0.5 2
    waves
    each_is_a_single_run coulomb_ewald.coupling 0.5 2
    waves
    resumed_with_exchanges
}

# ---- Boxes ----------------------------------------------------------------------------------------------

# boxes_of MOVER: constant pressure; the pressure of the moment is the one imposed.
boxes_of()
{
    ions "$1" single
    change '/^\[potential lennard_jones/,/^cutoff/d; s/^lx = .*/lx = 5/; s/^seed/pressure = 0.4\n&/'
    change 's/^sweeps = .*/sweeps = 20000/; s/^equilibrate = .*/equilibrate = 500/'
    printf '%s\n' 'target_acceptance = 0.4' '[mover volume]' 'step = 0.05' '[observable pressure]' 'period = 5' >>sim.ini
}

# near NAME EXACT LEAST: the mean of a line of the table is EXACT within 4 errors, which are below LEAST.
near()
{
    awk -v name="$1" -v exact="$2" -v least="$3" '$1 == name {
        found = 1; split($2, part, /[()]/); digits = part[1]
        if (digits ~ /\./) sub(/.*\./, "", digits); else digits = ""
        error = part[2] / 10 ^ length(digits); z = (part[1] - exact) / error
        printf "%s %s +- %g, exact %s, z = %.2f\n", name, part[1], error, exact, z
        if (!(z < 4 && z > -4 && error < least)) bad = 1 }
        END { exit bad || !found }' "$out" || fail "$1 is not $2"
}

# The same chain from the reference, decision by decision: in double precision.
same_as_serial()
{
    boxes_of brush
    change 's/^precision = .*/precision = double/; s/^target_acceptance = 0.4/target_acceptance = 0/; s/^sweeps = .*/sweeps = 60/
        s/^equilibrate = .*/equilibrate = 0/; /^\[observable/,$d'
    must run sim.ini --set run.output=brush.h5
    change 's/^\[mover brush\]/[mover serial]\norder = sequential/; /^precision/d'
    must run sim.ini --set run.output=serial.h5 --set run.device=cpu
    h5diff -d 1e-8 brush.h5 serial.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "decisions differ"
}
test_brush_in_changing_boxes_decides_as_serial_does() { same_as_serial; }
test_brush_in_changing_boxes_decides_as_serial_does_on_a_gpu() { gpu; device=gpu same_as_serial; }

test_brush_in_changing_boxes_is_resumed()
{
    boxes_of brush
    change 's/^equilibrate = .*/equilibrate = 20/'
    must run sim.ini --set run.output=whole.h5 --set run.sweeps=60
    must run sim.ini --set run.sweeps=21
    must run --resume sim.h5 --set run.sweeps=60
    same_chain whole.h5 sim.h5
    must run sim.ini --set run.output=threads.h5 --set run.threads=3 --set run.sweeps=60
    same_chain whole.h5 threads.h5
}

# Edges of a large box lose in float what hard cores are widened by, so that nothing overlaps that float takes for apart.
test_brush_warns_of_boxes_too_large_for_float()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 10
	device = cpu
	[box]
	dimension = 3
	lx = 65536.0038
	[species ball]
	count = 2
	[initial]
	state = random
	[potential hard_sphere]
	[mover brush]
	END
    must run sim.ini
    expect_message "sim.ini:12: warning: [mover brush] precision: single would widen hard cores by 0.01 of the largest contact distance in this large box, because of rounding: use precision = double"
    must run sim.ini --set box.lx=1048576
    expect_message "sim.ini:12: warning: [mover brush] precision: single would round positions to 0.06 of the largest contact distance in this large domain: use precision = double"
    must run sim.ini --set box.lx=1000
    grep -q precision "$err" && fail "a box of 1000 diameters is not too large"
    must run sim.ini --set mover.precision=double
}
