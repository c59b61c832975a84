#!/bin/bash
# bash widom.sh CASE: chemical potentials by test insertions against numbers that are known. CMake makes a
# test of every case_CASE and sets
#
#   PLUGMC       the program
#   PLUGINS      folder with its plugins
#   SOURCE, CC   the source tree, and a compiler for planted faults
#   SEED, DEVICE by hand: another seed; gpu
#
# A number passes within 4 of its standard errors, which some tens of blocks make: a right program fails
# once in 2,500 numbers. Seeds are fixed. A planted fault must be farther off than 6 in the same run.
set -u
umask 022
export LC_ALL=C
export OMP_WAIT_POLICY=passive # other tests run beside this one
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PLUGMC_PLUGIN_PATH=$PLUGINS
failed=0

fail()
{
    echo "FAILED: $*"
    exit 1
}

# box DIMENSION LENGTH SWEEPS [KEY...]: sim.ini of a box, with these keys of [run]; the rest from standard
# input. Both ways of drawing places are measured.
box()
{
    {
        printf '%s\n' '[run]' "sweeps = $3" "equilibrate = $(($3 / 10))" "seed = ${SEED:-17}" 'threads = 1' \
            "device = ${DEVICE:-cpu}" "${@:4}" '[box]' "dimension = $1" "lx = $2"
        cat
    } >sim.ini
}

# measure PERIOD INSERTIONS: both ways of drawing places
measure()
{
    for drawn in uniform cells; do
        printf '%s\n' "[observable $drawn]" 'plugin = widom' 'species = a' "placement = $drawn" "period = $1" \
            "insertions = $2" >>sim.ini
    done
}

run()
{
    "$PLUGMC" run sim.ini "$@" >table 2>messages </dev/null && return
    cat sim.ini messages
    fail "the run has failed"
}

# compare QUANTITY EXPECTED MOST: prints z; 1 beyond 4, 2 beyond 6. The error must be below MOST.
compare()
{
    awk -v name="$1" -v expected="$2" -v most="$3" '
    # -2.034(12) is -2.034 +- 0.012
    function error(text,    parts, digits) {
        split(text, parts, /[()]/)
        digits = index(parts[1], ".") ? length(parts[1]) - index(parts[1], ".") : 0
        return parts[2] / 10 ^ digits
    }
    $1 == name {
        found = 1
        e = error($2)
        if ($2 ~ /\*$/) { print "the run is too short for the error bar of " name; exit 3 }
        if (!(e > 0 && e < most)) { print name " = " $2 ": the error is not below " most; exit 3 }
        z = ($2 - expected) / e
        printf "z = %+.2f  %s = %s, expected %.6f\n", z, name, $2, expected
        exit z * z < 16 ? 0 : z * z < 36 ? 1 : 2
    }
    END { if (!found) { print "no " name " in the results"; exit 3 } }' table
}

# agrees QUANTITY EXPECTED MOST: of both ways
agrees()
{
    for drawn in uniform cells; do
        compare "$drawn.$1" "$2" "$3" || failed=1
    done
}

# caught QUANTITY EXPECTED MOST: with a planted fault
caught()
{
    compare "uniform.${1#uniform.}" "$2" "$3"
    [ $? = 2 ] || fail "the fault was not seen"
}

# exactly QUANTITY VALUE: without an error
exactly()
{
    for drawn in uniform cells; do
        grep -Eq "^$drawn\.$1 +$2(\(0\))? " table || { grep "$1" table; fail "$drawn.$1 is not $2"; }
    done
}

