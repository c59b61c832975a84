# Chains of the release before: positions after short runs, recorded at commit 9d113c5. Where the
# algorithm is the same, so is every bit. That of hmc is newer: it has taken each pair once since version 2.1 of the
# plugin interface.

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
    liquid_then $'[mover hmc]\ntime_step = 0.003\ntarget_acceptance = 0' && is hmc a755869f6c11a2ad
}

test_chains_of_ions_are_those_of_the_release_before()
{
    ions_then $'[mover brush]\nstep = 1\ntarget_acceptance = 0.4' && is brush 2852a4ac31a32283
    ions_then $'[mover serial]\nstep = 1' && is serial 76b9f82748ff6c53
}

# ---- Chains that are recorded, of every mover ----

# as_recorded DEVICE NAME...: chains/NAME*.ini are what chains/DEVICE.txt says, with as many THREADS. Series that are new
# have no line there, and may be.
as_recorded()
{
    local device=$1 name files=()
    shift
    for name in "$@"; do files+=("$here/chains/$name"*.ini); done
    "$here/chains/record.sh" "$PLUGMC" "$device" "${files[@]}" >"$out" 2>"$err" || fail "a chain does not run"
    for name in "${files[@]}"; do
        name=$(basename "$name" .ini)
        grep -q "^$name positions " "$here/chains/$device.txt" || continue
        grep "^$name " "$here/chains/$device.txt" | grep -vxFf "$out" >lost
        [ ! -s lost ] || fail "another chain on $device than the one recorded: $(cat lost)"
        echo "$name" >>compared
    done
    [ -s compared ] || fail "no chain is recorded"
    echo "chains that are the same: $(wc -l <compared)"
}

of_one_and_two_threads()
{
    as_recorded cpu "$@"
    THREADS=2 as_recorded cpu "$@"
}

test_chains_of_single_moves_are_recorded() { of_one_and_two_threads serial swap identity cluster event rotate; }
test_chains_of_cells_and_brushes_are_recorded() { of_one_and_two_threads checkerboard brush; }
test_chains_of_trajectories_are_recorded() { of_one_and_two_threads hmc; }
test_chains_of_changing_boxes_are_recorded() { of_one_and_two_threads volume transfer; }
test_chains_of_changing_numbers_are_recorded() { of_one_and_two_threads insert; }
test_chains_of_weights_are_recorded() { of_one_and_two_threads weights; }
test_chains_of_ladders_are_recorded() { of_one_and_two_threads ladder; }
test_chains_of_electrons_are_recorded() { of_one_and_two_threads vmc diffusion; }

# Every mover that there is, but for those that are on a GPU only.
test_chains_of_every_mover_are_recorded()
{
    local mover
    must list
    sed -n '/^movers/,/^observables/s/^  \([a-z_]*\) .*/\1/p' "$out" >movers
    [ "$(wc -l <movers)" -gt 20 ] || fail "there are more movers"
    while read -r mover; do
        grep -lE "^(\[mover $mover\]|plugin = $mover)$" "$here"/chains/*.ini >files || fail "no chain of $mover"
        "$PLUGMC" info "$mover" | grep -q "runs on the CPU" || continue
        while read -r file; do
            grep -q "^$(basename "$file" .ini) positions " "$here/chains/cpu.txt" && continue 2
        done <files
        fail "no chain of $mover on the CPU"
    done <movers
}

# Recorded by record.sh on an NVIDIA H200.
test_chains_are_recorded_on_a_gpu()
{
    gpu
    [ -e "$here/chains/gpu.txt" ] || skip "no chains of a GPU are recorded"
    JOBS=4 as_recorded gpu ''
}
