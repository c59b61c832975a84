# plugmc reweight: averages and free energies between rungs, against what is known exactly. Fixed seeds; a
# right program is beyond 4 of its standard errors once in 16,000 numbers.

export OPENBLAS_NUM_THREADS=1

# sampled DIMENSION LENGTH [KEY...]: sim.ini with these keys of [run]; the rest from standard input
sampled()
{
    {
        printf '%s\n' '[run]' 'sweeps = 20000' 'equilibrate = 400' 'seed = 7' 'threads = 1' 'device = cpu' "${@:3}" \
            '[box]' "dimension = $1" "lx = $2"
        cat
    } >sim.ini
}

# is AT QUANTITY EXACT LEAST: in the CSV table EXACT within 4 errors, which are below LEAST
is()
{
    awk -v start="\"$1\",$2," -v exact="$3" -v least="$4" 'index($0, start) == 1 {
        split(substr($0, length(start) + 1), part, ","); z = (part[1] - exact) / part[2]; found = 1
        printf "%s %.6g +- %.2g, exact %.6g, z = %.2f\n", start, part[1], part[2], exact, z
        if (!(z < 4 && z > -4 && part[2] < least)) bad = 1 }
        END { exit bad || !found }' "$out" || fail "$2 at $1 is not $3"
}

# points LENGTH COUNT MOST MU TRIALS [KEY...]: sim.ini of points that come and go in a square; the rest from standard input
points()
{
    {
        printf '%s\n' '[species point]' "count = $2" "max_count = $3" "mu = $4" 'diameter = 0' '[initial]' 'state = random' \
            '[mover insert]' 'species = point' "trials = $5"
        cat
    } | sampled 2 "$1" "${@:6}"
}

# gas PRESSURE...: an ideal gas of ten on a ladder of pressures
gas()
{
    sampled 2 4 "walkers = $#" 'pressure = 1' <<-END
	[species point]
	count = 10
	diameter = 0
	[ladder]
	vary = run.pressure
	values = $*
	[potential hard_disk]
	[mover volume]
	step = 1
	target_acceptance = 0
	trials = 4
	[mover exchange]
	every = 4
	[observable box_size]
	period = 4
	END
}

# V has the mean (N + 1) kT / P, and Z goes as (kT / P)^(N + 1).
test_pressures_between_rungs()
{
    gas 0.5 0.8 1.25 2
    must run sim.ini
    must reweight sim.h5 --csv --at run.pressure=1 --at run.pressure=1.6 --at run.pressure=0.5
    is run.pressure=1 box_size.volume 11 0.15
    is run.pressure=1.6 box_size.volume 6.875 0.1
    is run.pressure=1 free_energy "$(arithmetic '11 * log(2)')" 0.1
    is run.pressure=1.6 free_energy "$(arithmetic '11 * log(3.2)')" 0.1
    must reweight sim.h5 --csv --at run.pressure=1,run.temperature=1.2
    is run.pressure=1,run.temperature=1.2 box_size.volume 13.2 0.2
    is run.pressure=1,run.temperature=1.2 free_energy "$(arithmetic '11 * log(2 / 1.2)')" 0.1
}

# Two runs and no ladder, one of them longer; the second alone does not reach as far.
test_files_of_one_pressure_each()
{
    gas 1 1
    change '/^\[ladder\]/,/^values/d; /^\[mover exchange\]/,/^every/d'
    must run sim.ini --set run.output=one.h5
    must run sim.ini --set run.output=two.h5 --set run.pressure=1.5 --set run.seed=8 --set run.sweeps=10000
    must reweight one.h5 two.h5 --csv --at run.pressure=1.2
    is run.pressure=1.2 box_size.volume "$(arithmetic 11 / 1.2)" 0.1
    is run.pressure=1.2 free_energy "$(arithmetic '11 * log(1.2)')" 0.05
    must reweight one.h5 two.h5 --csv
    is two.h5 free_energy "$(arithmetic '11 * log(1.5)')" 0.05
    refused 3 "one.h5: is the same chain as one.h5: the same seed at the same values" reweight one.h5 one.h5
    must run sim.ini --set run.output=far.h5 --set run.pressure=400 --set run.seed=9 --set run.sweeps=400
    refused 3 "one.h5 and far.h5 have almost no overlap, not even through states between them: use rungs or windows that are closer together, or longer runs" reweight one.h5 far.h5
    must run sim.ini --set run.output=other.h5 --set species.count=9 --set run.seed=9
    refused 3 "other.h5: belongs to another system than one.h5: [species point] count is 10 there but 9 here" \
        reweight one.h5 other.h5
}

