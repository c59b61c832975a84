# Umbrella potentials on a distance and on |psi_6|, against what is known. Fixed seeds; a right program is beyond 4 of
# its standard errors once in 16,000 numbers.

export OPENBLAS_NUM_THREADS=1

# is AT QUANTITY EXACT LEAST: in the CSV table of plugmc reweight EXACT within 4 errors, which are below LEAST
is()
{
    awk -v start="\"$1\",$2," -v exact="$3" -v least="$4" 'index($0, start) == 1 {
        split(substr($0, length(start) + 1), part, ","); z = (part[1] - exact) / part[2]; found = 1
        printf "%s %.6g +- %.2g, exact %.6g, z = %.2f\n", start, part[1], part[2], exact, z
        if (!(z < 4 && z > -4 && part[2] < least)) bad = 1 }
        END { exit bad || !found }' "$out" || fail "$2 at $1 is not $3"
}

# plane LENGTH NUMBER DIAMETER: particles in a plane
plane()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20000
	equilibrate = 400
	seed = 11
	threads = 1
	device = cpu
	[box]
	dimension = 2
	lx = $1
	[species ball]
	count = $2
	diameter = $3
	[potential hard_disk]
	[mover serial]
	step = 0.8
	target_acceptance = 0
	[observable energy]
	period = 4
	END
}

# Two points in a square box: the mean distance of nearest images is (2^(1/2) + ln(1 + 2^(1/2))) / 6 edges. Windows
# from 0.3 to 4 are a ladder; what is found of all of them is for no window at all.
test_windows_of_a_distance()
{
    plane 6 2 0
    printf '%s\n' '[ladder]' 'vary = pull.coupling' "values = $(awk 'BEGIN { for (k = 0; k < 8; k++) printf "%g ", -6 * (0.3 + 0.53 * k) }')" \
        '[potential spring]' 'plugin = distance_umbrella' 'strength = 6' \
        '[potential pull]' 'plugin = distance_umbrella' 'form = force' 'strength = 1' >>sim.ini
    must run sim.ini --set run.walkers=8
    must reweight sim.h5 --csv --at spring.coupling=0,pull.coupling=0 --at spring.coupling=1,pull.coupling=-5
    is spring.coupling=0,pull.coupling=0 energy.energy_pull "$(arithmetic '(sqrt(2) + log(1 + sqrt(2))) / 2')" 0.02
    # p(r) = 2 pi r / L^2 where the circle is whole
    must reweight sim.h5 --at spring.coupling=0,pull.coupling=0 --histogram energy.energy_pull:40
    awk 'BEGIN { n = 0 } !/^#/ { r[n] = 2 * $1; p[n] = $2; e[n++] = $3 }
        END {
            half = (r[1] - r[0]) / 2
            for (k = 0; k < n; k++) {
                if (r[k] + half > 3) continue
                exact = 3.14159265 * ((r[k] + half) ^ 2 - (r[k] - half) ^ 2) / 36
                z = (p[k] - exact) / e[k]; bins++
                if (!(z < 4 && z > -4)) { print r[k], p[k], e[k], exact; bad = 1 } }
            print bins " bins"; exit bad || bins < 20 }' "$out" || fail "p(r) is another"
    must run sim.ini --set run.walkers=8 --set run.sweeps=500 --set run.output=whole.h5
    must run sim.ini --set run.walkers=8 --set run.sweeps=103 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=500
    same_chain whole.h5 parts.h5
    sed -i 's/^form = force/&\nsecond = 2/' sim.ini
    refused 3 "sim.ini:25: [potential pull] first and second must be different particles from 0 to 1" run sim.ini --set run.walkers=8
}

# Two disks are neighbours, with |psi_6| = 1, or are not, with 0: two levels, of which the areas are known.
test_two_levels_of_psi_6()
{
    plane 4 2 1
    printf '%s\n' '[potential hexatic_umbrella]' 'form = force' 'strength = -1.5' >>sim.ini
    must run sim.ini
    must reweight sim.h5 --csv
    is sim.h5 energy.energy_hexatic_umbrella "$(awk 'BEGIN { pi = atan2(0, -1); near = pi * (1.45 ^ 2 - 1) * exp(1.5)
        print -1.5 * near / (near + 16 - pi * 1.45 ^ 2) / 2 }')" 0.02
    must reweight sim.h5 --csv --at hexatic_umbrella.coupling=0
    is hexatic_umbrella.coupling=0 energy.energy_hexatic_umbrella "$(awk 'BEGIN { pi = atan2(0, -1)
        near = pi * (1.45 ^ 2 - 1); print -1.5 * near / (near + 16 - pi * 1.45 ^ 2) / 2 }')" 0.02
}

# Of many disks: the number is that of hexatic_order; and what moves change is right if a run with the umbrella is
# what a run without it says of it.
test_umbrella_on_psi_6()
{
    plane 6.6 36 1
    change 's/^step = .*/step = 0.3/; s/^sweeps = .*/sweeps = 6000/'
    printf '%s\n' '[potential hexatic_umbrella]' 'form = force' 'strength = -12' '[observable hexatic_order]' 'period = 4' \
        >>sim.ini
    must run sim.ini --set run.output=with.h5
    must run sim.ini --set run.output=without.h5 --set run.seed=12 \
        --set "potential hexatic_umbrella.coupling=0"
    must analyse with.h5 --print energy.energy_hexatic_umbrella
    cp "$out" ../energies
    must analyse with.h5 --print hexatic_order.psi6_modulus
    paste ../energies "$out" | awk '!/^#/ { d = $2 * 36 / -12 - $4; n++; if (d > 1e-6 || d < -1e-6) { print; bad = 1 } }
        END { exit bad || n < 1000 }' || fail "it is not the psi_6 of hexatic_order"
    must reweight without.h5 --csv --at hexatic_umbrella.coupling=1
    local said
    said=$(grep ',energy.energy_hexatic_umbrella,' "$out" | cut -d , -f 3,4)
    must analyse with.h5 --csv
    awk -F, -v said="$said" '/^energy.energy_hexatic_umbrella,/ { split(said, one, ","); z = ($2 - one[1]) / sqrt($3 ^ 2 + one[2] ^ 2)
        printf "%g +- %g, reweighted %g +- %g, z = %.2f\n", $2, $3, one[1], one[2], z; found = 1; bad = !(z < 4 && z > -4) }
        END { exit bad || !found }' "$out" || fail "the umbrella does not do what it says"
    must run sim.ini --set run.sweeps=500 --set run.output=whole.h5
    must run sim.ini --set run.sweeps=103 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=500
    same_chain whole.h5 parts.h5
}
