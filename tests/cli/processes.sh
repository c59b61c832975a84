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
    timeout --kill-after=5 120 mpirun --quiet ${recovery-} -n "$1" "$PLUGMC" "${@:2}" >"$out" 2>"$err" </dev/null
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
test_several_movers_in_many_processes() { numbers=3 several_movers; }
test_clusters_and_chains_in_many_processes() { numbers=3 test_clusters_and_chains_of_some_walkers; }
test_brush_in_many_processes() { numbers=3 ions_in_a_sphere brush; }
test_hmc_in_many_processes() { numbers=3 trajectories_of_hmc; }
test_ewald_in_many_processes() { numbers=3 waves serial; }
test_electrons_in_many_processes() { numbers=2 electrons; }

test_pairs_of_boxes_in_many_processes()
{
    example gibbs 's/^count = .*/count = 60/; s/^cutoff = 3/cutoff = 2/'
    must run sim.ini --set run.walkers=6 --set run.output=one.h5
    must_by 3 run sim.ini --set run.walkers=6 --set run.output=three.h5
    same_file one.h5 three.h5
    refused_by 4 3 "sim.ini:2: [run] walkers = 6, some of which stay together, cannot be shared by 4 processes: each \
needs 2 or more" run sim.ini --set run.walkers=6 --set run.output=four.h5
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

# A run of three processes is stopped, goes on as two and ends as one.
test_checkpoint_of_other_many_processes()
{
    ladder
    must run sim.ini --set run.output=one.h5
    by 3 run sim.ini --set run.output=many.h5 --set run.sweeps=100
    [ $status = 0 ] || fail "it did not begin"
    must_by 2 run --resume many.h5 --set run.sweeps=200
    must run --resume many.h5 --set run.sweeps=300
    h5diff --exclude-path /parameters --exclude-path /plugmc/volatile --exclude-path /plugmc/history one.h5 many.h5 \
        >"$out" 2>&1 || true
    rows one.h5 0 8 >one.txt
    rows many.h5 0 8 >many.txt
    [ -s one.txt ] && cmp one.txt many.txt || fail "another chain"
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

# One process alone cannot find a plugin, or cannot read a file: nobody waits for it.
test_error_in_one_of_many_processes()
{
    ladder
    cat >one.sh <<-'END'
	#!/bin/bash
	[ "$OMPI_COMM_WORLD_RANK" = 2 ] && cd elsewhere
	exec "$PLUGMC" "$@"
	END
    mkdir elsewhere
    sed 's/values = .*/values = 1.4 1.6 1.8/' sim.ini >elsewhere/sim.ini
    export PLUGMC
    local program=$PLUGMC
    by 1 --version # is there MPI?
    timeout 60 mpirun --quiet -n 4 bash one.sh run sim.ini >"$out" 2>"$err" </dev/null
    status=$?
    [ $status = 3 ] || fail "exit code $status"
    grep -q "rank 2: sim.ini:17: \[ladder\] has 3 values, and there are 8 walkers" "$err" || fail "it is not said who"
    [ ! -e sim.h5 ] || fail "there is a file"
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
    grep -q 'rank 2 on .* is gone: all processes end; the file is that of the last checkpoint' said.txt ||
        fail "it is not said who is gone"
}

test_first_process_lost_of_many_processes()
{
    lose 0 --enable-recovery
    grep -q 'rank 0 on .* is gone' said.txt || fail "it is not said who is gone"
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

test_more_processes_than_walkers()
{
    ladder
    refused_by 4 3 "[run] walkers = 3 cannot be shared by 4 processes: each needs 1 or more" run sim.ini \
        --set run.walkers=3 --set "ladder.values=1 1.2 1.4"
}

test_weights_in_many_processes()
{
    particles 20 hard_sphere <<-END
	[mover serial]
	[mover insert]
	species = a
	[mover transition_matrix]
	of = a
	END
    change 's/^count = 20/count = 20\nmost = 60\nactivity = 0.1/'
    refused_by 2 3 "weights of macrostates are those of all walkers, which 2 processes have apart: start one" \
        run sim.ini --set run.walkers=4
}