# Two hard disks that see each other's nearest image: <V> by quadrature.
test_two_hard_disks()
{
    gas 0.2 0.4 0.8 1.4
    change 's/^count = .*/count = 2/; s/^diameter = .*/diameter = 1/; s/^lx = .*/lx = 3/'
    printf '[mover serial]\nstep = 0.8\n' >>sim.ini
    must run sim.ini
    must reweight sim.h5 --csv --at run.pressure=1 --at run.pressure=0.2
    is run.pressure=1 box_size.volume 5.23656 0.06
    is run.pressure=0.2 box_size.volume 16.91929 0.25
}

# <N> = z V, and ln Z = z V.
test_activities_between_rungs()
{
    points 2 4 60 1 10 'walkers = 3' <<-END
	[ladder]
	vary = point.mu
	values = 0 0.7 1.4
	[potential hard_disk]
	[mover exchange]
	[observable numbers]
	period = 2
	END
    must run sim.ini
    must reweight sim.h5 --csv --at point.mu=0.4 --at point.mu=1.1
    is point.mu=0.4 numbers.N_point "$(arithmetic '4 * exp(0.4)')" 0.1
    is point.mu=1.1 numbers.N_point "$(arithmetic '4 * exp(1.1)')" 0.1
    is point.mu=1.1 free_energy "$(arithmetic '4 * (1 - exp(1.1))')" 0.1
    must reweight sim.h5 --at point.mu=1 --histogram numbers.N_point
    awk '!/^#/ { z = exp(1) * 4; p = exp(-z); for (k = 1; k <= $1; k++) p *= z / k
        if (p < 1e-3) next
        score = ($2 - p) / $3; n++; if (score > 4 || score < -4) { print; bad = 1 } }
        END { print n " bins"; exit bad || n < 15 }' "$out" || fail "p(N) is not that of Poisson"
}

# The energy (N - n)^2 / 2 of N points: an empty box counts like any other.
test_temperatures_of_boxes_that_may_be_empty()
{
    points 1 1 12 0 4 'walkers = 3' <<-END
	[ladder]
	vary = run.temperature
	values = 0.6 1 1.8
	[potential crowd]
	plugin = $TEST_PLUGINS/crowd.so
	[mover exchange]
	[observable numbers]
	period = 2
	[observable energy]
	period = 2
	END
    local n
    for n in 0 2; do # with 2 an empty box has an energy, with 0 none and is there as often as not
        must run sim.ini --set "potential crowd.n=$n"
        must reweight sim.h5 --csv --at run.temperature=0.8 --at run.temperature=1.4 --at run.temperature=0.6
        for t in 0.8 1.4; do
            is run.temperature=$t numbers.N_point "$(sum_over_n $n $t 1)" 0.02
            is run.temperature=$t energy.energy_crowd "$(sum_over_n $n $t 2)" 0.02
            is run.temperature=$t free_energy "$(arithmetic "log($(sum_over_n $n 0.6 0) / $(sum_over_n $n $t 0))")" 0.02
        done
    done
}

# sum_over_n LIKED T WHAT: of exp(-(N - LIKED)^2 / 2 T) / N!, or by these weights the mean of N (WHAT = 1), or of U / N (2)
sum_over_n()
{
    awk -v liked="$1" -v t="$2" -v what="$3" 'BEGIN { w = 1
        for (n = 0; n <= 12; n++) {
            if (n) w /= n
            u = (n - liked) ^ 2 / 2; p = w * exp(-u / t); z += p
            m += p * (what == 1 ? n : n ? u / n : u) }
        printf "%.12g", what ? m / z : z }'
}

