# Plugins with a mistake that no compiler finds, each found before the run or when it is met.

# lying PLUGIN KIND: lie.ini, two species in a soft potential, or that and a mover.
lying()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS:$PLUGINS
    local potential=$1 mover=serial observable=
    [ "$2" != mover ] || { potential=lennard_jones; mover=$1; }
    [ "$2" != observable ] || { potential=lennard_jones; observable="[observable $1]"; }
    cat >lie.ini <<-END
	[run]
	sweeps = 2000
	equilibrate = 20
	seed = 7
	threads = 1
	device = cpu
	walkers = 2
	[box]
	dimension = 3
	density = 0.2
	[species blob]
	count = 30
	[species blub]
	count = 30
	diameter = 0.8
	[potential $potential]
	[mover $mover]
	$observable
	END
    [ "$potential" != lennard_jones ] ||
        edit 's/^\[potential.*/&\nepsilon = 1\nsigma = 1\ncutoff = 2/'
}

soft()
{
    lying "$1" potential
    edit 's/^\[potential.*/&\nheight = 3\ncutoff = 1.5/'
}

# found CODE SENTENCE COMMAND...
found()
{
    local code=$1 sentence=$2
    shift 2
    plugmc "$@"
    expect_exit "$code"
    grep -Eq "$sentence" "$err" || fail "expected: $sentence"
}

edit() { sed -i "$1" lie.ini; }

test_step_in_a_unit_that_is_none()
{
    lying step_in_ones mover
    found 4 "step_in_ones.so has a step of 'displacement' in \"1\": the unit of a plain number is \"\"" check lie.ini
}

# Once, of the mover alone.
test_trial_moves_that_cannot_be()
{
    lying endless_factor mover
    found 9 "^lie.ini:[0-9]*: \[mover endless_factor\] a trial move has a log_factor that is not a number or plus infinity" run lie.ini
    lying nan_place mover
    found 9 "^lie.ini:[0-9]*: \[mover nan_place\] a trial move has a position that is not a number" run lie.ini
    lying wrong_index mover
    found 9 "\[mover wrong_index\] a trial move has no such particle, in walker 0 and sweep 0$" run lie.ini
    [ "$(grep -c '^lie.ini' "$err")" = 1 ] || fail "expected one message"
}

test_plugin_that_overwrites_what_is_not_its_own()
{
    soft overrun
    found 9 "^lie.ini:[0-9]*: \[potential overrun\] its callback 'configure' crashes \(Segmentation fault\)" check lie.ini
}

test_plugin_that_ends_the_program()
{
    lying exits observable
    edit 's/^\[observable.*/&\nperiod = 10/'
    found 9 "^the program was ended by the callback 'measure' of \[observable exits\]" run lie.ini
}

test_callback_that_does_not_come_back()
{
    soft endless_configure
    timeout -s TERM 4 "$PLUGMC" check lie.ini >"$out" 2>"$err" </dev/null
    grep -Fq "the callback 'configure' of [potential endless_configure] has been running for 2 s" "$err" ||
        fail "expected a word about the callback"
    grep -Fq "It was in the callback 'configure' of [potential endless_configure]." "$err" ||
        fail "expected the callback in the last word"
}

# Ten minutes of a clock that is as quick as that.
test_callback_that_is_given_up()
{
    soft endless_configure
    LD_PRELOAD=$FAST_CLOCK found 9 \
        "^the callback 'configure' of .potential endless_configure. has not returned within 600 s$" check lie.ini
}
