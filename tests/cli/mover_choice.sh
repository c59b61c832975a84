# [mover auto]: which mover it is, for typical systems, with and without a GPU; what is said; what goes on with it.
# A machine with GPUs is imitated by a driver that counts two and opens none.

# input BOX SPECIES POTENTIALS [RUN]: a run of [mover auto].
input()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20
	seed = 5
	${4-}
	[box]
	$1
	[initial]
	state = lattice
	$2
	$3
	[mover auto]
	step = 0.1
	END
    sed -i 's/^[[:space:]]*//' sim.ini
}

atoms() { printf '[species atom]\ncount = %s\n' "$1"; }
liquid=$'[potential lennard_jones]\nepsilon = 1\ncutoff = 2.5\ntruncation = shift'
cube=$'dimension = 3\ndensity = 0.7'
oblique()
{
    printf 'dimension = 3\nshape = oblique\na = %s 0 0\nb = %s %s 0\nc = 0 0 %s\n' "$1" "$2" "$1" "$1"
}

# chooses CPU GPU: the mover without a GPU, and that with one, where `on a GPU` stands behind the name if it is for that.
chooses()
{
    must check sim.ini --set run.device=cpu
    expect_chosen "$1 on one core"
    LD_LIBRARY_PATH=$TWO_GPUS "$PLUGMC" check sim.ini >"$out" 2>"$err"
    expect_chosen "$2"
}

expect_chosen()
{
    local chosen
    chosen=$(sed -n "s/^\[mover auto\]: '\([a-z_]*\)' on \(a GPU\|one core\), .*/\1 on \2/p" "$out" "$err")
    [ "$chosen" = "$1" ] || fail "expected the choice $1, not $chosen"
}

test_mover_of_liquids()
{
    input "$cube" "$(atoms 500)" "$liquid"
    chooses brush "brush on a GPU"
    input "$cube" "$(atoms 4000)" "$liquid"
    chooses checkerboard "brush on a GPU"
    input "$cube" "$(atoms 32768)" "$liquid"
    chooses checkerboard "checkerboard on a GPU"
}

test_mover_of_hard_disks()
{
    input $'dimension = 2\npacking_fraction = 0.6' "$(atoms 100000)" '[potential hard_disk]'
    chooses checkerboard "checkerboard on a GPU"
}

# A few disks are as fast on a core.
test_mover_of_few_hard_disks()
{
    input $'dimension = 2\npacking_fraction = 0.6' "$(atoms 64)" '[potential hard_disk]'
    chooses checkerboard "checkerboard on one core"
}

test_mover_of_ions_with_sums_over_waves()
{
    input $'dimension = 3\ndensity = 0.1' $'[species cation]\ncount = 256\ncharge = 1\n[species anion]\ncount = 256\ncharge = -1' \
        $'[potential hard_sphere]\n[potential coulomb_ewald]\nbjerrum_length = 2\ncutoff = 5\ntolerance = 1e-4'
    chooses serial "ewald_serial on a GPU"
}

test_mover_in_oblique_boxes()
{
    input "$(oblique 9 3)" "$(atoms 500)" "$liquid"
    chooses brush "brush on a GPU"
    input "$(oblique 36 12)" "$(atoms 32000)" "$liquid"
    chooses serial "brush on a GPU"
}

test_mover_of_charges_in_a_sphere()
{
    input $'dimension = 3\nshape = sphere\nradius = 20' \
        $'[species cation]\ncount = 50\ncharge = 1\n[species anion]\ncount = 50\ncharge = -1' \
        $'[potential hard_sphere]\n[potential coulomb]\nbjerrum_length = 2\n[potential spherical_wall]'
    chooses brush "brush on one core"
}

test_mover_of_particles_that_come_and_go()
{
    input "$cube" $'[species atom]\ncount = 400\nmax_count = 600\nmu = -3' "$liquid"
    printf '[mover insert]\nspecies = atom\n' >>sim.ini
    chooses serial "serial on one core"
}

test_mover_at_constant_pressure()
{
    input "$cube" "$(atoms 256)" "$liquid" 'pressure = 0.5'
    printf '[mover volume]\n' >>sim.ini
    chooses brush "brush on a GPU"
}

test_mover_of_ladders()
{
    input "$cube" "$(atoms 500)" "$liquid" 'walkers = 4'
    printf '[ladder]\nvary = run.temperature\nvalues = 1 1.1 1.2 1.3\n[mover exchange]\n' >>sim.ini
    chooses brush "brush on a GPU"
}

test_mover_of_many_walkers()
{
    input "$cube" "$(atoms 500)" "$liquid" 'walkers = 1024'
    chooses brush "serial on a GPU"
}

# Weights of energies are for movers that leave their decisions to the core.
test_mover_beside_weights()
{
    input "$cube" "$(atoms 500)" "$liquid" 'equilibrate = 10'
    printf '[mover wang_landau]\nvariable = energy\nmin = -3000\nmax = 0\nbins = 10\nlearning = 10\n' >>sim.ini
    chooses serial "serial on one core"
}

# The chain must not depend on how many threads there are.
test_threads_do_not_change_the_choice()
{
    input "$cube" "$(atoms 500)" "$liquid"
    chooses brush "brush on a GPU"
    must check sim.ini --set run.device=cpu --set run.threads=64
    expect_chosen "brush on one core"
}

