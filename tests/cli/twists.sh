# Twist averages (plugmc scan with [twists]) and tables for qmca: which twists there are, that their energies are exact
# where they are known, how they are joined, what is refused. twists.py does the sums.

# gas LINE...: study.ini, 14 free electrons at r_s = 1, with these lines in [twists].
gas()
{
    cat >study.ini <<-END
	[run]
	sweeps = 24
	equilibrate = 4
	seed = 5
	walkers = 2
	device = cpu
	threads = 1
	[box]
	dimension = 3
	lx = 3.8851299381
	$(spins 7)
	[initial]
	state = random
	[potential plane_waves]
	[mover quasi_simultaneous]
	step = 1
	[observable local_energy]
	period = 2
	[scan]
	[twists]
	potential = plane_waves
	END
    printf '%s\n' "$@" >>study.ini
}

# twists: those of --list, with what follows them.
twists() { sed 1d "$out" | sed 's/^[0-9]* *to do *[0-9/]* *//; s/  */ /g; s/ $//'; }

expect_twists() # LINE...
{
    must scan study.ini --list
    diff <(twists) <(printf '%s\n' "$@") || fail "other twists"
}

# says TEXT: a part of standard error.
says() { grep -Fq -- "$1" "$err" || fail "expected the message: $1"; }

# mean COLUMN: of the only line of twists.csv, in the folder study.
mean() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' study/twists.csv; }

python() { command -v python3 >/dev/null || skip "python3 is not installed"; }

# ---- Which twists there are ----

test_twists_of_a_grid_of_monkhorst_and_pack()
{
    gas "grid = 2 2 2"
    expect_twists "0.25 -0.25 -0.25" "0.25 -0.25 0.25" "0.25 0.25 -0.25" "0.25 0.25 0.25"
    gas "grid = 3 1 1"
    expect_twists "0 0 0" "0.333333333333 0 0"
    gas "grid = 2 1 2" "gamma = yes"
    expect_twists "0 0 0" "0 0 0.5" "0.5 0 0" "0.5 0 0.5"
    gas "grid = 3 2 1" "gamma = yes" # theta and -theta: one of them
    expect_twists "0 0 0" "0 0.5 0" "0.333333333333 0 0" "0.333333333333 0.5 0"
    gas "grid = 4 4 4"
    must scan study.ini --list
    [ "$(twists | wc -l)" = 32 ] || fail "4 x 4 x 4 / 2 are 32"
}

# Numbers of a Fermi energy between shells: k^2/2 in units of (2 pi / edge)^2 / 2 = 1.30772.
test_twists_have_numbers_of_their_own()
{
    gas 'list = "0 0 0" "0.25 0.25 0.25" "0.5 0.5 0.5"' "fermi_energy = 1.84"
    expect_twists "0 0 0 7 7" "0.25 0.25 0.25 7 7" "0.5 0.5 0.5 8 8"
    must scan study.ini
    # 0 and 6 x 1; 3/16, 3 x 11/16, 3 x 19/16; 8 x 3/4
    awk -v mean="$(mean local_energy.kinetic)" -v n="$(mean particles)" 'BEGIN {
        unit = (8 * atan2(1, 1) / 3.8851299381) ^ 2 / 2
        exact = 2 * unit * (6 + 93 / 16 + 6) / 3
        exit !(n == (14 + 14 + 16) / 3 || (n - 44 / 3) ^ 2 < 1e-20) || (mean - exact) ^ 2 > 1e-18 }' ||
        fail "another mean of kinetic energies or of numbers"
}

# A seed is a whole number, however it is written: no two twists have the same random numbers.
test_twists_have_seeds_of_their_own()
{
    for seed in 5000 5e3; do
        gas "grid = 2 2 1"
        sed -i "s/^seed.*/seed = $seed/" study.ini
        must scan study.ini
        grep -h '^seed' study/*.ini | sed 's/^seed = 5e3 /seed = 5000 /; s/;.*//' >../seeds
        diff ../seeds <(printf 'seed = %s \n' 5000 4294972296) || fail "other seeds for seed = $seed"
        rm -r study
    done
}

# Electrons that repel each other, without a Jastrow factor: the mean of two determinants' energies is an exact sum.
test_twists_of_the_gas_have_the_energy_of_their_determinants()
{
    python
    gas 'list = "0 0 0" "0.25 0.25 0.25"' "weights = 1 3"
    sed -i 's/^sweeps.*/sweeps = 3000/; s/^walkers.*/walkers = 4/; s/^equilibrate.*/equilibrate = 100/
        s/^\[scan\]/[observable structure_factor]\nk_max = 2\nperiod = 10\nfinite_size = gas\n\n&/' study.ini
    must scan study.ini
    python3 "$here/twists.py" gas study/twists.csv 3.8851299381 14 1:0,0,0 3:0.25,0.25,0.25 || fail "another energy"
}

