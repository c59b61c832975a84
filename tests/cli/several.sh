# Several movers in one run: turns, counts, draws, resumed runs.

# ---- Turns and counts ----

# two_movers FIRST SECOND: the disks of chain.ini with two movers, the second in every third sweep.
two_movers()
{
    cp "$here/chain.ini" sim.ini
    change "s/^sweeps = .*/sweeps = 600/; s/^equilibrate = .*/equilibrate = 200/"
    change "s/^\[mover .*/[mover $2]\nevery = 3\nstep = 0.05\n\n[mover $1]/"
}

# moves MOVER NAME: counts of a kind of move in whole.h5.
trials_of() { h5dump -d "/plugmc/movers/$1/displacement/trials" whole.h5 | sed -n 's/.*(0): //p'; }

test_movers_take_turns()
{
    two_movers serial "again]\nplugin = serial\n[unused"
    change '/^\[unused\]/d'
    must run sim.ini
    # 600 sweeps of three walkers of 200 particles, of which the second mover makes those with
    # numbers that three divides: 203, 206, ... 800
    [ "$(trials_of serial)" = $((600 * 3 * 200)) ] || fail "serial has made $(trials_of serial) trial moves"
    [ "$(trials_of again)" = $((200 * 3 * 200)) ] || fail "the other has made $(trials_of again)"
    grep -Eq "^acceptance 0\.[0-9]+ of [0-9.e+]+ trial moves of serial.displacement, step [0-9.]+" "$out" ||
        fail "expected the acceptance of serial"
    grep -Eq "^acceptance 0\.[0-9]+ of 1.2e\+05 trial moves of again.displacement, step 0.05$" "$out" ||
        fail "expected the acceptance of the other, whose step is not tuned"
}

# ---- Draws ----

# A mover that never accepts, before or after another one, in any sweeps.
one_chain()
{
    cp "$here/chain.ini" sim.ini
    change "s/^\[mover .*/[mover $1]/; s/^sweeps = .*/sweeps = 600/; s/^equilibrate = .*/equilibrate = 200/"
    must run sim.ini
    for every in 1 7; do
        printf '\n[mover refusing]\nplugin = %s/refusing.so\nevery = %s\n' "$TEST_PLUGINS" $every >>sim.ini
        must run sim.ini --set run.output=two.h5
        for what in checkpoint/positions observables movers/$1; do
            h5diff whole.h5 two.h5 /plugmc/$what >"$out" 2>&1 || fail "$1 has another chain: $what differs"
        done
        grep -q "^\[mover refusing\]" sim.ini || fail "there is no second mover"
        change '/^\[mover refusing\]/,$d'
    done
}

test_chain_beside_a_mover_that_refuses_checkerboard() { one_chain checkerboard; }
test_chain_beside_a_mover_that_refuses_serial() { one_chain serial; }

# ---- Resumed ----

stopped_and_resumed()
{
    two_movers "$1" "$2"
    must run sim.ini
    change 's/^output = .*/output = sim.h5/; s/^csv = .*/csv = sim.csv/'
    local sweeps
    for sweeps in 1 2 101 400; do # so that either mover was the last one
        must run $([ -e sim.h5 ] && echo --resume sim.h5 || echo sim.ini) --set run.sweeps=$sweeps
    done
    must run --resume sim.h5 --set run.sweeps=600
    same_chain whole.h5 sim.h5
}

test_resumed_with_serial_and_checkerboard() { stopped_and_resumed serial checkerboard; }
test_resumed_with_checkerboard_and_serial() { stopped_and_resumed checkerboard serial; }
test_resumed_with_two_of_a_kind()
{
    two_movers serial "again]\nplugin = serial\norder = sequential\n[unused"
    change '/^\[unused\]/d'
    must run sim.ini
    change 's/^output = .*/output = sim.h5/; s/^csv = .*/csv = sim.csv/'
    must run sim.ini --set run.sweeps=100
    must run --resume sim.h5 --set run.sweeps=600
    same_chain whole.h5 sim.h5
}

test_other_movers_than_in_the_checkpoint()
{
    two_movers serial checkerboard
    must run sim.ini --set run.sweeps=10
    change 's/^\[mover serial\]/[mover slow]\nplugin = serial/'
    plugmc run sim.ini --resume-if-there --set run.sweeps=600
    expect_exit 6
    expect_message "sim.ini: cannot resume from whole.h5: [mover serial] was there and is not there now; \
another [run] output begins another run"
    expect_message "sim.ini: cannot resume from whole.h5: [mover slow] was not there and is there now; \
another [run] output begins another run"
}

# ---- On a GPU: the configuration goes from side to side ----

# checkerboard and swaps by the core, both on the GPU.
checkerboard_and_swap()
{
    cp "$here/chain.ini" sim.ini
    change "s/^sweeps = .*/sweeps = 300/; s/^equilibrate = .*/equilibrate = 100/; s/^device = .*/device = $1/"
    change '/^\[observable/,$d'
    printf '[mover swap]\nevery = 3\na = small\nb = large\ntrials = 300\n[observable rdf]\nperiod = 50\n' >>sim.ini
}

test_checkerboard_and_swap()
{
    checkerboard_and_swap cpu
    must run sim.ini
    grep -Eq "^acceptance 0\.[0-9]*[1-9][0-9]* of 9e\+04 trial moves of swap.swap; " "$out" || fail "no swaps"
    must run sim.ini --set run.threads=3 --set run.output=threads.h5
    same_chain whole.h5 threads.h5
}

test_checkerboard_and_swap_on_a_gpu()
{
    gpu
    checkerboard_and_swap gpu
    must run sim.ini
    must run sim.ini --set run.output=two.h5 --set run.sweeps=101
    must run --resume two.h5 --set run.sweeps=300
    same_chain whole.h5 two.h5
    must run sim.ini --set run.device=cpu --set run.output=cpu.h5
    h5diff whole.h5 cpu.h5 /plugmc/checkpoint/positions >"$out" 2>&1 || fail "another chain than on the CPU"
}

test_chain_beside_a_mover_that_refuses_on_a_gpu()
{
    gpu
    sed 's/^device = cpu/device = gpu/' "$here/chain.ini" >gpu.ini
    here=$PWD
    cp gpu.ini chain.ini
    one_chain checkerboard
}
