# Weights of energies (umbrella, wang_landau, transition_matrix with of = energy): runs are the same however they are
# cut. Their numbers are tested by tests/distributions, what they do not go with by tests/refusals.

# fluid MOVER [KEY...]: Lennard-Jones particles, weighed by their energy
fluid()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 400
	equilibrate = 100
	seed = 5
	walkers = 3
	device = cpu
	temperature = 1.3
	[box]
	dimension = 3
	lx = 6
	[species atom]
	count = 40
	[potential lennard_jones]
	epsilon = 1
	cutoff = 2.5
	[mover serial]
	step = 0.5
	[mover $1]
	variable = energy
	min = -120
	max = 0
	bins = 60
	period = 10
	END
    printf '%s\n' "${@:2}" >>sim.ini
}

test_runs_weighed_by_energy_are_resumed()
{
    local mover
    for mover in 'transition_matrix' 'wang_landau learning' 'umbrella'; do
        fluid ${mover% *}
        [ "$mover" = "${mover% *}" ] || echo 'learning = 100' >>sim.ini
        must run sim.ini --set run.output=whole.h5
        must run sim.ini --set run.output=threads.h5 --set run.threads=1
        must run sim.ini --set run.sweeps=57 --set run.output=parts.h5
        must run --resume parts.h5 --set run.sweeps=123
        must run --resume parts.h5 --set run.sweeps=400
        same_chain whole.h5 parts.h5
        same_chain whole.h5 threads.h5
        rm -f *.h5
    done
}

# What is derived depends on the weights, which are in the file: analyse finds what the run has found.
test_results_of_weights_again()
{
    fluid wang_landau 'learning = 100'
    must run sim.ini --set run.output=sim.h5
    must analyse sim.h5 --print wang_landau.ln_p
    awk '!/^#/ { print $2 }' "$out" >../again
    h5dump -y -m %.17g -w 1 -d /plugmc/observables/wang_landau/ln_p/value sim.h5 | sed -n 's/^ *\(-\?[0-9n][-0-9.ane+]*\),\?$/\1/p' >../first
    paste ../first ../again | awk '{ same = $1 == $2 || ($1 ~ /nan/ && $2 ~ /nan/); n++; if (!same) { print; bad = 1 } }
        END { exit bad || n != 60 }' || fail "expected the ln_p of the run itself"
}

# Swaps and volumes are weighed, too.
test_swaps_and_volumes_are_weighed_by_energy()
{
    fluid transition_matrix
    change 's/^count = 40/&\n[species other]\ncount = 10/; s/^temperature/pressure = 0.3\n&/; s/^epsilon = 1/epsilon = 1 0.5/'
    printf '%s\n' '[mover swap]' 'a = atom' 'b = other' 'trials = 20' '[mover volume]' 'every = 5' 'step = 0.02' >>sim.ini
    must run sim.ini --set run.output=whole.h5
    must run sim.ini --set run.sweeps=57 --set run.output=parts.h5
    must run --resume parts.h5 --set run.sweeps=400
    same_chain whole.h5 parts.h5
}
