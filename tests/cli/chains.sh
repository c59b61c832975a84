# Chains of the release before: positions after short runs, recorded at commit 9d113c5. Where the
# algorithm is the same, so is every bit.

# is NAME HASH: the positions at the end of sim.ini.
is()
{
    must run sim.ini --set run.output="$1.h5"
    h5dump -d /plugmc/checkpoint/positions -b LE -o "$1.raw" "$1.h5" >/dev/null || fail "h5dump"
    local found
    found=$(sha256sum <"$1.raw" | cut -c1-16)
    [ "$found" = "$2" ] || fail "$1: positions are $found, and were $2"
}

run_section()
{
    cat <<-END
	[run]
	sweeps = 100
	equilibrate = 40
	seed = 9
	threads = 1
	device = cpu
	walkers = 2
	END
}

disks_then()
{
    { run_section
      printf '[box]\ndimension = 2\npacking_fraction = 0.65\n[species disk]\ncount = 256\n'
      printf '[initial]\nstate = lattice\n[potential hard_disk]\n%s\n' "$1"; } >sim.ini
}

liquid_then()
{
    { run_section
      printf '[box]\ndimension = 3\ndensity = 0.5\n[species a]\ncount = 512\n[initial]\nstate = random\n'
      printf '[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 2.5\n%s\n' "$1"; } >sim.ini
}

ions_then()
{
    { run_section
      printf '[box]\ndimension = 3\nshape = sphere\nradius = 10\n[species cation]\ncount = 50\ncharge = 1\n'
      printf '[species anion]\ncount = 50\ncharge = -1\n[initial]\nstate = random\n[potential hard_sphere]\n'
      printf '[potential coulomb]\nbjerrum_length = 2\n%s\n' "$1"; } >sim.ini
}

tuned=$'step = 0.2\ntarget_acceptance = 0.4'

test_chains_of_disks_are_those_of_the_release_before()
{
    disks_then "[mover serial]"$'\n'"$tuned" && is serial 0f38f8c34daf33ec
    disks_then "[mover checkerboard]"$'\n'"$tuned" && is checkerboard 452e58174f9ef930
}

test_chains_of_liquids_are_those_of_the_release_before()
{
    liquid_then "[mover serial]"$'\n'"$tuned" && is serial 83a02e2851e91e52
    liquid_then $'[mover checkerboard]\nstep = 0.2' && is checkerboard 6fee105ecf423ad8
    liquid_then $'[mover hmc]\ntime_step = 0.003\ntarget_acceptance = 0' && is hmc 727beb734e1c2768
}

test_chains_of_ions_are_those_of_the_release_before()
{
    ions_then $'[mover brush]\nstep = 1\ntarget_acceptance = 0.4' && is brush 2852a4ac31a32283
    ions_then $'[mover serial]\nstep = 1' && is serial 76b9f82748ff6c53
}