# Energies of particles in a bowl: U / N = kT, two dimensions; Z goes as (kT)^N.
test_temperatures_of_springs()
{
    sampled 2 40 'walkers = 3' <<-END
	[species point]
	count = 6
	[initial]
	state = lattice
	[ladder]
	vary = run.temperature
	values = 1 1.5 2.2
	[potential bowl]
	plugin = $TEST_PLUGINS/bowl.so
	centre = 20
	[mover serial]
	step = 2.5
	[mover exchange]
	every = 4
	[observable energy]
	period = 4
	END
    change 's/^equilibrate = .*/equilibrate = 2000/'
    must run sim.ini
    must reweight sim.h5 --csv --at run.temperature=1.2 --at run.temperature=2
    is run.temperature=1.2 energy.energy 1.2 0.02
    is run.temperature=2 energy.energy 2 0.03
    is run.temperature=2 free_energy "$(arithmetic '-6 * log(2)')" 0.1
    must reweight sim.h5 --csv --scan run.temperature=1:2:6
    is run.temperature=1.4 energy.energy 1.4 0.02
    # in units of the run: kelvin, and kJ/mol
    change 's/^\[box\]/[units]\nlength = angstrom\nenergy = kJ\/mol\n&/; s/^values = .*/values = 300 400 500/'
    change 's/^centre = 20/&\nstiffness = 2/'
    must run sim.ini --set run.output=units.h5
    must reweight units.h5 --csv --at run.temperature=350
    is run.temperature=350 energy.energy "$(arithmetic '8.314462618e-3 * 350')" 0.05
    is run.temperature=350 free_energy "$(arithmetic '6 * log(300 / 350)')" 0.02
    sed -i 's/^\[observable energy\]/[observable trajectory]/' sim.ini
    must run sim.ini --set run.output=without.h5
    refused 3 "without.h5: does not contain the energy of potential 'bowl' of each configuration, which is needed: [observable energy] with source = fresh records it" reweight without.h5
}

# Temperature and coupling: all that counts is one over the other, so every average is known twice.
test_two_variables_of_a_ladder()
{
    sampled 2 8 'walkers = 6' <<-END
	[species point]
	count = 1
	[initial]
	state = lattice
	[ladder]
	vary = run.temperature
	values = 0.1 0.25 0.5
	vary_2 = double_well.coupling
	values_2 = 1 2
	[potential double_well]
	plugin = $TEST_PLUGINS/double_well.so
	centre = 4
	[mover serial]
	step = 1.5
	[mover exchange]
	every = 5
	[observable energy]
	period = 5
	END
    must run sim.ini
    grep -q '^energy.energy@0.25@2 ' "$out" || fail "no rung 0.25, 2"
    must reweight sim.h5 --csv
    is run.temperature,\ double_well.coupling@0.1@1 energy.energy 0.052477 0.001
    is run.temperature,\ double_well.coupling@0.5@1 energy.energy 0.272864 0.005
    must reweight sim.h5 --csv --at run.temperature=0.2,double_well.coupling=2 \
        --at run.temperature=0.4,double_well.coupling=0.8
    is run.temperature=0.2,double_well.coupling=2 energy.energy 0.052477 0.001
    is run.temperature=0.4,double_well.coupling=0.8 energy.energy 0.272864 0.005
    # the first half of a run and the rest are the whole
    must run sim.ini --set run.sweeps=3000 --set run.output=whole.h5
    must run sim.ini --set run.sweeps=1003 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=3000
    same_chain whole.h5 parts.h5
}

# A ladder in two variables whose next row begins where the one before did: from the last rung of a row to the first
# of the next one f goes by 230 kT, and no samples are in common. V of a hundred points has the mean 101 kT / P.
test_rows_of_a_ladder_far_apart()
{
    gas 1 1.2 1.45 1.7 2.05 2.5 3 3.5 4.2 5 6 7 8.4 10
    change 's/^count = .*/count = 100/; s/^walkers = .*/walkers = 28/; s/^sweeps = .*/sweeps = 8000/'
    change 's/^step = 1$/step = 0.3/; s/^values = \(.*\)/values = 1 1.1\nvary_2 = run.pressure\nvalues_2 = \1/'
    change 's/^vary = .*/vary = run.temperature/'
    must run sim.ini
    must reweight sim.h5 --csv --at run.temperature=1,run.pressure=9 --at run.temperature=1.1,run.pressure=1.1 \
        --at run.temperature=1.1,run.pressure=10
    is run.temperature=1,run.pressure=9 box_size.volume "$(arithmetic 101 / 9)" 0.05
    is run.temperature=1.1,run.pressure=1.1 box_size.volume 101 0.5
    is run.temperature=1.1,run.pressure=10 free_energy "$(arithmetic '101 * log(10 / 1.1)')" 0.5
    change 's/^values_2 = .*/values_2 = 1 100/; s/^walkers = .*/walkers = 4/; s/^sweeps = .*/sweeps = 400/'
    must run sim.ini
    plugmc reweight sim.h5
    expect_exit 3
    grep -q 'run.pressure@1[.0-9]*@1 and .*run.pressure@1[.0-9]*@100 have almost no overlap' "$err" ||
        fail "not said which rungs are apart"
}

