# Rigid molecules: runs that are the same however they are cut, exact laws of one and two molecules, what wrong movers would make of
# them, and files to start from. What is refused is in tests/refusals/molecules.txt.

# solution: waters and ions, of which all kinds of move are made
solution() { sed 's/^sweeps = .*/sweeps = 60/' "$here/chains/rigid-water.ini" >sim.ini; }

test_molecules_are_the_same_however_a_run_is_cut()
{
    solution
    must run sim.ini
    for move in rigid.displacement rigid.rotation serial.displacement volume.volume; do expect_output "of $move"; done
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=2 --set run.output=two.h5
    same_chain one.h5 two.h5
    must run sim.ini --set run.sweeps=23 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=60
    same_chain one.h5 parts.h5
}

# start ARGUMENT...: in the background, until there is sim.h5
start()
{
    command="plugmc $*"
    "$PLUGMC" "$@" >"$out" 2>"$err" </dev/null &
    process=$!
    until [ -e sim.h5 ]; do
        kill -0 $process 2>/dev/null || fail "the run ended before its first checkpoint"
        sleep 0.02
    done
}

test_molecules_go_on_when_a_run_is_killed()
{
    local killed=0 round
    solution
    must run sim.ini --set run.output=direct.h5 --set run.sweeps=400
    change 's/^seed/checkpoint = 0.05\nseed/; s/^sweeps = .*/sweeps = 400/'
    start run sim.ini
    for round in 1 2 3 4; do
        sleep 0.$((23 * round))
        [ -e sim.h5 ] || sleep 1
        kill -KILL $process 2>/dev/null && killed=$((killed + 1))
        wait $process 2>/dev/null
        start run --resume sim.h5 --set run.checkpoint=0.05
    done
    wait $process
    status=$?
    expect_exit 0
    [ $killed -gt 1 ] || fail "it was killed $killed times"
    same_chain direct.h5 sim.h5
}

# z OUTPUT QUANTITY FACTOR EXACT: by how many errors the mean, times FACTOR, is off.
z()
{
    must analyse "$1" --csv
    awk -F, -v name="$2" -v factor="$3" -v exact="$4" '
        $1 == name { z = (factor * $2 - exact) / (factor * $3); n++
                     printf "%s: %.5f +- %.5f, exact %.5f, z = %.2f\n", name, factor * $2, factor * $3, exact, z >"/dev/stderr" }
        END { print n == 1 ? z : "none" }' "$out"
}

# within Z: it is no accident beyond 4.5; beyond Z: it is far from it
within() { awk -v z="$1" 'BEGIN { exit !(z ~ /^-?[0-9.e+-]+$/ && z * z < 4.5 * 4.5) }' || fail "z = $1"; }
beyond() { awk -v z="$1" 'BEGIN { exit !(z ~ /^-?[0-9.e+-]+$/ && z * z > 8 * 8) }' || fail "z = $1: the fault was not seen"; }

# mutant MOVER NAME SED: the mover with a fault, in this folder.
mutant()
{
    sed "$3" "$here/../../plugins/movers/$1.c" >"$2.c"
    cmp -s "$2.c" "$here/../../plugins/movers/$1.c" && fail "nothing was changed in $2"
    cc -shared -fPIC -O2 -ffp-contract=off -I "$here/../../core/include" -I "$here/../../plugins/movers" "$2.c" -o "$2.so" -lm ||
        fail "$2 does not compile"
    chmod go-w "$2.so"
}

# 20 molecules and 5 particles without energies at pressure 1: <V> = (25 + 1) kT.
ideal()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 4000
	equilibrate = 200
	seed = 4
	walkers = 8
	threads = 1
	pressure = 1
	[box]
	dimension = 3
	lx = 3
	[species a]
	count = 5
	[molecule triangle]
	sites = a a a
	places = 0 0 0  0.3 0 0  0 0.4 0
	count = 20
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 0
	sigma = 0.1
	cutoff = 0.2
	[mover rigid]
	trials = 1
	[mover volume]
	step = 0.7
	trials = 2
	${1:+plugin = $1}
	[observable box_size]
	period = 2
	[observable virial_pressure]
	period = 2
	END
}

