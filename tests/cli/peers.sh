# plugmc bench peers: its arithmetic on lines that were recorded, its own rows, peers that are missing, and one that is wrong.
# No network: peers are never installed here.

# recorded: medians 100 and 50 moves a second of plugmc and a peer at N = 8, and a start with an energy of -40.
recorded()
{
    cat >lines.jsonl <<'END'
{"line": "machine", "processor": "P", "cores": 2, "system": "S", "simd": [], "gpu": "", "load": 0.0, "plugmc": "plugmc 1.2.3", "commit": "abc", "rounds": 3, "seconds": 1.0}
{"line": "missing", "subject": "FEASST", "why": "no compiler"}
{"line": "reference", "table": "lj", "size": 8, "subjects": ["plugmc serial", "RASPA3"], "energies": {"shift": -40.0, "cut": -50.0}}
{"line": "failure", "table": "lj", "size": 8, "subject": "plugmc brush", "why": "it cannot", "allowed": true}
{"line": "measurement", "table": "lj", "size": 8, "subject": "RASPA3", "round": 0, "version": "3.1", "truncation": "cut", "energy": -50.0001, "moves": 50, "seconds": 1, "acceptance": 0.5}
{"line": "measurement", "table": "lj", "size": 8, "subject": "plugmc serial", "round": 0, "version": "", "truncation": "shift", "energy": -40.0, "moves": 100, "seconds": 1, "acceptance": 0.4}
{"line": "measurement", "table": "lj", "size": 8, "subject": "RASPA3", "round": 1, "version": "3.1", "truncation": "cut", "energy": -50.0001, "moves": 100, "seconds": 1, "acceptance": 0.5}
{"line": "measurement", "table": "lj", "size": 8, "subject": "plugmc serial", "round": 1, "version": "", "truncation": "shift", "energy": -40.0, "moves": 700, "seconds": 2, "acceptance": 0.4}
{"line": "measurement", "table": "lj", "size": 8, "subject": "RASPA3", "round": 2, "version": "3.1", "truncation": "cut", "energy": -50.0001, "moves": 90, "seconds": 2, "acceptance": 0.5}
{"line": "measurement", "table": "lj", "size": 8, "subject": "plugmc serial", "round": 2, "version": "", "truncation": "shift", "energy": -40.0, "moves": 30, "seconds": 1, "acceptance": 0.4}
END
}

test_bench_peers_takes_medians_and_ratios()
{
    recorded
    must bench peers --from lines.jsonl
    expect_output "| plugmc serial | 1.00e2 (0.40) |"
    expect_output "| RASPA3 | 5.00e1 (0.50) |"
    expect_output "| plugmc brush | -; it cannot |"
    expect_output "| fastest of plugmc / fastest peer | 2.00 |"
    expect_output "Largest spread of a row over the rounds: 320 %."
    expect_output "Versions: RASPA3 3.1."
    expect_output "- FEASST could not be had: no compiler"
    expect_output "Energies of all peers agree with plugmc's."
}

# A program that computes something else is not compared: another energy, none, or one of another truncation.
test_bench_peers_compares_energies()
{
    recorded
    local wrong
    sed 's/"moves": 30, "seconds": 1/"moves": 30, "seconds": 0/' lines.jsonl >short.jsonl
    plugmc bench peers --from short.jsonl
    expect_exit 1
    expect_output "| plugmc serial | -; too short to be timed: more --seconds |"
    for wrong in 's/-50.0001/-50.001/' 's/-50.0001/NaN/' 's/"truncation": "cut"/"truncation": "none"/'; do
        sed "$wrong" lines.jsonl >wrong.jsonl
        plugmc bench peers --from wrong.jsonl
        expect_exit 1
        grep -q '^- fault: lj, N = 8, RASPA3: energies differ by ' "$out" || fail "no fault after $wrong"
        expect_output "| fastest of plugmc / fastest peer | - |"
        ! grep -q 'agree with' "$out" || fail "it says that energies agree"
    done
}

# small TABLE...: plugmc's rows alone, as short as they can be.
small()
{
    XDG_CACHE_HOME=$PWD plugmc bench peers --rounds 1 --seconds 0.2 --no-install --tables "$@"
}

test_bench_peers_of_small_systems()
{
    small lj gc npt --sizes 108
    expect_exit 0
    for row in serial brush "serial + insert" "serial + volume" "brush + volume"; do
        grep -Eq "^\| plugmc ${row//+/\\+} \| $rates \|$" "$out" || fail "no row $row"
    done
    for peer in RASPA3 "Faunus 3" "LAMMPS fix gcmc" FEASST; do
        expect_output "- $peer could not be had: there is no environment in $PWD/plugmc/peers (--no-install)"
        expect_message "peers: $peer cannot be had: there is no environment in $PWD/plugmc/peers (--no-install)"
    done
    [ -e plugmc ] && fail "an environment was made"
    grep -q '^Energies of all' "$out" && fail "there were no energies to compare"
    small hmc hard ions --sizes 500
    expect_exit 0
    for row in hmc "checkerboard, 4 trials" "checkerboard, 16 trials"; do
        grep -Eq "^\| plugmc $row \| $rates \|$" "$out" || fail "no row $row"
    done
}

test_bench_peers_of_rigid_water()
{
    small water --sizes 64
    expect_exit 0
    grep -Eq "^\| plugmc hmc \| $rates \|$" "$out" || fail "no row of hmc"
    expect_output "- OpenMM, MD steps of rigid water could not be had: there is no environment in $PWD/plugmc/peers (--no-install)"
}

rates='[1-9]\.[0-9]{2}e[0-9]+ \([01]\.[0-9]{2}\)'

# peer ENERGY: an environment whose Python imports all, and answers every program with a line.
peer()
{
    mkdir -p env/bin
    cat >env/bin/python <<END
#!/bin/sh
case \$2 in -c) exit 0 ;; esac
cat >/dev/null
$1
END
    chmod +x env/bin/python
}

test_bench_peers_runs_a_peer()
{
    local line='{"version": "7", "energy": ENERGY, "truncation": "shift", "moves": 1000, "seconds": 0.5, "acceptance": 0.5}'
    peer "echo '${line/ENERGY/-1}'"
    plugmc bench peers --rounds 1 --seconds 0.1 --tables gc --sizes 108 --venv env --no-install --peers raspa3 --record seen.jsonl
    expect_exit 1
    grep -q '^- fault: gc, N = 108, RASPA3: energies differ by 1.0e+00$' "$out" || fail "another energy was not seen"
    local energy
    energy=$(sed -n 's/.*"energies": {"shift": \([-0-9.e+]*\),.*/\1/p' seen.jsonl)
    peer "echo '${line/ENERGY/$energy}'"
    plugmc bench peers --rounds 1 --seconds 0.1 --tables gc --sizes 108 --venv env --no-install --peers raspa3
    expect_exit 0
    grep -Eq '^\| RASPA3 \| 2.00e3 \(0.50\) \|$' "$out" || fail "no rate of the peer"
    peer "echo 'ValueError: it is broken' >&2; exit 1"
    plugmc bench peers --rounds 1 --seconds 0.1 --tables gc --sizes 108 --venv env --no-install --peers raspa3
    expect_exit 1
    expect_output "- fault: gc, N = 108, RASPA3: ValueError: it is broken"
    plugmc bench peers --tables nothing
    expect_exit 2
}
