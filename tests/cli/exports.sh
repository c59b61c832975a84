# plugmc export, and initial states from what it has written. exports.py reads the files by other libraries.

# disks: two species, three walkers, four frames after sweeps 18, 28, 38 and 48
disks_of_two_sizes()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	equilibrate = 8
	seed = 3
	walkers = 3
	threads = 1
	device = cpu
	[box]
	dimension = 2
	packing_fraction = 0.6
	[species big]
	count = 40
	diameter = 1
	[species small]
	count = 60
	diameter = 0.7
	[initial]
	state = random
	[potential hard_disk]
	[mover serial]
	step = 0.3
	[observable trajectory]
	format = h5md
	period = 10
	[observable hexatic_order]
	period = 5
	END
    must run sim.ini
}

# reservoir: particles of two species come and go in a box that changes
reservoir()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
	equilibrate = 0
	seed = 9
	walkers = 2
	threads = 1
	device = cpu
	temperature = 1.5
	pressure = 0.1
	[box]
	dimension = 3
	lx = 7
	[species a]
	count = 30
	max_count = 80
	activity = 0.1
	[species b]
	count = 10
	max_count = 40
	activity = 0.05
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2
	[mover serial]
	step = 0.3
	[mover insert]
	species = a
	trials = 20
	[mover others]
	plugin = insert
	species = b
	trials = 20
	[mover volume]
	step = 0.01
	[observable numbers]
	period = 100
	[observable trajectory]
	format = h5md
	period = 50
	END
    must run sim.ini
}

# leaning KEYS...: ions in an oblique box, whose first vector is not along x
leaning()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 30
	equilibrate = 0
	seed = 4
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = oblique
	a = 6 1 0.5
	b = -1 7 1
	c = ${C:-1 2 8}
	[species cation]
	count = 20
	charge = 1.5
	[species anion]
	count = 20
	charge = -1.5
	[potential lennard_jones]
	epsilon = 1
	sigma = 0.9
	cutoff = 2
	[mover serial]
	step = 0.1
	[observable energy]
	period = 10
	[observable trajectory]
	format = h5md
	period = 10
	END
    printf '%s\n' "$@" >>sim.ini
    must run sim.ini
}

sphere()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20
	equilibrate = 0
	seed = 1
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 6
	[species ball]
	count = 50
	diameter = 1
	[initial]
	state = random
	[potential hard_sphere]
	[potential spherical_wall]
	[mover serial]
	step = 1
	[observable trajectory]
	format = h5md
	period = 10
	END
    must run sim.ini
}

# python MODULE SCRIPT ARGUMENT...: by the interpreter of the system, which Debian's packages are for
python()
{
    local module=$1
    shift
    /usr/bin/python3 -c "import h5py, $module" 2>/dev/null || skip "python3 has no h5py or no $module"
    command="python3 $*"
    /usr/bin/python3 "$here/exports.py" "$@" >"$out" 2>"$err" || fail "expected that they agree"
}

# state FILE WALKER: the positions of its checkpoint with all digits, a number a line
state()
{
    local n
    n=$(h5ls "$1/plugmc/checkpoint/positions" | sed 's/.*{[0-9]*, \([0-9]*\), 3}.*/\1/')
    h5dump -y -w 1 -m %.17g -d /plugmc/checkpoint/positions -s "$2,0,0" -c "1,$n,3" "$1" | sed -n '/DATA {/,/}/p'
}

# comes_back WALKER FILE OPTION...: a run that begins with FILE, and in which nobody has moved yet, has the positions
# of this walker of sim.h5 at its end, bit for bit.
comes_back()
{
    local walker=$1 file=$2
    shift 2
    begin_with "$file" "$@"
    state sim.h5 "$walker" >sent
    state again.h5 0 >received
    [ "$(grep -c '[0-9]' sent)" -ge 120 ] || fail "expected positions in sim.h5"
    cmp sent received || fail "expected walker $walker of sim.h5 to come back from $file"
}