# plant FILE SCRIPT: from now on widom is as sed changes it
plant()
{
    local folder=$SOURCE/plugins/observables/widom
    rm -rf plugins
    mkdir -p plugins/observables planted
    cp -r "$folder" plugins/observables
    cp "$SOURCE/plugins/"*.h plugins
    cp "$SOURCE/plugins/observables/"*.h plugins/observables
    sed -i "$2" "plugins/observables/widom/$1"
    cmp -s "plugins/observables/widom/$1" "$folder/$1" && fail "the fault '$2' is not planted in $1"
    "$CC" -std=gnu17 -O2 -shared -fPIC -fopenmp -I "$SOURCE/core/include" -o planted/widom.so \
        -DSUM_OF_BLOCK_FILE="\"$SOURCE/plugins/sum_of_block.cu\"" -DWIDOM_PLACES_FILE="\"$folder/places.h\"" \
        -DPLUGMC_KERNEL_FILE="\"$folder/widom.cu\"" plugins/observables/widom/*.c -lm ||
        fail "$1 with '$2' does not compile"
    export PLUGMC_PLUGIN_PATH=$work/planted:$PLUGINS
    "$PLUGMC" info widom | grep -q "^file: $work/planted/widom.so, " || fail "widom is not the one planted"
    echo "planted: $2"
}

# plant_group SCRIPT: the same for widom_group, from the source as it is
plant_group()
{
    mkdir -p planted
    sed "$1" "$SOURCE/plugins/movers/widom_group.c" >planted/widom_group.c
    cmp -s planted/widom_group.c "$SOURCE/plugins/movers/widom_group.c" && fail "the fault '$1' is not planted"
    "$CC" -std=gnu17 -O2 -shared -fPIC -I "$SOURCE/core/include" -I "$SOURCE/plugins/movers" -o planted/widom_group.so \
        planted/widom_group.c -lm || fail "widom_group with '$1' does not compile"
    export PLUGMC_PLUGIN_PATH=$work/planted:$PLUGINS
    echo "planted: $1"
}

ln() { awk "BEGIN { printf \"%.9f\", log($1) }"; }

# factor FORMULA FROM END: the mean of exp(-u) for a second particle in a cube of edge 7, where u(r) is a formula of Python
# from a distance to another, infinite before and 0 behind: 1 - 2 B / V with the second virial coefficient B.
factor()
{
    python3 -c "
from math import exp, pi
def u(r): return $1
n, low, high = 20000, $2, $3
h = (high - low) / n
sum = 0
for i in range(n + 1):
    r = low + h * i
    if i == n: r *= 1 - 1e-12
    sum += (1 if i in (0, n) else 4 if i % 2 else 2) * h / 3 * r * r * (exp(-u(r)) - 1)
print('%.9f' % (1 + 4 * pi * (sum - low ** 3 / 3) / 343))"
}

# second NAME KEYS FORMULA FROM END
second()
{
    box 3 7 100 <<<$'[species a]\ncount = 1\n'"[potential $1]"$'\n'"$2"$'\n[mover serial]'
    measure 1 20000
    run
    agrees boltzmann_factor "$(factor "$3" "$4" "$5")" 1e-3
}

# Mie, WCA, Buckingham and square wells: second virial coefficients by insertion and by quadrature.
case_second_virial_coefficients()
{
    second mie $'epsilon = 1.2\nn = 14\nm = 6.5\ncutoff = 3.2' \
        '1.2 * 14 / 7.5 * (14 / 6.5) ** (6.5 / 7.5) * (r ** -14 - r ** -6.5)' 0.3 3.2
    second wca $'epsilon = 2\nsigma = 1.1' '8 * ((1.1 / r) ** 12 - (1.1 / r) ** 6) + 2' 0.3 '1.1 * 2 ** (1 / 6)'
    # the guard is at 0.238297, behind a maximum of 30,000 kT
    second buckingham $'a = 1e6\nb = 12\nc = 5\ncutoff = 3\ntruncation = shift' \
        '1e6 * (exp(-12 * r) - exp(-36)) - 5 * r ** -6 + 5 * 3 ** -6' 0.238297 3
    second square_well $'epsilon = 0.8\nlambda = 1.7' '-0.8' 1 1.7
    second square_well $'epsilon = -0.8\nsigma = 1.2' '0.8' 1.2 1.8
}

# One particle excludes a ball or a disk of radius 1 for the next, wherever it is.
case_one_particle()
{
    box 3 3 100 <<<$'[species a]\ncount = 1\n[potential hard_sphere]\n[mover serial]'
    measure 1 20000
    run
    agrees boltzmann_factor 0.844860 4e-4 # 1 - 4 pi / (3 27)
    agrees ln_activity "$(ln 2/27/0.844860)" 4e-4
    box 2 3 100 <<<$'[species a]\ncount = 1\n[potential hard_disk]\n[mover serial]'
    measure 1 20000
    run
    agrees boltzmann_factor 0.650934 6e-4 # 1 - pi / 9
}

# Nothing is felt; and a wall that keeps centres within 0.75 of the radius.
case_nothing_and_a_wall()
{
    box 3 4 50 <<<$'[species a]\ncount = 20\ndiameter = 0\n[potential hard_sphere]\n[mover serial]'
    measure 1 500
    run
    exactly mu_excess 0
    box 3 4 100 <<<$'[species a]\ncount = 2\ndiameter = 0\n[potential hard_sphere]\n[potential spherical_wall]\nradius = 3\n[mover serial]'
    sed -i 's/^lx.*/shape = sphere\nradius = 4/; s/^.potential hard_sphere.$/[initial]\nstate = random\n&/' sim.ini
    printf '%s\n' '[observable uniform]' 'plugin = widom' 'species = a' 'period = 1' 'insertions = 5000' >>sim.ini
    run
    compare uniform.boltzmann_factor 0.421875 1e-3 || failed=1
}

