# A crash in any callback of any plugin ends the program with code 9 and names plugin and callback,
# whoever of the core called it and when: each of its first calls is made to crash, one at a time.

# crashing MOVER: sim.ini, in which nothing happens, with the plugins crashing_*.
crashing()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS:$PLUGINS
    cat >sim.ini <<-END
	[run]
	sweeps = 4
	equilibrate = 2
	device = cpu
	[box]
	dimension = 3
	lx = 8
	[species point]
	count = 8
	[potential crashing_potential]
	[potential crashing_constant]
	[mover ${1-crashing_mover}]
	[observable crashing_observable]
	period = 1
	[observable energy]
	period = 1
	source = ${2-running}
	END
}

# crashes CALLBACK PLUGIN NAME COMMAND...: `plugmc COMMAND` crashes in each of the first calls of
# CALLBACK (of crashing.h), until there are no more or MOST, and says that it was in the callback NAME
# of PLUGIN, or that `configure` has crashed in the child that calls it first; in which there may be alternatives, as 'energy|start'. The output there before is kept.
crashes()
{
    local callback=$1 plugin=$2 name=$3 call most=${MOST-12}
    shift 3
    for ((call = 1; call <= most; call++)); do
        rm -f sim.h5
        [ ! -e before.h5 ] || cp before.h5 sim.h5
        CRASH_AT=$callback CRASH_CALL=$call plugmc "$@"
        [ "$status" != 0 ] || break
        [ "$status" != 7 ] || skip "kernels cannot be compiled here"
        expect_exit 9
        [ "$name" = configure ] &&
            grep -Fq "[$plugin] its callback 'configure' crashes (Segmentation fault): the code of plugin" "$err" ||
            grep -Eq "^crashed \(segmentation fault, SIGSEGV\) in [^ ]*/crashing_[a-z]*\.so, in the callback \
'($name)' of \[($plugin)\]; an output file is that of the last checkpoint$" "$err" ||
            fail "expected callback and plugin, call $call of $callback"
    done
    [ $call -gt 1 ] || fail "$callback is never called"
    [ $call -gt "${LEAST-1}" ] || fail "$callback is called only $((call - 1)) times"
}

test_crash_in_a_callback_of_any_plugin()
{
    crashing
    for plugin in potential mover observable; do
        for callback in configure prepare archive release; do
            crashes $plugin.$callback "$plugin crashing_$plugin" $callback run sim.ini
        done
    done
}

test_crash_in_a_callback_of_a_pair()
{
    crashing
    crashes potential.range "potential crashing_potential|observable energy" "range|measure" run sim.ini
    crashes potential.contact "potential crashing_potential" "contact|energy" run sim.ini
    crashes potential.pair_energy "potential crashing_potential" energy run sim.ini
}

test_crash_in_a_callback_of_a_field()
{
    crashing
    crashes potential.field_energy "potential crashing_potential" energy run sim.ini
}

# 64 walkers on two threads: the record of each is its own.
test_crash_in_a_field_in_many_threads()
{
    crashing
    change 's/^lx = .*/&\n[initial]\nstate = random/; s/^device.*/&\nwalkers = 64\nthreads = 2/'
    MOST=3 crashes potential.field_energy "potential crashing_potential" energy run sim.ini
}

test_crash_in_a_callback_of_a_total()
{
    crashing
    crashes potential.waves "potential crashing_potential" waves run sim.ini
    crashes potential.molecules "potential crashing_potential" molecules run sim.ini
    crashes potential.total_energy "potential crashing_potential" energy run sim.ini
    LEAST=3 crashes constant.energy "potential crashing_constant" energy run sim.ini
}

# The energy of an observable that sums afresh is in its name; trial moves of a mover are in that of the potential.
test_crash_in_a_callback_called_by_a_plugin()
{
    crashing serial fresh
    LEAST=3 crashes potential.total_energy "potential crashing_potential|observable energy" \
        "energy|measure" run sim.ini
    for callback in start change settle; do
        MOST=3 crashes potential.$callback "potential crashing_potential" $callback run sim.ini
    done
}

