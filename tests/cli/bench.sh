# plugmc bench of potentials, tables of a file, and the list of benchmarks. commands.sh has sweeps.
# Their times are looked at, or they fail, or try again, where others make them late.
# Alone: bench_shows_how_long_it_takes bench_of_orbitals bench_checkpoints bench_scale

# charges TIME: a benchmark of two potentials between charges, without a mover.
charges()
{
    disks
    change '/^\[box\]/,$d'
    cat >>sim.ini <<END
[bench]
time = total
warmup = 1
sweeps = 2
repeat = 3

[box]
dimension = 3
lx = 8

[species cation]
count = 20
charge = 1

[species anion]
count = 20
charge = -1

[initial]
state = random

[potential mesh]
plugin = coulomb_spme
bjerrum_length = 1
cutoff = 3
alpha = 0.8
grid = 16
tolerance = 0.1

[potential sums]
plugin = coulomb_ewald
bjerrum_length = 1
cutoff = 3
tolerance = 0.01

[potential hard_sphere]
END
}

numbers='[0-9.e+-]+'

test_bench_of_total()
{
    charges
    must bench sim.ini
    expect_untouched
    expect_output "# sim.ini, median of 3 timings of 2 evaluations after 1"
    grep -Eq '^potential +N +walkers +device +both/us +forces/us +energy/us +share ' "$out" ||
        fail "no head"
    for potential in mesh sums; do
        grep -Eq "^$potential +40 +1 +cpu( +$numbers){3} +[0-9.]+% +[0-9.]+% " "$out" ||
            fail "no line for $potential"
    done
    grep -Eq '^sums .* mesh [0-9.e+-]+$' "$out" || fail "no speedup"
    grep -q '^hard_sphere' "$out" && fail "a potential without the facet was timed"
    must bench sim.ini --set bench.which=mesh --set bench.vary=potential.grid \
        --set "bench.values=8 12"
    for grid in 8 12; do
        grep -Eq "^ +40 +1 +cpu .*  $grid *$" "$out" || fail "no line for a grid of $grid"
    done
    must bench sim.ini --set "bench.one_core=sums" --set run.walkers=3
    grep -Eq '^sums +40 +3 +cpu ' "$out" || fail "no line for three walkers"
}

# A plugin that nobody knows; how long it takes is known.
test_bench_shows_how_long_it_takes()
{
    charges
    change '/^\[potential/,$d'
    printf '\n[potential slow]\nplugin = %s/busy.so\n' "$TEST_PLUGINS" >>sim.ini
    local try
    for try in 1 2 3; do # a busy machine may take the processor away from one and not the other
        must bench sim.ini
        awk '/^ +40 +1 +cpu/ { found = 1; exit !($4 >= 6000 && $5 >= 4000 && $5 < $4 && $6 >= 2000 &&
             $6 < $5 && $4 < 60000) } END { if (!found) exit 1 }' "$out" && break
    done || fail "expected 6000, 4000 and 2000 us"
    must bench sim.ini --set run.walkers=2
    awk '/^ +40 +2 +cpu/ { found = 1; exit !($4 >= 3000 && $4 < 30000) } END { if (!found) exit 1 }' \
        "$out" || fail "expected 3000 us a configuration"
    must bench sim.ini --set bench.repeat=50 --set bench.limit=0.1 --set bench.which=slow
    refused 3 "sim.ini:29: [potential slow] the energy of the initial state is nan" \
        bench sim.ini --set potential.energy=1e7
}

test_bench_refuses_what_cannot_be_timed()
{
    charges
    refused 3 "sim.ini:42: [potential hard_sphere] has no facet 'total', which [bench] is to time" \
        bench sim.ini --set bench.which=hard_sphere
    refused 3 "sim.ini: [bench] time = orbitals: no [potential] of this file has that facet" \
        bench sim.ini --set bench.time=orbitals
    refused 3 "sim.ini: [bench] which = mehs: there is no [potential mehs]" \
        bench sim.ini --set bench.which=mehs
    refused 3 "sim.ini: [bench] one_core = sums none: there is no [potential none]" \
        bench sim.ini --set "bench.one_core=sums none"
    refused 3 "sim.ini: there is no section [mover NAME]" bench sim.ini --set bench.time=sweeps
    refused 3 "sim.ini: [bench] vary = potential.grid: there are no values" \
        bench sim.ini --set bench.vary=potential.grid
    refused 3 "sim.ini: [bench] vary: the limit is 8 keys" \
        bench sim.ini --set bench.vary=a.b,a.b,a.b,a.b,a.b,a.b,a.b,a.b,a.b --set bench.values=1
    refused 3 "--set: [bench] time = never: must be one of sweeps, total, orbitals" \
        bench sim.ini --set bench.time=never
    refused 2 "sim.ini: has no section [bench more]" bench sim.ini more
}

