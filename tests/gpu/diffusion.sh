#!/bin/bash
# diffusion.sh CASE: diffusion Monte Carlo on a GPU against the CPU, which draws the same numbers and decides alike as
# long as no decision depends on the last digits: places after some sweeps agree to 1e-7, and so do weights and local
# energies. Skipped (77) without a GPU. Cases are functions case_CASE. CHECK=, as "compute-sanitizer --error-exitcode 9",
# stands before runs on the GPU, and only those.
set -u
export LC_ALL=C
data=$(cd "$(dirname "$0")/../data" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() { echo "FAILED: $*"; exit 1; }

"$PLUGMC" doctor | grep -q "^GPU  *none" && [ -z "${DEVICE-}" ] && { echo "SKIPPED: there is no GPU"; exit 77; }

# run OUTPUT [SECTION.KEY=VALUE]...: sim.ini with these keys
run()
{
    local name=$1 arguments=() check=${CHECK-}
    shift
    for setting in "$@"; do arguments+=(--set "$setting"); done
    [[ " $* " != *" run.device=cpu "* ]] || check=
    # shellcheck disable=SC2086 # a command and its arguments
    $check "$PLUGMC" run sim.ini --quiet --set "run.output=$name.h5" "${arguments[@]}" >"$name.txt" || {
        tail -20 "$name.txt"
        fail "run $name"
    }
}

# numbers FILE DATASET: one a line
numbers() { h5dump -y -w 1 -m "%.17g" -d "$2" "$1.h5" | grep -E "^ *[-0-9.naif]" | tr -d ' ,'; }

# near A B DATASET MOST: largest difference of two files' numbers, relative to 1 + |number|
near()
{
    paste <(numbers "$1" "$3") <(numbers "$2" "$3") | awk -v name="$3" -v most="$4" '
        { d = ($1 - $2) / (1 + ($2 < 0 ? -$2 : $2)); d = d < 0 ? -d : d; if (d > worst || d != d) worst = d; n++ }
        END { printf "%s: %d numbers within %.2g\n", name, n, worst; exit !(n > 0 && worst <= most) }' ||
        fail "$3 of $1 and $2 differ"
}

# compare SETTINGS...: sim.ini on the CPU and on the GPU
compare()
{
    run cpu run.device=cpu "$@"
    run gpu run.device=${DEVICE-gpu} "$@"
    near gpu cpu /plugmc/checkpoint/positions 1e-7
    near gpu cpu /plugmc/observables/local_energy/energy/series 1e-7
    near gpu cpu /plugmc/observables/local_energy/weight/series 1e-7
    for file in cpu gpu; do grep "trial moves of" $file.txt | sed 's/;.*//' >$file.moves; done
    cmp cpu.moves gpu.moves || fail "other moves are accepted"
    cat gpu.moves
}

header()
{
    cat <<-END
	[run]
	seed = 5
	threads = 4
	sweeps = 30
	equilibrate = 20
	walkers = ${1-6}
	[initial]
	state = random
	[observable local_energy]
	period = 5
	END
}

# spins UP [DOWN]: electrons, as many of the other spin if it is not said
spins()
{
    cat <<-END
	[species up]
	count = $1
	charge = -1
	[species down]
	count = ${2-$1}
	charge = -1
	END
}

# gas UP DOWN EDGE [LINE...]: electrons in plane waves, lines of the mover
gas()
{
    local up=$1 down=$2 edge=$3
    shift 3
    header
    cat <<-END
	[box]
	dimension = 3
	lx = $edge
	$(spins "$up" "$down")
	[potential jastrow]
	like = 1.082858193 0.6653279375 0.4358910287 0.2243616172 0.1102948764
	unlike = 1.696171854 1.047722154 0.6275148566 0.3175982878 0.1446706214
	[potential plane_waves]
	twist = ${twist-0 0 0}
	[mover diffusion]
	period = 10
	variational = 10
	warm_up = 5
	refresh = 16
	END
    printf '%s\n' "$@"
}

case_gas() { gas 7 7 19.4 "tau = 0.3" >sim.ini && compare; }
case_gas_with_a_twist() { twist="0.25 0.1 0" gas 7 5 19.4 "tau = 0.3" >sim.ini && compare; }
case_gas_in_blocks() { twist="0.25 0.1 0" gas 7 5 19.4 "tau = 0.3" "block = 3" >sim.ini && compare; }
case_gas_of_one_spin_in_blocks() { gas 19 1 19.4 "tau = 0.3" "block = 5" >sim.ini && compare; }
case_gas_of_many_electrons() { gas 81 57 42 "tau = 0.3" >sim.ini && compare run.walkers=4; }
# Seven and five electrons in a sum of determinants of four orbitals more; a comb copies tables.
sum_of_determinants()
{
    gas 7 5 19.4 "tau = ${1-0.3}"
    cat <<-END
	[potential multideterminant]
	excitations = 7>8/4>6 6>9,7>10/- -/3>7,4>8 5>8,7>9/1>6 3>8,6>10,7>11/- 1>8,2>9,3>10,4>11/-
	coefficients = -0.4 0.3 0.7 0.2 -0.5 1.5
	END
}

case_sum_of_determinants() { sum_of_determinants | sed 's/^twist = .*/virtual = 4/' >sim.ini && compare; }
case_sum_of_determinants_with_a_twist()
{
    twist="0.25 0.1 0" sum_of_determinants | sed 's/^twist = .*/&\nvirtual = 4/' >sim.ini && compare
}
case_sum_of_determinants_with_weights_that_differ()
{
    sum_of_determinants 1 | sed 's/^twist = .*/virtual = 4/' >sim.ini && compare run.walkers=40
}

case_gas_of_many_electrons_one_by_one()
{
    twist="0.1 0.2 0.3" gas 70 66 42 "tau = 0.3" "block = 1" >sim.ini && compare run.walkers=3
}

# helium ZETA LINE...: two electrons with this factor
helium()
{
    local zeta=$1
    shift
    header 33
    cat <<-END
	[box]
	dimension = 3
	shape = sphere
	radius = 9
	$(spins 1)
	[potential slater_orbitals]
	nuclei = 0 0 0 2
	zeta = $zeta
	$(printf '%s\n' "$@")
	[mover diffusion]
	tau = 0.1
	variational = 10
	warm_up = 5
	period = 10
	END
}

case_helium()
{
    helium 2 "[potential jastrow]" "u_cutoff = 7" "like = 0 0 0 0 0 0 0 0 0" \
        "unlike = 1.01449 0.73263 0.54034 0.39825 0.28775 0.19948 0.12880 0.07365 0.03345" >sim.ini && compare
}

case_pade() { helium 1.7 "[potential pade_jastrow]" "unlike = 0.4" "chi = 0.6" "chi_cusp = 0.3" >sim.ini && compare; }

# diamond [LINE...]
diamond()
{
    cp "$data/qmc/diamondC.pwscf.h5" "$data/qmc/C.BFD.xml" .
    header 37
    cat <<-END
	pseudopotentials = C.BFD.xml
	[box]
	dimension = 3
	shape = oblique
	a = 3.37316115 3.37316115 0
	b = 0 3.37316115 3.37316115
	c = 3.37316115 0 3.37316115
	$(spins 4)
	[potential bspline_orbitals]
	file = diamondC.pwscf.h5
	precision = double
	[potential jastrow]
	like = 0.2797730287 0.2172604155 0.1656172964 0.1216984261 0.083995349 0.05302065936 0.02915953995 0.0122402581
	unlike = 0.4631099906 0.356399124 0.2587895287 0.1829298509 0.1233653291 0.07714708174 0.04145899033 0.01690645936
	chi = -0.2032153051 -0.1625595974 -0.143124599 -0.1216434956 -0.09919771951 -0.07111729038 -0.04445345869 -0.02135082917
	ions = 0 0 0 1.686580575 1.686580575 1.686580575
	[mover diffusion]
	period = 10
	variational = 10
	warm_up = 5
	refresh = 16
	END
    printf '%s\n' "$@"
}

case_diamond() { diamond "tau = 0.02" >sim.ini && compare; }
case_diamond_by_determinants()
{
    diamond "tau = 0.02" >sim.ini && sed -i 's/^pseudopotentials.*/&\nlocalisation = determinants/' sim.ini && compare
}
case_diamond_with_t_moves() { diamond "tau = 0.05" "nonlocal = t_moves" >sim.ini && compare; }

# A twist of the primitive cell: places of the quadratures lie across its edges, where orbitals gain phases.
silicon()
{
    cp "$data/qmc/si-2x2x2.bwfn.data.b1" "$data/qmc/Si.pz-vbc.UPF" .
    header 16
    cat <<-END
	pseudopotentials = Si.pz-vbc.UPF
	[box]
	dimension = 3
	shape = oblique
	a = -5.1315 0 5.1315
	b = 0 5.1315 5.1315
	c = -5.1315 5.1315 0
	$(spins 4)
	[potential bspline_orbitals]
	file = si-2x2x2.bwfn.data.b1
	precision = double
	tile = 1 1 1
	twist = 0.5 0.5 0
	END
    printf '%s\n' "$@"
}

case_silicon_with_a_twist()
{
    local jastrow="[potential jastrow]
like = 0.754 0.5091 0.3484 0.24 0.1647 0.1109 0.0713 0.0414
unlike = 1.1279 0.6762 0.4234 0.2737 0.1799 0.1177 0.0743 0.0426" by_drift="[mover diffusion]
period = 10
variational = 10
warm_up = 5
refresh = 16
tau = 0.05"
    silicon "$jastrow" "$by_drift" "nonlocal = t_moves" >sim.ini && compare
    silicon "$jastrow" "$by_drift" >sim.ini && sed -i 's/^pseudopotentials.*/&\nnonlocal = separable/' sim.ini && compare
    silicon "$by_drift" >sim.ini && sed -i 's/^pseudopotentials.*/&\nnonlocal = separable/' sim.ini && compare
}

# A run that is cut between two refreshes, with orbitals of single precision that kernels for few and many places
# round differently.
case_resumed_runs_are_equal()
{
    diamond "tau = 0.02" "nonlocal = t_moves" >sim.ini
    local single="potential bspline_orbitals.precision=float"
    run whole run.device=${DEVICE-gpu} "$single"
    run part run.device=${DEVICE-gpu} "$single" run.sweeps=17
    "$PLUGMC" run --resume part.h5 --quiet --set run.sweeps=30 >resumed.txt 2>&1 || fail "$(cat resumed.txt)"
    ! grep -q "does not follow" resumed.txt || fail "$(cat resumed.txt)"
    h5diff --exclude-path /parameters --exclude-path /plugmc/volatile whole.h5 part.h5 || fail "another run"
}

# ---- Observables that are found on the host, beside a mover on the GPU

case_energy_density()
{
    diamond "tau = 0.02" "[observable energy_density]" "grid = 3 2 2" "period = 5" >sim.ini && compare
    for name in kinetic potential electrons; do near gpu cpu /plugmc/observables/energy_density/$name/mean 1e-7; done
}

case_density_matrix()
{
    diamond "tau = 0.02" "[observable density_matrix]" "grid = 4" "period = 5" >sim.ini && compare
    for name in up down; do near gpu cpu /plugmc/observables/density_matrix/$name/mean 1e-7; done
}

# carbon [LINE...]: C2 in orbitals that are mixed with the next two
carbon()
{
    cp "$data/lcao/c2.trexio.h5" "$data/qmc/C.BFD.xml" .
    header 37
    cat <<-END
	pseudopotentials = C.BFD.xml
	[box]
	dimension = 3
	shape = sphere
	radius = 20
	$(spins 4)
	[potential gaussian_orbitals]
	file = c2.trexio.h5
	virtual = 2
	cusp = no
	mixing = 0.1 -0.05 0 0.2 0.03 0 -0.1 0.15  0 0.1 -0.2 0.05 0.1 0 0 -0.07
	[potential jastrow]
	like = 0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012
	unlike = 0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017
	u_cutoff = 6
	END
    printf '%s\n' "$@"
}

case_mixing()
{
    carbon "[mover diffusion]" "period = 10" "variational = 10" "warm_up = 5" "refresh = 16" "tau = 0.02" |
        sed 's/^state = random/state = near_ions/' >sim.ini && compare
}

# optimised KEY: one step of the linear method for sim.ini; parameters from samples of the GPU and of the CPU
optimised()
{
    for device in cpu "${DEVICE-gpu}"; do
        "$PLUGMC" optimise sim.ini --samples 400 --loops 1 --set "run.device=$device" --output "$device.ini" >"$device.txt" 2>&1 ||
            fail "$(tail -3 "$device.txt")"
    done
    paste <(grep "^$1" cpu.ini | tr ' =' '\n\n') <(grep "^$1" "${DEVICE-gpu}.ini" | tr ' =' '\n\n') | awk -v name="$1" '
        $1 + 0 == $1 { n++; d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d }
        END { printf "%s: %d numbers within %.2g\n", name, n, worst; exit !(n > 0 && worst < 1e-4) }' || fail "other parameters"
    ! grep "^$1" cpu.ini | cmp -s - <(grep "^$1" sim.ini) || fail "there was no step"
}

case_slater_is_optimised()
{
    { header 33; cat; } >sim.ini <<-END
	[box]
	dimension = 3
	shape = sphere
	radius = 20
	$(spins 2)
	[potential slater_orbitals]
	nuclei = 0 0 0 4
	zeta = 3.47116 6.36861 0.77820 0.94067 1.48725 2.71830
	n = 1 1 2 2 2 2
	coefficients = 0.91796 0.08724 0.00108 -0.00199 0.00176 0.00628 -0.17092 -0.01455 0.21186 0.62499 0.26662 -0.09919
	optimise = all
	[potential pade_jastrow]
	like = 0.6
	unlike = 1.2
	[mover particle_by_particle]
	step = 0.5
	target_acceptance = 0
	END
    sed -i 's/^state = random/state = near_ions/' sim.ini
    optimised zeta
    optimised unlike
}

declare -F "case_$1" >/dev/null || { echo "there is no case $1"; exit 1; }
"case_$1"