test_crash_in_a_callback_of_a_mover()
{
    crashing
    for callback in load sweep store counts limit running_energy; do
        crashes mover.$callback "mover crashing_mover" $callback run sim.ini
    done
}

test_crash_in_a_callback_of_an_observable()
{
    crashing
    for callback in quantity derived measure derive lacking; do
        crashes observable.$callback "observable crashing_observable" $callback run sim.ini
    done
}

test_crash_in_a_callback_of_orbitals()
{
    crashing configuration
    change 's/^\[potential crashing_potential\]/[potential crashing_orbitals]/; /^\[observable/,$d'
    change 's/^device.*/&\nseed = 2/; s/^lx = .*/&\n[initial]\nstate = random/; s/^count = .*/count = 3/'
    for callback in count complex_valued evaluate; do
        LEAST=2 MOST=8 crashes orbitals.$callback \
            "potential crashing_orbitals|mover configuration" "$callback|prepare|load|sweep" run sim.ini
    done
    crashes orbitals.ions "potential crashing_orbitals" ions run sim.ini
}

test_crash_in_a_callback_when_resumed()
{
    crashing
    must run sim.ini --set run.sweeps=2
    mv sim.h5 before.h5
    for callback in load archive counts store running_energy; do
        crashes mover.$callback "mover crashing_mover" $callback run --resume sim.h5 --set run.sweeps=4
        ! cmp -s sim.h5 before.h5 || fail "the run did not go on in the end"
    done
}

test_crash_while_kernels_are_written()
{
    crashing
    for plugin in potential mover observable; do
        crashes $plugin.gpu_source "$plugin crashing_$plugin" gpu_source \
            check sim.ini --architecture 90
    done
}

# One who asks the potentials for the energy that was not a number is called by a mover.
test_crash_while_a_culprit_is_looked_for()
{
    crashing serial
    change '/^\[observable/,$d; s/^\[potential crashing_potential\]//; s/^sweeps = .*/sweeps = 100/'
    printf '[potential test_total_edge]\nplugin = %s/test_total_edge.so\nedge = 7\n' "$OWN_PLUGINS" >>sim.ini
    plugmc run sim.ini
    expect_exit 9
    # the first call is of the initial energy
    CRASH_AT=constant.energy CRASH_CALL=2 plugmc run sim.ini
    expect_exit 9
    grep -q "in the callback 'energy' of \[potential crashing_constant\]" "$err" ||
        fail "expected the potential"
}

# ---- Benchmarks ----

timed() { printf '[bench]\ntime = %s\nwarmup = 1\nsweeps = 2\nrepeat = 2\n' "$1" >>sim.ini; }

test_crash_in_a_benchmark_of_sweeps()
{
    crashing
    timed sweeps
    for callback in prepare load sweep counts release; do
        crashes mover.$callback "mover crashing_mover" $callback bench ./sim.ini
    done
}

test_crash_in_a_benchmark_of_a_total()
{
    crashing
    timed total
    change '/^\[mover/d; /^\[observable/,/^source/d'
    crashes constant.energy "potential crashing_constant" energy bench ./sim.ini --set bench.which=crashing_constant
}

test_crash_in_a_benchmark_of_orbitals()
{
    crashing
    timed orbitals
    change '/^\[mover/d; /^\[observable/,/^source/d'
    change 's/^\[potential crashing_potential\]/[potential crashing_orbitals]/'
    for callback in count complex_valued evaluate ions; do
        crashes orbitals.$callback "potential crashing_orbitals" $callback bench ./sim.ini
    done
}

# A proposal may only read positions; particles would be looked for in cells in which they are not, for ever.
test_mover_that_writes_to_positions()
{
    local mistakes=$here/../validate/mistakes/open
    cp "$mistakes"/two_steps.c "$mistakes"/two_steps.ini .
    must build two_steps.c --draft
    command="plugmc run two_steps.ini"
    timeout 60 "$PLUGMC" run two_steps.ini >"$out" 2>"$err"
    status=$?
    expect_exit 9
    grep -q 'a trial move has written to positions, which `propose` may only read' "$err" || fail "it does not say why"
}
