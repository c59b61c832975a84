# Movers of electrons that are not alone, or do not sweep each time.

# helium: determinants alone, zeta 2, whose energy is -2.75 Hartree; movers come from outside
helium()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	equilibrate = 20
	seed = 5
	walkers = 8
	threads = 1
	device = ${device-cpu}
	output = sim.h5
	[potential slater_orbitals]
	nuclei = 0 0 0 2
	zeta = 2
	[observable local_energy]
	period = 5
	END
    { two_electrons && printf '%s\n' "$@"; } >>sim.ini
}

one="[mover one]
plugin = particle_by_particle
step = 1
refresh = 16"
two="[mover two]
plugin = quasi_simultaneous
step = 0.7
refresh = 16"
by_drift="[mover diffusion]
tau = 0.05
variational = 15
warm_up = 10
correction = 2
refresh = 16"

# Each decides with random numbers of its own: with those of the other the energy was -2.718(3). 400,000 samples;
# |z| <= 4, one false alarm in 16,000 seeds.
test_two_movers_of_electrons_have_one_density()
{
    helium "$one" "$two"
    change 's/^plugin = quasi_simultaneous/plugin = particle_by_particle/; s/^step = 0.7/step = 1/'
    must run sim.ini --quiet --set run.sweeps=4000 --set run.equilibrate=100 --set run.walkers=400
    awk '$1 == "local_energy.energy" {
             split($2, p, /[()]/)
             z = ($2 + 2.75) / (p[2] / 10 ^ (length(p[1]) - index(p[1], ".")))
             printf "energy %s, z = %+.1f\n", $2, z
             found = z * z <= 16
         }
         END { exit !found }' "$out" || fail "this is not the energy of the determinants"
}

# stopped LINES...: a run that is stopped and resumed is the one that was not, and follows its chain.
stopped()
{
    local at
    helium "$@"
    must run sim.ini --set run.output=whole.h5
    for at in 3 17 33; do
        must run sim.ini --set "run.sweeps=$at"
        must run --resume sim.h5 --set run.sweeps=40
        ! grep -q "does not follow" "$err" || fail "stopped after $at sweeps: $(cat "$err")"
        same_chain whole.h5 sim.h5
    done
}

test_electrons_that_move_every_third_sweep()
{
    local mover
    for mover in "$one" "$two" "$by_drift"; do stopped "$mover" "every = 3"; done
}

test_two_movers_of_electrons_are_resumed() { stopped "$one" "$two"; }

test_electrons_that_move_beside_others_at_times() { stopped "$one" "every = 10" "$two" "every = 2"; }

test_electrons_that_move_beside_others_at_times_on_a_gpu()
{
    "$PLUGMC" doctor | grep -q "^GPU  *none" && skip "there is no GPU"
    device=gpu stopped "$one" "every = 10" "$two" "every = 2"
}

# sheet: sixteen hydrogen atoms three bohr apart in a plane, in the middle of a ball of vacuum; orbitals of pairs
sheet()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 100
	equilibrate = 10
	seed = 3
	walkers = 192
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 25
	$(spins 8)
	[initial]
	state = near_ions
	[mover particle_by_particle]
	step = 0.8
	[observable local_energy]
	period = 1
	[potential slater_orbitals]
	END
    awk 'BEGIN {
        for (k = 0; k < 16; k++) {
            nuclei = nuclei " " 3 * (int(k / 4) - 1.5) " " 3 * (k % 4 - 1.5) " 0 1"
            zeta = zeta " 1"; on = on " " k + 1
            for (m = 0; m < 8; m++) row[m] = row[m] (int(k / 2) == m ? " 1" : " 0")
        }
        printf "nuclei =%s\nzeta =%s\non =%s\ncoefficients =", nuclei, zeta, on
        for (m = 0; m < 8; m++) printf "%s", row[m]
        print "" }' >>sim.ini
}

# z_of_energy: z of the energy after ten sweeps against a run of 12,000 from another seed
z_of_energy() { awk '$1 == "local_energy.energy" { split($2, p, /[()]/); e = p[2] / 1000
    printf "%.1f\n", (p[1] + 7.2077) / sqrt(e ^ 2 + 0.0037 ^ 2) }' "$out"; }

# Ten sweeps are enough near ions (|z| <= 4, one false alarm in 16,000 seeds), and far too few from anywhere.
test_electrons_that_begin_near_ions()
{
    local near anywhere
    sheet
    must run sim.ini
    near=$(z_of_energy)
    must run sim.ini --set initial.state=random --set run.walkers=96
    anywhere=$(z_of_energy)
    echo "z after ten sweeps: near ions $near, from anywhere $anywhere"
    awk "BEGIN { exit !($near < 4 && $near > -4) }" || fail "it is not in equilibrium"
    awk "BEGIN { exit !($anywhere > 10) }" || fail "it would be in equilibrium anyway: this shows nothing"
}
