# Groups of particles that move as a rigid body (mover rigid_group). Fixed seeds; each mean is compared with its exact value or with
# that of single moves, and a right program is beyond 4.5 errors once in 100,000 comparisons.

# three SEED: three particles in a plane, of which each pair has a Gaussian energy of its own.
three()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 25000
	equilibrate = 100
	seed = $1
	walkers = 4
	threads = 1
	device = cpu
	[box]
	dimension = 2
	lx = 6
	[species a]
	count = 1
	[species b]
	count = 1
	[species c]
	count = 1
	[initial]
	state = random
	END
    # pairs in the order aa ab ac bb bc cc
    local pair
    for pair in 'ab 0 -2 0 0 0 0' 'ac 0 0 -1.5 0 0 0' 'bc 0 0 0 0 1 0'; do
        printf '[potential %s]\nplugin = expression\nenergy = A * exp(-2 * r^2)\ncutoff = 2.99\nA = %s\n' \
            "${pair%% *}" "${pair#* }" >>sim.ini
    done
    cat >>sim.ini
    printf '%s\n' '[observable energy]' 'period = 10' >>sim.ini
}

# The exact means of the three energies, by the trapezoidal rule for periodic functions.
law()
{
    awk 'BEGIN {
        n = 20; L = 6
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
            x = i * L / n; y = j * L / n
            if (x > L / 2) x -= L
            if (y > L / 2) y -= L
            g = exp(-2 * (x * x + y * y)); k = i * n + j
            u[k] = g; ab[k] = exp(2 * g); ac[k] = exp(1.5 * g); bc[k] = exp(-g)
        }
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (p = 0; p < n; p++) for (q = 0; q < n; q++) {
            k = i * n + j; l = p * n + q; m = ((i - p + n) % n) * n + (j - q + n) % n
            w = ab[k] * ac[l] * bc[m]
            z += w; mab -= 2 * w * u[k]; mac -= 1.5 * w * u[l]; mbc += w * u[m]
        }
        printf "energy_ab %.8g\nenergy_ac %.8g\nenergy_bc %.8g\n", mab / z, mac / z, mbc / z
    }'
}

# largest_z FILE.h5: of the three means, which the program divides by the number of particles, against the law.
largest_z()
{
    must analyse "$1" --csv
    law >law.txt
    awk -F, 'NR == FNR { split($0, a, " "); exact["energy." a[1]] = a[2]; next }
        $1 in exact { z = (3 * $2 - exact[$1]) / (3 * $3); printf "%s %.5f +- %.5f, exact %.5f, z %.2f\n", $1, 3 * $2, 3 * $3, exact[$1], z >"/dev/stderr"
                      if (z < 0) z = -z; if (z > most) most = z; n++ }
        END { print n == 3 ? most : "none" }' law.txt "$out"
}

groups() { printf '%s\n' '[mover serial]' 'step = 1' '[mover rigid_group]' 'radius = 1.3' 'trials = 6' 'step = 1' 'turn = 1' "$@"; }

test_groups_of_neighbours_have_the_exact_law()
{
    groups | three 3
    must run sim.ini
    z=$(largest_z sim.h5)
    awk -v z="$z" 'BEGIN { exit !(z < 4.5) }' || fail "the largest z is $z"
}

# mutant NAME SED: the mover with one line changed, in this folder.
mutant()
{
    sed "$2" "$here/../../plugins/movers/rigid_group.c" >"$1.c"
    cmp -s "$1.c" "$here/../../plugins/movers/rigid_group.c" && fail "nothing was changed in $1"
    cc -shared -fPIC -O2 -ffp-contract=off -I "$here/../../core/include" -I "$here/../../plugins/movers" "$1.c" -o "$1.so" -lm ||
        fail "$1 does not compile"
    chmod go-w "$1.so"
}

# Clusters that are not the same on the way back, and turns that stretch.
test_wrong_groups_do_not_have_the_exact_law()
{
    mutant irreversible 's/return near == 0;/return 1;/'
    mutant stretched 's#centre\[d\] + m\[d\]\[0\] \* s\[0\]#centre[d] + 1.1 * m[d][0] * s[0]#'
    for name in irreversible stretched; do
        groups | sed "s#^\[mover rigid_group\]#&\nplugin = ./$name.so#" | three 4
        must run sim.ini --set run.output=$name.h5
        z=$(largest_z $name.h5)
        awk -v z="$z" 'BEGIN { exit !(z > 8) }' || fail "$name: the largest z is only $z"
    done
}