# Three disks do not fit into the square: w_N = z^N A^N F_N / N! with F_2 the share in which two do not overlap.
case_reservoir()
{
    box 2 1.5 4000 'walkers = 16' <<<$'[species a]\ncount = 0\nmax_count = 6\nactivity = 1\n[potential hard_disk]\n[mover serial]\n[mover insert]\nspecies = a\ntrials = 40'
    measure 4 100
    run
    agrees ln_activity 0 0.03
    # a reservoir of an ideal gas that has room for five
    box 2 2 4000 'walkers = 4' <<<$'[species a]\ncount = 0\nmax_count = 5\ndiameter = 0\nactivity = 1\n[potential hard_disk]\n[mover serial]\n[mover insert]\nspecies = a\ntrials = 40'
    measure 4 10
    run
    exactly mu_excess 0
    agrees ln_activity 0 0.02
    plant widom.c 's/count >= most ? 0 : 1/count > most ? 0 : 1/'
    run
    caught ln_activity 0 0.02
    plant widom.c 's/(double)(count + 1)/((double)count + 2)/'
    run
    caught ln_activity 0 0.02
    plant widom.c 's/log(occupied \/ weighted)/log(1 \/ weighted)/'
    run --set "species a.activity=0.2"
    caught ln_activity "$(ln 0.2)" 0.03
}

# One disk in a square of area A at constant pressure: p(A) = A exp(-P A), and a test particle finds room in
# A - S(A), where S is the disk of radius 1, as far as it lies in the square.
case_constant_pressure()
{
    local ratio
    box 2 3 40000 'pressure = 0.2' 'walkers = 4' <<<$'[species a]\ncount = 1\n[potential hard_disk]\n[mover serial]\n[mover volume]\nevery = 2\nstep = 1\ntarget_acceptance = 0'
    measure 20 100
    run
    ratio=$(awk 'BEGIN {
        pi = atan2(0, -1); step = 1e-3
        for (a = step / 2; a < 200; a += step) {
            l = sqrt(a); h = l / 2
            s = h >= 1 ? pi : h >= sqrt(0.5) ? pi - 4 * (atan2(sqrt(1 - h * h), h) - h * sqrt(1 - h * h)) : a
            weight = a * exp(-0.2 * a); above += weight * (a - s); below += weight * a
        }
        printf "%.8f", above / below }')
    echo "<V exp(-dU/kT)>/<V> = $ratio"
    agrees mu_excess "$(ln 1/"$ratio")" 0.01
    plant widom.c 's/view->box\[k\].volume/system->box.volume/'
    run
    caught mu_excess "$(ln 1/"$ratio")" 0.01
}

