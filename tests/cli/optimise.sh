# plugmc optimise from outside: fixed seeds, so each of these passes always or never.

export PLUGMC_PLUGIN_PATH=$PLUGINS

# gas.ini: 14 electrons at r_s = 5 with the cusp alone. QMCPACK's optimum of this form: -1.073323(27), variance
# 0.024574(18); without a Jastrow factor -0.812549 and 0.193.
gas()
{
    cat >gas.ini <<INI
[run]
sweeps = 100
equilibrate = 200
seed = 5
walkers = 32
threads = 1
device = cpu
[box]
dimension = 3
lx = 19.425650
[species up]
count = 7
charge = -1
[species down]
count = 7
charge = -1
[initial]
state = random
[potential plane_waves]
[potential jastrow]
like = 0 0 0 0 0
unlike = 0 0 0 0 0
[mover quasi_simultaneous]
moves = gaussian
step = 3
[observable local_energy]
period = 5
INI
}

# "energy -1.0733(4) Hartree": value, error
told()
{
    awk -v what="$1" '$1 == what { split($2, p, /[()]/); n = length(p[1]) - index(p[1], ".")
        if (!index(p[1], ".")) n = 0
        print p[1], p[2] / 10 ^ n }' "$out"
}

# Whether the optimum is that of QMCPACK, with z-scores: no more than 3.5 above (one false alarm in 4,000 if seeds
# were drawn anew). The variance of another optimum of the same cost may be lower.
check_gas()
{
    local energy error variance spread
    read -r energy error < <(told energy)
    read -r variance spread < <(told variance)
    awk -v e="$energy" -v s="$error" -v v="$variance" -v t="$spread" 'BEGIN {
        a = (e + 1.073323) / s; b = (v - 0.024574) / t
        printf "energy %s z %.1f, variance %s z %.1f\n", e, a, v, b
        exit !(a < 3.5 && a > -4.5 && b < 3.5 && s < 0.004 && v <= 0.025 && v > 0.02) }' ||
        fail "this is not the optimum"
}

test_gas_is_optimised_from_the_cusp_alone()
{
    gas
    must optimise gas.ini --samples 3000 --loops 5
    check_gas
    grep -q '^like=0 0' gas.optimised.ini && fail "the numbers are those of the beginning"
    [ "$(grep -vc '^#' gas.optimised.ini.loops)" -ge 3 ] || fail "the table has too few loops"
    must run gas.optimised.ini --set run.output=after.h5
    expect_output local_energy
}

test_gas_is_optimised_by_reconfiguration()
{
    gas
    must optimise gas.ini --samples 2000 --loops 14 --method reconfiguration --time-step 20
    local first last
    first=$(awk '!/^#/ { print $6; exit }' gas.optimised.ini.loops)
    last=$(awk '!/^#/ { c = $6 } END { print c }' gas.optimised.ini.loops)
    [ "$(awk "BEGIN { print ($last < $first - 0.15) }")" = 1 ] || fail "from $first to $last alone"
}

# Sweeps and local energies on the GPU, with the numbers of each loop in the memory of its kernels: the steps that the
# CPU takes, as far as sums in another order let them.
test_optimisation_on_a_gpu()
{
    gpu
    gas
    must optimise gas.ini --samples 320 --loops 3 --output cpu.ini
    must optimise gas.ini --samples 320 --loops 3 --output gpu.ini --set run.device=gpu
    paste -d' ' <(grep -v '^#' cpu.ini.loops) <(grep -v '^#' gpu.ini.loops) | awk '
        NF % 2 { exit 1 }
        { for (i = 1; i <= NF / 2; i++) { d = $i - $(i + NF / 2); m = $i < 0 ? 1 - $i : 1 + $i
              if (d < 0) d = -d; if (d / m > worst) worst = d / m } }
        END { printf "%d loops, apart by %.1g\n", NR, worst; exit !(NR >= 2 && worst < 1e-7) }' >"$out" ||
        fail "loops differ: $(cat "$out")"
    if grep -v '^#' gpu.ini.loops | cut -d' ' -f2 | uniq -d | grep -q .; then fail "numbers do not reach the GPU"; fi
}