# Exchanges along one variable alone, between 0.1 and 0.5 at both couplings: their acceptance is known.
test_exchanges_along_one_variable()
{
    sampled 2 8 'walkers = 4' <<-END
	[species point]
	count = 1
	[initial]
	state = lattice
	[ladder]
	vary = double_well.coupling
	values = 1 5
	vary_2 = run.temperature
	values_2 = 0.1 0.5
	[potential double_well]
	plugin = $TEST_PLUGINS/double_well.so
	centre = 4
	[mover serial]
	step = 1.5
	[mover exchange]
	every = 10
	along = 2
	END
    change 's/^sweeps = .*/sweeps = 100000/'
    must run sim.ini
    accepted sim.h5 0 0.4912 5000
    accepted sim.h5 1 none 0
    accepted sim.h5 3 none 0
    must run sim.ini --set "mover exchange.along=1" --set "ladder.vary=run.temperature" --set "ladder.values=0.1 0.5" \
        --set "ladder.vary_2=double_well.coupling" --set "ladder.values_2=1 5"
    accepted sim.h5 0 0.4912 5000
    accepted sim.h5 2 none 0
}

# accepted FILE RUNG PROBABILITY TRIALS: exchanges of a rung, by the binomial law
accepted()
{
    local trials accepted
    trials=$(numbers "$1" trials "$2")
    accepted=$(numbers "$1" accepted "$2")
    awk -v n="$trials" -v k="$accepted" -v p="$3" -v least="$4" 'BEGIN {
        if (p == "none") exit n != 0
        z = (k / n - p) / sqrt(p * (1 - p) / n)
        printf "%d of %d exchanges, z = %.2f\n", k, n, z
        exit !(n == least && z < 4 && z > -4) }' || fail "rung $2: $accepted of $trials, not $3"
}

# numbers FILE WHAT K: number K of an array of the exchanges
numbers()
{
    h5dump -d "/plugmc/movers/exchange/exchange/$2" "$1" | sed -n 's/^ *(0): //p' | tr -d , | cut -d ' ' -f $(($3 + 1))
}

# coexists HEIGHT LEAST: in the CSV table is the coexistence of points with a herd of this height, errors below LEAST
coexists()
{
    awk -F, -v height="$1" -v least="$2" 'function weigh(mu, N, u, t) {
            all = above = first[0] = first[1] = 0
            for (N = 0; N <= 30; N++) {
                t = ((N - 10) / 7) ^ 2 - 1; u = N * (mu + log(4)) - fact[N] - height * t * t
                p[N] = exp(u); all += p[N]; if (N >= cut) above += p[N]
                first[N >= cut] += N * p[N] }
            return above / all }
        BEGIN { for (N = 1; N <= 30; N++) fact[N] = fact[N - 1] + log(N) }
        FNR > 1 { value[NR] = $2; error[NR] = $3 }
        END {
            cut = value[2]
            low = 0; high = 2
            while (high - low > 1e-12) { mu = (low + high) / 2; if (weigh(mu) > 0.5) high = mu; else low = mu }
            exact[3] = mu; exact[4] = first[0] / (all - above); exact[5] = first[1] / above
            bad = cut < 8 || cut > 12
            for (k = 3; k <= 5; k++) {
                z = (value[k] - exact[k]) / error[k]
                printf "%.6f +- %.6f, exact %.6f, z = %.2f\n", value[k], error[k], exact[k], z
                if (!(z < 4 && z > -4) || error[k] > least) bad = 1 }
            exit bad }' "$out" || fail "coexistence is elsewhere"
}

# An ideal gas that likes two numbers: where both have the same weight is a sum over N.
test_coexistence_of_two_numbers()
{
    points 2 4 30 1 20 'walkers = 4' <<-END
	[ladder]
	vary = point.mu
	values = 0.6 0.8 1 1.2
	[potential hard_disk]
	[potential herd]
	plugin = $TEST_PLUGINS/herd.so
	height = 2.5
	middle = 10
	half = 7
	[mover exchange]
	[observable numbers]
	period = 2
	END
    must run sim.ini
    must reweight sim.h5 --csv --coexistence numbers.N_point
    coexists 2.5 0.2
    must run sim.ini --set "ladder.values=1 1.2" --set run.output=outside.h5
    refused 3 "between point.mu = 1 and 1.2, the sampled values, two phases never have the same weight" \
        reweight outside.h5 --coexistence numbers.N_point
}

