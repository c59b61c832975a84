# The commands that sample nothing, and what `run` prints.

commands="run check validate list info bench doctor manual new build"

test_version()
{
    must --version
    grep -Eqx 'plugmc [0-9]+\.[0-9]+\.[0-9]+' "$out" || fail "expected a version"
}

test_help()
{
    must --help
    for name in $commands; do grep -q "^  $name " "$out" || fail "--help lacks $name"; done
    plugmc
    expect_exit 2
    for name in $commands; do
        must $name --help
        expect_output "usage: plugmc $name"
    done
}

# Exit codes are documented where they are needed.
test_help_tells_exit_codes()
{
    for command in run check bench; do
        must $command --help
        expect_output "exit codes: 0 done, 2 command line, 3 input, 4 plugin, 5 output, 6 \
checkpoint, 7 GPU or"
    done
}

test_run_prints_results()
{
    disks
    must run sim.ini --set run.sweeps=2000
    grep -q "^on the CPU, 1 thread (\[run\] threads, of [1-9].*; \[run\] device = cpu)$" "$err" ||
        fail "expected where it runs"
    expect_output "quantity                         mean(error)            tau/sweeps"
    grep -Eq '^hard_pressure\.pressure +[0-9.]+\([0-9]+\) +<?[0-9.]+ +400 +kT/length\^2' "$out" ||
        fail "expected the pressure with its error"
    grep -Eq '^hard_pressure\.pressure_fit +[0-9.]+\([0-9]+\)' "$out" ||
        fail "expected a derived value"
    grep -Eq '^acceptance 0\.[0-9]+ of ' "$out" || fail "expected the acceptance"
    [ "$(tail -n 1 "$out")" = sim.h5 ] || fail "expected the output file in the last line"
}

test_check()
{
    disks
    must check sim.ini
    expect_untouched
    expect_output "1 walker of 64 particles"
    expect_output "runs on the CPU ([run] device = cpu)"
    expect_output "sim.ini: ready to run"
    expect_lines 0
    must check sim.ini --set species.count=20000000
}

# Where fields are least, and plugins that are not the installation's.
test_check_of_a_field_of_ones_own()
{
    disks
    change 's/^.mover checkerboard./[mover serial]/; s/^.observable hard_pressure./[observable energy]/'
    change "s|^\[mover|[potential bowl]\nplugin = $TEST_PLUGINS/bowl.so\ncentre = 3\nstiffness = 2\n&|"
    must check sim.ini
    expect_output "field on                  least energy (kT) and where"
    grep -Eq '^[a-z]+ +[0-9.]+e-[01][0-9] +at (3|3\.000|2\.9999?|3\.0001) ' "$out" || fail "expected the lowest point"
    expect_output "[potential bowl] is no plugin of this installation ("
    [ "$(grep -c 'is no plugin of this installation' "$out")" = 1 ] || fail "expected one such plugin"
}

