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

test_pair_energy_that_is_another_the_other_way_round()
{
    soft asymmetric
    found 4 "^lie.ini:16: \[potential asymmetric\] the pair energy of 'blob' and 'blob' is .* but .* with the two particles exchanged, \
at minus that$" check lie.ini
}

test_derivatives_beyond_the_range()
{
    soft derivative_beyond
    found 4 "has nonzero derivatives at separation 1\.50[0-9]*, beyond the declared range of 1\.5" check lie.ini
}

# exp of single precision, whose steps second differences used to meet.
test_right_second_derivative_of_an_energy_with_steps()
{
    soft right_derivative
    must check lie.ini
}

test_list_that_is_read_behind_its_end()
{
    lying short_list potential
    found 4 "key 'core' has 1 number, and the plugin reads beyond the end of the list" check lie.ini
    edit 's/^\[potential.*/&\ncore = 1 1 1\nshort_list = 1.2 1.2 1.2\nwell = 1.5 1.5 1.5\nheight = 1 1 1\ndepth = 1 1 1/'
    must check lie.ini
}

test_field_that_no_table_declares()
{
    soft undeclared_field
    found 4 "the member at byte 24 of its struct is set by 'configure', but not declared in the table" check lie.ini
}

# Once, of the mover alone.
test_trial_moves_that_cannot_be()
{
    lying nan_place mover
    found 9 "^lie.ini:[0-9]*: \[mover nan_place\] a trial move has a position that is not a number" run lie.ini
    lying wrong_index mover
    found 9 "\[mover wrong_index\] a trial move has no such particle, in walker 0 and sweep 0$" run lie.ini
    [ "$(grep -c '^lie.ini' "$err")" = 1 ] || fail "expected one message"
}

test_totals_that_lie()
{
    lying lying_total potential
    must check lie.ini
    must run lie.ini --set run.sweeps=5
    for word in check run; do
        found 4 "\`change\` says .*, but the energies of the whole configurations before and after differ by" \
            $word lie.ini --set potential.lie=change
        found 4 "when it moves back: \`settle\` must keep the accepted position" $word lie.ini --set potential.lie=settle
        found 4 "\`settle\` must not change anything after a rejection" $word lie.ini --set potential.lie=rejected
        found 4 "the force on particle .* along x is .*, but finite differences of the energy give" \
            $word lie.ini --set potential.lie=force
    done
}

test_plugin_that_overwrites_what_is_not_its_own()
{
    soft overrun
    found 9 "^crashed \(segmentation fault, SIGSEGV\).*, in the callback 'configure' of \[potential overrun\]" check lie.ini
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
    grep -Fq "the callback 'configure' of [potential endless_configure] has taken 2 s" "$err" ||
        fail "expected a word about the callback"
    grep -Fq "It was in the callback 'configure' of [potential endless_configure]." "$err" ||
        fail "expected the callback in the last word"
}

test_volume_without_a_pressure()
{
    lying lennard_jones potential
    printf '[mover volume]\n' >>lie.ini
    found 3 "\[mover volume\] changes the volume, so \[run\] pressure must be given" check lie.ini
    must check lie.ini --set run.pressure=0
}

test_formula_without_a_floor()
{
    lying expression potential
    edit 's|^\[potential.*|&\nenergy = exp(12*(1-r)) - 0.2/r^6\ncutoff = 2|'
    found 3 "the formula goes to minus infinity as 'blob' and 'blob' meet, so they would collapse" check lie.ini
    printf '[potential hard_sphere]\n' >>lie.ini
    must check lie.ini
    edit 's|^energy.*|energy = log(r)|'
    must check lie.ini
    edit '/hard_sphere/d; s|^energy.*|energy = -1e6*exp(-r^2)|' # deep, but not without end
    must check lie.ini
}

# What keeps particles apart has to rise faster than the formula falls.
test_formula_that_others_do_not_hold()
{
    lying expression potential
    edit 's|^\[potential.*|&\nenergy = -5/r^6\ncutoff = 2\n[potential other]\nplugin = expression\nenergy = -1\ncutoff = 1.5|'
    found 3 "the formula goes to minus infinity as 'blob' and 'blob' meet, so they would collapse" check lie.ini
    edit 's|^energy = -1$|energy = 4/r^12|'
    must check lie.ini
    edit 's|^energy = -5.*|energy = -5/r^13|'
    found 3 "the formula goes to minus infinity as 'blob' and 'blob' meet, so they would collapse" check lie.ini
    edit 's|^energy = 4/r.*|energy = 4/r^14|'
    must check lie.ini
}