# begin_with FILE OPTION...: again.h5 is of a run that begins with it and moves nobody
begin_with()
{
    local file=$1
    shift
    sed '/^\[initial\]/d; /^state = /d; s/^sweeps = .*/sweeps = 1/; s/^equilibrate = .*/equilibrate = 0/
         s/^walkers = .*/walkers = 1/; s/^\[mover .*/&\nevery = 1000/' sim.ini >again.ini
    printf '[initial]\nstate = file\nfile = %s\n' "$file" >>again.ini
    rm -f again.h5
    must run again.ini "$@"
}

test_gsd_is_what_other_readers_take_it_for()
{
    disks_of_two_sizes
    must export sim.h5 --to all.gsd --walker all
    expect_output "all_2.gsd: walker 2, 4 frames"
    python gsd gsd sim.h5 all_0.gsd 0
    python gsd gsd sim.h5 all_2.gsd 2
    must export sim.h5 --to some.gsd --walker 1 --from 20 --until 4e1 --every 1 --single
    expect_output "some.gsd: walker 1, 2 frames"
    python gsd gsd sim.h5 some.gsd 1 28 38
}

test_gsd_of_changing_numbers_and_boxes()
{
    reservoir
    must export sim.h5 --to all.gsd --walker all
    python gsd gsd sim.h5 all_0.gsd 0
    python gsd gsd sim.h5 all_1.gsd 1
    must export sim.h5 --to all.xyz --walker all
    python h5py text sim.h5 all_1.xyz 1
    must export sim.h5 --to all.csv --walker all
    python h5py text sim.h5 all_1.csv 1
}

# Readers expect arrays without elements where there is nobody.
test_exports_of_frames_without_particles()
{
    reservoir
    change '/^activity/s/=.*/= 0.001/; s/^count = .*/count = 0/; s/^period = .*/period = 2/; s/^sweeps = .*/sweeps = 60/'
    must run sim.ini
    for format in gsd xyz csv; do must export sim.h5 --to all.$format; done
    grep -qx 0 all.xyz || fail "expected a frame without particles"
    python h5py text sim.h5 all.xyz 0
    python h5py text sim.h5 all.csv 0
    python gsd gsd sim.h5 all.gsd 0
}

test_gsd_of_an_oblique_box()
{
    leaning
    must export sim.h5 --to one.gsd
    python gsd gsd sim.h5 one.gsd 0
    C="1 -2 -8" leaning # left-handed
    must export sim.h5 --to mirrored.gsd
    python gsd gsd sim.h5 mirrored.gsd 0
}

test_gsd_of_a_sphere()
{
    sphere
    must export sim.h5 --to one.gsd
    python gsd gsd sim.h5 one.gsd 0
}

test_texts_have_all_digits()
{
    disks_of_two_sizes
    for format in xyz csv; do
        must export sim.h5 --to "one.$format" --walker 2
        python h5py text sim.h5 one.$format 2
    done
    leaning
    for format in xyz csv; do
        must export sim.h5 --to "two.$format" --every 2
        expect_output "walker 0, 2 frames"
        python h5py text sim.h5 two.$format 0 10 30
    done
    sphere
    for format in xyz csv; do
        must export sim.h5 --to "three.$format"
        python h5py text sim.h5 three.$format 0
    done
}

test_what_was_exported_comes_back()
{
    disks_of_two_sizes
    for file in last.gsd last.xyz last.extxyz; do
        must export sim.h5 --to $file --last --walker 2
        expect_output "$file: walker 2, 1 frame"
        comes_back 2 $file
    done
    state sim.h5 1 >other
    ! cmp -s sent other || fail "walkers must differ, or this shows nothing"
    must export sim.h5 --to all.gsd # the last frame is the last state
    comes_back 0 all.gsd
}

test_what_was_exported_comes_back_in_other_boxes()
{
    leaning
    for format in gsd xyz; do
        must export sim.h5 --to last.$format --last
        comes_back 0 last.$format
    done
    must export sim.h5 --to single.gsd --last --single
    begin_with single.gsd
    h5diff --delta=2e-6 sim.h5 again.h5 /plugmc/checkpoint/positions || fail "expected places to six digits"
    state again.h5 0 >received
    ! cmp -s sent received || fail "expected --single to leave out positions in double"
    sphere
    must export sim.h5 --to last.gsd --last --force
    comes_back 0 last.gsd
    must export sim.h5 --to last.xyz --last --force
    comes_back 0 last.xyz
}

test_changing_numbers_come_back()
{
    reservoir
    for walker in 0 1; do
        for format in xyz gsd; do
            must export sim.h5 --to last.$format --last --walker $walker --force
            comes_back $walker last.$format
        done
    done
    # where no mover changes the box, it must be that of the INI
    edge=$(sed -n '2s/Lattice="\([^ ]*\) .*/\1/p' last.xyz)
    sed -i '/^\[mover volume\]/,/^step/d; /^pressure/d' again.ini
    rejected "^last.gsd: the file's box is ${edge:0:5}[0-9]* long in x, the run's 7$"
}

test_files_that_others_have_written()
{
    leaning
    python gsd foreign foreign.gsd
    begin_with foreign.gsd
    python gsd came sim.h5 again.h5
    # Whoever has moved particles and kept what plugmc has logged contradicts himself.
    python gsd moved foreign.gsd moved.gsd
    rejected "^moved.gsd: the positions of particle 3 in its 'particles/position' and in its 'log/particles/plugmc/position' differ: take the latter out if particles were moved$" \
        --set initial.file=moved.gsd
}

test_exports_that_are_refused()
{
    disks_of_two_sizes
    refused 2 "plugmc export: which file?; see --help" export
    refused 2 "plugmc export: where to? --to NAME.gsd, NAME.xyz or NAME.csv; see --help" export sim.h5
    refused 2 "plugmc export: a.txt ends in none of .gsd, .xyz, .extxyz, .csv, .pdb, .gro, .data, .lmp and .dat: --format says which; see --help" \
        export sim.h5 --to a.txt
    refused 2 "plugmc export: there is no format 'dcd'; see --help" export sim.h5 --to a.txt --format dcd
    refused 2 "plugmc export: --every 0: a whole number from 1 on is needed; see --help" \
        export sim.h5 --to a.gsd --every 0
    refused 2 "plugmc export: --from 1.5: a whole number from 0 on is needed; see --help" \
        export sim.h5 --to a.gsd --from 1.5
    refused 2 "plugmc export: --last is one state: without --from, --until and --every; see --help" \
        export sim.h5 --to a.gsd --last --until 20
    refused 2 "there is no walker 3: sim.h5 has walkers 0 to 2" export sim.h5 --to a.gsd --walker 3
    refused 2 "sim.h5: there is no such frame; they are from sweeps 18 to 48" export sim.h5 --to a.gsd --from 49
    refused 2 "sim.h5: there is no such frame; they are from sweeps 18 to 48" \
        export sim.h5 --to a.gsd --from 19 --until 27
    refused 2 "sim.h5 is the file to be exported" export sim.h5 --to sim.h5 --format csv --force
    refused 6 "cannot read none.h5: No such file or directory" export none.h5 --to a.gsd
    refused 5 "cannot write no/such/a.gsd: No such file or directory" export sim.h5 --to no/such/a.gsd
    touch all_1.gsd
    refused 5 "all_1.gsd is there already; --force replaces it" export sim.h5 --to all.gsd --walker all
    while_locked all_2.gsd plugmc export sim.h5 --to all.gsd --walker all --force
    expect_exit 5
    expect_message "cannot write all_2.gsd: another plugmc is writing it (somebody)"
    [ ! -e all_2.gsd ] && [ ! -e all_0.gsd.lock ] || fail "it was written, or a lock is left"
    must export sim.h5 --to all.gsd --walker all --force
    change '/^\[observable trajectory/,+2d'
    must run sim.ini --set run.output=without.h5
    refused 3 "without.h5: there is no trajectory in it, as there was no [observable trajectory]; --last exports the state at the end" \
        export without.h5 --to without.gsd
    must export without.h5 --to without.gsd --last
    cp sim.h5md sound.h5md
    "$H5TOOL" hostile sim.h5md particles/trajectory/position/value virtual
    plugmc export sim.h5 --to a.gsd
    expect_exit 6
    expect_lines 1
    expect_untouched
}

# A limit on the size of files stands for a full disk.
test_exports_to_a_full_disk()
{
    disks_of_two_sizes
    for format in gsd xyz csv; do
        before=$(contents)
        command="plugmc export with at most 4 KiB a file"
        (ulimit -f 4 && exec "$PLUGMC" export sim.h5 --to full.$format) >"$out" 2>"$err" </dev/null
        status=$?
        expect_exit 5
        expect_message "cannot write full.$format: File too large"
        expect_untouched
    done
}

# A signal leaves no file behind.
test_exports_that_are_interrupted()
{
    disks_of_two_sizes
    must run sim.ini --set run.sweeps=4000 --set "observable trajectory.period=1" --set run.output=long.h5
    before=$(contents)
    command="plugmc export, stopped"
    "$PLUGMC" export long.h5 --to long.csv --walker all >"$out" 2>"$err" </dev/null &
    local child=$! waited=0
    until ls long_0.csv.tmp-* >/dev/null 2>&1 || [ $((waited += 1)) -gt 1000 ]; do sleep 0.01; done
    kill -TERM $child
    wait $child
    status=$?
    expect_exit 10
    expect_message "stopped by signal 15; long_0.csv was not written"
    expect_untouched
}

# rejected PATTERN OPTION...: again.ini is, with this sentence as the only one that is no warning
rejected()
{
    local pattern=$1
    shift
    plugmc run again.ini "$@" --set run.output=third.h5
    expect_exit 3
    grep -Eq "$pattern" "$err" || fail "expected a sentence: $pattern"
    [ "$(grep -Evc ': warning: |^on the CPU' "$err")" = 1 ] || fail "expected one sentence"
    expect_untouched
}

# put FILE OFFSET BYTES: in the place of what is there
put() { printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# hostile WORDS: bad.gsd is refused with one sentence that has these words
hostile()
{
    rejected "^bad.gsd: .*$1" --set initial.file=bad.gsd
}

test_hostile_gsd_files()
{
    leaning
    must export sim.h5 --to good.gsd --last
    begin_with good.gsd
    local size
    size=$(stat -c %s good.gsd)
    : >bad.gsd && hostile "it has 0 bytes"
    head -c 255 good.gsd >bad.gsd && hostile "it has 255 bytes"
    head -c 256 good.gsd >bad.gsd && hostile "truncated or damaged"
    head -c $((size * 3 / 4)) good.gsd >bad.gsd && hostile "would not lie inside the file: it is truncated or damaged"
    head -c 1024 good.gsd >bad.gsd && hostile "its index would not lie inside the file"
    cp sim.h5 bad.gsd && hostile "it does not begin as they do"
    # index and names: where they are, how many
    for offset in 8 16 24 32; do
        cp good.gsd bad.gsd && put bad.gsd $offset '\377\377\377\377\377\377\377\177' && hostile "inside the file"
    done
    cp good.gsd bad.gsd && put bad.gsd 16 '\0\0\0\0\0\0\0\0' && hostile "it has no frame"
    cp good.gsd bad.gsd && put bad.gsd 46 '\011' && hostile "of version 9.0 of GSD"
    cp good.gsd bad.gsd && put bad.gsd 112 'other' && hostile "not of HOOMD's schema"
    # the entry of positions: [8] n, [16] location, [24] m, [30] type
    local index entry
    index=$(od -A n -t u8 -j 8 -N 8 good.gsd | tr -d ' ')
    entry=$((index + 32 * 7)) # behind step, dimensions, box, N, types, typeid and charge
    cp good.gsd bad.gsd && put bad.gsd $((entry + 8)) '\377\377\377\377\377\377\377\377' && hostile "'particles/position' would not lie inside"
    cp good.gsd bad.gsd && put bad.gsd $((entry + 16)) '\377\377\377\377\377\377\377\377' && hostile "position' is damaged"
    cp good.gsd bad.gsd && put bad.gsd $((entry + 8)) '\021' && hostile "position' is an array of 17 times 3 numbers, not of 40"
    cp good.gsd bad.gsd && put bad.gsd $((entry + 30)) '\012' && hostile "position' are not of the kind"
    cp good.gsd bad.gsd && put bad.gsd $((entry + 28)) '\377\377' && hostile "it has no positions"
}

# Packages from PyPI: docs/testing.md says how they are given to this test.
readers()
{
    command="$readers $*"
    "$readers" "$here/exports.py" "$@" >"$out" 2>"$err" || fail "expected that they agree"
    cat "$out"
}

test_readers_from_pypi()
{
    readers=${PLUGMC_READERS_PYTHON:-python3}
    "$readers" -c "import h5py, MDAnalysis, ovito" 2>/dev/null ||
        skip "$readers has no h5py, MDAnalysis and ovito; PLUGMC_READERS_PYTHON names one that has"
    disks_of_two_sizes
    for walker in 0 1 2; do
        readers mdanalysis sim.h5 $walker
        for format in gsd xyz; do
            must export sim.h5 --to disks_$walker.$format --walker $walker
            readers ovito sim.h5 disks_$walker.$format $walker
        done
    done
    reservoir
    for walker in 0 1; do
        readers mdanalysis sim.h5 $walker
        for format in gsd xyz; do
            must export sim.h5 --to some_$walker.$format --walker $walker
            readers ovito sim.h5 some_$walker.$format $walker
        done
    done
    leaning
    readers mdanalysis sim.h5 0
    for format in gsd xyz; do
        must export sim.h5 --to leaning.$format
        readers ovito sim.h5 leaning.$format 0
    done
}

# What is exported is one file, though the run puts another in its place all the time.
test_exports_of_a_run_that_goes_on()
{
    disks
    change 's/^sweeps = .*/sweeps = 100000000/; s/^seed/checkpoint = 0.01\nseed/; s/^period = .*/period = 1000/'
    printf '\n[observable trajectory]\nperiod = 500\n' >>sim.ini
    rm sim.h5
    "$PLUGMC" run sim.ini --quiet >"$work/said/run" 2>&1 </dev/null &
    local process=$!
    trap "kill $process; wait; rm -rf '$work'" EXIT
    until "$PLUGMC" export sim.h5 --to first.gsd >/dev/null 2>&1; do
        kill -0 $process || fail "the run has ended: $(cat "$work/said/run")"
        sleep 0.02
    done
    for k in 1 2 3 4 5 6; do
        "$PLUGMC" export sim.h5 --to a.gsd --force >"$out" 2>"$err" || fail "export number $k failed"
        "$PLUGMC" analyse sim.h5 >"$out" 2>"$err" || fail "analysis number $k failed"
        kill -0 $process || fail "the run has ended after $k exports"
    done
}

# Frames whose chunks are damaged are told; all others are given, each as before.
test_frames_that_cannot_be_read_are_told_and_the_others_given()
{
    disks_of_two_sizes
    must run sim.ini --set run.sweeps=4000 --set run.walkers=2 --set run.output=long.h5
    must export long.h5 --to whole.csv --walker 1
    for row in 24 30 300; do "$H5TOOL" damage long.h5md particles/trajectory_1/position/value $row; done
    plugmc export long.h5 --to part.csv --walker all
    expect_exit 6
    expect_lines 2
    expect_output "part_0.csv: walker 0, 400 frames"
    expect_output "part_1.csv: walker 1, 382 frames"
    grep -Fq "long.h5: 12 frames of sweeps 258 to 368 of walker 1 cannot be read: it is truncated or damaged" "$err" ||
        fail "expected the first frames"
    grep -Fq "long.h5: 6 frames of sweeps 3018 to 3068 of walker 1 cannot be read: " "$err" || fail "expected the others"
    # one reader for all of them: it is started as the program beside plugmc-export
    mkdir bin
    cp "$(dirname "$PLUGMC")/plugmc-export" bin/
    printf '#!/bin/bash\necho "$1" >>started\nexec %q "$@"\n' "$PLUGMC" >bin/plugmc
    chmod +x bin/plugmc
    bin/plugmc-export long.h5 --to again.csv --walker 1 >"$out" 2>&1
    cmp part_1.csv again.csv || fail "another table by another reader"
    [ "$(grep -c '^read$' started)" -le 3 ] || fail "18 damaged frames take $(grep -c '^read$' started) readers"
    diff <(awk -F, '$2 < 258 || ($2 > 368 && $2 < 3018) || $2 > 3068' whole.csv | cut -d, -f2-) \
        <(cut -d, -f2- part_1.csv) >/dev/null || fail "other frames are not those before"
    plugmc export long.h5 --to one.gsd --walker 1 --from 268 --until 268
    expect_exit 6
    expect_message "long.h5: 1 frame after sweep 268 of walker 1 cannot be read: it is truncated or damaged (HDF5: data error detected by Fletcher32 checksum)"
    [ ! -e one.gsd ] || fail "a file without a frame"
}
