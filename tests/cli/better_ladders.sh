# plugmc ladder: what it proposes where the best ladder is known.

export OPENBLAS_NUM_THREADS=1

# gas VALUE...: ten particles of an ideal gas at these pressures
gas()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20000
	equilibrate = 400
	seed = 3
	threads = 1
	device = cpu
	walkers = $#
	pressure = 1
	[box]
	dimension = 2
	lx = 4
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
	trials = 8
	[mover exchange]
	every = 4
	[observable round_trips]
	period = 4
	END
}

# values SHARE VALUE...: what was proposed is this, up to a share of it
values()
{
    awk -v share="$1" -v wanted="${*:2}" '/^values = / { for (k = 3; k <= NF; k++) found[k - 2] = $k; n = NF - 2 }
        END {
            m = split(wanted, exact, " ")
            for (k = 1; k <= m; k++) { d = found[k] / exact[k] - 1; print found[k], exact[k], d
                if (d > share || -d > share) bad = 1 }
            exit bad || n != m }' "$out" || fail "proposed were other values than ${*:2}"
}

# What an exchange is accepted with depends on the ratio of pressures alone, so the ladder of equal acceptance is
# geometric; it is found from one that is not.
test_ladder_of_equal_acceptance()
{
    gas 0.5 1 2 3 4 5
    must run sim.ini
    must ladder sim.h5 --equal
    values 0.02 0.5 0.792447 1.255943 1.990536 3.154787 5
    expect_output "expected: an acceptance of 0.2"
    # and it keeps that promise
    local promised
    promised=$(sed -n 's/^expected: an acceptance of \(0\.[0-9]*\) of each pair$/\1/p' "$out")
    change "s/^values = .*/$(grep '^values = ' "$out")/"
    must run sim.ini --set run.output=better.h5
    must ladder better.h5 --equal
    awk -v promised="$promised" '/^[0-4] / { d = $3 - promised; print $3, promised; n++
        if (d > 0.03 || d < -0.03) bad = 1 } END { exit bad || n != 5 }' "$out" || fail "acceptances are not $promised"
    must ladder sim.h5 --equal --rungs 11
    values 0.02 0.5 0.629463 0.792447 0.997631 1.255943 1.581139 1.990536 2.505936 3.154787 3.971641 5
}

# Volumes of an ideal gas depend on pressure over temperature alone, so both variables are geometric, each with the acceptance of
# ten particles at pressures 1 and 1.5, which is 0.34876 (quadrature over two gamma distributions).
test_ladder_in_two_variables()
{
    gas 1 2 3 4.5 6 7.59375
    change '/^\[mover exchange\]/,/^every/d; s/^walkers = .*/walkers = 24/; s/^sweeps = .*/sweeps = 16000/'
    printf '%s\n' '[mover along_pressure]' 'plugin = exchange' 'along = 1' 'every = 4' '[mover along_temperature]' \
        'plugin = exchange' 'along = 2' 'every = 4' >>sim.ini
    change 's/^vary = .*/&\nvary_2 = run.temperature\nvalues_2 = 1 1.3 2.5 3.375/'
    must run sim.ini
    must ladder sim.h5
    cp "$out" proposed
    values 0.02 1 1.5 2.25 3.375 5.0625 7.59375
    sed 's/^values = .*//; s/^values_2 = /values = /' proposed >"$out"
    values 0.02 1 1.5 2.25 3.375
    for key in run.pressure run.temperature; do
        awk -v key="$key" '/^expected: / && $NF == key { n++; print; d = $5 - 0.34876; if (d > 0.02 || d < -0.02) bad = 1 }
            END { exit bad || n != 1 }' proposed || fail "promised is another acceptance along $key than 0.349"
    done
    # what each pair has then, 20 + 18 of them in 5 + 3 intervals: equal but for noise
    change "s/^values = .*/$(grep '^values = ' proposed)/; s/^values_2 = .*/$(grep '^values_2 = ' proposed)/"
    must run sim.ini --set run.output=better.h5
    must ladder better.h5
    awk '/^[0-9]+ / && NF == 3 { n++; d = $3 - 0.34876; print $3, d; if (d > 0.02 || d < -0.02) bad = 1 }
        END { exit bad || n != 8 }' "$out" || fail "neighbours do not exchange equally often"
    must ladder sim.h5 --rungs 11,3
    values 0.02 1 1.224745 1.5 1.837117 2.25 2.755676 3.375 4.133514 5.0625 6.200271 7.59375
    refused 2 "sim.h5: has a ladder in two variables: --rungs needs two numbers, as in 6,4" ladder sim.h5 --rungs 6
    refused 2 "plugmc ladder: --rungs needs a whole number from 2 to 10000; see --help" ladder sim.h5 --rungs 6,x
    # exchanges that do not say along what
    change '/^\[mover along_temperature\]/,$d; s/^along = 1$/along = 0/; s/^sweeps = .*/sweeps = 40/'
    must run sim.ini --set run.output=mixed.h5
    refused 3 "mixed.h5: has no separate exchanges along run.pressure: two sections with plugin = exchange, along = 1 and along = 2, count each variable separately" \
        ladder mixed.h5
    must run sim.ini --set run.output=half.h5 --set "mover along_pressure.along=1"
    refused 3 "half.h5: has no separate exchanges along run.temperature: two sections with plugin = exchange, along = 1 and along = 2, count each variable separately" \
        ladder half.h5
}

