# HDF5 files that were damaged, or made to do harm: refused in one sentence, soon, with the code of
# what they were to be.

faults=$here/../data/faults
limit=10 # seconds

# turned_away CODE START ARGUMENT...: refused with this code and one last sentence that begins so.
turned_away()
{
    local code=$1 start=$2 begin
    shift 2
    begin=$(seconds)
    plugmc "$@"
    expect_exit "$code"
    tail -1 "$err" | grep -q "^$start" || fail "expected a sentence that begins with: $start"
    [ "$(grep -vc ': warning: \|^on the CPU' "$err")" = 1 ] || fail "expected one sentence"
    expect_untouched
    [ "$(arithmetic "$(seconds) - $begin < $limit")" = 1 ] || fail "longer than $limit s"
}

test_checkpoints_that_broke_the_program()
{
    for name in leak8k leak5 resume_1_120 vds resume_1_211 filt; do
        cp "$faults/$name.h5" .
        turned_away 6 "cannot read $name.h5: it" run --resume $name.h5 --set run.sweeps=60
    done
}

test_initial_states_that_broke_the_program()
{
    cp "$faults/init.ini" .
    for name in vdsmd h5md_1_441 filt; do
        cp "$faults/$name.h5" m.h5
        turned_away 3 "cannot read positions from m.h5: it" run init.ini
    done
}

# None of the libraries that a file asks for is opened, wherever they are said to lie.
test_filter_plugins_are_not_loaded()
{
    mkdir filters
    cat >filter.c <<'END'
#include <stdio.h>
__attribute__((constructor)) static void ran(void) { fclose(fopen("it-ran", "w")); }
int H5PLget_plugin_type(void) { return 0; }
const void *H5PLget_plugin_info(void) { return 0; }
END
    cc -shared -fPIC filter.c -o filters/libfilter.so || skip "no compiler"
    cp "$faults/filt.h5" m.h5
    cp "$faults/init.ini" .
    export HDF5_PLUGIN_PATH=$PWD/filters
    turned_away 3 "cannot read positions from m.h5: its 'position' needs a filter that is not part" \
        run init.ini
    turned_away 6 "cannot read m.h5: it has no checkpoint" run --resume m.h5
    h5dump m.h5 >/dev/null 2>&1
    [ -e it-ran ] || fail "the library would not have run in any case"
}

hostile_kinds="virtual external filter text huge elsewhere loop cycle"

# each_kind FILE PATH CODE START ARGUMENT...: FILE with something hostile at PATH, of every kind.
each_kind()
{
    local file=$1 path=$2
    shift 2
    cp "$file" sound.h5
    for kind in $hostile_kinds; do
        cp sound.h5 "$file"
        "$H5TOOL" hostile "$file" "$path" $kind || fail "h5tool $kind"
        turned_away "$@"
    done
    mv sound.h5 "$file"
}

test_hostile_parts_of_checkpoints()
{
    disks
    change '$a[observable trajectory]\nperiod = 10'
    rm sim.h5
    must run sim.ini
    cp sim.h5 other.h5
    local path
    for path in plugmc/checkpoint/positions plugmc/observables/hard_pressure/pressure/series \
        plugmc/volatile/pace_sweep plugmc/volatile/pace_seconds; do
        h5ls "sim.h5/$path" >/dev/null || fail "there is no $path"
        each_kind sim.h5 $path 6 "cannot read sim.h5: " run --resume sim.h5
    done
    must run --resume sim.h5
}

test_hostile_parts_of_initial_states()
{
    disks
    change '$a[observable trajectory]\nperiod = 10\nformat = h5md'
    rm sim.h5
    must run sim.ini --set run.output=start.h5
    cp start.h5 other.h5
    change 's/^state = .*/state = file\nfile = start.h5md/'
    for path in position/value box/edges/value species; do
        each_kind start.h5md particles/trajectory/$path 3 ".*start.h5md: " \
            run sim.ini
    done
    must run sim.ini
    change 's/^file = .*/file = start.h5/' # the state at the end of that run
    for path in positions boxes species; do
        each_kind start.h5 plugmc/checkpoint/$path 3 ".*start.h5: " run sim.ini
    done
    must run sim.ini
}

test_hostile_parts_of_orbitals()
{
    cp "$here/../data/qmc/diamondC.pwscf.h5" orbitals.h5
    chmod u+w orbitals.h5
    cp orbitals.h5 other.h5
    cat >sim.ini <<'END'
[run]
sweeps = 1
[box]
dimension = 3
lx = 5
[species up]
count = 4
[species down]
count = 4
[potential bspline_orbitals]
file = orbitals.h5
[mover serial]
END
    for path in supercell/primitive_vectors electrons/kpoint_0/gvectors \
        electrons/kpoint_0/spin_0/state_1/psi_g; do
        each_kind orbitals.h5 $path 3 \
            "sim.ini:10: \[potential bspline_orbitals\] orbitals.h5: " check sim.ini
    done
    mkfifo pipe.h5
    turned_away 3 "sim.ini:10: \[potential bspline_orbitals\] pipe.h5: .* not a regular file" \
        check sim.ini --set "potential bspline_orbitals.file=pipe.h5"
}

test_pipes_devices_and_folders_as_input()
{
    disks
    mkfifo pipe.h5 pipe.xyz
    ln -s /dev/zero "$work/said/zero.h5" # where no contents are compared
    mkdir folder.h5
    change 's/^state = .*/state = file\nfile = none.h5/'
    for name in pipe.h5 folder.h5 "$work/said/zero.h5"; do
        turned_away 6 "cannot read $name: it is " run --resume $name
        turned_away 3 "cannot read positions from $name: it is " run sim.ini \
            --set initial.file=$name
    done
    turned_away 3 "pipe.xyz: cannot be opened: it is not a regular file" run sim.ini \
        --set initial.file=pipe.xyz
}

# The child that reads first leaves nothing behind, and its limits are not those of the run.
test_a_rehearsal_leaves_nothing_behind()
{
    disks
    rm sim.h5
    must run sim.ini
    must run --resume sim.h5 --set run.sweeps=30
    [ "$(ls)" = "$(printf 'sim.h5\nsim.ini')" ] || fail "there are other files: $(ls)"
    cp sim.h5 readonly.h5
    plugmc rehearse checkpoint readonly.h5 ""
    expect_exit 0
    plugmc rehearse weather readonly.h5 ""
    expect_exit 9
}

test_hostile_parts_of_gaussian_orbitals()
{
    cat >sim.ini <<'END'
[run]
sweeps = 1
[box]
dimension = 3
shape = sphere
radius = 15
[species up]
count = 5
[species down]
count = 5
[initial]
state = near_ions
[potential gaussian_orbitals]
file = orbitals.h5
[mover particle_by_particle]
END
    for format in "water.h5 atoms/positions basisset/atomicBasisSet0/basisGroup0/type Super_Twist/eigenset_0" \
        "water.trexio.h5 nucleus/nucleus_coord basis/basis_exponent mo/mo_coefficient"; do
        set -- $format
        cp -f "$here/../data/lcao/$1" orbitals.h5
        chmod u+w orbitals.h5
        cp -f orbitals.h5 other.h5
        for path in "${@:2}"; do
            each_kind orbitals.h5 "$path" 3 \
                "sim.ini:13: \[potential gaussian_orbitals\] orbitals.h5: " check sim.ini
        done
    done
    mkfifo pipe.h5
    turned_away 3 "sim.ini:13: \[potential gaussian_orbitals\] pipe.h5: .* not a regular file" \
        check sim.ini --set "potential gaussian_orbitals.file=pipe.h5"
}