# ---- How they are joined ----

# The kinetic energy of free electrons has no variance; the mean of the grid 2^3 is that of (1/4)^3, 1.085884 an electron.
test_twists_of_free_electrons_are_exact()
{
    gas "grid = 2 2 2"
    must scan study.ini
    awk -v mean="$(mean local_energy.kinetic)" 'BEGIN { exit !((mean / 14 - 1.085884) ^ 2 < 2.5e-13) }' ||
        fail "the kinetic energy is $(mean local_energy.kinetic)"
    sed -i 's/^period = 2/&\nelectron_electron = no/' study.ini
    rm -r study
    must scan study.ini
    awk -v e="$(mean local_energy.energy)" -v v="$(mean local_energy.variance)" -v x="$(mean 'local_energy.energy error')" \
        'BEGIN { exit !((e / 14 - 1.085884) ^ 2 < 2.5e-13 && v * v < 1e-20 && x < 1e-10) }' || fail "an energy with variance"
}

# Whole turns are none, to the last digit.
test_whole_turns_are_no_twist()
{
    gas 'list = "0 0 0" "1 0 0" "-1 1 0"'
    must scan study.ini
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "local_energy.kinetic") c = i }
        NR > 1 { n++; d = $c - 15.692780114; if (d * d > 1e-14) exit 1 } END { exit n != 3 }' study/summary.csv ||
        fail "$(cat study/summary.csv)"
}

# The k points of a file are those of eight twists of the primitive cell, whose means are the energies in its header:
# those of separable pseudopotentials by projections of the orbitals. 4 + 4 electrons in the field of two ions; errors
# 0.013 and 0.02 Hartree, |z| <= 4 of 3: a right program fails once in 5,000 seeds.
test_twists_of_a_file_with_pseudopotentials()
{
    silicon
    must scan study.ini
    # the energies of the file are told where there is no Jastrow factor
    awk -F, -v expected="3.29885 -2.65147 1.72661" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR == 2 {
            split("kinetic local nonlocal", name, " ")
            split(expected, e, " ")
            for (k = 1; k <= 3; k++) {
                z = ($column["local_energy." name[k]] - e[k]) / $column["local_energy." name[k] " error"]
                printf "%s %.4f z %+.1f\n", name[k], $column["local_energy." name[k]], z
                if (!(z * z <= 16)) bad = 1
            }
            seen = 1
        }
        END { exit bad || !seen }' study/twists.csv || fail "not the energies of the file"
}

# Beside a Jastrow factor that is 1 the same is measured by quadrature, of the same configurations: twist by twist it is
# the same but for the nonlocal part, by 0.003. Without phases over the edges of the cell that was 0.56 below.
test_twists_by_quadrature_and_by_projections()
{
    local kind
    for kind in projections quadrature; do
        silicon
        sed -i 's/^sweeps.*/sweeps = 64/; s/^equilibrate.*/equilibrate = 20/' study.ini
        [ $kind = projections ] || printf '%s\n' "[potential jastrow]" "like = 0 0" "like_cusp = 0" "unlike = 0 0" \
            "unlike_cusp = 0" "u_cutoff = 3" >>study.ini
        must scan study.ini
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
            NR > 1 { for (name in column) if (name ~ /^local_energy.(kinetic|local|nonlocal)$/)
                print NR, name, $column[name] }' study/summary.csv | sort >$kind
        rm -r study
    done
    paste -d ' ' projections quadrature | awk '{ d = $6 - $3; far = $2 ~ /nonlocal/ ? 0.01 : 1e-6 }
        $1 != $4 || $2 != $5 || !(d < far && d > -far) { print; bad = 1 } END { exit bad || NR != 24 }' ||
        fail "quadrature and projections differ"
}

silicon()
{
    cp "$here/../data/qmc/si-2x2x2.bwfn.data.b1" "$here/../data/qmc/Si.pz-vbc.UPF" .
    cat >study.ini <<-END
	[run]
	sweeps = 2000
	equilibrate = 100
	seed = 64
	walkers = 16
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = oblique
	a = -5.1315 0 5.1315
	b = 0 5.1315 5.1315
	c = -5.1315 5.1315 0
	$(spins 4)
	[initial]
	state = random
	[potential bspline_orbitals]
	file = si-2x2x2.bwfn.data.b1
	tile = 1 1 1
	[mover quasi_simultaneous]
	step = 0.8
	[observable local_energy]
	period = 8
	pseudopotentials = Si.pz-vbc.UPF
	nonlocal = separable
	[scan]
	jobs = 2
	folder = study
	[twists]
	potential = bspline_orbitals
	grid = 2 2 2
	gamma = yes
	END
}