# What is between both numbers is visited e^-12 as often, so no run crosses it. On the rungs a term quadratic in N, with a
# negative coupling, makes one peak of two; from them follows what there is without it.
test_coexistence_by_a_brake()
{
    points 2 4 30 1 20 'walkers = 14' <<-END
	[potential lennard_jones]
	epsilon = 1
	sigma = 0.5
	cutoff = 1
	truncation = cut
	coupling = 0
	[potential brake]
	plugin = lennard_jones_tail
	coupling = -45
	[potential herd]
	plugin = $TEST_PLUGINS/herd.so
	height = 12
	middle = 10
	half = 7
	[ladder]
	vary = point.mu
	values = -2 0 2 4 6 8 10 12 14 16 18 20 22 24
	[mover exchange]
	[observable numbers]
	period = 2
	[observable energy]
	period = 2
	END
    must run sim.ini --set run.sweeps=6000
    must reweight sim.h5 --csv --at brake.coupling=0 --coexistence numbers.N_point --along point.mu
    coexists 12 0.2
}

# springs MOVER [KEY...]: four particles in a bowl, whose energies have the density of states U^3, weighed up to 20
springs()
{
    sampled 2 14 'walkers = 8' 'temperature = 1' <<-END
	[species point]
	count = 4
	[initial]
	state = lattice
	[potential bowl]
	plugin = $TEST_PLUGINS/bowl.so
	centre = 7
	[mover serial]
	step = 1.5
	[mover $1]
	variable = energy
	max = 20
	bins = 40
	period = 10
	END
    printf '%s\n' "${@:2}" >>sim.ini
}

# mean and free energy at a temperature T of what has the density of states U^3 up to 20, in bins
bowl_at()
{
    awk -v T="$1" -v what="$2" 'function sum(T, first, b, k, U, p, all) {
            mean = all = 0
            for (b = 0; b < 40; b++) {
                part = 0
                for (k = 0; k < 100; k++) { U = (b + (k + 0.5) / 100) / 2; part += U ^ 3 * exp(-U) / 200 }
                p = part * exp((1 - 1 / T) * (b + 0.5) / 2); all += p; mean += p * (b + 0.5) / 2 }
            mean /= all; return log(all) }
        BEGIN { z = sum(1); z = sum(T) - z; print what == "mean" ? mean : -z }'
}

# From one histogram averages at other temperatures.
test_histograms_at_other_temperatures()
{
    local T
    springs transition_matrix
    must run sim.ini
    must reweight sim.h5 --csv --at run.temperature=0.6 --at run.temperature=1.4
    for T in 0.6 1.4; do
        is run.temperature=$T transition_matrix.mean "$(bowl_at $T mean)" 0.2
        is run.temperature=$T transition_matrix.free_energy "$(bowl_at $T free)" 0.2
    done
    springs umbrella 'strength = 0.1' 'center = 9'
    must run sim.ini
    must reweight sim.h5 --csv --at run.temperature=0.6
    is run.temperature=0.6 umbrella.mean "$(bowl_at 0.6 mean)" 0.2
    must reweight sim.h5 --at run.temperature=0.6 --histogram U
    awk '!/^#/ { sum += $2; n++ } END { exit !(n == 40 && sum > 0.999 && sum < 1.001) }' "$out" || fail "no distribution"
    cp sim.h5 other.h5
    refused 3 "sim.h5: has weights of macrostates (umbrella): reweight such a file alone" reweight \
        sim.h5 other.h5
}

# N of an ideal gas from one run with transition_matrix: z V at any activity.
test_histograms_at_other_activities()
{
    points 2 4 60 1 10 'walkers = 2' <<-END
	[potential hard_disk]
	[mover transition_matrix]
	variable = point
	period = 10
	END
    must run sim.ini
    must reweight sim.h5 --csv --at point.mu=0.2 --at point.mu=1.6
    awk -F, '/mean/ { mu = $1; gsub(/[^0-9.]/, "", mu); sub(/^\./, "", mu); d = $3 - 4 * exp(mu); print mu, $3, d
        n++; if (d > 1e-6 || d < -1e-6) bad = 1 } END { exit bad || n != 2 }' "$out" || fail "not z V"
    refused 3 "sim.h5: has weights of one variable, but the point differs in the multiplier of another" reweight sim.h5 --at run.temperature=2
}

