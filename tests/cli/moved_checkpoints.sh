# A checkpoint does not know how many processes made it: three begin a run, two go on, then four, and one ends it. The file
# is that of one process that made all, whatever moves.
. "$here/processes.sh" # systems with every mover; here `alone` is:

alone()
{
    local name=$1 sweeps
    sweeps=$(sed -n 's/^sweeps = //p' sim.ini)
    shift
    must run sim.ini --set run.walkers=7 --set "run.output=$name.h5" "$@"
    must_by 3 run sim.ini --set run.walkers=7 --set "run.output=$name-moved.h5" --set "run.sweeps=$((sweeps / 4))" "$@"
    must_by 2 run --resume "$name-moved.h5" --set "run.sweeps=$((sweeps / 2))"
    must_by 4 run --resume "$name-moved.h5" --set "run.sweeps=$((sweeps - sweeps / 4))"
    must run --resume "$name-moved.h5" --set "run.sweeps=$sweeps"
    same_file "$name.h5" "$name-moved.h5"
}

test_moved_checkpoint_of_serial() { one_mover serial; }
test_moved_checkpoint_of_checkerboard() { one_mover checkerboard; }
test_moved_checkpoint_of_several_movers() { several_movers; }
test_moved_checkpoint_of_clusters_and_chains() { test_clusters_and_chains_of_some_walkers; }
test_moved_checkpoint_of_brush() { ions_in_a_sphere brush; }
test_moved_checkpoint_of_hmc() { trajectories_of_hmc; }
test_moved_checkpoint_of_ewald() { waves serial; }
test_moved_checkpoint_of_electrons() { electrons; }

# Systems of other files, of which each reads its own lists of plugins.
test_moved_checkpoint_of_groups()
{
    . "$here/groups.sh"
    salt
    alone groups
}

test_moved_checkpoint_of_single_electrons()
{
    . "$here/wave_functions.sh"
    atom
    change 's/^equilibrate.*/equilibrate = 0/'
    alone atom
}

# Their numbers of processes are others: pairs stay together, and a ladder has as many walkers as rungs.
test_moved_checkpoint_of_pairs_of_boxes()
{
    example gibbs 's/^count = .*/count = 60/; s/^cutoff = 3/cutoff = 2/; s/^\[run\]/&\nwalkers = 6/'
    must run sim.ini --set run.output=one.h5
    must_by 3 run sim.ini --set run.output=moved.h5 --set run.sweeps=5
    must_by 2 run --resume moved.h5 --set run.sweeps=10
    must run --resume moved.h5 --set run.sweeps=20
    same_file one.h5 moved.h5
}

test_moved_checkpoint_of_a_ladder()
{
    ladder
    must run sim.ini --set run.output=one.h5
    must_by 3 run sim.ini --set run.output=moved.h5 --set run.sweeps=100
    must_by 2 run --resume moved.h5 --set run.sweeps=200
    must run --resume moved.h5 --set run.sweeps=300
    same_file one.h5 moved.h5
}