test_ideal_molecules_have_the_volume_of_as_many_particles()
{
    ideal
    must run sim.ini
    within "$(z sim.h5 box_size.volume 1 26)"
    within "$(z sim.h5 virial_pressure.pressure 1 1)"
}

test_a_box_move_that_counts_sites_is_seen()
{
    mutant volume counts_sites 's/v->scaled\[w\] + 1/host->system->particles + 1/'
    ideal ./counts_sites.so
    must run sim.ini
    beyond "$(z sim.h5 box_size.volume 1 26)"
}

# Bent molecules and particles, whose pair energies jump at the cutoff, at constant pressure: the mean of the virial is what was given.
test_molecules_have_the_pressure_that_is_given()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 3000
	equilibrate = 800
	seed = 5
	walkers = 8
	threads = 1
	temperature = 2
	pressure = 1
	[box]
	dimension = 3
	density = 0.35
	[species a]
	[species b]
	count = 10
	[molecule bent]
	sites = a b a
	places = 0 0 0  0.7 0 0  0.7 0.7 0
	count = 30
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	sigma = 0.9
	cutoff = 1.6
	[mover rigid]
	step = 0.2
	turn = 0.6
	target_acceptance = 0.4
	[mover serial]
	step = 0.3
	target_acceptance = 0.4
	[mover volume]
	step = 0.08
	trials = 2
	[observable virial_pressure]
	period = 4
	END
    must run sim.ini
    within "$(z sim.h5 virial_pressure.pressure 1 1)"
    awk -F, '$1 == "virial_pressure.jumps" { exit !($2 < -0.5) }' "$out" || fail "the jumps add too little to be seen"
}

# two SWEEPS CENTRE [PLUGIN]: two dumbbells in a cube, which are a pair for part of the time. The mean energy is a quadrature.
two()
{
    cat >sim.ini <<-END
	[run]
	sweeps = $1
	equilibrate = 200
	seed = 8
	walkers = 64
	threads = 1
	temperature = 0.35
	[box]
	dimension = 3
	lx = 5.1
	[species a]
	[molecule dumbbell]
	sites = a a
	places = -0.5 0 0  0.5 0 0
	centre = $2
	count = 2
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 1.5
	truncation = shift
	[mover rigid]
	step = 1.2
	turn = 1.5
	${3:+plugin = $3}
	[observable energy]
	period = 2
	END
}

# two_z: the table has the energy of each of four sites
two_z() { z sim.h5 energy.energy 4 "$(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1)"; }

test_two_molecules_have_the_exact_energy()
{
    python3 -c 'import numpy' 2>"$err" || skip "there is no numpy"
    for centre in '0 0 0' '0.3 0.2 0.1'; do
        two 3000 "$centre"
        must run sim.ini
        within "$(two_z)"
    done
}

# They have no way back.
test_turns_of_one_sense_are_seen()
{
    python3 -c 'import numpy' 2>"$err" || skip "there is no numpy"
    mutant rigid one_sense 's/plugmc_draw_turn(t->seed, t->sweep, t->walker, t->number, t->dimension,/one_sense(t,/
        s/^PLUGMC_FN int turn_molecule/PLUGMC_FN int one_sense(const plugmc_trial *t, double step, plugmc_orientation *o)\n{\n    const plugmc_random r = plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORIENTATION, 0);\n    return plugmc_turn_in_space(o, (int32_t)plugmc_below(r.word[0], 3), (int32_t)(tan(step \/ 4) * plugmc_uniform_double(r.word[2], r.word[3]) * 0x1p30));\n}\n\n&/'
    two 14000 '0 0 0' ./one_sense.so
    must run sim.ini
    beyond "$(two_z)"
}