# ions TERM-LINE...: 12 ions in a cube.
ions()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 1500
	equilibrate = 200
	seed = 12
	walkers = 4
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 6
	[species plus]
	count = 6
	charge = 1
	diameter = 1
	[species minus]
	count = 6
	charge = -1
	diameter = 1
	[initial]
	state = random
	[potential hard_disk]
	END
    printf '%s\n' "$@" >>sim.ini
    printf '%s\n' '[observable energy]' 'period = 4' >>sim.ini
}

# agree FILE OTHER: all their means, by plugmc's own comparison.
agree()
{
    must analyse "$1" "$2" --compare
    awk '/^largest z:/ { found = 1; exit !($3 + 0 < 4.5) } END { if (!found) exit 1 }' "$out" ||
        fail "$1 and $2 differ"
}

# Many-body terms see one particle of the group after the other.
test_pairs_of_ions_move_beside_an_ewald_sum()
{
    ions '[potential coulomb_ewald]' 'bjerrum_length = 2' '[mover serial]' 'step = 1'
    must run sim.ini --set run.output=single.h5
    ions '[potential coulomb_ewald]' 'bjerrum_length = 2' '[mover serial]' 'step = 1' '[mover rigid_group]' 'radius = 1.4' 'trials = 12' \
        'step = 1' 'turn = 1'
    must run sim.ini
    agree sim.h5 single.h5
    must run sim.ini --set run.sweeps=500 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=1500
    same_chain sim.h5 parts.h5
}

test_groups_move_on_a_ladder()
{
    ladder() { printf '%s\n' '[potential coulomb_cube]' 'bjerrum_length = 2' '[ladder]' 'vary = run.temperature' 'values = 1 1.5' '[mover serial]' 'step = 1' "$@"; }
    mapfile -t lines < <(ladder)
    ions "${lines[@]}"
    must run sim.ini --set run.temperature=1 --set run.output=single.h5
    mapfile -t lines < <(ladder '[mover rigid_group]' 'radius = 1.4' 'trials = 12' 'step = 1' 'turn = 1' '[mover exchange]')
    ions "${lines[@]}"
    must run sim.ini --set run.temperature=1
    agree sim.h5 single.h5
    must run sim.ini --set run.temperature=1 --set run.threads=3 --set run.output=three.h5
    same_chain sim.h5 three.h5
}

# The same decisions on both, groups of a few particles and of most.
test_groups_move_alike_on_a_gpu()
{
    gpu
    local radius
    for radius in 1.4 2.9; do
        ions '[potential yukawa]' 'bjerrum_length = 2' 'kappa = 0.5' 'cutoff = 2.9' '[mover serial]' 'step = 1' '[mover rigid_group]' \
            "radius = $radius" 'trials = 12' 'step = 0.3' 'turn = 0.3' '[observable trajectory]' 'period = 100'
        change 's/^walkers = .*/walkers = 64/; s/^sweeps = .*/sweeps = 200/; s/^device = .*/device = gpu/'
        must run sim.ini --set run.output=gpu.h5
        grep -q '^on NVIDIA' "$err" || fail "it did not run on the GPU"
        must run sim.ini --set run.device=cpu
        for what in checkpoint/positions movers; do
            h5diff sim.h5 gpu.h5 /plugmc/$what >"$out" 2>&1 || fail "radius $radius: $what differs"
        done
    done
}

# What a run has in its file fits it; to a run of single particles the mover is no gain.
test_check_does_not_say_that_a_mover_of_the_run_does_not_fit()
{
    three 1 <<<"[mover serial]"
    must check sim.ini
    expect_output "rigid_group           moves groups of particles, and nothing holds them together as molecules"
    echo '[mover rigid_group]' >>sim.ini
    must check sim.ini
    grep -Eq '^. rigid_group +-' "$out" || fail "the mover is not among those that fit"
    ! grep -q 'rigid_group .*moves' "$out" || fail "a mover of the run is said not to fit"
}