# The files in the folder of plugins, whatever they are, without ".so".
plugins()
{
    for file in "$PLUGINS"/*.so; do
        basename "$file" .so
    done
}

test_list()
{
    must list
    for name in $(plugins); do
        grep -Eq "^  $name  +[A-Za-z0-9]" "$out" || fail "list lacks $name or its summary"
    done
    expect_output "searched $PLUGINS, "
    ! grep -q "^  test_" "$out" || fail "list shows a plugin of the tests"
    must list movers
    expect_output "  serial "
    grep -q "hard_disk" "$out" && fail "a potential among the movers"
    plugmc list frobs
    expect_exit 2
}

test_info_of_every_plugin()
{
    for name in $(plugins); do
        must info "$name"
        grep -Eq "^[a-z0-9_]+ \((potential|mover|observable)\): " "$out" ||
            fail "expected what $name is"
        grep -Eq "^\[(potential|mover|observable) $name\]" "$out" ||
            fail "expected a block to paste"
        expect_output "ABI 2.1"
    done
}

test_info_of_every_section()
{
    for section in run units box species initial ladder potential mover observable scan twists; do
        must info $section
        expect_output "[$section"
        expect_output "default"
    done
    expect_output "missing = refuse"
    must info scan
    expect_output "SECTION.KEY = VALUE VALUE..."
}

# As the head of its section in an INI file.
test_info_of_a_plugin_by_its_kind()
{
    must info serial
    cp "$out" ../serial
    must info mover serial
    cmp "$out" ../serial || fail "another text"
    plugmc info mover rdf
    expect_exit 4
    plugmc info scan twists
    expect_exit 2
}

test_info_of_nothing()
{
    plugmc info hard_dsik
    expect_exit 4
    grep -q "^there is no plugin 'hard_dsik'; did you mean 'hard_disk'? (searched " "$err" ||
        fail "expected a suggestion"
    plugmc info
    expect_exit 2
}

# What info prints goes into an INI file as it is.
test_info_blocks_can_be_pasted()
{
    disks
    change '/^\[potential/,$d'
    for name in hard_disk checkerboard hard_pressure hexatic_order rdf energy trajectory; do
        must info $name
        sed -n '/^\[[a-z]* '$name'\]/,$p' "$out" >>sim.ini
        echo >>sim.ini
    done
    must check sim.ini
}

test_doctor()
{
    must doctor
    for topic in GPU NVRTC "kernel cache" threads CPU HDF5; do
        grep -q "^$topic  *[^ ]" "$out" || fail "doctor says nothing of $topic"
    done
    grep -q "^plugins  *$PLUGINS, " "$out" || fail "doctor does not say where plugins are"
    plugmc doctor everything
    expect_exit 2
}

test_manual()
{
    must manual
    for section in run box "species NAME" initial "potential NAME" "mover NAME" "observable NAME" scan twists; do
        expect_output "### [$section]"
    done
    for name in serial checkerboard hard_disk hard_pressure rdf; do expect_output "### $name"; done
    expect_output "Also known as \`hard_sphere\`."
}

test_bench()
{
    disks
    printf '\n[bench]\nvary = species disk.count\nvalues = 64 256\nsweeps = 5\nwarmup = 2\nrepeat = 3\n' \
        >>sim.ini
    must bench sim.ini
    expect_untouched
    expect_output "# sim.ini, median of 3 timings of 5 sweeps after 2"
    grep -Eq '^ +N +walkers +device +ms/sweep +trials/s +acceptance ' "$out" || fail "no head"
    for n in 64 256; do
        grep -Eq "^ +$n +1 +cpu +[0-9.e-]+ +[0-9.e+]+ +0\.[0-9]+ +[0-9.]+% " "$out" ||
            fail "no line for $n"
    done
    must bench sim.ini --set bench.values=100
    grep -Eq "^ +100 +1 +cpu " "$out" || fail "--set was not heard"
}

# Several keys change at once, several movers are set side by side, and what would take longer than
# the limit is not timed.
test_bench_of_several_movers()
{
    disks
    printf '\n[mover serial]\nstep = 0.2\n' >>sim.ini
    printf '\n[mover alone]\nplugin = serial\nstep = 0.2\norder = sequential\n' >>sim.ini
    printf '\n[bench]\nvary = species disk.count, mover.step\nvalues = 64 0.2, 256 1e-6\n' >>sim.ini
    printf 'sweeps = 5\nwarmup = 2\nrepeat = 3\npairs = yes\none_core = alone\n' >>sim.ini
    must bench sim.ini
    expect_untouched
    for mover in checkerboard serial alone; do
        for n in 64 256; do
            grep -Eq "^$mover +$n +1 +cpu( +[0-9.e+-]+){4} +[0-9.]+%( +[0-9.]+){2}  3x5 " "$out" ||
                fail "no line for $mover, N = $n"
        done
        grep -Eq "^$mover +256 .* 1\.0000 +[0-9.]+%" "$out" || fail "$mover: the step was not heard"
    done
    grep -Eq '^alone .* checkerboard [0-9.e+]+ serial [0-9.e+]+$' "$out" || fail "no speedups"
    must bench sim.ini --set bench.limit=1e-9
    grep -Eq '^serial +64 .*  1x1 ' "$out" || fail "more than one sweep within no time"
    grep -Eq '^serial +256 +1 +- +- .*  no .*  a sweep would take some [0-9.e-]+ s$' "$out" ||
        fail "a sweep that takes too long is said to have been timed"
    # Fewer walkers are less work: one of 256 disks is timed after 16,000 of 4, 4,096 times the pairs of each.
    must bench sim.ini --set "bench.vary=run.walkers, species disk.count" --set bench.limit=1 \
        --set "bench.values=16000 4, 1 256" --set "bench.which=serial alone"
    grep -Eq '^serial +256 +1 +cpu ' "$out" || fail "a sweep of few walkers is said to take too long"
    refused 3 "sim.ini: [bench] values: a case has 1 values, but 2 keys vary" \
        bench sim.ini --set "bench.values=64, 256"
}

test_bench_of_nothing()
{
    disks
    refused 3 "sim.ini: has no [bench] section, so it is not a benchmark" bench sim.ini
    plugmc bench none
    expect_exit 2
    grep -q "^plugmc: no benchmark 'none': there is no .*/none.ini" "$err" || fail "expected where"
    expect_untouched
}

# What an observable gives is known without a run, and is what a run then has.
test_info_lists_what_observables_give()
{
    must info hexatic_order
    grep -Eq '^  psi6_squared +measured +squared modulus of the global psi_6$' "$out" || fail "a quantity"
    grep -Eq '^  susceptibility +derived +N times the variance' "$out" || fail "a derived number"
    must info dressed_ion
    grep -Eq '^  u_<species>-<species> +derived array +kT +potential of mean force' "$out" ||
        fail "a derived array with a unit"
    PLUGMC_PLUGIN_PATH=$TEST_PLUGINS must info reader
    expect_output "its quantities depend on the run"
    must list observables
    local names
    names=$(sed -n 's/^  \([a-z_]*\) .*/\1/p' "$out")
    for name in $names; do
        must info "$name"
        [ "$name" = trajectory ] || expect_output "Quantities (<word>: depends on the run):"
    done
}

test_observable_that_gives_what_it_does_not_list()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    disks
    printf '\n[observable unlisted]\nperiod = 5\n' >>sim.ini
    refused 9 "sim.ini:25: [observable unlisted] gives 'two' in 'kT', which the listing of the plugin \
does not have" run sim.ini
    must info unlisted
    grep -Eq '^  one +measured +the only one$' "$out" || fail "what it lists"
}