# E = sum w E, error = sqrt(sum w^2 error^2), for every number; chains of their own; and the same however it is cut.
test_twists_are_joined_with_their_weights()
{
    python
    gas 'list = "0 0 0" "0.25 0.25 0.25" "0.5 0.5 0.5"' "weights = 1 4 3"
    sed -i 's/^\[scan\]/&\nrun.seed = 5 6\njobs = 2/; s/^sweeps.*/sweeps = 80/' study.ini
    must scan study.ini
    grep -q "^means over 3 twists$" "$out" || fail "no table of means"
    python3 "$here/twists.py" join study/summary.csv study/twists.csv 1 4 3 || fail "other means"
    [ "$(cat study/*.ini | grep -c '^seed = ')" = 6 ] || fail "not a seed for each"
    [ "$(cat study/*.ini | grep '^seed = ' | sed 's/;.*//' | sort -u | wc -l)" = 6 ] || fail "two twists have one seed"
    grep -q '^seed = 5 ' "study/seed=5,twist=0_0_0.ini" || fail "the first twist has another seed"
    cp study/twists.csv before.csv
    rm "study/seed=6,twist=0.25_0.25_0.25.h5"
    must scan study.ini
    cmp study/twists.csv before.csv || fail "a twist that was made again differs"
    sed '/^\[scan\]/,$d' study.ini >run.ini
    must run run.ini --set potential.twist='0.5 0.5 0.5' --set run.seed=$((2 * 4294967296 + 6))
    same_chain run.h5 "study/seed=6,twist=0.5_0.5_0.5.h5"
}

# One that fails is named, and spoils the mean unless the study says that the others are enough.
test_twists_may_fail_alone()
{
    python
    gas 'list = "0 0 0" "0.25 0.25 0.25" "0.5 0.5 0.5"' "weights = 1 4 3"
    mkdir -p "study/twist=0.25_0.25_0.25.h5" # cannot be written
    plugmc scan study.ini
    [ "$status" != 0 ] || fail "a twist that is missing was not told"
    says "point 1 (twist=0.25_0.25_0.25) failed"
    grep -q "^no average: a twist is missing: point 1, twist=0.25_0.25_0.25, failed" "$out" || fail "it is not named"
    [ -z "$(mean local_energy.energy)" ] || fail "a mean without all twists"
    echo "missing = leave_out" >>study.ini
    must scan study.ini
    grep -q "^left out: point 1, twist=0.25_0.25_0.25, failed" "$out" || fail "it is not named"
    [ "$(mean joined)" = 2 ] || fail "joined: $(mean joined)"
    python3 "$here/twists.py" join study/summary.csv study/twists.csv 1 0 3 || fail "other means"
    must scan study.ini --table
    rmdir "study/twist=0.25_0.25_0.25.h5"
    must scan study.ini
    [ "$(mean joined)" = 3 ] || fail "joined: $(mean joined)"
}

test_twists_that_are_left_may_have_no_weight()
{
    gas 'list = "0 0 0" "0.25 0.25 0.25"' "weights = 0 1" "missing = leave_out"
    mkdir -p "study/twist=0.25_0.25_0.25.h5" # cannot be written
    plugmc scan study.ini
    [ "$status" != 0 ] || fail "expected that nothing is joined"
    grep -q "^no average: no twist with a weight is left: point 1, twist=0.25_0.25_0.25, failed" "$out" ||
        fail "another reason"
    [ -z "$(mean local_energy.energy)" ] || fail "a mean of nothing"
    ! grep -q nan study/twists.csv || fail "no number in the table"
}

# ---- What is refused ----

# no_study SENTENCE LINE...: refused with it, and nothing is run.
no_study()
{
    local sentence=$1
    shift
    gas "$@"
    plugmc scan study.ini
    expect_exit 3
    says "$sentence"
    [ ! -e study ] || fail "something was run"
}