# Every section [bench NAME] is a table, and one can be asked for.
test_bench_of_several_tables()
{
    charges
    change 's/^\[bench\]/[bench first]/'
    printf '\n[bench second]\ntime = total\nwhich = sums\nwarmup = 0\nsweeps = 1\nrepeat = 1\n' >>sim.ini
    must bench sim.ini
    expect_output "# sim.ini, first, median of 3 timings of 2 evaluations after 1"
    expect_output "# sim.ini, second, median of 1 timings of 1 evaluations after 0"
    must bench sim.ini second --set "bench second.sweeps=3"
    grep -q "first" <(grep "^# sim.ini" "$out") && fail "a table that was not asked for"
    expect_output "# sim.ini, second, median of 1 timings of 3 evaluations after 0"
    refused 2 "--set: there are 2 [bench ...] sections: name one, as in \"bench second.KEY=VALUE\"" \
        bench sim.ini --set bench.sweeps=3
}

# The electron gas needs no file.
test_bench_of_orbitals()
{
    charges
    change -e '/^\[potential/,$d' -e 's/time = total/time = orbitals/' -e 's/count = 20/count = 7/'
    printf '\n[potential waves]\nplugin = plane_waves\n[potential others]\nplugin = plane_waves\n' >>sim.ini
    must bench sim.ini --set bench.one_by_one=others --set bench.single=others
    grep -Eq '^potential +places +orbitals +walkers +device +values/ms +all/ms ' "$out" ||
        fail "no head"
    grep -Eq "^waves +14 +7 +1 +cpu( +$numbers){2} +[0-9.]+% " "$out" || fail "no line"
    grep -Eq "^others +14 +7 +1 +cpu .* waves [0-9.e+-]+$" "$out" || fail "no line"
    must bench sim.ini --set run.walkers=3 --set bench.one_by_one=others --set bench.vary=bench.places \
        --set "bench.values=5 600"
    for places in 5 600; do
        grep -Eq "^others +$places +7 +3 +cpu .*  $places " "$out" || fail "no $places places"
    done
    awk '/^waves +5 / { few = $6 } /^waves +600 / { many = $6 } END { exit !(many > 4 * few) }' \
        "$out" || fail "600 places should take longer than 5"
}

# Random places are in a cell; the places of the particles are anywhere.
test_bench_of_orbitals_of_a_molecule()
{
    cp "$here/../kernels/configuration.molecule.ini" sim.ini
    printf '\n[bench]\ntime = orbitals\nsweeps = 2\nrepeat = 1\n' >>sim.ini
    must bench sim.ini --set run.device=cpu
    grep -Eq "^ +[0-9]+ +[0-9]+ +[0-9]+ +cpu " "$out" || fail "no line"
    plugmc bench sim.ini --set run.device=cpu --set bench.places=5
    expect_exit 3
    expect_message "sim.ini: [bench] places = 5: random positions need a periodic box"
}