# Walkers that forget everything between exchanges: from the acceptances A of all pairs follow the current of those
# who head up, J = 1 / (1 + sum (1 - A) / A), and the share f on its way up. The ladder that is proposed has more
# round trips.
test_ladder_of_most_round_trips()
{
    gas 0.5 1 2 3 4 5
    change 's/^trials = .*/trials = 12/; s/^step = .*/step = 0.8/; s/^sweeps = .*/sweeps = 100000/'
    must run sim.ini
    must ladder sim.h5
    expect_output "; most round trips, by the flow of walkers"
    awk '/round trips$/ { trips = $(NF - 2) }
        /^[0-5] / { value[$1] = $2; if ($1 < 5) { rho[$1] = 1 / $3 - 1; all += rho[$1] } f[$1] = $1 < 5 ? $4 : 0 }
        /^values = / { for (k = 3; k <= NF; k++) found[k - 3] = $k }
        /^expected: / { gain = $2 }
        END {
            J = 1 / (1 + all); share = 1 - J / 2
            z = (trips - J / 2 * 25000) / sqrt(J / 2 * 25000)
            printf "%d round trips, expected %.1f, z = %.2f\n", trips, J / 2 * 25000, z
            if (!(z < 4 && z > -4)) bad = 1
            for (k = 0; k < 5; k++) {
                if (k) { split(f[k], part, /[()]/); digits = length(part[1]) - 2; error = part[2] / 10 ^ digits
                    z = (part[1] - share) / error; printf "f(%d) = %s, exact %.4f, z = %.2f\n", k, f[k], share, z
                    if (!(z < 4 && z > -4)) bad = 1 }
                share -= J * rho[k]; length_of[k] = sqrt(rho[k]); sum += length_of[k] }
            n = 0; before = 0
            for (k = 1; k < 5; k++) {
                while (before + length_of[n] < sum * k / 5) before += length_of[n++]
                exact = value[n] * (value[n + 1] / value[n]) ^ ((sum * k / 5 - before) / length_of[n])
                d = found[k] / exact - 1; printf "%s, exact %.4f\n", found[k], exact
                if (d > 0.05 || d < -0.05) bad = 1 }
            exact = (1 + all) / (1 + sum ^ 2 / 5); printf "gain %s, exact %.3f\n", gain, exact
            if (gain > exact * 1.05 || gain < exact * 0.95) bad = 1
            exit bad }' "$out" || fail "another ladder than that of these acceptances"
    local trips
    trips=$(sed -n 's/.*, \([0-9]*\) round trips$/\1/p' "$out")
    change "s/^values = .*/$(grep '^values = ' "$out")/"
    must run sim.ini --set run.output=better.h5
    must ladder better.h5
    awk -v before="$trips" '/round trips$/ { print $(NF - 2), before; exit !($(NF - 2) > before + 3 * sqrt(2 * before)) }' \
        "$out" || fail "there are not more round trips"
}

# Where all exchanges are accepted the ladder is as good as it can be.
test_ladder_that_is_best_already()
{
    gas 1 2 3 4
    change 's/^vary = .*/vary = hard_disk.coupling/; /^\[mover volume\]/,/^trials/d'
    printf '[mover serial]\nstep = 1\n' >>sim.ini
    must run sim.ini --set run.sweeps=4000
    must ladder sim.h5
    values 0.03 1 2 3 4
    expect_output "expected: 1.00 times as many round trips as now"
}

test_ladders_that_nothing_is_proposed_for()
{
    gas 0.5 1
    change 's/^sweeps = .*/sweeps = 100/'
    must run sim.ini --set run.output=short.h5
    must ladder short.h5
    expect_output "too few round trips to use the flow of walkers: "
    refused 2 "short.h5: has a ladder in one variable: --rungs needs one number" ladder short.h5 --rungs 3,3
    must run sim.ini --set run.output=around.h5 --set "ladder.values=1 0.5 2" --set run.walkers=3
    refused 3 "around.h5: the values of its ladder are not monotonic" ladder around.h5
    change '/^\[mover exchange\]/,/^every/d'
    must run sim.ini --set run.output=still.h5
    refused 3 "still.h5: has no [mover exchange]: walkers stayed on their rungs" ladder still.h5
    change '/^\[ladder\]/,/^values/d; /^\[observable/,$d'
    must run sim.ini --set run.output=none.h5
    refused 3 "none.h5: has no ladder" ladder none.h5
    refused 2 "plugmc ladder: --rungs needs a whole number from 2 to 10000; see --help" ladder none.h5 --rungs 1
}
