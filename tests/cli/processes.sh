# Many processes make one run: as many chains, results and files as one process makes.
. "$here/walkers.sh" # systems with every mover; here `alone` is:

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_hwloc_base_binding_policy=none

# by N ARGUMENT...: plugmc as N processes, with what it says like `plugmc`.
by()
{
    command="mpirun -n $1 plugmc ${*:2}"
    command -v mpirun >/dev/null && [ -e "$(dirname "$PLUGMC")/mpi/plugmc_open_mpi.so" ] || skip "there is no Open MPI"
    timeout --kill-after=5 120 mpirun --quiet ${recovery-} -n "$1" "${program-$PLUGMC}" "${@:2}" >"$out" 2>"$err" </dev/null
    status=$?
}

must_by()
{
    by "$@"
    [ $status = 0 ] || fail "it did not end well"
}

# same_file A B: all but how and where it ran.
same_file()
{
    local said
    said=$(h5diff --exclude-path /parameters --exclude-path /plugmc/volatile "$1" "$2" 2>&1) && [ -z "$said" ] ||
        fail "$1 and $2 differ: $said"
}

# The table without wall time and names of files.
table() { sed -e 's/; [0-9.e+-]* s$//' -e "s/in [^ ]*\.h5//" -e '/\.h5$/d' "$out"; }

alone()
{
    local name=$1 n
    shift
    must run sim.ini --set run.walkers=7 --set "run.output=$name-1.h5" "$@"
    table >one.txt
    for n in ${numbers-2 3 4}; do
        must_by "$n" run sim.ini --set run.walkers=7 --set "run.output=$name-$n.h5" "$@"
        same_file "$name-1.h5" "$name-$n.h5"
        table >many.txt
        cmp -s one.txt many.txt || fail "another table than $(cat one.txt)"
    done
}

test_serial_in_many_processes() { one_mover serial; }
test_checkerboard_in_many_processes() { one_mover checkerboard; }
test_several_movers_in_many_processes() { several_movers; }
test_clusters_and_chains_in_many_processes() { test_clusters_and_chains_of_some_walkers; }
test_brush_in_many_processes() { ions_in_a_sphere brush; }
test_hmc_in_many_processes() { trajectories_of_hmc; }
test_ewald_in_many_processes() { waves serial; }
test_electrons_in_many_processes() { electrons; }

test_groups_in_many_processes()
{
    . "$here/groups.sh"
    salt
    alone groups
}

test_single_electrons_in_many_processes()
{
    . "$here/wave_functions.sh"
    atom
    alone atom
}

test_pairs_of_boxes_in_many_processes()
{
    example gibbs 's/^count = .*/count = 60/; s/^cutoff = 3/cutoff = 2/'
    must run sim.ini --set run.walkers=6 --set run.output=one.h5
    must_by 3 run sim.ini --set run.walkers=6 --set run.output=three.h5
    same_file one.h5 three.h5
    refused_by 4 3 "sim.ini:2: [run] walkers = 6, some of which stay together, cannot be distributed over 4 processes: each needs at least 2" run sim.ini --set run.walkers=6 --set run.output=four.h5
}

# A ladder with what has an error bar, arrays, a tuned step a rung, frames, boxes that change.
ladder()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	equilibrate = 100
	seed = 4
	walkers = 8
	device = cpu
	pressure = 0.3
	${1-}
	[box]
	dimension = 3
	density = 0.3
	[species a]
	count = 64
	diameter = 1
	[initial]
	state = lattice
	[ladder]
	vary = run.temperature
	values = 1.4 1.6 1.8 2
	[potential lennard_jones]
	epsilon = 1
	cutoff = 2
	[mover serial]
	step = 0.1
	target_acceptance = 0.4
	[mover volume]
	every = 3
	[mover exchange]
	every = 2
	[observable energy]
	period = 5
	[observable rdf]
	period = 20
	r_max = 2
	[observable round_trips]
	period = 2
	[observable trajectory]
	period = 100
	END
}