test_reweighting_that_cannot_be()
{
    gas 1 2
    change 's/^sweeps = .*/sweeps = 200/'
    must run sim.ini
    refused 3 "--at run.seed: possible keys are run.temperature, run.pressure, SPECIES.mu and LABEL.coupling of a sampled potential" reweight sim.h5 --at run.seed=3
    refused 3 "no quantity 'box_size.volum' is in all files; did you mean 'box_size.volume'?" reweight sim.h5 \
        --histogram box_size.volum
    refused 2 "plugmc reweight: --at needs KEY=VALUE,..., with each key once; see --help" reweight sim.h5 --at run.pressure
    refused 2 "plugmc reweight: --at needs KEY=VALUE,..., with each key once; see --help" \
        reweight sim.h5 --at run.pressure=1,run.pressure=2
    refused 2 "plugmc reweight: run.pressure is also the key of --at; see --help" \
        reweight sim.h5 --at run.pressure=1 --scan run.pressure=1:2:3
    refused 2 "plugmc reweight: which file?; see --help" reweight --csv
    refused 2 "plugmc reweight: unknown option '--mu'; see --help" reweight sim.h5 --mu 3
    printf '[observable other]\nplugin = box_size\nperiod = 3\n' >>sim.ini
    must run sim.ini
    refused 3 "sim.h5: measures 'other' every 3 sweeps and other quantities every 4: one period must be a multiple of the other, so that they share configurations" reweight sim.h5
}

# Of walkers with weights a file has one weighted mean a measurement, where others have a column for each walker.
test_walkers_with_weights_are_not_reweighted()
{
    two_electrons >sim.ini
    printf '%s\n' '[run]' 'sweeps = 60' 'equilibrate = 40' 'seed = 1' 'walkers = 12' 'threads = 1' 'device = cpu' \
        '[potential slater_orbitals]' 'nuclei = 0 0 0 2' 'zeta = 2' '[mover diffusion]' 'tau = 0.02' 'period = 10' \
        '[observable local_energy]' 'period = 10' >>sim.ini
    must run sim.ini
    refused 3 "sim.h5: its walkers have weights: 'diffusion' is recorded as their weighted mean, and reweighting needs \
the value of each walker; plugmc analyse prints the averages of the run" reweight sim.h5
}

# Temperatures are in each value of a pressure and of a Boltzmann factor: weights take neither of them to others. With all
# energies counted as they were, they can be taken to other volumes and numbers.
test_numbers_with_temperatures_in_them_are_left_out()
{
    local left
    gas 1
    printf '%s\n' '[observable virial_pressure]' 'period = 4' '[observable widom]' 'species = point' 'period = 4' \
        '[observable energy]' 'source = fresh' 'period = 4' >>sim.ini
    change '/^\[ladder\]/,/^values/d; /^\[mover exchange\]/,/^every/d; s/^sweeps = .*/sweeps = 200/'
    change 's/^\[potential hard_disk\]/[potential lennard_jones]\nepsilon = 1e-6\nsigma = 0.001\ncutoff = 0.01/'
    must run sim.ini
    must reweight sim.h5 --csv --at run.temperature=1.1
    grep -q energy.energy, "$out" || fail "nothing is left"
    ! grep -q 'virial_pressure\|widom' "$out" || fail "a number that depends on the temperature was reweighted"
    left=$(grep -c "warning: \[observable [a-z_]*\] is skipped: its samples contain temperatures and couplings" "$err")
    [ "$left" = 2 ] || fail "it is not said what is left out"
    must reweight sim.h5 --csv --at run.pressure=1.1
    grep -q virial_pressure.pressure, "$out" || fail "a pressure was left out at the temperature of the run"
}

# What tells of the way that walkers have gone is no number of a configuration.
test_numbers_of_the_way_are_left_out()
{
    gas 1 1.2
    printf '%s\n' '[observable round_trips]' 'period = 4' >>sim.ini
    change 's/^sweeps = .*/sweeps = 200/'
    must run sim.ini
    must reweight sim.h5 --csv
    ! grep -q round_trips "$out" || fail "they were reweighted"
    grep -q "warning: \[observable round_trips\] is skipped: it describes how walkers move" "$err" || fail "it is not said"
    must info round_trips
    grep -q "cannot be reweighted: it describes how walkers move" "$out" || fail "info does not tell it"
}