# Killed after its second loop, it goes on to the same numbers.
test_killed_optimisation_goes_on()
{
    gas
    must optimise gas.ini --samples 600 --loops 3 --output whole.ini
    "$PLUGMC" optimise gas.ini --samples 600 --loops 3 --output parts.ini >/dev/null 2>&1 &
    local pid=$! i
    for ((i = 0; i < 3000; i++)); do
        [ "$(grep -vc '^#' parts.ini.loops 2>/dev/null)" -ge 2 ] 2>/dev/null && break
        sleep 0.02
    done
    # the program beside is the child that does the work, or has replaced its parent
    kill -9 "$pid" $(cat /proc/$pid/task/$pid/children 2>/dev/null) 2>/dev/null
    wait "$pid" 2>/dev/null
    must optimise gas.ini --samples 600 --loops 3 --output parts.ini --resume
    cmp -s whole.ini.loops parts.ini.loops || fail "the loops differ"
    diff <(grep 'like=' whole.ini) <(grep 'like=' parts.ini) || fail "the results differ"
}

# What hours have found is not lost by a command without --resume.
test_former_optimisation_is_kept()
{
    gas
    must optimise gas.ini --samples 600 --loops 2
    cp gas.optimised.ini ../first.ini
    cp gas.optimised.ini.loops ../first.loops
    must optimise gas.ini --samples 600 --loops 3 --resume
    [ ! -e gas.optimised.ini.1 ] || fail "what goes on was put aside"
    cp gas.optimised.ini ../first.ini
    cp gas.optimised.ini.loops ../first.loops
    must optimise gas.ini --samples 600 --loops 1
    expect_message "gas.optimised.ini: warning: was there already and is now gas.optimised.ini.1"
    cmp gas.optimised.ini.1 ../first.ini && cmp gas.optimised.ini.loops.1 ../first.loops || fail "other files are kept"
    grep -q '^like' gas.optimised.ini || fail "no result"
}

test_resumed_with_parameters_of_the_wrong_number()
{
    gas
    must optimise gas.ini --samples 200 --loops 1
    sed -i 's/like = 0 0 0 0 0/like = 0 0 0 0 0 0/' gas.ini
    plugmc optimise gas.ini --samples 200 --loops 2 --resume
    expect_exit 6
    expect_message "gas.optimised.ini.loops:5: it has 30 columns, but 34 are expected for 12 parameters: does it belong to another wave function?"
    expect_untouched
}

# What loops cost is found again: the last one with 5 % of the variance is a good one with all of it.
test_resumed_with_another_cost()
{
    gas
    must optimise gas.ini --samples 2000 --loops 3
    must optimise gas.ini --samples 2000 --loops 5 --resume --variance-weight 1
    ! grep -q "worse than before" "$err" || fail "loops are compared with another cost"
    awk '!/^#/ { d = $6 - $4; if (d < 0) d = -d; if ($1 >= 3 && d > 1e-9) exit 1; n++ } END { exit n != 5 }' \
        gas.optimised.ini.loops || fail "the cost is not the variance"
}

test_resumed_with_another_system()
{
    gas
    must optimise gas.ini --samples 400 --loops 1
    refused 6 "gas.optimised.ini.loops:1: its loops are of another system: [box], [species] or [potential] has changed" \
        optimise gas.ini --samples 400 --loops 2 --resume --set box.lx=15
    must optimise gas.ini --samples 400 --loops 2 --resume --method reconfiguration --set run.seed=6
}

test_results_that_cannot_be_written()
{
    gas
    refused 5 "--output ./gas.ini is the input, which would be overwritten" optimise gas.ini --output ./gas.ini
    refused 5 "cannot write nowhere/x.ini: No such file or directory (in folder nowhere)" optimise gas.ini --output nowhere/x.ini
}

