# plugmc check --json: what it tells programs of one point of an INI file and of many.

python=/usr/bin/python3

# told: what the expression gives, of the list `all` of objects in $out.
told() { $python -c "
import json, sys
all = [json.loads(line) for line in open(sys.argv[1], encoding='utf-8')]
print(($1))" "$out" || fail "the output is not JSON"; }

# expect_told EXPRESSION VALUE
expect_told() { [ "$(told "$1")" = "$2" ] || fail "expected $1 = $2, found $(told "$1")"; }

# check_points FILE [OPTION...]: with the points of the file `points`; status, $out and $err as ever.
check_points()
{
    command="plugmc check $1 --json --points ${*:2}"
    before=$(contents)
    "$PLUGMC" check "$@" --json --points >"$out" 2>"$err" <points
    status=$?
    expect_untouched
}

test_json_of_one_file()
{
    disks
    rm sim.h5
    must check sim.ini --json --set run.seed=7
    [ ! -s "$err" ] || fail "there are messages"
    expect_told 'len(all), all[0]["point"], all[0]["file"], all[0]["set"]' "(1, 0, 'sim.ini', {'run.seed': '7'})"
    expect_told 'all[0]["ok"], all[0]["code"], all[0]["messages"]' "(True, 0, [])"
    expect_told '[all[0][n] for n in ("dimension", "walkers", "particles", "bytes_of_positions", "numbers_change")]' \
        "[2, 1, 64, 1536, False]"
    expect_told 'all[0]["device"]["takes_gpu"], all[0]["device"]["threads"]' "(False, 1)"
    expect_told 'all[0]["output"]["state"], all[0]["output"]["file"], all[0]["output"]["sweeps"]' \
        "('missing', 'sim.h5', 20)"
    plugmc check nowhere.ini --json
    expect_exit 3
    expect_told '[m["text"] for m in all[0]["messages"]]' "['cannot open this file: No such file or directory']"
}

test_json_of_points_good_and_bad()
{
    disks
    rm sim.h5
    printf '%s\n' '{"run.seed": 8, "box.packing_fraction": 3e-1, "run.output": "8.h5"}' \
        '{"run.seed": {"value": "eight", "line": 3}}' '' \
        '{"species disk.count": 16, "run.author": "a \"b\" \u00e4 ;c"}' >points
    check_points sim.ini
    expect_exit 3
    [ ! -s "$err" ] || fail "there are messages on standard error"
    expect_told '[(p["point"], p["ok"], p["code"]) for p in all]' "[(0, True, 0), (1, False, 3), (2, False, 2)]"
    expect_told 'all[0]["set"]["box.packing_fraction"], all[0]["output"]["file"]' "('3e-1', '8.h5')"
    expect_told 'all[1]["messages"]' \
        "[{'kind': 'error', 'file': 'sim.ini', 'line': 3, 'text': '[run] seed = eight: is not a whole number'}]"
    expect_told '"output" in all[1]' False
    expect_told '[m["file"] for m in all[2]["messages"]]' "['--set']"
    sed -i 's/ ;c//' points
    check_points sim.ini
    expect_told 'all[2]["ok"], all[2]["particles"], all[2]["set"]["run.author"]' "(True, 16, 'a \"b\" ä')"
    printf '%s\n' '{"run.seed": 1}' '["run.seed"]' >points
    check_points sim.ini
    expect_exit 3
    expect_message 'standard input:2: this is not an object; a point is a line such as {"run.seed": 1, "box.density": 0.3}'
    [ ! -s "$out" ] || fail "points are told of although one cannot be read"
    printf '%s\n' '{"run.seed": [1]}' >points
    check_points sim.ini
    expect_message 'standard input:1: a value is neither a text nor a number; a point is a line such as '\
'{"run.seed": 1, "box.density": 0.3}'
}

# What output files say: none, half a run, a whole one, that of another run, and a damaged one.
test_json_of_points_with_output_files()
{
    disks
    rm sim.h5
    must run sim.ini --set run.output=whole.h5
    table=$(sed -n 's/^hard_pressure.pressure  *\([^ ]*\).*/\1/p' "$out")
    must run sim.ini --set run.output=half.h5 --set run.sweeps=10
    cp "$here/../data/faults/leak5.h5" damaged.h5
    head -c 5000 whole.h5 >short.h5
    for name in none half whole damaged short; do echo "{\"run.output\": \"$name.h5\"}"; done >points
    echo '{"run.seed": {"value": 9, "line": 3}, "run.output": "whole.h5"}' >>points
    check_points sim.ini --results
    expect_exit 0
    expect_told '[p["output"]["state"] for p in all]' \
        "['missing', 'unfinished', 'finished', 'unusable', 'unusable', 'unusable']"
    expect_told '[(p["output"]["sweep"], p["output"]["sweeps"]) for p in all[:3]]' "[(0, 20), (10, 20), (20, 20)]"
    expect_told '[p["output"]["code"] for p in all]' "[0, 0, 0, 6, 6, 6]"
    expect_told 'all[4]["output"]["messages"][0]["text"].startswith("cannot read short.h5: ")' True
    expect_told '"[run] seed was 3 and is 9 now" in all[5]["output"]["messages"][0]["text"]' True
    expect_told 'all[2]["output"]["numbers"][0]["name"], "numbers" in all[5]["output"]' "('hard_pressure.pressure', False)"
    value=$(told 'all[2]["output"]["numbers"][0]["value"]')
    $python -c "import sys; assert abs(float(sys.argv[1]) - float(sys.argv[2].split('(')[0])) < 0.06" "$value" "$table" ||
        fail "$value is not that of the table, $table"
    check_points sim.ini
    expect_told '"numbers" in all[2]["output"], all[2]["output"]["state"]' "(False, 'finished')"
    must run sim.ini --resume-if-there --set run.output=whole.h5 --json
    [ "$(told 'all[-1]["numbers"][0]["value"]')" = "$value" ] || fail "a run has another value"
}

# One that ends the process that looks at it is told of, and the others are looked at.
test_json_of_points_that_break_down()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS:$PLUGINS
    disks
    rm sim.h5
    change 's/^.potential hard_disk.*/[potential faulty_pair]\nhow = abort/; s/mover checkerboard/mover serial/; s/hard_pressure/energy/'
    for k in $(seq 0 29); do
        echo "{\"potential faulty_pair.crash\": $((k % 7 == 3)), \"run.seed\": $k}"
    done >points
    check_points sim.ini
    expect_told '[p["point"] for p in all if not p["ok"]]' "[3, 10, 17, 24]"
    expect_told '[p["point"] for p in all] == list(range(30))' True
    expect_told '[m["text"] for m in all[10]["messages"] if "faulty_pair" in m["text"]] != []' True
    expect_told 'all[10]["code"] == '"$status" True
}