test_twists_that_cannot_be()
{
    no_study "study.ini:25: [twists] has no twists: give grid or list"
    no_study "study.ini:27: [twists] has both grid and list: give one of them" "grid = 2 2 2" 'list = "0 0 0"'
    no_study "study.ini:27: [twists] grid has 2 numbers but needs 3" "grid = 2 2"
    no_study "study.ini:27: [twists] grid: 2.5 is not a whole number" "grid = 2 2 2.5"
    no_study "study.ini:27: [twists] list: twist 2 is '0.5 0' but must be 3 numbers in quotes, from -1 to 1" 'list = "0 0 0" "0.5 0"'
    no_study "study.ini:27: [twists] list: twist 1 is '0' but must be 3 numbers in quotes" "list = 0 0 0"
    no_study "study.ini:27: [twists] list: twist 1 is '0 0 1.5'" 'list = "0 0 1.5"'
    no_study "study.ini:28: [twists] weights: there are 1 for 2 twists" 'list = "0 0 0" "0.5 0 0"' "weights = 1"
    no_study "study.ini:28: [twists] weights: weight 2 is -1, but must not be negative" 'list = "0 0 0" "0.5 0 0"' "weights = 1 -1"
    no_study "study.ini:28: [twists] weights: all of them are 0" 'list = "0 0 0"' "weights = 0"
    no_study "study.ini:28: [twists] weights: they can only be given for list" "grid = 2 2 2" "weights = 1 1 1 1"
    no_study "study.ini:28: [twists] unknown key 'wights'; did you mean 'weights'?" "grid = 2 2 2" "wights = 1"
    no_study "study.ini:28: [twists] fermi_energy = 0.001: twist 0.25 0.25 0.25 has no waves up to it" 'list = "0.25 0.25 0.25"' "fermi_energy = 0.001"
    gas "grid = 2 2 2"
    sed -i 's/^potential = .*/potential = waves/' study.ini
    plugmc scan study.ini
    expect_exit 3
    says "study.ini:26: [twists] potential = waves: there is no [potential waves]"
    sed -i 's/^potential = .*/potential = plane_waves/; s/^\[scan\]/&\npotential plane_waves.twist = "0 0 0"/' study.ini
    plugmc scan study.ini
    expect_exit 3
    says "potential plane_waves.twist is scanned in [scan], too"
    gas "grid = 2 2 2" "fermi_energy = 1.84"
    sed -i 's/^lx = .*/density = 0.2387/' study.ini
    plugmc scan study.ini
    expect_exit 3
    says "study.ini:28: [twists] fermi_energy: give [box] by its lengths, since the density depends on the numbers of electrons"
}

# ---- Tables for qmca ----

test_scalar_dat_is_read_as_qmca_reads_it()
{
    python
    gas 'list = "0.25 0.25 0.25"'
    sed -i '/^\[scan\]/,$d; s/^sweeps.*/sweeps = 400/' study.ini
    must run study.ini --set potential.twist='0.25 0.25 0.25'
    must analyse study.h5
    grep -q '^local_energy: variance/|energy| 0.*, 1/(error^2 time) .*/(hartree^2 s) in ' "$out" || fail "no efficiency"
    must export study.h5 --to gas.s000.scalar.dat
    grep -qx "gas.s000.scalar.dat: 200 blocks" "$out" || fail "$(cat "$out")"
    must analyse study.h5 --csv
    cp "$out" numbers.csv
    python3 "$here/twists.py" qmca gas.s000.scalar.dat numbers.csv 200 2 || fail "not as qmca reads it"
    must export study.h5 --to gas.s001.scalar.dat --block 25
    python3 "$here/twists.py" qmca gas.s001.scalar.dat numbers.csv 8 50 || fail "not as qmca reads it"
    for unit in rydberg ev; do
        must run study.ini --set potential.twist='0.25 0.25 0.25' --set observable.units=$unit --set run.output=$unit.h5 \
            --set observable.per=electron
        must export $unit.h5 --to $unit.s000.scalar.dat
        python3 "$here/twists.py" qmca $unit.s000.scalar.dat numbers.csv 200 2 || fail "$unit: not in Hartree of the box"
    done
    must export study.h5 --to part.s000.scalar.dat --from 104 --until 204 --block 1
    [ "$(grep -vc '^#' part.s000.scalar.dat)" = 51 ] || fail "another part"
    plugmc export study.h5 --to part.s000.scalar.dat
    expect_exit 5
    plugmc export study.h5 --to more.s000.scalar.dat --block 300
    expect_exit 3
    says "there are 200 samples of local_energy.energy in this range, which make no block"
    plugmc export study.h5 --to more.s000.scalar.dat --walker 1
    expect_exit 2
    # walkers with weights: the energy of the table
    sed 's/^\[mover .*/[mover diffusion]/; s/^step = .*/tau = 0.01/; s/^walkers.*/walkers = 20/' study.ini >weights.ini
    must run weights.ini --set potential.twist='0.25 0.25 0.25' --set run.sweeps=60
    must analyse weights.h5 --csv
    cp "$out" numbers.csv
    must export weights.h5 --to weights.s000.scalar.dat --block 30
    awk -v e="$(awk -F, '$1 == "local_energy.energy" { print $2 }' numbers.csv)" 'NR == 2 {
        exit !(($2 - e) ^ 2 < 1e-18 * e * e && $(NF - 2) > 500 && $(NF - 2) < 700) }' weights.s000.scalar.dat ||
        fail "another energy of weighted walkers"
    disks
    rm sim.h5
    must run sim.ini
    plugmc export sim.h5 --to sim.s000.scalar.dat
    expect_exit 3
    says "no observable of this run has local energies"
    [ ! -e sim.s000.scalar.dat ] || fail "a file without anything in it"
}