# The energy of NIST's first configuration of SPC/E, whose parts tests/unit/test_molecules.c has.
nist()
{
    { echo 300
      echo 'Lattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3'
      tail -n +3 "$here/../data/nist/spce-1.xyz" | sed '/^ *$/d'; } >water.xyz
    cat >sim.ini <<-END
	[run]
	sweeps = 1
	seed = 3
	threads = 1
	temperature = 298.15
	[box]
	dimension = 3
	lx = 20
	[species O]
	charge = -0.8476
	[species H]
	charge = 0.4238
	[molecule water]
	sites = O H H
	places = 0 0 0  1 0 0  -0.33331324756824 0.942816142731718 0
	count = 100
	[initial]
	state = file
	file = water.xyz
	[potential lennard_jones]
	epsilon = 78.19743111 0 0
	sigma = 3.16555789
	cutoff = 10
	[potential tail_correction]
	[potential coulomb_ewald]
	bjerrum_length = 167100.9566
	cutoff = 10
	alpha = 0.28
	k_max = 5
	n_square = 26
	[mover rigid]
	trials = 1
	step = 1e-12
	turn = 1e-6
	[observable energy]
	period = 1
	[observable trajectory]
	period = 1
	END
}

# energy_is VALUE: of the one sample, 300 sites together
energy_is()
{
    must analyse sim.h5 --csv
    awk -F, -v expected="$1" '$1 == "energy.energy" { d = 300 * $2 - expected; n++; printf "%.9g K\n", 300 * $2 >"/dev/stderr" }
        END { exit !(n == 1 && d * d < 0.02 * 0.02) }' "$out" || fail "the energy is not $1 K"
}

test_molecules_start_from_files()
{
    nist
    must run sim.ini
    energy_is -488603.18
    must export sim.h5 --to sorted.xyz --last # species by species
    change 's/water.xyz/sorted.xyz/'
    must run sim.ini
    energy_is -488603.18
    mv sim.gsd last.gsd
    change 's/sorted.xyz/last.gsd/'
    must run sim.ini
    energy_is -488603.18
    # one hydrogen is elsewhere
    nist
    awk 'NR == 4 { $2 += 0.01 } { print }' water.xyz >bent.xyz
    change 's/water.xyz/bent.xyz/'
    plugmc run sim.ini
    expect_exit 3
    grep -q 'bent.xyz: sites of molecule 0 are up to 0.0[0-9]* away from where they are at rest in \[molecule water\]' "$err" || fail "no sentence"
}

# Rungs of a ladder of temperatures, exchanged: the same as each alone, of which the law is known.
test_molecules_on_a_ladder()
{
    python3 -c 'import numpy' 2>"$err" || skip "there is no numpy"
    two 4000 '0 0 0'
    change '/^temperature/d'
    printf '[ladder]\nvary = run.temperature\nvalues = 0.35 0.6\n[mover exchange]\n' >>sim.ini
    must run sim.ini
    cold=$(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1) warm=$(python3 "$here/two_molecules.py" 1 1.5 0.6 5.1)
    within "$(z sim.h5 "energy.energy@0.35" 4 "$cold")"
    within "$(z sim.h5 "energy.energy@0.6" 4 "$warm")"
}

# Cores within molecules may touch and overlap; those of different molecules do not.
test_molecules_of_hard_spheres()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	equilibrate = 50
	seed = 4
	threads = 1
	[box]
	dimension = 3
	density = 0.5
	[species a]
	diameter = 1
	[molecule dumbbell]
	sites = a a
	places = 0 0 0  0.6 0 0
	count = 100
	[initial]
	state = random
	[potential hard_sphere]
	[mover rigid]
	step = 0.2
	turn = 0.3
	[observable trajectory]
	period = 300
	END
    must run sim.ini
    must export sim.h5 --to last.xyz --last
    awk 'NR == 2 { split($0, a, "\""); split(a[2], b, " "); L = b[1] }
         NR > 2 { n++; x[n] = $2; y[n] = $3; z[n] = $4 }
         function near(d) { return d - L * int(d / L + (d < 0 ? -0.5 : 0.5)) }
         END { for (i = 1; i <= n; i++) for (j = 1; j < i; j++) {
                   r = sqrt(near(x[i] - x[j]) ^ 2 + near(y[i] - y[j]) ^ 2 + near(z[i] - z[j]) ^ 2)
                   bonded = int((i - 1) / 2) == int((j - 1) / 2)
                   if (bonded ? (r - 0.6) ^ 2 > 1e-12 : r < 1 - 1e-9) bad++
                   bonds += bonded }
               exit !(n == 200 && bonds == 100 && !bad) }' last.xyz || fail "molecules overlap, or are bent"
}