test_ladder_in_many_processes()
{
    local n
    ladder
    must run sim.ini --set run.output=one.h5
    table >one.txt
    grep -q 'exchange' "$out" || fail "there are no exchanges"
    for n in 2 3 8; do
        must_by $n run sim.ini --set run.output=$n.h5
        same_file one.h5 $n.h5
        table >many.txt
        cmp -s one.txt many.txt || fail "another table than $(cat one.txt)"
    done
}

# refused_by N CODE SENTENCE ARGUMENT...: once, whoever says it.
refused_by()
{
    by "$1" "${@:4}"
    [ $status = "$2" ] || fail "exit code $status, not $2"
    [ "$(grep -cF -- "$3" "$err")" = 1 ] || fail "not said once: $3"
}

test_error_in_all_of_many_processes()
{
    ladder
    change 's/^equilibrate.*/equilibrate = many/'
    refused_by 3 3 "sim.ini:3: [run] equilibrate" run sim.ini
    [ ! -e sim.h5 ] || fail "there is a file"
}

# by_odd N RANK COMMAND ARGUMENT...: as `by`, and the process of this rank begins with a command of the shell.
by_odd()
{
    printf '#!/bin/bash\n[ "$OMPI_COMM_WORLD_RANK" != %s ] || { %s; }\nexec "%s" "$@"\n' "$2" "$3" "$PLUGMC" >odd.sh
    chmod +x odd.sh
    program=./odd.sh by "$1" "${@:4}"
}

# One process alone reads another file, or cannot find a plugin, or write: nobody waits for it.
test_error_in_one_of_many_processes()
{
    ladder
    mkdir elsewhere
    sed 's/values = .*/values = 1.4 1.6 1.8/' sim.ini >elsewhere/sim.ini
    by_odd 4 2 "cd elsewhere" run sim.ini
    [ $status = 3 ] || fail "exit code $status"
    grep -q "rank 2: sim.ini:17: \[ladder\] has 3 values for 8 walkers" "$err" || fail "it is not said who"
    [ ! -e sim.h5 ] || fail "there is a file"
}

# One process reads what the others do not: another key, another file under the same name, another plugin.
test_other_input_in_one_of_many_processes()
{
    local key
    ladder
    change 's/^sweeps = .*/sweeps = 60/'
    for key in seed=9 sweeps=80; do
        by_odd 3 2 "set -- \"\$@\" --set run.$key" run sim.ini
        [ $status = 3 ] || fail "exit code $status, not 3"
        grep -Eqx "rank 2: sim.ini: \[run\] ${key%=*} is ${key#*=}, and [0-9]+ in rank 0: all processes need the same input" \
            "$err" || fail "it is not said what"
        [ ! -e sim.h5 ] || fail "there is a file"
    done
    cp -r "$PLUGINS" others
    printf 'x' >>others/serial.so
    by_odd 2 1 "export PLUGMC_PLUGIN_PATH=$PWD/others" run sim.ini
    [ $status = 3 ] || fail "exit code $status, not 3"
    grep -Eqx "rank 1: sim.ini: plugin mover serial is [0-9a-f]+, and [0-9a-f]+ in rank 0: all processes need the same input" \
        "$err" || fail "it is not said what"
    mkdir elsewhere
    awk 'BEGIN {
        printf "64\nLattice=\"6 0 0 0 6 0 0 0 6\" Properties=species:S:1:pos:R:3\n"
        for (i = 0; i < 64; i++) printf "a %g %g %g\n", i % 4 * 1.5, int(i / 4) % 4 * 1.5, int(i / 16) * 1.5
    }' >start.xyz
    sed 's/^a 4.5 4.5 4.5/a 4.5 4.5 4.6/' start.xyz >elsewhere/start.xyz
    change 's/^density.*/lx = 6/; s/^state.*/state = file\nfile = start.xyz/'
    cp sim.ini elsewhere
    by_odd 2 1 "cd elsewhere" run sim.ini
    [ $status = 3 ] || fail "exit code $status, not 3"
    grep -q "^rank 1: sim.ini: file of .initial. file is [0-9a-f]*, and [0-9a-f]* in rank 0: all processes need the" "$err" || fail "it is not said what"
    # each for itself, or rank 0 alone
    by_odd 2 1 'set -- "$@" --set run.threads=2 --set run.checkpoint=0.1' run sim.ini
    [ $status = 0 ] || fail "refused"
}

