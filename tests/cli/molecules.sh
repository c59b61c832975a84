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

# In order, sweeps of a few trial moves reach all molecules in the end: 46 turns and displacements of 23.
test_few_moves_in_order_reach_all_molecules()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 23
	equilibrate = 0
	device = cpu
	[box]
	dimension = 3
	lx = 60
	[species a]
	[molecule rod]
	sites = a a
	places = 0 0 0  1 0 0
	count = 23
	[initial]
	state = lattice
	[potential lennard_jones]
	epsilon = 1
	cutoff = 2
	[mover rigid]
	order = sequential
	trials = 4
	step = 0.1
	turn = 0.1
	[observable trajectory]
	period = 1
	END
    must run sim.ini
    must export sim.h5 --to all.csv
    awk -F, '/^frame/ { for (k = 1; k <= NF; k++) of[$k] = k; next }
        /^[0-9]/ { n = $of["particle"]; x = $of["x"] " " $of["y"] " " $of["z"]
                   if (n in was && was[n] != x) moved[n]; was[n] = x }
        END { n = length(was); m = length(moved); print m " of " n " sites have moved"; exit !(n == 46 && m == 46) }' all.csv ||
        fail "some molecules have not moved"
}

test_places_from_a_file_are_those_of_the_numbers()
{
    solution
    must run sim.ini --set run.output=numbers.h5
    printf '3\nwater at rest\nO 0 0 0\nH 1 0 0\nH -0.33331324756824 0.942816142731718 0\n' >water.xyz
    change 's/^places = .*/places_file = water.xyz/'
    must run sim.ini
    same_chain numbers.h5 sim.h5
    must run sim.ini --set run.sweeps=23 --set run.output=parts.h5
    rm water.xyz # the output has the numbers
    must run --resume parts.h5 --set run.sweeps=60
    same_chain numbers.h5 parts.h5
    printf 'HETATM    1  O   HOH A   1       0.000   0.000   0.000\nHETATM    2  H   HOH A   1       1.000   0.000   0.000\nHETATM    3  H   HOH A   1      -0.333   0.943   0.000\n' >water.pdb
    must check sim.ini --set "molecule water.places_file=water.pdb"
    refused 3 'sim.ini:27: [molecule water] places_file = water.xyz: cannot be opened: No such file or directory' check sim.ini
    refused 3 "water.pdb:1: 'O' is site 1 of the file, but sites of [molecule water] has H there" \
        check sim.ini --set "molecule water.places_file=water.pdb" --set "molecule water.sites=H O H"
    refused 3 '--set: [molecule water] places_file = water.pdb: the file has 3 particles, but sites of [molecule water] has 2 names' \
        check sim.ini --set "molecule water.places_file=water.pdb" --set "molecule water.sites=O H"
    refused 3 '--set: [molecule water] places_file = water.txt: the sites of a molecule are read from files whose names end in .xyz, .pdb or .gro' \
        check sim.ini --set "molecule water.places_file=water.txt"
    refused 3 'sim.ini:27: [molecule water] places and places_file are two ways to say where sites are: give one of them' \
        check sim.ini --set "molecule water.places=0 0 0"
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

# goes_on_when_killed SWEEPS: a run that is killed four times ends as one that is not.
goes_on_when_killed()
{
    local killed=0 round
    must run sim.ini --set run.output=direct.h5 --set run.sweeps="$1"
    change "s/^seed/checkpoint = 0.05\nseed/; s/^sweeps = .*/sweeps = $1/"
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

test_molecules_go_on_when_a_run_is_killed()
{
    solution
    goes_on_when_killed 400
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

# begin SWEEPS EQUILIBRATE SEED WALKERS SIZE [LINE...]: the head of sim.ini, a box of a size (a line of [box]), and further lines of [run]
begin()
{
    { printf '[run]\nsweeps = %s\nequilibrate = %s\nseed = %s\nwalkers = %s\nthreads = 1\n' "${@:1:4}"
      [ $# -lt 6 ] || printf '%s\n' "${@:6}"
      printf '[box]\ndimension = 3\n%s\n' "$5"; } >sim.ini
}

# 20 molecules and 5 particles without energies at pressure 1: <V> = (25 + 1) kT.
ideal()
{
    begin 4000 200 4 8 'lx = 3' 'pressure = 1'
    cat >>sim.ini <<-END
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
    begin 3000 800 5 8 'density = 0.35' 'temperature = 2' 'pressure = 1'
    cat >>sim.ini <<-END
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
    begin "$1" 200 8 64 'lx = 5.1' 'temperature = 0.35'
    cat >>sim.ini <<-END
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

# follow_forces SWEEPS: two dumbbells by hybrid Monte Carlo
follow_forces()
{
    two "$1" '0 0 0'
    change '/^\[mover rigid/,/^\[observable/{/^\[observable/!d}'
    printf '[mover hmc]\ntime_step = 0.06\nlength = 2\n' >>sim.ini
}

test_two_molecules_that_follow_forces_have_the_exact_energy()
{
    python3 -c 'import numpy' 2>"$err" || skip "there is no numpy"
    follow_forces 2500
    must run sim.ini
    within "$(two_z)"
}

test_two_molecules_that_follow_forces_have_the_exact_energy_on_a_gpu()
{
    gpu
    python3 -c 'import numpy' 2>"$err" || skip "there is no numpy"
    follow_forces 2500
    must run sim.ini --set run.device=gpu
    within "$(two_z)"
}

# water_by_forces: waters beside an Ewald sum and ions, in a box that changes, with other movers of them and of ions
water_by_forces()
{
    sed 's/^sweeps = .*/sweeps = 30/' "$here/chains/hmc-water.ini" >sim.ini
}

# Also where forces come from cells, not from lists.
test_trajectories_of_molecules_lead_back()
{
    water_by_forces
    change 's/^\[mover hmc\]/&\ncheck_reversal = yes/'
    must run sim.ini
    change 's/^lx = .*/shape = oblique\na = 9.2 0 0\nb = 2 9 0\nc = -1 1.5 9.4/; s/^cutoff = .*/cutoff = 4.2/'
    must run sim.ini
}

test_trajectories_of_molecules_are_the_same_however_a_run_is_cut()
{
    water_by_forces
    must run sim.ini
    for move in hmc.trajectory rigid.rotation serial.displacement volume.volume; do expect_output "of $move"; done
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=2 --set run.output=two.h5
    same_chain one.h5 two.h5
    must run sim.ini --set run.sweeps=13 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=30
    same_chain one.h5 parts.h5
}

# on_a_mesh: the same with a mesh, which a GPU can evaluate
on_a_mesh() { change 's/^device = .*/device = gpu/; s/^\[potential coulomb_ewald/[potential coulomb_spme/; s/^k_max = .*/grid = 20/'; }

test_trajectories_of_molecules_lead_back_on_a_gpu()
{
    gpu
    water_by_forces
    on_a_mesh
    change 's/^\[mover hmc\]/&\ncheck_reversal = yes/'
    must run sim.ini
    must run sim.ini --set run.fast_math=yes --set run.output=fast.h5
}

test_trajectories_of_molecules_are_the_same_however_a_run_is_cut_on_a_gpu()
{
    gpu
    water_by_forces
    on_a_mesh
    must run sim.ini
    for move in hmc.trajectory rigid.rotation serial.displacement volume.volume; do expect_output "of $move"; done
    cp sim.h5 one.h5
    must run sim.ini --set run.sweeps=13 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=30
    same_chain one.h5 parts.h5
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
# What was exported is a start again: sites to the digits of the format, in residues that are molecules.
test_molecules_go_out_and_come_back()
{
    local format
    solution
    must run sim.ini --set run.sweeps=5
    for format in pdb gro data; do
        must export sim.h5 --to end.$format --last
        must run sim.ini --set run.sweeps=1 --set run.equilibrate=0 --set run.seed=7 --set initial.state=file --set initial.file=end.$format --set run.output=again.h5
    done
    [ "$(awk 'NR > 2 && /water/ { n[$1]++ } END { for (k in n) bad += n[k] != 3; print length(n), bad + 0 }' <(sed 's/water/ water/' end.gro))" = "$(awk '/^\[molecule/ { m = 1 } m && /^count/ { print $3; exit }' sim.ini) 0" ] ||
        fail "residues of GRO are not molecules"
    [ "$(awk '/^Atoms # full/ { a = 1 } a && NF == 7 { n[$2]++ } END { for (k in n) if (n[k] == 3) m++; print m }' end.data)" = "$(awk '/^\[molecule/ { m = 1 } m && /^count/ { print $3; exit }' sim.ini)" ] ||
        fail "molecules of LAMMPS data"
}

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

# A site among those of another molecule, since the random start.
# Two triangles, a site of the second one in the middle of the first: nothing but a file begins like this.
test_molecules_that_are_pushed_into_each_other_are_told()
{
    sed 's/^state = .*/state = file\nfile = two.xyz/; s/^count = .*/count = 2/; s/^sweeps = .*/sweeps = 20\nwalkers = 8/; s/^equilibrate = .*/equilibrate = 20/' \
        "$here/../../bench/ensembles/terphenyl.ini" >sim.ini
    cat >two.xyz <<-END
	6
	Lattice="7.2608385 0 0 0 7.2608385 0 0 0 7.2608385"
	site 3 3 3
	site 4 3 3
	site 3.25881904510252 3.96592582628907 3
	site 3.41960634836667 3.32197527543333 4
	site 3.41960634836667 3.32197527543333 3
	site 2.83155070532188 2.55560972485559 3.74118095489748
	END
    must run sim.ini
    grep -Eq 'warning: \[initial\] state: equilibration has left a molecule of \[molecule terphenyl\], in walker [0-7], with an energy of [0-9.e+]* kT' "$err" || fail "nothing is said"
    change 's/^state = .*/state = random/; /^file = /d; s/^count = .*/count = 125/; s/^walkers = .*/walkers = 4/; s/^equilibrate = .*/equilibrate = 100/'
    must run sim.ini
    ! grep -q 'equilibration has left' "$err" || fail "it is said of a random start"
}

# Cores within molecules may touch and overlap; those of different molecules do not.
test_molecules_of_hard_spheres()
{
    begin 300 50 4 1 'density = 0.5'
    cat >>sim.ini <<-END
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

# by_mesh: coulomb_spme for coulomb_ewald
by_mesh() { change 's/^\[potential coulomb_ewald\]/[potential coulomb_spme]/; /^k_max/d; /^n_square/d'; }

# sums KIND: energy and pressure of NIST's configuration by sums that are nearly exact
sums()
{
    nist
    change 's/^cutoff = 10$/cutoff = 9.5/; /^alpha/d; s/^n_square.*/tolerance = 1e-9/; /^k_max/d; s/^sweeps = 1/sweeps = 1\nequilibrate = 0/'
    change '/^\[observable trajectory/,$d'
    printf '[observable virial_pressure]\nperiod = 1\n' >>sim.ini
    [ "$1" = ewald ] || { by_mesh && change 's/^tolerance = 1e-9/&\norder = 8/'; }
    must run sim.ini --set run.output="$1.h5"
    must analyse "$1.h5" --csv
    cp "$out" "$1.csv"
}

# Pairs within a molecule are taken out of the waves of the mesh, too.
test_a_mesh_has_the_energy_and_the_pressure_of_an_ewald_sum()
{
    sums ewald
    sums mesh
    awk -F, 'FNR == NR { mean[$1] = $2; next }
        $1 ~ /^(energy.energy|virial_pressure.pressure(_[xyz])?)$/ {
            d = ($2 - mean[$1]) / ($1 ~ /^energy/ ? mean[$1] : 4); n++
            printf "%s: %.9g by waves, %.9g on the mesh\n", $1, mean[$1], $2 >"/dev/stderr"
            if (d * d > 1e-10) wrong++ }
        END { exit !(n == 5 && !wrong) }' ewald.csv mesh.csv || fail "the mesh has other numbers"
}

# mesh_of SEED: charged dumbbells that move, turn and follow forces
mesh_of()
{
    charged 800
    change '/^activity/d; /^max_count/d; s/^seed = .*/seed = '"$1"'/; s/^count = 6/count = 12/; s/^epsilon = 1$/&\ntruncation = force_shift/; /^\[potential tail_correction/d
        /^\[mover insert_molecule/,/^\[observable numbers/{/^\[observable numbers/!d}; s/^\[observable numbers/[observable virial_pressure/; s/^k_max = 4/k_max = 6/; s/^trials = .*//'
    printf '[mover hmc]\ntime_step = 0.02\nsteps = 5\n' >>sim.ini
}

test_molecules_on_a_mesh_have_the_law_of_an_ewald_sum()
{
    mesh_of 1
    must run sim.ini --set run.output=1.h5
    mesh_of 2
    by_mesh
    change 's/^alpha = 1.1/&\ngrid = 14\norder = 6/'
    must run sim.ini --set run.output=2.h5
    for move in rigid.displacement rigid.rotation hmc.trajectory; do expect_output "of $move"; done
    for file in 1 2; do
        must analyse $file.h5 --csv
        cp "$out" $file.csv
    done
    awk -F, 'FNR == NR { mean[$1] = $2; error[$1] = $3; next }
        $1 ~ /^(energy.energy|energy.energy_coulomb|virial_pressure.pressure)$/ {
            z = ($2 - mean[$1]) / sqrt($3 ^ 2 + error[$1] ^ 2); n++
            printf "%s: %.5f(%.5f) and %.5f(%.5f), z = %.2f\n", $1, mean[$1], error[$1], $2, $3, z >"/dev/stderr"
            if (z * z > 16) wrong++ }
        END { exit !(n == 2 && !wrong) }' 1.csv 2.csv || fail "other numbers on the mesh"
}

# ---- Molecules that come and leave --------------------------------------------------------------------------------------

# reservoir POSITIONS ORIENTATIONS [PLUGIN]: molecules without energies with two sites of the species of the first one, behind a kind of
# which there are three, and particles
reservoir()
{
    begin 3000 100 4 8 'lx = 3'
    cat >>sim.ini <<-END
	[species a]
	[species b]
	[species c]
	count = 1
	max_count = 20
	activity = 0.1
	[molecule rod]
	sites = a b
	places = 0 0 0  0.3 0 0
	count = 3
	[molecule bent]
	sites = a c2 a
	places = 0 0 0  0.3 0 0  0 0.4 0
	count = 2
	max_count = 30
	activity = 0.2
	[species c2]
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 0
	sigma = 0.1
	cutoff = 0.2
	[mover rigid]
	trials = 2
	[mover insert_molecule]
	molecule = bent
	trials = 8
	trial_positions = $1
	trial_orientations = $2
	${3:+plugin = $3}
	[mover insert]
	species = c
	trials = 8
	[observable numbers]
	period = 2
	distribution = yes
	END
}

# Poisson's law with z V = 5.4 molecules, and 2.7 particles.
test_ideal_molecules_of_a_reservoir_have_the_law_of_poisson()
{
    local choice
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    for choice in '1 1' '3 2'; do
        reservoir $choice
        must run sim.ini
        within "$(z sim.h5 numbers.N_bent 1 5.4)"
        within "$(z sim.h5 numbers.N_c 1 2.7)"
        within "$(z sim.h5 numbers.N_a 1 13.8)"
        python3 - >&2 <<-'END' || fail "it is not Poisson's law"
	import h5py, math, numpy
	p = h5py.File('sim.h5')['plugmc/observables/numbers/p_bent']
	mean, error = p['mean'][:], p['error'][:]
	exact = numpy.array([math.exp(n * math.log(5.4) - 5.4 - math.lgamma(n + 1)) for n in range(len(mean))])
	z = ((mean - exact) / error)[exact > 1e-3]
	print('%d numbers: largest |z| %.2f, chi^2 %.1f' % (len(z), abs(z).max(), (z ** 2).sum()))
	assert len(z) > 10 and abs(z).max() < 4.5
	END
    done
}

test_a_reservoir_that_counts_sites_is_seen()
{
    mutant insert_molecule counts_sites 's/(uint32_t)plugmc_molecules_of_kind(kind, t->with_sites);/(uint32_t)t->with_sites[0];/
        s/plugmc_below(random.word\[0\], n), 0/plugmc_below(random.word[0], (uint32_t)plugmc_molecules_of_kind(kind, t->with_sites)), 0/
        s/if (n == 0) return 1;/if (n < 5) return 1;/'
    reservoir 1 1 ./counts_sites.so
    must run sim.ini
    beyond "$(z sim.h5 numbers.N_bent 1 5.4)"
}

# Removals without the weight of the place that is left.
test_removals_without_a_weight_are_seen()
{
    python3 -c 'import numpy' 2>"$err" || skip "there is no numpy"
    charged 2000
    must run sim.ini
    within "$(z sim.h5 widom_molecule.ln_activity 1 -3.2188758248682)"
    mutant insert_molecule forgets 's/    t->kind = PLUGMC_MOLECULE_REMOVED;/&\n    t->trial_positions = t->trial_orientations = 1;/'
    charged 2000 ./forgets.so
    must run sim.ini
    beyond "$(z sim.h5 widom_molecule.ln_activity 1 -3.2188758248682)"
}

# charged SWEEPS [PLUGIN]: charged dumbbells beside an Ewald sum, with an activity of 0.04, and test molecules
charged()
{
    begin "$1" 200 4 4 'lx = 5' 'temperature = 3'
    cat >>sim.ini <<-END
	[species a]
	charge = 1
	[species b]
	charge = -1
	[molecule dumbbell]
	sites = a b
	places = 0 0 0  0.6 0 0
	count = 6
	max_count = 40
	activity = 0.04
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.2
	[potential tail_correction]
	[potential coulomb_ewald]
	bjerrum_length = 4.5
	cutoff = 2.4
	alpha = 1.1
	k_max = 4
	[mover rigid]
	step = 0.3
	turn = 0.5
	[mover insert_molecule]
	molecule = dumbbell
	trials = 40
	trial_positions = 4
	trial_orientations = 2
	${2:+plugin = $2}
	[mover widom_molecule]
	molecule = dumbbell
	insertions = 20
	orientations = 2
	period = 10
	[observable numbers]
	period = 10
	[observable energy]
	period = 10
	END
}

# Loading and heat of adsorption count molecules, and follow from the series of numbers and energies.
test_adsorption_counts_molecules()
{
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    charged 300
    change '/^\[mover widom_molecule/,/^period/d'
    printf '[observable adsorption]\nspecies = dumbbell\nperiod = 10\nbulk_density = 0.02\n' >>sim.ini
    must run sim.ini
    must analyse sim.h5 --csv
    python3 - "$(awk -F, '$1 == "adsorption.isosteric_heat" { print $2 }' "$out")" >&2 <<-'END' || fail "adsorption has other numbers"
	import h5py, numpy, sys
	of = h5py.File('sim.h5')['plugmc/observables']
	N = of['numbers/N_dumbbell/series'][:].ravel()
	U = of['energy/energy/series'][:].ravel() * 2 * N
	loading, energy = of['adsorption/loading/series'][:].ravel(), of['adsorption/total_energy/series'][:].ravel()
	heat = 3 - (numpy.mean(U * N) - U.mean() * N.mean()) / N.var()
	found = float(sys.argv[1])
	print(found, heat, abs(energy - U).max(), of['adsorption/excess_loading/series'][:].mean(), N.mean() - 0.02 * 125)
	assert (loading == N).all() and abs(energy - U).max() < 1e-9 * abs(U).max() and N.std() > 1
	assert abs(found - heat) < 1e-6 * abs(heat)
	assert abs(of['adsorption/excess_loading/series'][:].mean() - N.mean() + 2.5) < 1e-9
	END
}

# Nobody has said how many there may be.
test_room_for_molecules_grows()
{
    reservoir 1 1
    change '/^max_count = 30/d; s/activity = 0.2/activity = 3/; /^distribution/d'
    must run sim.ini
    grep -q 'the run goes on with room for' "$err" || fail "no room was made"
    within "$(z sim.h5 numbers.N_bent 1 81)"
}

# Of ideal molecules steps between numbers have the exact probabilities, whatever the weights.
test_weights_of_numbers_of_molecules()
{
    local mover
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    for mover in $'umbrella]\nstrength = 0.1\ncenter = 14' 'transition_matrix]' $'wang_landau]\nwindows = 4\nlearning = 50'; do
        reservoir 1 1
        change 's/sweeps = 3000/sweeps = 600/; /^\[observable/,$d; /^max_count = 30/s/30/24/'
        printf '[mover %s\nvariable = bent\nperiod = 2\n' "$mover" >>sim.ini
        must run sim.ini
        python3 - "${mover%%]*}" >&2 <<-'END' || fail "other probabilities with $mover"
	import h5py, math, numpy, sys
	p = h5py.File('sim.h5')['plugmc/observables/%s/ln_p/value' % sys.argv[1]][:]
	exact = numpy.array([math.log(5.4) - math.log(n + 1) for n in range(24)])
	step = numpy.diff(p)
	known = ~numpy.isnan(step)
	print('%d steps known, largest difference %.1e' % (known.sum(), abs(step - exact)[known].max()))
	assert known.sum() > 15 and abs(step - exact)[known].max() < 1e-9
	END
    done
}

# Rungs of chemical potentials, exchanged: each has the number of an ideal gas of its activity.
test_molecules_on_a_ladder_of_chemical_potentials()
{
    reservoir 2 1
    change '/^activity = 0.2/d; /^distribution/d'
    printf '[ladder]\nvary = bent.mu\nvalues = -3 -1.6\n[mover exchange]\n' >>sim.ini
    must run sim.ini
    within "$(z sim.h5 "numbers.N_bent@-3" 1 1.3442490)"
    within "$(z sim.h5 "numbers.N_bent@-1.6" 1 5.4512058)"
}

# boxes [PLUGIN]: eight ideal molecules in two boxes that share them and their volume, in each of which there are four more
# things. With n of eight in one the integral over its volume is (n + 4)! (12 - n)! / (n! (8 - n)!).
boxes()
{
    reservoir 1 1
    change '/^\[mover insert_molecule/,/^\[observable/{/^\[observable/!d}
        /^activity/d; s/^count = 2$/count = 4/; s/^max_count = 30/max_count = 8/; /^\[species c\]/,/^\[molecule/{/^count\|^max/d}'
    change 's/^\[species c\]/[species c]\ncount = 1/; s/^\[observable numbers\]/[mover transfer]\nspecies = bent\ntrials = 8\nvolume_trials = 8\nstep = 1.5\ntarget_acceptance = 0\nperiod = 2\n&/'
    change 's/0\.3 0 0/0.03 0 0/; s/0 0\.4 0/0 0.04 0/; s/^sigma = 0.1/sigma = 0.01/; s/^cutoff = 0.2/cutoff = 0.02/' # boxes may be small
    [ -z "${1:-}" ] || change "s,^\[mover transfer\],&\nplugin = $1,"
}

law_of_boxes()
{
    python3 - "$1" >&2 <<-'END'
	import h5py, math, numpy, sys
	p = h5py.File('sim.h5')['plugmc/observables/numbers/p_bent']
	exact = [math.prod((n + k) * (8 - n + k) for k in range(1, 5)) for n in range(9)]
	z = abs((p['mean'][:] - numpy.array(exact) / sum(exact)) / p['error'][:])
	print('9 numbers: largest |z| %.2f, sum of z^2 %.1f' % (z.max(), (z ** 2).sum()))
	assert z.max() < 4.5 if sys.argv[1] == 'right' else (z ** 2).sum() > 120
	END
}

test_molecules_in_two_boxes()
{
    python3 -c 'import h5py' 2>"$err" || skip "there is no h5py"
    boxes
    must run sim.ini
    law_of_boxes right || fail "numbers have another law"
    mutant transfer counts_sites 's/(double)(t->scaled\[w\] + 1)/(double)(3 * t->scaled[w] + 1)/'
    boxes ./counts_sites.so
    change 's/^sweeps = .*/sweeps = 6000/'
    must run sim.ini
    law_of_boxes wrong || fail "the fault was not seen"
}

# fixed_boxes [PLUGIN]: those boxes with volumes that no longer change, as different as some sweeps have made them
fixed_boxes()
{
    boxes
    must run sim.ini --set run.sweeps=20 --set run.output=start.h5
    boxes "${1:-}"
    change 's/^state = random/state = file\nfile = start.h5/; s/^volume_trials = 8/volume_trials = 0/; s/^sweeps = .*/sweeps = 6000/'
    must run sim.ini
}

# A molecule is in either box of a pair with a probability in proportion to the volume, whatever others do.
law_of_fixed_boxes()
{
    python3 - "$1" >&2 <<-'END'
	import h5py, math, numpy, sys
	file = h5py.File('sim.h5')['plugmc']
	V = file['checkpoint/boxes'][:]
	V = numpy.array([abs(numpy.linalg.det(v)) for v in V])
	share = V / V.reshape(-1, 2).sum(1).repeat(2)
	assert abs(share - 0.5).max() > 0.2, share
	exact = numpy.array([numpy.mean([math.comb(8, n) * x ** n * (1 - x) ** (8 - n) for x in share]) for n in range(9)])
	p = file['observables/numbers/p_bent']
	z = abs((p['mean'][:] - exact) / p['error'][:])
	print('9 numbers: largest |z| %.2f, sum of z^2 %.1f' % (z.max(), (z ** 2).sum()))
	assert (z ** 2).sum() < 50 if sys.argv[1] == 'right' else (z ** 2).sum() > 100
	END
}

test_molecules_in_two_boxes_of_fixed_volumes()
{
    python3 -c 'import h5py' 2>"$err" || skip "there is no h5py"
    fixed_boxes
    law_of_fixed_boxes right || fail "numbers have another law"
    mutant transfer factor_of_sites 's/log((double)n \/ t/log(3.0 * (double)n \/ t/; s/((double)n + 1))/(3.0 * (double)n + 1))/'
    fixed_boxes ./factor_of_sites.so
    law_of_fixed_boxes wrong || fail "a factor that counts sites was not seen"
    mutant transfer no_volumes 's/log(t->box->volume \/ /log(1 \/ /; s/log((double)n \/ t->box->volume)/log((double)n)/'
    fixed_boxes ./no_volumes.so
    law_of_fixed_boxes wrong || fail "a factor without volumes was not seen"
}

# shared POSITIONS ORIENTATIONS [PLUGIN]: the dumbbells of `two` in two cubes that share them
shared()
{
    two 3000 '0 0 0'
    change 's/^count = 2/count = 1\nmax_count = 2/; /^\[observable energy/,$d; s/^state = lattice/state = random/'
    cat >>sim.ini <<-END
	[mover transfer]
	species = dumbbell
	trials = 8
	volume_trials = 0
	trial_positions = $1
	trial_orientations = $2
	${3:+plugin = $3}
	[observable numbers]
	period = 2
	distribution = yes
	END
}

# law_of_shared APART: the probability that each is in a cube of its own
law_of_shared()
{
    python3 - "$1" <<-'END'
	import h5py, sys
	p = h5py.File('sim.h5')['plugmc/observables/numbers/p_dumbbell']
	z = (p['mean'][1] - float(sys.argv[1])) / p['error'][1]
	print('apart: %.5f +- %.5f, exact %s, z = %.2f' % (p['mean'][1], p['error'][1], sys.argv[1], z), file=sys.stderr)
	print(z)
	END
}

# The pair is bound, so that positions are hard to find; both have the exact law with any choice of positions and orientations.
test_transfers_to_several_positions_have_the_exact_law()
{
    local choice apart
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    apart=$(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1 apart)
    for choice in '1 1' '4 1' '1 5' '3 4'; do
        shared $choice
        must run sim.ini
        within "$(law_of_shared "$apart")"
    done
}

test_transfers_to_several_positions_have_the_exact_law_on_a_gpu()
{
    local choice
    gpu
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    for choice in '1 1' '3 4'; do
        shared $choice
        must run sim.ini --set run.device=gpu
        within "$(law_of_shared "$(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1 apart)")"
    done
}

# The weight in the box that is left is left out.
test_transfers_without_the_weight_of_the_old_place_are_seen()
{
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    mutant transfer forgets 's/\.choices = t->of_molecules ? &choices : NULL},$/},/'
    shared 3 4 ./forgets.so
    must run sim.ini
    beyond "$(law_of_shared "$(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1 apart)")"
}

# shared_salt POSITIONS ORIENTATIONS SEED [PLUGIN]: the charged dumbbells in two boxes
shared_salt()
{
    charged 4000
    change '/^activity/d; s/^max_count = 40/max_count = 12/; s/^seed = .*/seed = '"$3"'/; s/^temperature.*/temperature = 2/
        /^\[mover insert_molecule/,/^\[observable numbers/{/^\[observable numbers/!d}'
    cat >>sim.ini <<-END
	[mover transfer]
	species = dumbbell
	trials = 20
	volume_trials = 0
	trial_positions = $1
	trial_orientations = $2
	${4:+plugin = $4}
	period = 10
	END
    must run sim.ini --set run.output="$3.h5"
}

# by_pairs ONE OTHER: by how many errors the numbers of two runs are apart, the largest
by_pairs()
{
    local file
    for file in "$1" "$2"; do
        must analyse "$file.h5" --csv
        cp "$out" "$file.csv"
    done
    awk -F, 'FNR == NR { mean[$1] = $2; error[$1] = $3; next }
        $1 ~ /^(transfer.density_(thin|dense)|energy.energy(_coulomb_ewald)?)$/ {
            z = ($2 - mean[$1]) / sqrt($3 ^ 2 + error[$1] ^ 2); n++
            printf "%s: %.5f(%.5f) and %.5f(%.5f), z = %.2f\n", $1, mean[$1], error[$1], $2, $3, z >"/dev/stderr"
            if (z * z > most * most) most = z }
        END { print n == 4 ? most : "none" }' "$1.csv" "$2.csv"
}

# Beside an Ewald sum and tails several positions do not change the law.
test_transfers_to_several_positions_beside_an_ewald_sum()
{
    shared_salt 1 1 1
    shared_salt 5 3 2
    within "$(by_pairs 1 2)"
    mutant transfer forgets 's/\.choices = t->of_molecules ? &choices : NULL},$/},/'
    shared_salt 5 3 3 ./forgets.so
    beyond "$(by_pairs 1 3)"
}

# ---- Molecules that become others, and take each other's place ----------------------------------------------------------

# two_kinds SWEEPS: the dumbbells of `two`, the second of a kind with a shorter bond whose activity is half of the first one's
two_kinds()
{
    two "$1" '0 0 0'
    change '/^\[observable energy/,$d; s/^count = 2/count = 1/; s/^state = lattice/state = random/'
    change 's/^\[initial\]/[species b]\n[molecule short]\nsites = b b\nplaces = -0.3 0 0  0.3 0 0\ncentre = 0 0 0\ncount = 1\n&/'
    change 's/^epsilon = 1/epsilon = 1 1/; s/^sigma = 1/sigma = 1 1/'
}

# becoming ORIENTATIONS [PLUGIN]
becoming()
{
    two_kinds 3000
    change 's/^count = 1/&\nmax_count = 2/; /^\[molecule dumbbell/,/^count/s/^count/activity = 0.2\n&/; /^\[molecule short/,/^count/s/^count/activity = 0.1\n&/'
    cat >>sim.ini <<-END
	[mover identity]
	a = dumbbell
	b = short
	trials = 6
	trial_orientations = $1
	${2:+plugin = $2}
	[observable numbers]
	period = 2
	distribution = yes
	END
}

# law_of_kinds P0 P1 P2 ...: the largest z of the probabilities of 0, 1 and 2 short ones
law_of_kinds()
{
    python3 - "$@" <<-'END'
	import h5py, sys
	p = h5py.File('sim.h5')['plugmc/observables/numbers/p_short']
	z = [(p['mean'][n] - float(sys.argv[1 + n])) / p['error'][n] for n in range(3)]
	for n in range(3): print('%d: %.5f +- %.5f, exact %.5f, z = %.2f' % (n, p['mean'][n], p['error'][n], float(sys.argv[1 + n]), z[n]), file=sys.stderr)
	print(max(z, key=abs))
	END
}

test_two_kinds_of_molecules_have_the_exact_numbers()
{
    local exact orientations
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    exact=$(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1 kinds 0.6 0.5)
    for orientations in 1 6; do
        becoming $orientations
        must run sim.ini
        within "$(law_of_kinds $exact)"
    done
    # faults: the one that leaves has no weight; a factor that counts sites
    mutant identity forgets 's/^    t->trial_orientations = (int32_t)p->trial_orientations;/    t->trial_orientations = back_(p, from) ? 1 : (int32_t)p->trial_orientations;/
        s/^PLUGMC_FN int propose_molecule/static int back_(const identity *p, int32_t from) { return from == p->number[1]; }\n&/'
    becoming 6 ./forgets.so
    must run sim.ini
    beyond "$(law_of_kinds $exact)"
    mutant identity of_sites 's/plugmc_molecules_of_kind(other, t->with_sites) + 1/2 * plugmc_molecules_of_kind(other, t->with_sites) + 1/'
    becoming 1 ./of_sites.so
    must run sim.ini
    beyond "$(law_of_kinds $exact)"
}

test_two_kinds_of_molecules_have_the_exact_numbers_on_a_gpu()
{
    local orientations
    gpu
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    for orientations in 1 6; do
        becoming $orientations
        must run sim.ini --set run.device=gpu
        within "$(law_of_kinds $(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1 kinds 0.6 0.5))"
    done
}

# ideal_kinds: twelve molecules without energies that become each other
ideal_kinds()
{
    begin 3000 100 4 8 'lx = 3'
    cat >>sim.ini <<-END
	[species a]
	[species b]
	[species c]
	[species d]
	[molecule rod]
	sites = a b
	places = 0 0 0  0.3 0 0
	count = 8
	max_count = 12
	activity = 0.2
	[molecule bent]
	sites = c d c
	places = 0 0 0  0.3 0 0  0 0.4 0
	count = 4
	max_count = 12
	activity = 0.1
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 0
	sigma = 0.1
	cutoff = 0.2
	[mover rigid]
	trials = 2
	[mover identity]
	a = rod
	b = bent
	trials = 8
	trial_orientations = 2
	[observable numbers]
	period = 2
	END
}

# The binomial law, on rungs of chemical potentials that are exchanged, and its steps with weights of numbers.
test_ideal_molecules_become_each_other_by_the_binomial_law()
{
    local mover
    python3 -c 'import h5py, numpy' 2>"$err" || skip "there is no h5py"
    ideal_kinds
    change '/^activity = 0.1/d'
    printf '[ladder]\nvary = bent.mu\nvalues = -2.25 -1.2\n[mover exchange]\n' >>sim.ini
    must run sim.ini
    within "$(z sim.h5 "numbers.N_bent@-2.25" 1 4.1414339)"
    within "$(z sim.h5 "numbers.N_bent@-1.2" 1 7.2114371)"
    for mover in $'umbrella]\nstrength = 0.1\ncenter = 8' 'transition_matrix]'; do
        ideal_kinds
        change 's/sweeps = 3000/sweeps = 600/; /^\[observable/,$d'
        printf '[mover %s\nvariable = bent\nperiod = 2\n' "$mover" >>sim.ini
        must run sim.ini
        python3 - "${mover%%]*}" >&2 <<-'END' || fail "other probabilities with $mover"
	import h5py, math, numpy, sys
	step = numpy.diff(h5py.File('sim.h5')['plugmc/observables/%s/ln_p/value' % sys.argv[1]][:])
	exact = numpy.array([math.log((12 - n) / (n + 1) / 2) for n in range(12)])
	known = ~numpy.isnan(step)
	print('%d steps known, largest difference %.1e' % (known.sum(), abs(step - exact)[known].max()))
	assert known.sum() > 8 and abs(step - exact)[known].max() < 1e-9
	END
    done
}

# One of each, whose only moves of a molecule as a whole are swaps and turns: the mean energy of the pair.
test_molecules_that_swap_have_the_exact_energy()
{
    local exact
    python3 -c 'import numpy' 2>"$err" || skip "there is no numpy"
    exact=$(python3 "$here/two_molecules.py" 1 1.5 0.35 5.1 kinds 0.6 0.5)
    two_kinds 3000
    printf '[mover swap]\na = dumbbell\nb = short\ntrials = 4\n[observable energy]\nperiod = 2\n' >>sim.ini
    must run sim.ini
    within "$(z sim.h5 energy.energy 4 "${exact##* }")"
}

# solutes: charged dumbbells and bent molecules with other charges, which become each other, beside an Ewald sum and tails, with waters
# that take their places
solutes() { sed 's/^sweeps = .*/sweeps = 60/' "$here/chains/identity-molecules.ini" >sim.ini; }

test_identities_are_the_same_however_a_run_is_cut()
{
    solutes
    must run sim.ini
    for move in identity.identity swap.swap; do expect_output "of $move"; done
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=2 --set run.output=two.h5
    same_chain one.h5 two.h5
    must run sim.ini --set run.sweeps=23 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=60
    same_chain one.h5 parts.h5
}

# Charged dumbbells and bent molecules that come and leave, with test molecules: as chains/insert-molecules.ini
come_and_leave() { sed 's/^sweeps = .*/sweeps = 60/' "$here/chains/insert-molecules.ini" >sim.ini; }

test_exchanges_are_the_same_however_a_run_is_cut()
{
    come_and_leave
    must run sim.ini
    cp sim.h5 one.h5
    must run sim.ini --set run.threads=2 --set run.output=two.h5
    same_chain one.h5 two.h5
    must run sim.ini --set run.sweeps=23 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=60
    same_chain one.h5 parts.h5
}

test_exchanges_go_on_when_a_run_is_killed()
{
    come_and_leave
    goes_on_when_killed 300
}

# A frame of a run says how many molecules there are; one without a site is refused.
test_exchanges_start_from_frames()
{
    charged 20
    must run sim.ini
    must export sim.h5 --to last.xyz --last
    cp sim.ini first.ini
    must analyse sim.h5 --csv
    change 's/^state = random/state = file\nfile = sim.h5/; s/^\[run\]/&\noutput = next.h5/'
    must run sim.ini
    change 's/^file = sim.h5/file = last.xyz/; s/^walkers = .*/walkers = 1/'
    must run sim.ini
    # the last hydrogen, so to speak, is lost
    awk 'NR == 1 { n = $1; print n - 1; next } NR == n + 2 { next } { print }' last.xyz >less.xyz
    change 's/last.xyz/less.xyz/'
    plugmc run sim.ini
    expect_exit 3
    grep -q 'less.xyz: the file has [0-9]* particles of species [ab], which do not make whole molecules' "$err" || fail "no sentence"
}
