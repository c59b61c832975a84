#!/bin/bash
# Runs one test of the command line: bash lib.sh FILE.sh BEHAVIOUR calls test_BEHAVIOUR of FILE.sh in
# an empty folder. CMake makes a test of every such function and sets
#
#   PLUGMC        the program
#   PLUGINS       folder with its plugins
#   TEST_PLUGINS  folder with those of this folder that are built right
#   BAD_PLUGINS   ... and wrong
#   H5TOOL        h5tool.c, compiled
#   EXCHANGE      exchange.c, compiled
#   NO_LOCKS      no_locks.c, compiled
#   FAST_CLOCK    fast_clock.c, compiled
#   TWO_GPUS      folder of two_gpus.c, compiled
#   FAIL_MALLOC   fail_malloc.c, to be preloaded
#   KILL_AT       kill_at.c, to be preloaded
#
# A test fails at the first expectation that is not met, and shows what the program printed.

set -u
umask 022
export LC_ALL=C
export OMP_WAIT_POLICY=passive # other tests run beside this one
unset PLUGMC_PLUGIN_PATH

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/run" "$work/said"
out=$work/said/out
err=$work/said/err
cd "$work/run" || exit 1

# fail SENTENCE: with what the program said last.
fail()
{
    echo "FAILED: $*"
    echo "called from line ${BASH_LINENO[1]} of $(basename "${BASH_SOURCE[2]}")"
    echo "--- the last command: ${command:-none}, exit code ${status:-none}"
    echo "--- its standard output"
    cat "$out" 2>/dev/null
    echo "--- its standard error"
    cat "$err" 2>/dev/null
    exit 1
}

# skip REASON: what is needed is not on this machine.
skip()
{
    echo "skipped: $*"
    exit 77
}

# For tests named ..._on_a_gpu.
gpu() { "$PLUGMC" doctor | grep -Eq '^GPU +[0-9]+: ' || skip "there is no GPU"; }

# while_locked FILE COMMAND...: somebody holds the lock of an output meanwhile.
while_locked()
{
    local lock=$1.lock
    shift
    exec 9>"$lock"
    flock --exclusive 9 || skip "there is no flock"
    "$@"
    exec 9>&-
    rm "$lock"
}

# The names and contents of all files, to see that nothing was touched.
contents() { find . \( -type f -o -type l \) -exec sha256sum {} + | sort; }

# plugmc ARGUMENT...: runs it; status, $out and $err are for the expectations.
plugmc()
{
    command="plugmc $*"
    before=$(contents)
    "$PLUGMC" "$@" >"$out" 2>"$err" </dev/null
    status=$?
}

# must ARGUMENT...: runs it, and it has to succeed.
must()
{
    plugmc "$@"
    [ "$status" = 0 ] || fail "expected success"
}

expect_exit() { [ "$status" = "$1" ] || fail "expected exit code $1"; }

# A whole line of standard error, exactly.
expect_message() { grep -Fxq -- "$1" "$err" || fail "expected the message: $1"; }

# Lines of standard error.
expect_lines() { [ "$(wc -l <"$err")" = "$1" ] || fail "expected $1 lines of messages"; }

# A part of standard output.
expect_output() { grep -Fq -- "$1" "$out" || fail "expected the output: $1"; }

# No file is new, gone or changed since before the command.
expect_untouched() { [ "$(contents)" = "$before" ] || fail "files have changed"; }

# refused CODE MESSAGE ARGUMENT...: this command fails with this one line and touches nothing.
refused()
{
    local code=$1 message=$2
    shift 2
    plugmc "$@"
    expect_exit "$code"
    expect_message "$message"
    expect_lines 1
    expect_untouched
}

# same_chain A B: all but the configuration and wall times is the same, bit for bit.
same_chain()
{
    local differences
    differences=$(h5diff --exclude-path /parameters --exclude-path /plugmc/volatile "$1" "$2" 2>&1)
    [ $? = 0 ] && [ -z "$differences" ] || fail "$1 and $2 differ: $differences"
}

