# Diffusion Monte Carlo from outside: chains that depend on nothing but their input.

# gas [LINE...]: 14 electrons without interaction, whose local energy is the same everywhere; lines of the mover
gas()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	equilibrate = 60
	walkers = 12
	seed = 5
	threads = 1
	device = cpu
	output = sim.h5
	[box]
	dimension = 3
	lx = 19.425649689427537
	[species up]
	count = 7
	charge = -1
	[species down]
	count = 7
	charge = -1
	[initial]
	state = random
	[potential plane_waves]
	[observable local_energy]
	period = 5
	electron_electron = ${repel-no}
	[mover diffusion]
	period = 10
	variational = 30
	warm_up = 20
	END
    printf '%s\n' "${@-tau = 0.1}" >>sim.ini
}

# jastrow: of qmc.md's electron gas at rs = 5
jastrow()
{
    cat >>sim.ini <<-END
	[potential jastrow]
	like = 1.082858193 0.6653279375 0.4358910287 0.2243616172 0.1102948764
	unlike = 1.696171854 1.047722154 0.6275148566 0.3175982878 0.1446706214
	END
}

test_diffusion_of_electrons_without_interaction_is_exact()
{
    local tau
    for tau in 0.01 0.5 5; do
        gas "tau = $tau"
        must run sim.ini --quiet
        awk '$1 == "local_energy.energy" { found = 1; if (($2 - 0.627711205942) ^ 2 > 1e-20) exit 1 }
             $1 == "local_energy.variance" { if ($2 ^ 2 > 1e-24) exit 1 }
             END { exit !found }' "$out" || fail "tau = $tau: another energy than 0.627711, or it varies"
    done
}

test_a_resumed_diffusion_run_is_the_one_that_was_not_stopped()
{
    repel=yes gas "tau = 0.3" "correction = 3" "refresh = 16"
    jastrow
    must run sim.ini --set run.output=whole.h5
    must run sim.ini --set run.sweeps=17
    must run --resume sim.h5 --set run.sweeps=40
    same_chain whole.h5 sim.h5
    # what it goes on from is more than places: with other weights of the last generations it is another run
    must run sim.ini --set run.output=other.h5 --set "mover diffusion.correction=0"
    cp "$out" other
    must analyse whole.h5
    [ "$(grep energy.energy other)" != "$(grep energy.energy "$out")" ] || fail "weights make no difference"
    cmp <(h5dump -d /plugmc/checkpoint/positions whole.h5 | tail -n +2) \
        <(h5dump -d /plugmc/checkpoint/positions other.h5 | tail -n +2) || fail "weights change the chain"
}

# T-moves are made when the run goes on, after what is measured, and are found again where a run is resumed: one step at a
# time, a part at a time, or all at once.
test_t_moves_do_not_hang_on_pauses()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 30
	equilibrate = 20
	walkers = 8
	seed = 3
	threads = 1
	device = cpu
	output = sim.h5
	$(diamond_cell)
	[observable local_energy]
	period = 1
	pseudopotentials = $here/../data/qmc/C.BFD.xml
	[mover diffusion]
	tau = 0.05
	variational = 10
	warm_up = 10
	nonlocal = t_moves
	refresh = 16
	END
    local kind
    for kind in t_moves one_t_move; do
        must run sim.ini --quiet --set "mover diffusion.nonlocal=$kind" --set run.output=whole.h5
        grep -Eq 'acceptance 0\.0*[1-9][0-9]* of [0-9.e+]* trial moves of diffusion.t_move' "$out" ||
            fail "nothing has moved by T-moves"
        must run sim.ini --quiet --set "mover diffusion.nonlocal=$kind" --set run.output=seldom.h5 \
            --set "observable local_energy.period=10"
        must run sim.ini --quiet --set "mover diffusion.nonlocal=$kind" --set run.output=part.h5 --set run.sweeps=13
        must run --resume part.h5 --quiet --set run.sweeps=30
        for file in seldom part; do
            cmp <(h5dump -d /plugmc/checkpoint/positions whole.h5 | tail -n +2) \
                <(h5dump -d /plugmc/checkpoint/positions $file.h5 | tail -n +2) || fail "$file.h5 ends elsewhere ($kind)"
        done
    done
}