# The second of two with one result leaves it to the first one.
test_two_optimisations_with_one_result()
{
    local first
    gas
    "$PLUGMC" optimise gas.ini --samples 1000000 --output t.ini >first.out 2>first.err &
    first=$!
    until [ -e t.ini.loops.lock ] || ! kill -0 $first 2>/dev/null; do sleep 0.02; done
    plugmc optimise gas.ini --set run.seed=6 --samples 400 --loops 1 --output t.ini
    kill -KILL $first
    wait $first 2>/dev/null
    expect_exit 5
    grep -q "^cannot write t.ini: another plugmc is writing it (process $first on " "$err" || fail "not who is writing"
    expect_lines 1
    must optimise gas.ini --samples 400 --loops 1 --output t.ini
    [ "$(echo t.ini*)" = "t.ini t.ini.loops" ] || fail "something is left behind"
}

test_too_few_samples_to_optimise()
{
    gas
    must optimise gas.ini --samples 150 --loops 1
    grep -q "^warning: --samples 150 for 10 parameters: steps will fit noise" "$err" || fail "no warning"
    must optimise gas.ini --samples 200 --loops 1
    ! grep -q "fit noise" "$err" || fail "a warning for 200"
}

# Blanks in a folder's name, in the result as in the input.
test_result_in_a_folder_with_blanks()
{
    local data=$here/../data/qmc
    mkdir "s ü" out
    cp "$data/diamondC.pwscf.h5" "$data/C.BFD.xml" "s ü"
    sed 's/^sweeps.*/sweeps = 20/; s/^equilibrate.*/equilibrate = 10/' "$here/../../examples/diamond.ini" >"s ü/diamond.ini"
    must optimise "s ü/diamond.ini" --samples 600 --loops 1 --output out/d.ini
    must run out/d.ini --quiet --set run.output=d.h5
    sed -i 's/^pseudopotentials = .*/pseudopotentials = "s ü\/C.BFD.xml"/; s/^file = .*/file = "s ü\/diamondC.pwscf.h5"/' "s ü/diamond.ini"
    mv "s ü/diamond.ini" .
    must run diamond.ini --quiet --set run.output=e.h5
    must run --resume e.h5 --quiet --set run.sweeps=30
}

test_walkers_with_weights_are_not_samples()
{
    gas
    sed -i '/^\[mover/,/^step/d' gas.ini
    printf '[mover diffusion]\ntau = 0.3\n' >>gas.ini
    refused 3 "gas.ini:25: [mover diffusion] gives walkers weights, but an optimisation needs samples without weights: use a mover of variational Monte Carlo" \
        optimise gas.ini --samples 200
}

test_no_variance_left_to_optimise()
{
    gas
    sed -i 's/^period = 5/&\nelectron_electron = no/; s/^unlike.*/&\nlike_cusp = 0\nunlike_cusp = 0/' gas.ini
    plugmc optimise gas.ini --samples 320
    expect_exit 3
    grep -q "no variance is left to optimise: the energy is 0.62771" "$err" || fail "no such sentence"
}

test_jastrow_that_diverges()
{
    gas
    sed -i 's/^like = .*/like = -1e6 -1e6 -1e6 -1e6 -1e6/' gas.ini
    plugmc optimise gas.ini --samples 320
    expect_exit 3
    expect_lines 1
    grep -q 'local energies scatter by .* this wave function cannot be optimised from these parameters' "$err" ||
        fail "no such sentence"
}

# Its lists are written into the INI file, and into a file of the same form.
test_coefficients_of_a_file_are_optimised()
{
    gas
    printf '%s\n' "# zeros" "like 0 0 0" "like 0 0" "unlike 0 0 0 0 0" >cusp.txt
    sed -i 's/^like = .*/file = cusp.txt/; /^unlike = /d' gas.ini
    must optimise gas.ini --samples 1000 --loops 1
    [ "$(grep -c . gas.optimised.cusp.txt)" = 2 ] || fail "gas.optimised.cusp.txt does not have two lists"
    for list in like unlike; do
        grep "^$list=" gas.optimised.ini | cut -d';' -f1 | tr '=' ' ' | tr -s ' ' | sed 's/ $//' >expected
        grep "^$list " gas.optimised.cusp.txt | cmp - expected || fail "$list differs"
    done
    sed 's/cusp.txt/gas.optimised.cusp.txt/' gas.ini >again.ini
    must run again.ini --set run.sweeps=20 --set run.output=again.h5
    must run gas.optimised.ini --set run.sweeps=20 --set run.output=ini.h5
    h5diff --exclude-path /parameters --exclude-path /plugmc/volatile -q again.h5 ini.h5 || fail "the runs differ"
    must run gas.ini --set run.sweeps=20 --set run.output=zeros.h5
    h5diff --exclude-path /parameters --exclude-path /plugmc/volatile -q again.h5 zeros.h5 && fail "the file has zeros"
    return 0
}

