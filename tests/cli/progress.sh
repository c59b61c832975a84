# What a run tells while it runs: on standard error, as JSON, in a log, beside the progress.

python=/usr/bin/python3

# Every line of $out is an object; prints what the expression, of the list `all` of them, gives.
objects() { $python -c "
import json, sys
all = [json.loads(line) for line in open(sys.argv[1])]
print(($1))" "$out" || fail "the output is not JSON"; }

# slow SECONDS: 64 disks, and so many sweeps that the run is stopped by its time limit.
slow()
{
    disks
    rm sim.h5
    change -e 's/^sweeps.*/sweeps = 1000000000/' -e "/^seed/a time_limit = $1" -e 's/= 5$/= 1000/'
}

test_json_tells_progress_and_results()
{
    slow 2.5
    plugmc run sim.ini --json --set 'run.show=hard_pressure.pressure'
    expect_exit 11
    [ ! -s "$err" ] || fail "there are messages"
    [ "$(objects '[o["event"] for o in all][-1]')" = results ] || fail "no results at the end"
    [ "$(objects 'sum(o["event"] == "progress" for o in all) >= 3')" = True ] || fail "no progress each second"
    [ "$(objects 'all[0]["phase"], all[0]["sweeps"], 0 < all[0]["acceptance"] < 1')" = \
        "('production', 1000000000, True)" ] || fail "the progress is not that of this run"
    [ "$(objects 'all[-2]["hard_pressure.pressure"]["mean"] == all[-1]["numbers"][0]["value"]')" = True ] ||
        fail "the pressure shown is not that of the results"
    [ "$(objects 'all[-1]["numbers"][0]["name"], all[-1]["finished"]')" = "('hard_pressure.pressure', False)" ] ||
        fail "the results are those of another run"
}

# The last number shown is made by the same blocks as the table.
test_results_as_json_are_those_of_the_table()
{
    disks
    rm sim.h5
    must run sim.ini --json
    value=$(objects '"%.17g" % all[-1]["numbers"][0]["value"]')
    $python -c "import h5py, sys
f = h5py.File('sim.h5'); v = f['plugmc/observables/hard_pressure/pressure/series'][...]
assert abs(v.mean() - float(sys.argv[1])) < 1e-12 * abs(v.mean())" "$value" || fail "not the mean of the file: $value"
    first=$(objects 'all[-1]')
    must run --resume sim.h5 --json
    [ "$(objects 'all[-1]')" = "$first" ] || fail "a finished run gives other results"
    [ "$(objects 'len(all)')" = 1 ] || fail "more than the results"
}

test_quiet_runs_print_the_table_alone()
{
    disks
    must run sim.ini
    table=$(sed "s/; .* s$//" "$out")
    [ -s "$err" ] || fail "a run that is not quiet says nothing"
    rm sim.h5*
    must run sim.ini --quiet
    [ ! -s "$err" ] || fail "there are messages"
    [ "$(sed "s/; .* s$//" "$out")" = "$table" ] || fail "the table is another"
    refused 2 "plugmc: one of --quiet and --json: '--json'; see --help" run sim.ini --quiet --json
}

# stopped, so that the line is that of a terminal: `script` makes one of COLUMNS.
on_a_terminal()
{
    TERM=dumb script -qec "stty cols $1; '$PLUGMC' run sim.ini --set 'run.show=hard_pressure.pressure'" said \
        </dev/null >/dev/null
    tr '\r' '\n' <said | sed 's/\x1b\[K//g' | grep '^production'
}

test_progress_fits_the_terminal()
{
    command -v script >/dev/null || skip "script is not installed (Debian: bsdutils)"
    script -qec true said </dev/null >/dev/null 2>&1 || skip "there are no pseudo-terminals"
    slow 1.5
    on_a_terminal 60 >lines
    [ "$(head -n -1 lines | wc -l)" -ge 2 ] || fail "no progress: $(cat said)"
    head -n -1 lines | awk 'length($0) > 59 || !/%/ { exit 1 }' || fail "a line is too long: $(cat lines)"
    on_a_terminal 160 >lines
    head -n 1 lines | grep -q ', acceptance 0\.[0-9]*, pressure [0-9.]*([0-9]*)' ||
        fail "not all of it is there: $(cat lines)"
}

test_logs_have_messages_and_progress_with_times()
{
    disks
    change '/^seed/a log = run.log'
    echo "of an earlier run" >run.log
    rm sim.h5
    must run sim.ini --quiet
    head -n 1 run.log | grep -q '^of an earlier run' || fail "what was in the log is gone"
    stamp='[0-9-]{10} [0-9]{2}:[0-9]{2}:[0-9]{2} '
    grep -Eq "^${stamp}on the CPU, 1 thread" run.log || fail "no message: $(cat run.log)"
    grep -Eq "^${stamp}production: 20 of 20 sweeps" run.log || fail "no progress: $(cat run.log)"
    tail -n +2 run.log | grep -Evq "^${stamp}" && fail "a line without its time: $(cat run.log)"
    must run --resume sim.h5 --set run.sweeps=30
    grep -q 'production: 30 of 30 sweeps' run.log || fail "resuming is not logged"
    refused 5 "cannot write no/run.log: No such file or directory; [run] log names it" run sim.ini --set run.log=no/run.log
    refused 3 "sim.ini:1: [run] log = sim.h5: this is also another output of the run" run sim.ini --set run.log=sim.h5
}

# A disk that is full ends the log, not the run.
test_full_logs_end_no_run()
{
    disks
    [ -c /dev/full ] || skip "there is no /dev/full"
    must run sim.ini --set run.log=/dev/full
    expect_message "warning: the log can no longer be written"
    [ "$(grep -c 'log can no longer' "$err")" = 1 ] || fail "it is said more than once"
}

test_what_takes_long_before_the_first_sweep_is_said()
{
    disks
    change -e '/^.potential/i [potential faulty]\nprepare = 3' -e 's/^.mover.*/[mover serial]/' -e '/hard_pressure/,$ d'
    PLUGMC_PLUGIN_PATH=$TEST_PLUGINS must run sim.ini
    expect_message "taking memory and compiling kernels ..."
    PLUGMC_PLUGIN_PATH=$TEST_PLUGINS must run sim.ini --quiet
    grep -q 'taking memory' "$err" && fail "said although it is to be quiet"
    true
}