# A trajectory in H5MD has the weights of each walker: their mean is the weight of each sample, and energies are weighted by
# them. A run that is resumed has the same ones; GSD has no place for them.
test_a_trajectory_has_weights()
{
    repel=yes gas "tau = 0.3" "correction = 3"
    jastrow
    printf '%s\n' "[observable trajectory]" "period = 5" "format = h5md" >>sim.ini
    must run sim.ini --set run.output=whole.h5
    must run sim.ini --set run.sweeps=17
    must run --resume sim.h5 --set run.sweeps=40
    must analyse whole.h5 --print local_energy.weight
    /usr/bin/python3 - "$out" <<-'END' || fail "these are other weights"
	import sys, h5py, numpy as np
	samples = np.loadtxt(sys.argv[1])
	found = []
	for name in ("whole.h5md", "sim.h5md"):
	    with h5py.File(name, "r") as f:
	        assert sorted(f["observables"]) == sorted(f["particles"])
	        steps = [f[f"observables/{g}/weight/step"][()] for g in f["observables"]]
	        assert all((s == samples[:, 0]).all() for s in steps), steps
	        found.append(np.array([f[f"observables/{g}/weight/value"][()] for g in f["observables"]]))
	assert found[0].shape == (12, 8) and (found[0] == found[1]).all()
	assert found[0].std(axis=0).min() > 1e-4
	assert abs(found[0].mean(axis=0) - samples[:, 1]).max() < 1e-12
	END
    sed -i 's/^format = h5md/format = gsd/' sim.ini
    refused 3 "sim.ini:$(grep -n '^\[observable trajectory' sim.ini | cut -d: -f1): [observable trajectory] a mover gives walkers weights, which a trajectory in GSD has no place for: set format = h5md" \
        run sim.ini
}

# Seven electrons of each spin in blocks of 1, of 3, and all: the same decisions, places but for rounding.
test_diffusion_does_not_hang_on_blocks()
{
    local block
    repel=yes gas "tau = 0.3" "block = 1"
    jastrow
    must run sim.ini --set run.output=one.h5
    grep "acceptance .* trial moves" "$out" >one.moves
    for block in 3 32; do
        must run sim.ini --set "mover diffusion.block=$block"
        grep "acceptance .* trial moves" "$out" | cmp - one.moves || fail "block = $block: other decisions"
        h5diff --delta=1e-8 one.h5 sim.h5 /plugmc/checkpoint/positions || fail "block = $block: other places"
        ! h5diff -q one.h5 sim.h5 /plugmc/checkpoint/positions || fail "block = $block does nothing"
    done
}

test_diffusion_does_not_hang_on_threads()
{
    repel=yes gas "tau = 0.3"
    jastrow
    must run sim.ini --set run.output=one.h5
    must run sim.ini --set run.threads=3
    same_chain one.h5 sim.h5
}

# A wave function without cusps, whose local energies are anything near a nucleus, and a limit that lets them.
test_weights_that_run_away_end_the_run()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 3000
	walkers = 100
	seed = 5
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 20
	[species up]
	count = 1
	charge = -1
	[potential slater_orbitals]
	nuclei = 0 0 0 8
	zeta = 0.5
	[observable local_energy]
	[mover diffusion]
	tau = 0.05
	energy_limit = 1000
	END
    plugmc run sim.ini --quiet
    expect_exit 9
    grep -q "\[mover diffusion\] weights diverge: in sweep [0-9]* .*: use a smaller tau or a better wave function" "$err" ||
        fail "$(cat "$err")"
}

