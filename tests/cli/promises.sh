# Plugins that promise what they do not keep, and answer what cannot be.

# untrue.ini: two kinds of particles and the potential `untrue`, which is true by default.
untrue()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    cat >untrue.ini <<EOF
[run]
sweeps = 20
seed = 3
threads = 1
device = cpu
[box]
dimension = 3
density = 0.02
[species a]
count = 20
[species b]
count = 20
[potential untrue]
[mover serial]
EOF
}

# caught LIE SENTENCE: by check and by run, in line 13.
caught()
{
    for command in check run; do
        plugmc $command untrue.ini --set "potential.lie=$1"
        expect_exit 4
        grep -Eq "^untrue.ini:13: \[potential untrue\] $2\$" "$err" || fail "expected: $2"
        expect_lines 1
        expect_untouched
    done
}

test_pair_potential_that_keeps_its_promises()
{
    untrue
    must check untrue.ini
    must run untrue.ini
}

test_pair_potential_beyond_its_range()
{
    untrue
    caught range "the pair energy of 'a' and 'a' is 0\.00999[0-9]* at separation 1\.8000[0-9]*, beyond the declared range of 1\.8[0-9]*"
    caught no_range "the range of its pair energy is -?nan"
}

test_pair_potential_that_is_no_number()
{
    untrue
    caught nan "the pair energy of 'a' and 'a' is NaN at separation 0\.[56][0-9]*"
    caught infinity "the pair energy of 'a' and 'a' is -infinity at separation 0\.[56][0-9]*"
}

test_pair_potential_that_depends_on_the_order()
{
    untrue
    caught order "the pair energy of 'a' and 'b' is [0-9.]+ at separation [0-9.]+, but [0-9.]+ if they are exchanged"
    caught contact "the contact distance of 'a' and 'b' is 0\.6, that of 'b' and 'a' 0\.5"
    caught core "the contact distance of 'a' and 'a' is -1"
}

test_pair_potential_that_is_another_in_float()
{
    untrue
    caught float "the pair energy of 'a' and 'a' at separation [0-9.]+ is [0-9.]+ in double precision \
and [0-9.]+ in single"
}

test_pair_potential_whose_changes_are_no_differences()
{
    untrue
    caught change "the pair energy of 'a' and 'a' changes by -[0-9.]+ from separation [0-9.]+ to \
[0-9.]+, but \`change\` says -[0-9.]+"
}

test_pair_potential_with_wrong_derivatives()
{
    untrue
    caught slope "the derivative of the pair energy of 'a' and 'a' is -[0-9.]+ at separation [0-9.]+, but finite differences give -[0-9.]+"
    caught curvature "the second derivative of the pair energy of 'a' and 'a' is 0\.75[0-9]* at separation [0-9.]+, but finite differences give 0\.(5|49)[0-9]*"
}

# babbles LIE SENTENCE: by check and by run.
babbles()
{
    for command in check run; do
        plugmc $command sim.ini --set "observable.lie=$1"
        expect_exit 4
        expect_message "sim.ini:22: [observable babble] $2"
        expect_lines 1
        expect_untouched
    done
}

test_quantities_that_cannot_be()
{
    disks
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    change 's/^\[observable hard_pressure\]/[observable babble]/'
    babbles nameless "a quantity has no name"
    babbles unset "a quantity has no name"
    babbles empty_name "a quantity is named '': names have 1 to 200 bytes and no '/'"
    babbles path "a quantity is named '../../box': names have 1 to 200 bytes and no '/'"
    babbles no_unit "quantity 'q' has no unit (use \"\" for none)"
    babbles no_doc "quantity 'q' has no description (use \"\" for none)"
    babbles negative "quantity 'q' has -1 values along axis 0: expected are 1 to 1073741824"
    babbles empty "quantity 'q' has 0 values along axis 0: expected are 1 to 1073741824"
    babbles huge "quantity 'q' has 9223372036854775807 values along axis 0: expected are 1 to 1073741824"
    babbles rank "quantity 'q' has 5 axes: expected are 0 to 4"
    babbles endless "it has more than 1000 quantities, the limit, or their list has no end"
    babbles twice "two quantities are named 'q'"
    babbles derived "two quantities are named 'q'"
    babbles axis "quantity 'q' has an axis with the value nan at 1"
    must run sim.ini
}

# Seen only when it is measured, so files may be there already.
test_values_that_have_no_average()
{
    disks
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    change 's/^\[observable hard_pressure\]/[observable babble]/'
    local lie value more
    for lie in nan infinite unwritten; do
        plugmc run sim.ini --set "observable.lie=$lie"
        expect_exit 9
        value=nan more='; values are NaN until `measure` writes them'
        [ $lie != infinite ] || value=inf more=
        expect_message "sim.ini:22: [observable babble] 'q' is $value in walker 0: such a value \
has no average$more"
    done
    plugmc run sim.ini --set observable.lie=code
    expect_exit 9
    expect_message "sim.ini:22: [observable babble] the plugin failed (code -7) while measuring"
}

# Pair energies are tried once for points that differ in their seed alone, if they are good: each bad one is told.
test_scan_names_every_point_with_a_bad_potential()
{
    untrue
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS:$PLUGINS
    local sentence="the derivative of the pair energy of 'a' and 'a' is .* but finite differences give .*"
    printf '\n[scan]\npotential.lie = none slope\nrun.seed = 1 2 3 4\n' >>untrue.ini
    plugmc scan untrue.ini
    expect_exit 4
    expect_lines 1
    grep -Eq "$sentence \(4 points, the first one 4, lie=slope,seed=1\)$" "$err" || fail "expected four points"
    # the seed first, so that good and bad points take turns, and another key that a potential may look at
    sed -i '/^\[scan\]/,$d' untrue.ini
    printf '[scan]\nrun.seed = 1 2 3\npotential.lie = none slope\nbox.density = 0.02 0.03\n' >>untrue.ini
    plugmc scan untrue.ini
    expect_exit 4
    grep -Eq "$sentence \(6 points, the first one 2, seed=1,lie=slope,density=0.02\)$" "$err" ||
        fail "expected six points"
}