# Hard spheres, by the virial series. The half particle between N and N + 1 is below a third of an error.
case_hard_spheres()
{
    box 3 1 1500 <<<$'[species a]\ncount = 500\n[potential hard_sphere]\n[mover serial]\nstep = 0.5'
    sed -i 's/^lx.*/packing_fraction = 0.1/' sim.ini
    measure 15 8000
    run
    agrees mu_excess 0.978563 0.006
    run --set box.packing_fraction=0.2 --set "mover serial.step=0.3"
    agrees mu_excess 2.472936 0.02
    plant places.h 's/ceil(p->reach/floor(p->reach/'
    run
    caught mu_excess 0.978563 0.006
}

# Hard disks, by ten virial coefficients: mu_excess is the sum of n/(n-1) B_n rho^(n-1).
case_hard_disks()
{
    box 2 1 3000 <<<$'[species a]\ncount = 1024\n[potential hard_disk]\n[mover checkerboard]\nstep = 0.4\ntrials = 4'
    sed -i 's/^lx.*/packing_fraction = 0.2/' sim.ini
    measure 10 12000
    run
    agrees mu_excess 1.046920 0.006
    run --set box.packing_fraction=0.3
    agrees mu_excess 1.857504 0.012
}

# T = 1.5, V = 512, cut at 3 with the tail. At the density 0.5 by NIST's transition matrices; of one particle
# by quadrature: P0 P2 / P1^2 = exp(-0.68336) and P1 / P0 = z V exp(0.000404), the tail of one particle.
case_lennard_jones()
{
    local exact
    box 3 8 1500 'temperature = 1.5' <<<$'[species a]\ncount = 256\n[potential lennard_jones]\nepsilon = 1\ncutoff = 3\n[potential lennard_jones_tail]\n[mover serial]\nstep = 0.3'
    measure 10 1500
    run
    agrees ln_activity -2.0287 0.03
    one=(--set "mover serial.step=3" --set run.sweeps=20000 --set "species a.count=1")
    exact=$(awk 'BEGIN { printf "%.6f", -log(512) - 0.000404 + 0.68336 }')
    run "${one[@]}"
    agrees ln_activity "$exact" 1e-4
    plant cpu.c 's/factor \* energy; \/\*/energy; \/*/'
    run "${one[@]}"
    caught ln_activity "$exact" 2e-4
}

# A reservoir of CaCl2 beside an Ewald sum, by [mover widom_group]: ln_activity of a group is the given one, ln(0.02) + 2 ln(0.1).
# Faults: two ions of a species that come as if they were of two; a group that is counted where a part of it is missing.
case_salt()
{
    local exact
    exact=$(awk 'BEGIN { printf "%.9f", log(0.02) + 2 * log(0.1) }')
    box 3 5 8000 'temperature = 3' 'walkers = 4' <<-END
	[species Ca]
	charge = 2
	count = 4
	max_count = 30
	activity = 0.02
	[species Cl]
	charge = -1
	count = 8
	max_count = 60
	activity = 0.1
	[initial]
	state = random
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2.2
	[potential tail_correction]
	[potential coulomb_ewald]
	bjerrum_length = 1.2
	cutoff = 2.4
	alpha = 1.1
	k_max = 4
	[mover serial]
	step = 0.3
	[mover insert_group]
	group = Ca Cl Cl
	trials = 20
	[mover uniform]
	plugin = widom_group
	group = Cl Ca Cl
	insertions = 10
	period = 5
	END
    run
    compare uniform.ln_activity "$exact" 0.03 || failed=1
    run --set "species Ca.activity=0.002" --set "species Cl.activity=0.02"
    exact=$(awk 'BEGIN { printf "%.9f", log(0.002) + 2 * log(0.02) }')
    compare uniform.ln_activity "$exact" 0.03 || failed=1
    plant_group 's/if (count\[s\] <= like) \*occupied = 0;//'
    run --set "species Ca.activity=0.002" --set "species Cl.activity=0.02"
    caught uniform.ln_activity "$exact" 0.03
    plant_group 's/(double)(count\[s\] + like + 1)/(double)(count[s] + 1)/'
    run --set "species Ca.activity=0.002" --set "species Cl.activity=0.02"
    caught uniform.ln_activity "$exact" 0.03
}

"case_$1"
exit $failed