# A shell in which Psi has a deep minimum: local energies are down to -20 there, and with a long step walkers multiply
# faster than the drift takes them away.
test_walkers_that_gather_where_energies_are_too_low_end_the_run()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	walkers = 2048
	seed = 1
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 30
	[species up]
	count = 1
	charge = -1
	[initial]
	state = near_ions
	[potential slater_orbitals]
	nuclei = 0 0 0 1
	zeta = 1
	[potential jastrow]
	chi = 0 0 0 0 0 0 0 0 0 0 0 0 6 6 0 0 0 0 0 0
	chi_cutoff = 10
	[observable local_energy]
	[mover diffusion]
	tau = 0.2
	drift_limit = 1
	variational = 50
	warm_up = 100
	END
    must run sim.ini --quiet --set run.output=limited.h5
    awk '$1 == "local_energy.energy" { exit !($2 + 0 < -0.48 && $2 + 0 > -0.52) }' "$out" || fail "$(cat "$out")"
    plugmc run sim.ini --quiet --set "mover diffusion.energy_limit=4.47"
    expect_exit 9
    grep -q "\[mover diffusion\] weights diverge: by sweep [0-9]* the mean energy has fallen from -0.5 to -[5-9]" "$err" ||
        fail "$(cat "$err")"
}

# point TAU: a run of hydrogen with a wrong exponent
point()
{
    must run sim.ini --quiet --set "mover diffusion.tau=$1" --set "run.output=$1.h5"
}

jastrow_of() { sed -n '/^\[potential jastrow/,/^$/p' "$1"; }

test_extrapolation_is_the_fit_that_it_says()
{
    gas
    repel=yes gas "tau = 0.3"
    jastrow
    point 0.4 && point 0.2 && point 0.1
    must extrapolate 0.4.h5 0.2.h5 0.1.h5 --order 1
    expect_output "local_energy.energy"
    # the same by hand, from the three numbers with their errors as printed
    awk 'function error(text, parts, digits) {
             split(text, parts, /[()]/)
             digits = length(parts[1]) - index(parts[1], ".")
             return parts[2] / 10 ^ digits
         }
         $1 + 0 > 0 { w = 1 / error($2) ^ 2; x = $1; y = $2 + 0; s += w; sx += w * x; sy += w * y; sxx += w * x * x; sxy += w * x * y }
         $1 == "linear" { d = s * sxx - sx * sx; value = (sxx * sy - sx * sxy) / d; e = sqrt(sxx / d)
                          if (($2 - value) ^ 2 > (0.2 * e) ^ 2 || error($2) < 0.8 * e || error($2) > 1.25 * e) exit 1
                          found = 1 }
         END { exit !found }' "$out" || fail "another line: $(cat "$out")"
    refused 3 "3 values of 'mover diffusion.tau' are too few: a fit needs at least 4" \
        extrapolate 0.4.h5 0.2.h5 0.1.h5 --order 3
    cp 0.4.h5 again.h5
    refused 3 "again.h5: is the same chain as 0.4.h5" extrapolate 0.4.h5 again.h5 0.1.h5
    refused 3 "0.4.h5: the run has no quantity 'local_energy.charm'" \
        extrapolate 0.4.h5 0.2.h5 --of local_energy.charm
    refused 3 "0.4.h5: its walkers have weights: it is not a run of variational Monte Carlo" \
        extrapolate 0.2.h5 --vmc 0.4.h5 --of local_energy.kinetic
    sed '/^\[mover/,$d' sim.ini >vmc.ini
    printf '[mover quasi_simultaneous]\nstep = 3\n' >>vmc.ini
    jastrow_of sim.ini >>vmc.ini
    must run vmc.ini --set run.output=vmc.h5
    must extrapolate 0.2.h5 --vmc vmc.h5 --of local_energy.kinetic
    expect_output "2 DMC - VMC"
    must run vmc.ini --set run.output=other.h5 --set box.lx=20
    refused 3 "other.h5: a run of another system than 0.2.h5: [box] lx is 19.425649689427537 there, but 20 here" \
        extrapolate 0.2.h5 --vmc other.h5 --of local_energy.kinetic
    must run vmc.ini --set run.output=wave.h5 --set "potential jastrow.like=1 0.6 0.4 0.2 0.1"
    plugmc extrapolate 0.2.h5 --vmc wave.h5 --of local_energy.kinetic
    expect_exit 3
    grep -q "^wave.h5: a run of another system than 0.2.h5: \[potential jastrow\] like is " "$err" ||
        fail "another wave function is taken for the same"
}