# The others stay as they are, and are not in the table.
test_parameters_of_one_potential_are_optimised()
{
    gas
    sed -i 's/^\[mover .*/[potential polynomial_jastrow]\nu_like = 0 0.1 0\nu_unlike = 0 0.1 0\n&/' gas.ini
    must optimise gas.ini --samples 1000 --loops 1 --only jastrow
    grep -Eq '^u_like *= *0 0.1 0' gas.optimised.ini || fail "u_like has changed"
    grep -Eq '^like *= *0 0 0 0 0' gas.optimised.ini && fail "like has not changed"
    grep -q 'u_like' gas.optimised.ini.loops && fail "u_like is in the table"
    must optimise gas.ini --samples 1000 --loops 1 --only polynomial_jastrow,jastrow
    grep -q 'u_like' gas.optimised.ini.loops || fail "u_like is not in the table"
    plugmc optimise gas.ini --only jastrow,plane_waves
    expect_exit 3
    grep -q "gas.ini: --only jastrow,plane_waves: no sampled potential 'plane_waves' has variational parameters" "$err" ||
        fail "no such sentence"
}

test_nothing_to_optimise()
{
    gas
    sed -i '/^\[potential jastrow\]/,/^unlike/d' gas.ini
    refused 3 "gas.ini: no sampled potential of the run has variational parameters: plugmc info NAME shows which plugins have them" \
        optimise gas.ini
    gas
    sed -i '/^\[observable/,$d' gas.ini
    plugmc optimise gas.ini
    expect_exit 3
    grep -q 'needs local energies, which no plugin of the run provides' "$err" || fail "no such sentence"
}

# Two electrons without repulsion at Z = 2 in exp(-1.5 r): the derivative of the energy by a coefficient of the
# orbital r exp(-r), from integrals in closed form; z-scores below 3.5.
test_derivatives_are_those_of_integrals()
{
    cat >helium.ini <<INI
[run]
sweeps = 100
equilibrate = 300
seed = 4
walkers = 64
threads = 1
device = cpu
[box]
dimension = 3
shape = sphere
radius = 25
[species up]
count = 1
charge = -1
[species down]
count = 1
charge = -1
[initial]
state = near_ions
[potential slater_orbitals]
nuclei = 0 0 0 2
zeta = 1.5 1
n = 1 2
coefficients = 1 0 0 1
virtual = 1
[potential multideterminant]
excitations = 1>2/- -/1>2
coefficients = 0
[mover particle_by_particle]
target_acceptance = 0.6
[observable local_energy]
period = 4
electron_electron = no
INI
    must optimise helium.ini --derivatives --samples 60000
    [ "$(grep -c '^multideterminant.coefficients' "$out")" = 2 ] || fail "two parameters are not there"
    [ ! -e helium.optimised.ini ] || fail "an optimisation is written"
    awk 'BEGIN { a = 1.5; b = 1; z = 2; norm = sqrt((2 * a) ^ 3 / 2) * sqrt((2 * b) ^ 5 / 24)
            s = norm * 6 / (a + b) ^ 4
            exact = 2 * (-a * a / 2 * s + (a - z) * norm * 2 / (a + b) ^ 3 - (a * a / 2 - z * a) * s) }
        /^multi/ { d = ($2 - exact) / $3; printf "%s z %.1f of %.6f\n", $1, d, exact
            if (!(d < 3.5 && d > -3.5 && $3 < 0.02)) bad = 1 }
        END { exit bad }' "$out" || fail "the derivatives are others"
    refused 2 "plugmc optimise: there is no loop after '--derivatives'; see --help" optimise helium.ini --derivatives --resume
}