# What a benchmark is stands in its first line.
test_bench_lists_benchmarks()
{
    mkdir own
    printf '; How long nothing takes.\n[bench]\n' >own/nothing.ini
    echo "no benchmark" >own/README
    PLUGMC_BENCH_PATH=own must bench
    expect_output "benchmarks in own:"
    grep -Eq '^  nothing +How long nothing takes\.$' "$out" || fail "a benchmark is missing"
    grep -q README "$out" && fail "a file that is no benchmark"
    for name in "$here"/../../bench/*.ini; do
        name=$(basename "$name" .ini)
        grep -Eq "^  $name +[A-Z].*[.]$" "$out" || fail "$name is missing, or is no sentence"
    done
}

test_bench_runs_scripts()
{
    mkdir own
    printf '#!/bin/sh\n# How long a script takes.\necho "$PLUGMC: $*"; exit 7\n' >own/mine.sh
    printf '#!/bin/sh\n# Sourced.\n' >own/common.sh
    chmod +x own/mine.sh
    export PLUGMC_BENCH_PATH=own
    must bench
    grep -Eq '^  mine +How long a script takes\.$' "$out" || fail "a script is missing"
    grep -q Sourced "$out" && fail "a file that is no benchmark"
    plugmc bench mine 3 --set a.b=c
    expect_exit 7
    [ "$(cat "$out")" = "$(realpath "$PLUGMC"): 3 --set a.b=c" ] || fail "it was not told what it was given"
    plugmc bench common
    expect_exit 2
    grep -q "^plugmc: no benchmark 'common': " "$err" || fail "what others source is no benchmark"
}

# The standard benchmarks, as small as they can be: each table is read and timed.
test_bench_spme()
{
    must bench spme figure2 --set "bench figure2.values=1638 1638 32" --set "bench figure2.limit=0.05" \
        --set run.device=cpu
    for scheme in sorted gather one_core; do
        grep -Eq "^$scheme +3276 +1 +cpu " "$out" || fail "no line for $scheme"
    done
    for table in figure3 figure3_apoA1; do
        must bench spme $table --set "bench $table.limit=0.01" --set "bench $table.which=gather" \
            --set run.device=cpu \
            --set "bench $table.vary=potential.grid, potential.order" \
            --set "bench $table.values=32 4, 32 6"
        grep -Eq "^ +26214 +1 +cpu .* 32 6 *$" "$out" || fail "no line in $table"
    done
}

# one_of_the_orbitals COMMAND...: vmc.sh with the smallest case of its first table.
one_of_the_orbitals()
{
    command="$* orbitals"
    "$@" orbitals --set "bench orbitals.which=coalesced" --set "bench orbitals.limit=0.01" \
        --set run.threads=1 --set run.device=cpu \
        --set "bench orbitals.values=216 56 56 16 orbitals-56.data 1" >"$out" 2>"$err" ||
        fail "expected success"
    grep -Eq "^ +216 +56 +1 +cpu " "$out" || fail "no line"
}

test_bench_vmc()
{
    command -v awk >/dev/null || skip "there is no awk"
    # The program is said, then found in the build that the script is called in.
    one_of_the_orbitals env PLUGMC="$PLUGMC" "$here/../../bench/vmc.sh"
    one_of_the_orbitals env -u PLUGMC "$(dirname "$PLUGMC")/bench/vmc.sh"
    PLUGMC=$PLUGMC.not "$here/../../bench/vmc.sh" 2>"$err" && fail "expected no success"
    expect_message "vmc.sh: PLUGMC=$PLUGMC.not is no program"
}

# Movers that ask an observable for local energies are timed with it.
test_bench_diffusion()
{
    command -v awk >/dev/null || skip "there is no awk"
    command="bench/diffusion.sh"
    PLUGMC=$PLUGMC "$here/../../bench/diffusion.sh" steps --set "bench steps.limit=0.02" --set run.threads=1 \
        --set run.device=cpu --set "bench steps.values=8 4 4 8 orbitals-4.data" \
        --set "bench steps.profile=no" >"$out" 2>"$err" || fail "expected success"
    grep -Eq "^steps +8 +8 +cpu .* particle_by_particle [0-9.]+ *$" "$out" || fail "no line: $(cat "$out")"
    PLUGMC=$PLUGMC DIAMOND=$here/../data/qmc "$here/../../bench/diffusion.sh" diamond \
        --set "bench diamond.limit=0.1" --set run.threads=1 --set run.device=cpu \
        --set "bench diamond.values=8" --set "bench diamond.profile=no" >"$out" 2>"$err" || fail "expected success"
    grep -Eq "^t_moves +8 +8 +cpu .* locality [0-9.]+ *$" "$out" || fail "no line: $(cat "$out")"
}

# From a liquid that it makes; far from equilibrium every trajectory would be rejected.
test_bench_hmc()
{
    SIZES=500 DEVICE=cpu "$here/../../bench/hmc.sh" --set run.device=cpu --set bench.repeat=1 \
        --set "bench.values=500 0.005 liquid-500.h5" >"$out" 2>"$err" || fail "expected success"
    awk '$1 == 500 && $6 > 0.5 && $6 <= 1 { found = 1 } END { exit !found }' "$out" ||
        fail "no line, or trajectories are rejected"
}

# The file that it makes: kinetic energies of free electrons have no variance, and are known.
test_free_electrons()
{
    awk -v cells=1 -v bands=7 -f "$here/../../bench/free_electrons.awk" >orbitals.data ||
        fail "no file"
    disks
    change '/^\[box\]/,$d'
    cat >>sim.ini <<END
[box]
dimension = 3
lx = 8
[species up]
count = 7
[species down]
count = 7
[initial]
state = random
[potential bspline_orbitals]
file = orbitals.data
multiplicity = 4
[mover quasi_simultaneous]
step = 1
[observable local_energy]
electron_electron = no
electron_ion = no
ion_ion = no
END
    must run sim.ini --set run.sweeps=50 --set observable.period=10
    # 12 plane waves with k = 2 pi / 8 in a cell, and 2 with k = 0
    awk '/^local_energy.kinetic / { split($2, v, "("); exit !(v[1] > 3.69 && v[1] < 3.71) }
         END { if (!NR) exit 1 }' "$out" || fail "expected a kinetic energy of 3.7011"
    expect_output "local_energy.kinetic "
}

# Beside other programs a progress line may be late; then it says so.
test_bench_checkpoints()
{
    plugmc bench checkpoints --disks 256 --device cpu --period 1 --count 1 --rounds 1
    if [ $status = 0 ]; then
        grep -Eq "^( +$numbers){2} +-?[0-9.]+% +-?[0-9.]+$" "$out" || fail "no line"
    else
        grep -q 'there are too few progress lines' "$err" || fail "it did not end well"
    fi
    must bench checkpoints --disks 4096 --device cpu --processor --sweeps 3000 --rounds 1
    grep -Eq "^one every 10 s: -?[0-9.]+ % of a processor" "$out" || fail "no cost"
    plugmc bench checkpoints --often 1
    [ $status = 2 ] && grep -q "there is no '--often'" "$err" || fail "not refused"
}

test_bench_scale()
{
    . "$here/processes.sh" # by
    by 1 --version         # is there MPI?
    export MPIRUN="mpirun --quiet"
    # A progress line comes each second, later beside other programs.
    plugmc bench scale --small --processes "1 2" --seconds 3 --repeat 1 strong
    if [ $status = 1 ] && grep -q 'give more --seconds' "$err"; then
        must bench scale --small --processes "1 2" --seconds 12 --repeat 1 strong
    fi
    [ $status = 0 ] || fail "it did not end well"
    grep -Eq '^case +processes +1: sweeps/s +all: sweeps/s +efficiency$' "$out" || fail "no head"
    grep -Eq "^strong +2( +$numbers){2} +[0-9.]+%$" "$out" || fail "no line of strong"
    plugmc bench scale stronger
    [ $status = 2 ] && grep -q "there is no 'stronger'" "$err" || fail "not refused"
}

# Each mover of a file in which numbers change, beside those that change them: reservoirs and room for more are not refused.
test_bench_of_movers_where_numbers_change()
{
    cat >sim.ini <<-END
	[bench]
	warmup = 1
	sweeps = 2
	repeat = 2
	[run]
	sweeps = 10
	device = cpu
	[box]
	dimension = 3
	lx = 8
	[species a]
	[molecule dumbbell]
	sites = a a
	places = 0 0 0  0.5 0 0
	count = 20
	max_count = 60
	activity = 0.05
	[potential lennard_jones]
	epsilon = 1
	sigma = 0.8
	cutoff = 2
	[mover rigid]
	trials = 1
	[mover insert_molecule]
	molecule = dumbbell
	trials = 7
	[mover widom_molecule]
	molecule = dumbbell
	insertions = 3
	period = 1
	END
    must bench sim.ini
    # what others do is not in the line of a mover: one displacement or turn, 7 exchanges
    awk '$1 == "rigid" || $1 == "insert_molecule" { per[$1] = $5 / 1000 * $6; n++ }
        END { print n, per["rigid"], per["insert_molecule"] >"/dev/stderr"
              exit !(n == 2 && per["rigid"] > 0.99 && per["rigid"] < 1.01 && per["insert_molecule"] > 6.9 && per["insert_molecule"] < 7.1) }' "$out" ||
        fail "other trial moves are counted"
    must bench sim.ini --set bench.which=rigid
}