# A time limit of one is one of all.
test_time_limit_of_one_of_many_processes()
{
    ladder
    by_odd 3 2 'set -- "$@" --set run.time_limit=1' run sim.ini --set run.sweeps=100000000
    [ $status = 11 ] || fail "exit code $status, not 11"
    [ "$(grep -c 'time limit reached after sweep' "$err")" = 1 ] || fail "it is not said once"
}

test_plugin_missing_in_one_of_many_processes()
{
    local rank
    printf '[mover serial]\n[mover refusing]\n' | particles 20 hard_sphere
    change 's/^seed/walkers = 3\nseed/'
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS
    must_by 3 run sim.ini --set run.output=all.h5
    for rank in 0 2; do
        by_odd 3 $rank "unset PLUGMC_PLUGIN_PATH" run sim.ini
        [ $status = 4 ] || fail "exit code $status, not 4"
        [ "$(grep -c "there is no plugin 'refusing'" "$err")" = 1 ] || fail "it is not said once"
        [ $rank = 0 ] || grep -q "^rank $rank: sim.ini:19: there is no plugin" "$err" || fail "it is not said who"
        [ ! -e sim.h5 ] || fail "there is a file"
    done
}

# A limit on the size of files stands for a full disk. The others have none: then it makes no difference.
test_full_disk_of_one_of_many_processes()
{
    ladder
    must_by 3 run sim.ini --set run.output=all.h5
    OMPI_MCA_btl=self,tcp by_odd 3 1 "ulimit -f 1" run sim.ini --set run.output=other.h5
    [ $status = 0 ] || fail "who does not write has failed"
    same_file all.h5 other.h5
    OMPI_MCA_btl=self,tcp by_odd 3 0 "ulimit -f 1" run sim.ini # memory that is shared is a file, too
    [ $status = 5 ] || fail "exit code $status, not 5"
    [ "$(grep -c "cannot write sim.h5: File too large (nothing was changed)" "$err")" = 1 ] || fail "it is not said once"
    [ ! -e sim.h5 ] || fail "there is a file"
}