# Derivatives of ln |Psi| and of local energies by the ten coefficients against differences, which rounding alone disturbs:
# it is 1e-10 over the step of 1e-4.
test_derivatives_are_checked_against_differences()
{
    gas
    must optimise gas.ini --check-derivatives --samples 100
    awk '/^jastrow/ { n++; if (!($2 < 1e-5 && $3 < 1e-5)) bad = 1 } END { exit bad || n != 10 }' "$out" ||
        fail "derivatives are not those of differences"
    [ ! -e gas.optimised.ini ] || fail "an optimisation is written"
}

# orbitals FILE UP DOWN VIRTUAL LINE...: a run of a file of tests/data/lcao, whose occupied orbitals have others mixed in
orbitals()
{
    local file=$1 up=$2 down=$3 virtual=$4 k
    shift 4
    cp "$here/../data/lcao/$file" orbitals.h5
    cp "$here/../data/qmc/C.BFD.xml" .
    cat >orbitals.ini <<-END
	[run]
	sweeps = 100
	seed = 5
	walkers = 4
	threads = 1
	device = cpu
	equilibrate = 50
	[species up]
	count = $up
	charge = -1
	[species down]
	count = $down
	charge = -1
	[initial]
	state = near_ions
	[mover particle_by_particle]
	END
    printf '%s\n' "$@" >>orbitals.ini
    printf '%s\n' "[potential gaussian_orbitals]" "file = orbitals.h5" "cusp = no" "virtual = $virtual" >>orbitals.ini
    for ((k = 0; k < (up + down) * virtual; k++)); do echo "$((k * 7 % 5 - 2))"; done |
        awk '{ all = all " " 0.1 * $1 } END { print "mixing =" all }' >>orbitals.ini
}

# Of a molecule, with a Jastrow factor; with nonlocal pseudopotentials; complex ones of a crystal.
test_orbitals_are_optimised()
{
    local open="[box]
dimension = 3
shape = sphere
radius = 20"
    orbitals h2.h5 1 1 3 "$open" "[potential jastrow]" "unlike = 0.4 0.3 0.1" "u_cutoff = 4" "[observable local_energy]"
    must optimise orbitals.ini --check-derivatives --only gaussian_orbitals --samples 100
    awk '/^gaussian/ { n++; if (!($2 < 1e-5 && $3 < 1e-4)) bad = 1 } END { exit bad || n != 6 }' "$out" ||
        fail "derivatives of a molecule are not those of differences"
    orbitals c2.trexio.h5 4 4 2 "$open" "[observable local_energy]" "pseudopotentials = C.BFD.xml"
    must optimise orbitals.ini --check-derivatives --samples 100
    awk '/^gaussian/ { n++; if (!($2 < 1e-5 && $3 < 1e-4)) bad = 1 } END { exit bad || n != 16 }' "$out" ||
        fail "derivatives beside pseudopotentials are not those of differences"
    orbitals twist.h5 2 2 2 "[box]
dimension = 3
shape = oblique
a = 4 0.5 0
b = 0 4.2 0.3
c = 0.4 0 4.1" "[observable local_energy]"
    must optimise orbitals.ini --check-derivatives --samples 100
    awk '/^gaussian/ { n++; if (!($2 < 1e-5 && $3 < 1e-4)) bad = 1 } END { exit bad || n != 8 }' "$out" ||
        fail "derivatives by complex orbitals are not those of differences"
}

test_options_of_optimise()
{
    gas
    refused 2 "plugmc optimise: --loops needs a number from 1 to 10000" optimise gas.ini --loops 0
    refused 2 "plugmc optimise: unknown option '--loop'; see --help" optimise gas.ini --loop 3
    refused 2 "plugmc optimise: which file? 'FILE.ini'; see --help" optimise
    refused 2 "plugmc optimise: expected linear or reconfiguration, not 'newton'; see --help" optimise gas.ini \
        --method newton
    must optimise --help
    expect_output "usage: plugmc optimise FILE.ini"
}