# Nor do the others wait for one that does not come back: here for 3 of the 60 seconds that it has.
test_json_of_points_that_never_end()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS:$PLUGINS
    disks
    rm sim.h5
    change 's/^.potential hard_disk.*/[potential endless_configure]\nheight = 0\ncutoff = 1/; s/mover checkerboard/mover serial/'
    change 's/hard_pressure/energy/'
    for height in 0 1 -1; do echo "{\"potential endless_configure.height\": $height}"; done >points
    ulimit -S -t 3
    check_points sim.ini
    expect_told '[p["ok"] for p in all]' "[True, False, True]"
    expect_told '[m["text"] for m in all[1]["messages"]][0]' \
        "the callback 'configure' of [potential endless_configure] takes too long"
}

# The sections of a study are not in the way, and its lines are named.
test_json_of_points_of_a_study()
{
    disks
    rm sim.h5
    printf '\n[scan]\nrun.seed = 1 2\nbox.packing_fraction = 0.3 0.4\n' >>sim.ini
    refused_line=$(grep -n '^box.packing_fraction' sim.ini | cut -d: -f1)
    echo "{\"box.packing_fraction\": {\"value\": -1, \"line\": $refused_line}}" >points
    check_points sim.ini
    expect_told 'all[0]["messages"][0]["line"]' "$refused_line"
    plugmc check sim.ini --json
    expect_exit 3
    expect_told '"use plugmc scan" in all[0]["messages"][0]["text"]' True
}

test_json_names_files_and_units()
{
    disks
    rm sim.h5
    mkdir tables
    printf '%s\n' "0.9 4" "1 2" "1.2 0" >"tables/u of r.dat"
    change 's/^.potential hard_disk.*/[potential tabulated]\nfiles = "tables\/u of r.dat"\ninside = extrapolate/
        s/^.mover checkerboard.*/[mover serial]/; s/hard_pressure/energy/; s/^packing_fraction.*/density = 0.5/'
    echo '{"box.density": 0.4, "run.temperature": 2}' >points
    check_points sim.ini
    expect_exit 0
    expect_told 'all[0]["files"]["potential tabulated.files"]' "['tables/u of r.dat']"
    expect_told 'all[0]["units"]["box.density"]' "length^-2"
}

test_json_is_refused_where_it_means_nothing()
{
    disks
    refused 2 "plugmc: --points goes with --json; see --help" check sim.ini --points
    refused 2 "plugmc: --results goes with --json; see --help" check sim.ini --results
    refused 2 "plugmc: --architecture does not go with --json; see --help" check sim.ini --json --architecture 90
    refused 2 "plugmc: unknown option '--jsn'; see --help" check sim.ini --jsn
}