test_disk_of_many_processes_that_becomes_full()
{
    ladder
    change '/^.observable trajectory/,$s/^period.*/period = 5/'
    must_by 2 run sim.ini --set run.output=all.h5
    must_by 3 run sim.ini --set run.sweeps=100
    cp sim.h5 before.h5
    OMPI_MCA_btl=self,tcp by_odd 3 0 "ulimit -f $(($(stat -c %s sim.h5) / 1024 + 20))" run --resume sim.h5 --set run.sweeps=300
    [ $status = 5 ] || fail "exit code $status, not 5"
    [ "$(grep -c "cannot write sim.h5: File too large (the file from the last checkpoint is intact" "$err")" = 1 ] ||
        fail "it is not said once"
    cmp sim.h5 before.h5 || fail "the file is another"
    must_by 2 run --resume sim.h5 --set run.sweeps=300
    same_file all.h5 sim.h5
    same_frames all.h5 sim.h5
}

# The process of this rank that mpirun, or timeout with it, has started.
process_of()
{
    local pid
    for pid in $(pgrep -P "$(pgrep -P "$1" mpirun || echo "$1")" plugmc); do
        tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2" && echo "$pid"
    done
}

wait_for_file()
{
    for _ in $(seq 300); do
        [ -e sim.h5 ] && return
        sleep 0.1
    done
    fail "it does not begin"
}

# lost_of RANK OPTION...: a process of sim.ini (of three, or $processes) is killed; the others end within ten seconds. With
# --enable-recovery the launcher looks away.
lost_of()
{
    local end
    by 1 --version
    timeout --kill-after=5 100 mpirun --quiet "${@:2}" -n "${processes-3}" "$PLUGMC" run sim.ini --set run.sweeps=100000000 \
        >"$out" 2>"$err" </dev/null &
    local launcher=$!
    wait_for_file
    kill -KILL "$(process_of $launcher "$1")"
    end=$((${EPOCHREALTIME/./} + 10000000)) # microseconds
    while kill -0 $launcher 2>/dev/null && [ ${EPOCHREALTIME/./} -lt $end ]; do sleep 0.1; done
    kill -0 $launcher 2>/dev/null && fail "the others go on"
    wait $launcher
    status=$?
    [ $status != 0 ] || [ $# -gt 1 ] || fail "it ended well"
    cp "$err" said.txt
    plugmc run --resume sim.h5 --set run.sweeps=1
    [ $status = 0 ] || grep -q 'it has made' "$err" || fail "the file is not whole"
}

lose()
{
    ladder "checkpoint = 0.2"
    lost_of "$@"
}

test_lost_process_of_many_processes()
{
    lose 2 --enable-recovery
    grep -q 'rank 2 on .* is lost: all processes end; the file is that of the last checkpoint' said.txt ||
        fail "it is not said who is gone"
}

test_first_process_lost_of_many_processes()
{
    lose 0 --enable-recovery
    grep -q 'rank 0 on .* is lost' said.txt || fail "it is not said who is gone"
}

test_lost_process_that_the_launcher_sees() { lose 1; }

# A signal to one of them stops all, with a checkpoint, from which the run goes on.
test_signal_to_one_of_many_processes()
{
    ladder "checkpoint = 0.2"
    by 1 --version
    timeout --kill-after=5 100 mpirun --quiet -n 3 "$PLUGMC" run sim.ini --set run.sweeps=100000000 >"$out" \
        2>"$err" </dev/null &
    local launcher=$!
    wait_for_file
    kill -TERM "$(process_of $launcher 1)"
    wait $launcher
    status=$?
    [ $status = 10 ] || fail "exit code $status, not 10"
    [ "$(grep -c 'stopped by signal 15 after sweep' "$err")" = 1 ] || fail "it is not said once"
    local made
    made=$(sed -n 's/.*after sweep \([0-9]*\).*/\1/p' "$err")
    must_by 2 run --resume sim.h5 --set "run.sweeps=$made"
}

# As Slurm's --signal does it.
test_signal_to_all_of_many_processes()
{
    ladder "checkpoint = 0.2"
    by 1 --version
    timeout --kill-after=5 100 mpirun --quiet -n 3 "$PLUGMC" run sim.ini --set run.sweeps=100000000 >"$out" \
        2>"$err" </dev/null &
    local launcher=$! made
    wait_for_file
    kill -TERM "$(process_of $launcher 0)" "$(process_of $launcher 1)" "$(process_of $launcher 2)"
    wait $launcher
    status=$?
    [ $status = 10 ] || fail "exit code $status, not 10"
    [ "$(grep -c 'stopped by signal 15 after sweep' "$err")" = 1 ] || fail "it is not said once"
    made=$(sed -n 's/.*after sweep \([0-9]*\).*/\1/p' "$err")
    must_by 2 run --resume sim.h5 --set "run.sweeps=$made"
}

# A job that is queued again: the first time there is nothing to go on with, and then other numbers of processes.
test_job_of_many_processes_that_is_queued_again()
{
    ladder
    must run sim.ini --set run.output=one.h5
    must_by 3 run sim.ini --resume-if-there --set run.sweeps=100
    must_by 2 run sim.ini --resume-if-there --set run.sweeps=200
    must_by 4 run sim.ini --resume-if-there
    same_file one.h5 sim.h5
}

test_time_limit_of_many_processes()
{
    ladder "time_limit = 1"
    by 3 run sim.ini --set run.sweeps=100000000
    [ $status = 11 ] || fail "exit code $status, not 11"
}

# Slurm's variables alone are no launcher: a batch script has them. Tasks that no MPI brings together are refused.
test_slurm_without_mpi()
{
    ladder
    SLURM_NTASKS=4 SLURM_PROCID=0 must run sim.ini
    SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 plugmc run sim.ini
    [ $status = 3 ] && [ ! -s "$err" ] || fail "the second task is not silent"
    SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 plugmc run sim.ini
    [ $status = 3 ] && grep -q '^srun has started 4 processes, but ' "$err" || fail "not refused"
}

# As in a chroot: the library that MPI asks where to bind processes would speak of it on standard error.
test_processes_without_sys()
{
    local apart="unshare --mount --map-root-user"
    $apart mount -t tmpfs none /sys 2>/dev/null || skip "no file system can be hidden here"
    ladder
    printf '#!/bin/bash\nmount -t tmpfs none /sys\nexec %q "$@"\n' "$PLUGMC" >hidden
    SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 $apart bash hidden run sim.ini >"$out" 2>"$err"
    status=$?
    [ $status = 3 ] && [ ! -s "$err" ] || fail "the second task is not silent"
}

# What a cluster builds by one command, and what doctor says of it.
test_mpi_that_is_built_again()
{
    command -v mpicc >/dev/null || skip "there is no mpicc"
    by 1 --version
    bash "$here/../../scripts/mpi.sh" "$PWD/own" >"$out" 2>"$err" || fail "scripts/mpi.sh has failed"
    export PLUGMC_MPI_PATH=$PWD/own
    must doctor
    grep -q "^MPI  *Open MPI: $PWD/own/plugmc_open_mpi.so, with its library$" "$out" || fail "doctor does not know it"
    ladder
    must run sim.ini --set run.output=one.h5
    must_by 2 run sim.ini
    same_file one.h5 sim.h5
    printf 'int plugmc_other;\n' >other.c
    mpicc -shared -fPIC other.c -o own/plugmc_open_mpi.so
    by 2 run sim.ini
    [ $status = 3 ] && grep -q "the launcher has started 2 processes, but $PWD/own/plugmc_open_mpi.so is of another version: rebuild it with scripts/mpi.sh" "$err" || fail "not refused"
}

test_more_processes_than_walkers()
{
    ladder
    refused_by 4 3 "[run] walkers = 3 cannot be distributed over 4 processes: each needs at least 1" run sim.ini \
        --set run.walkers=3 --set "ladder.values=1 1.2 1.4"
}

test_weights_in_many_processes()
{
    local mover
    for mover in transition_matrix "wang_landau\nlearning = 10" "umbrella\nleast = 10\nweights = 0 0 0"; do
        printf "[mover serial]\n[mover insert]\nspecies = a\n[mover $mover\n" | sed '4s/$/]\nof = a/' |
            particles 20 hard_sphere
        change 's/^count = 20/count = 20\nmax_count = 60\nactivity = 0.1/; s/^equilibrate.*/equilibrate = 20/'
        refused_by 2 3 "weights of macrostates are common to all walkers, which are distributed over 2 processes: start one process" \
            run sim.ini --set run.walkers=4
    done
}

# Weights of walkers are means over all of them.
test_diffusion_in_many_processes()
{
    . "$here/diffusion.sh"
    gas
    refused_by 2 3 "mover 'diffusion' couples walkers, which are distributed over 2 processes: start one process" run sim.ini
}

# What does not divide its work says so once, whichever launcher it is, and touches nothing.
test_programs_that_run_as_one_process()
{
    local name
    disks
    must run sim.ini --set run.sweeps=20 --set run.output=made.h5
    for name in check scan optimise report export analyse extrapolate reweight ladder; do
        OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 refused 2 "plugmc $name runs as one process, and the launcher has \
started 3, of which each would do the same: start it without mpirun or srun" $name sim.ini
        SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=2 plugmc $name made.h5
        expect_exit 2
        expect_lines 0
        expect_untouched
        OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 must $name --help
    done
    OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 must analyse made.h5
}