# in_file LINE: the effective input in the output file has it.
in_file() { h5dump -d /parameters/effective_ini sim.h5 | grep -A1 '^ *\[mover auto\]$' | grep -q "^ *$1"; }

test_what_was_chosen_is_in_the_first_lines_and_in_the_file()
{
    input "$cube" "$(atoms 500)" "$liquid" 'device = cpu'
    must run sim.ini
    expect_chosen "brush on one core"
    grep -Eq "^\[mover auto\]: 'brush' on one core, [0-9.e+]+ trial moves a second expected; 'checkerboard' [0-9.e+]+; 'serial' [0-9.e+]+$" \
        "$err" || fail "expected the others, too"
    in_file 'plugin = brush  ; chosen' || fail "expected the mover in the effective input"
}

# One that is named runs the same chain.
test_the_chain_is_that_of_the_mover()
{
    input "$cube" "$(atoms 500)" "$liquid" 'device = cpu'
    printf '[observable energy]\nperiod = 5\n' >>sim.ini
    must run sim.ini --set run.csv=auto.csv
    must run sim.ini --set run.csv=named.csv --set "mover auto.plugin=brush"
    cmp auto.csv named.csv || fail "expected the same table"
}

# Whatever would be chosen by now.
test_a_run_goes_on_with_its_mover()
{
    input "$cube" "$(atoms 500)" "$liquid" 'device = cpu'
    must run sim.ini --set "mover auto.plugin=serial"
    must run sim.ini --resume-if-there --set run.sweeps=40
    ! grep -q "^\[mover auto\]:" "$err" || fail "nothing had to be chosen"
    in_file 'plugin = serial ' || fail "expected the mover of the first part"
    must check sim.ini --json
    grep -q '"ok": true' "$out" || fail "expected that the run can go on"
    must run --resume sim.h5 --set run.sweeps=60
    rm sim.h5
    must run sim.ini --resume-if-there
    expect_chosen "brush on one core"
    must run --resume sim.h5 --set run.sweeps=40
    in_file 'plugin = brush ' || fail "expected the mover that was chosen"
}

# refuses CODE SENTENCE...: all that is said.
refuses()
{
    plugmc check sim.ini
    expect_exit "$1"
    shift
    printf '%s\n' "$@" | diff - "$err" || fail "expected these sentences"
}

test_no_mover_fits()
{
    sed '/^\[mover/,/^$/d' "$here/../../examples/helium.ini" >sim.ini
    printf '[mover auto]\nstep = 0.1\n' >>sim.ini
    plugmc check sim.ini
    expect_exit 3
    grep -Eq "^sim.ini:[0-9]+: \[mover auto\] no mover of single particles fits this run: 'brush' .*; 'checkerboard' .*; 'ewald_serial' .*; 'serial' " \
        "$err" || fail "expected the reasons"
}

test_keys_that_only_some_have()
{
    input "$cube" "$(atoms 500)" "$liquid"
    echo "trials = 16" >>sim.ini
    refuses 3 "sim.ini:18: [mover auto] unknown key 'trials': where the mover is chosen, step, target_acceptance and every are all keys \
there are; name a mover to set others"
    sed -i 's/^trials/stepp/' sim.ini
    refuses 3 "sim.ini:18: [mover auto] unknown key 'stepp'; did you mean 'step'?"
}

# What is wrong elsewhere is said as if a mover were named, all of it, and once.
test_other_errors_are_told_as_always()
{
    input "$cube" "$(atoms 500)" "$liquid"
    sed -i 's/^cutoff = 2.5/cutoff = -1/' sim.ini
    printf '[observable energy]\nperiode = 3\n' >>sim.ini
    plugmc check sim.ini
    expect_exit 3
    cp "$err" of_auto
    sed -i 's/^\[mover auto\]/[mover brush]/' sim.ini
    plugmc check sim.ini
    expect_exit 3
    cmp of_auto "$err" || fail "expected the same sentences"
}

# Movers may divide walkers on one device alone.
test_no_mover_is_chosen_for_more_processes_than_walkers()
{
    input "$cube" "$(atoms 500)" "$liquid" 'walkers = 2'
    plugmc check sim.ini --processes 4
    expect_exit 3
    grep -Fq "[mover auto] with more processes than walkers no mover is chosen: name one that divides a walker among \
processes, such as 'brush' or 'checkerboard'" "$err" || fail "expected that there is no choice"
    must check sim.ini --processes 2 --set run.device=cpu
    expect_chosen "brush on one core"
}

test_check_compares_all_movers()
{
    input "$(oblique 9 3)" "$(atoms 500)" "$liquid" 'device = cpu'
    must check sim.ini
    grep -Eq "^\* brush +[0-9.e+]+ +[0-9.e+]+ +[0-9.e+]+ +[0-9.e+]+$" "$out" || fail "expected the speed of brush"
    grep -Eq "^  serial +[0-9.e+]+ +[0-9.e+]+ +- +-$" "$out" || fail "expected that of serial, which has no GPU for one walker"
    grep -Eq "^  checkerboard +needs a rectangular box, but the lattice vectors" "$out" || fail "expected why it does not fit"
}

test_info_explains_the_choice()
{
    must info auto
    expect_output "auto (mover): the mover of single particles that says to be the fastest"
    must info mover auto
    expect_output "[mover auto]"
}