# entry FILE NAME: where a checkpoint has what the run keeps under this name
entry()
{
    local k
    for k in $(h5ls "$1/plugmc/checkpoint/plugins" | awk '{ print $1 }'); do
        h5dump -d "/plugmc/checkpoint/plugins/$k/name" "$1" | grep -q "\"$2\"" && echo "/plugmc/checkpoint/plugins/$k/data" && return
    done
    return 1
}

# alike LINE...: sim.ini with these lines has the same configurations and decisions on the CPU and on a GPU, and results that
# differ by rounding alone.
alike()
{
    printf '%s\n' "$@" >>sim.ini
    for device in cpu gpu; do
        must run sim.ini --set run.device=$device --set run.output=$device.h5
        cat "$out"
    done
    agree
}

# agree: as alike says of cpu.h5 and gpu.h5.
agree()
{
    for what in movers checkpoint/positions; do
        h5diff cpu.h5 gpu.h5 /plugmc/$what >"$out" 2>&1 || fail "$what differ"
    done
    h5diff cpu.h5 gpu.h5 "$(entry cpu.h5 run/orientations)" "$(entry gpu.h5 run/orientations)" >"$out" 2>&1 || fail "orientations differ"
    ! grep -q observable sim.ini || h5diff -d 1e-8 cpu.h5 gpu.h5 /plugmc/observables >"$out" 2>&1 || fail "results differ"
}

# same_frames A B: the frames of all walkers of two outputs are the same, to the last digit.
same_frames()
{
    local file
    mkdir -p frames
    for file in "$1" "$2"; do
        rm -rf "frames/$file"
        mkdir -p "frames/$file"
        "$PLUGMC" export "$file" --to "frames/$file/walker.csv" --walker all >frames/said 2>&1 ||
            fail "the frames of $file cannot be read: $(cat frames/said)"
    done
    diff -r "frames/$1" "frames/$2" >/dev/null || fail "frames of $1 and $2 differ"
}

seconds() { date +%s.%N; }
arithmetic() { awk "BEGIN { print ($*) }"; }

# sim.ini: 64 disks, and an output of an earlier run that no failure may harm.
disks()
{
    cp "$here/disks.ini" sim.ini
    echo "what an earlier run has written" >sim.h5
}

# change SCRIPT: edits sim.ini with sed.
change()
{
    local before
    before=$(cat sim.ini)
    sed -i "$@" sim.ini
    [ "$(cat sim.ini)" != "$before" ] || fail "nothing in sim.ini was changed by $*"
}

# two_electrons: the box of an atom with an electron of each spin, for wave functions
two_electrons()
{
    cat <<-END
	[box]
	dimension = 3
	shape = sphere
	radius = 20
	[species up]
	count = 1
	charge = -1
	[species down]
	count = 1
	charge = -1
	[initial]
	state = random
	END
}

# spins EACH: electrons
spins()
{
    cat <<-END
	[species up]
	count = $1
	charge = -1
	[species down]
	count = $1
	charge = -1
	END
}

# diamond_cell: the primitive cell of diamond with its orbitals, whose section ends it
diamond_cell()
{
    cat <<-END
	[box]
	dimension = 3
	shape = oblique
	a = 3.37316115 3.37316115 0
	b = 0 3.37316115 3.37316115
	c = 3.37316115 0 3.37316115
	$(spins 4)
	[initial]
	state = near_ions
	[potential bspline_orbitals]
	file = $here/../data/qmc/diamondC.pwscf.h5
	END
}

# killed_again_and_again: sim.ini is run and resumed until it ends, killed each time after some tenths of a second, later
# on a machine so busy that there is no first checkpoint before.
killed_again_and_again()
{
    local try after=0.4
    for try in $(seq 60); do
        if [ -e sim.h5 ]; then
            timeout -s KILL $after "$PLUGMC" run --resume sim.h5 >/dev/null 2>&1 && break
        else
            timeout -s KILL $after "$PLUGMC" run sim.ini >/dev/null 2>&1 && break
            [ -e sim.h5 ] || after=$(awk "BEGIN { print $after + 0.2 }")
        fi
    done
    [ "$try" -gt 1 ] || fail "it was not killed"
}

command -v h5diff >/dev/null || skip "h5diff is not installed (Debian: hdf5-tools)"
. "$here/$1"
"test_$2"
