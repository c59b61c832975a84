# Files of other programs, and of other runs, as initial states and as tables; tests/data/users has some.

users=$here/../data/users

# atoms: argon and krypton as they are in the XYZ files
atoms()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 1
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 9
	[species Ar]
	count = 6
	[species Kr]
	count = 4
	[initial]
	state = file
	file = start.xyz
	[potential lennard_jones]
	epsilon = 1 1.4
	sigma = 1 1.1
	cutoff = 4.4
	[mover serial]
	step = 1e-9
	[observable energy]
	period = 1
	END
}

# has_energy VALUE: the last command's table has it, to nine digits
has_energy()
{
    awk -v right="$1" '$1 == "energy.energy" {
        found = 1
        if (($2 - right) ^ 2 > (1e-9 * right) ^ 2) exit 1
    } END { if (!found) exit 1 }' "$out" || fail "expected the energy $1"
}

test_every_variant_of_extended_xyz_is_the_same_state()
{
    local file
    atoms
    for file in "$users"/xyz-*.xyz; do
        cp "$file" start.xyz
        must run sim.ini
        has_energy -0.0114556384965
    done
    [ "$(ls "$users"/xyz-*.xyz | wc -l)" = 10 ] || fail "expected ten files"
}

test_gsd_of_schema_2()
{
    atoms
    change 's/^lx = .*/shape = oblique\na = 9 0 0\nb = 2.55 8.5 0\nc = -1.6 3.6 8/'
    change 's/^\[species Ar\]/[species A]/; s/^\[species Kr\]/[species B]/; s/^count = .*/count = 32/'
    cp "$users/gsd5.gsd" .
    change 's/^epsilon = .*/epsilon = 1/; s/^sigma = .*/sigma = 1/; s/^cutoff = .*/cutoff = 3/'
    must run sim.ini --set initial.file=gsd5.gsd
    has_energy -0.2180446033
}

test_messages_show_control_characters_escaped()
{
    atoms
    sed 's/^disk/Ar/' "$users/num.xyz" >start.xyz
    plugmc run sim.ini --set box.dimension=2 --set box.lx=10.327955589886445 \
        --set "species Ar.count=32" --set "species Kr.count=0"
    expect_message "start.xyz:3: '\\x1b[2J0.5' is not a finite number"
    cp "$users/esc.xyz" start.xyz
    plugmc run sim.ini --set box.dimension=2 --set box.lx=10.327955589886445 \
        --set "species Ar.count=32" --set "species Kr.count=0"
    expect_message "start.xyz:3: the run has no species '\\x1b[31mX'"
    refused 3 "$(printf 'a\\xc2\\x9b.ini'): cannot open this file: No such file or directory" \
        run "$(printf 'a\302\233.ini')"
}

# mixture NAMES...: two species, in this order
mixture()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 50
	seed = 3
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 9
	[species Ar]
	count = 20
	[species Kr]
	count = 20
	[potential lennard_jones]
	epsilon = 1 3
	sigma = 0.8 1.4
	cutoff = 4.4
	[mover serial]
	step = 0.5
	[observable energy]
	period = 50
	[observable trajectory]
	format = h5md
	period = 25
	END
    must run sim.ini
}

# other_order: sim.ini begins with the trajectory of sim.h5 and has its species the other way round
other_order()
{
    sed 's/^\[species Ar\]/[species X]/; s/^\[species Kr\]/[species Ar]/; s/^\[species X\]/[species Kr]/
         s/^epsilon = .*/epsilon = 3 1/; s/^sigma = .*/sigma = 1.4 0.8/; s/^sweeps = .*/sweeps = 1/
         s/^period = .*/period = 1/; s/^step = .*/step = 1e-9/' sim.ini >next.ini
    printf '[initial]\nstate = file\nfile = sim.h5md\n' >>next.ini
}

test_species_of_h5md_go_by_their_names()
{
    mixture
    local right
    right=$(awk '$1 == "energy.energy" { print $2 + 0 }' "$out")
    other_order
    right=$(awk '$1 == "energy.energy" { sub("[*]", "", $2); print $2 }' "$out")
    must run next.ini
    has_energy "$right"
    grep -q "warning: the file has numbers" "$err" && fail "expected no warning where names are there"
    sed 's/^\[species Kr\]/[species Xe]/' next.ini >third.ini
    plugmc run third.ini
    expect_exit 3
    expect_message "sim.h5md: the run has no species 'Kr'"
    # without names, by number: the other order is another state
    "$H5TOOL" nameless sim.h5md || fail "h5tool"
    plugmc run next.ini
    grep -q "^sim.h5md: warning: the file numbers its species without names: the order of the run's species is used (0: Kr, 1: Ar)$" "$err" || fail "expected a warning"
}

# As h5py writes texts, as H5MD has species, and as an element that changes in time.
test_species_of_other_programs_go_by_their_names()
{
    mixture
    local right kind
    cp sim.h5md first.h5md
    other_order
    right=$(awk '$1 == "energy.energy" { sub("[*]", "", $2); print $2 }' "$out")
    for kind in variable enumeration in_time; do
        cp first.h5md sim.h5md
        "$H5TOOL" names sim.h5md $kind || fail "h5tool"
        must run next.ini
        has_energy "$right"
        grep -q "warning: the file has numbers" "$err" && fail "expected no warning: the names are there"
        sed 's/^\[species Kr\]/[species Xe]/' next.ini >third.ini
        plugmc run third.ini
        expect_exit 3
        expect_message "sim.h5md: the run has no species 'Kr'"
    done
}

# An output file has the last state of its run, with or without a trajectory.
test_a_run_begins_with_the_last_state_of_another()
{
    mixture
    other_order
    must run next.ini
    local last
    last=$(awk '$1 == "energy.energy" { print $2 }' "$out")
    sed '/^\[observable trajectory\]/,$d' sim.ini >none.ini
    must run none.ini
    for file in none.h5 sim.h5; do
        must run next.ini --set initial.file=$file
        [ "$(awk '$1 == "energy.energy" { print $2 }' "$out")" = "$last" ] || fail "another state in $file"
    done
    plugmc run next.ini --set initial.file=none.h5 --set initial.frame=1
    expect_exit 3
    expect_message "cannot read positions from none.h5: it has the last state of its run alone: frames are in the trajectory \
beside it"
    must export none.h5 --last --to last.gsd
    must run next.ini --set initial.file=last.gsd
}

test_an_open_box_of_h5md_is_none_for_a_periodic_run()
{
    mixture
    other_order
    "$H5TOOL" open sim.h5md || fail "h5tool"
    plugmc run next.ini
    expect_exit 3
    expect_message "sim.h5md: the file is not periodic in x, the run is"
}

test_charges_and_diameters_of_h5md_are_compared()
{
    mixture
    other_order
    plugmc run next.ini --set "species Ar.charge=1"
    expect_exit 3
    grep -q "^sim.h5md: the charge of particle 0 is 0, that of species Ar in the run is 1$" "$err" ||
        fail "expected that charges are compared"
    must run next.ini --set "species Ar.diameter=2"
    grep -q "^sim.h5md: warning: the diameter of particle 0 is 1, that of species Ar in the run is 2, \
which counts$" "$err" || fail "expected that diameters are compared"
}

# The same frame of each format.
test_a_frame_by_its_number()
{
    mixture
    other_order
    must export sim.h5 --to all.gsd
    must export sim.h5 --to all.xyz
    for frame in 0 1 -1 -2; do
        rm -f energies
        for file in sim.h5md all.gsd all.xyz; do
            must run next.ini --set initial.file=$file --set initial.frame=$frame
            awk '$1 == "energy.energy" { printf "%.6f\n", $2 }' "$out" >>energies
        done
        [ "$(sort -u energies | wc -l)" = 1 ] || fail "expected the same frame $frame of all formats"
        mv energies "energies$frame"
    done
    cmp -s energies1 energies-1 && cmp -s energies0 energies-2 || fail "expected frames from the end"
    cmp -s energies0 energies1 && fail "expected that frames differ"
    for file in sim.h5md all.gsd all.xyz; do
        plugmc run next.ini --set initial.file=$file --set initial.frame=2
        expect_exit 3
        grep -q "$file: there is no frame 2: the file has 2, 0 to 1, or -2 to -1 from the end" "$err" ||
            fail "expected a sentence"
    done
}

# contents_of FILE WALKER: the box and the places of its last state with all digits, without numbers of particles
contents_of()
{
    must export "$1" --to contents.xyz --last --walker "$2" --force
    sed -n 's/.*\(Lattice="[^"]*"\).*/\1/p' contents.xyz
    awk 'FNR > 2 { print $1, $2, $3, $4 }' contents.xyz
}

# A grand-canonical run at constant pressure goes on in another one: boxes, numbers and places of each walker.
test_boxes_and_numbers_of_another_run()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 300
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
	activity = 0.1
	[potential lennard_jones]
	epsilon = 1
	sigma = 1
	cutoff = 2
	[mover serial]
	step = 0.3
	[mover insert]
	species = a
	trials = 20
	[mover volume]
	step = 0.01
	[observable trajectory]
	format = h5md
	period = 300
	END
    must run sim.ini
    sed 's/^sweeps = .*/sweeps = 1/; s/^\[mover .*/&\nevery = 1000/; s/^period = .*/period = 1/' sim.ini >next.ini
    printf '[initial]\nstate = file\nfile = sim.h5\n' >>next.ini
    must run next.ini
    grep -q "^walkers start in the boxes of sim.h5, of volume .* to .*; that of \[box\] is 343$" "$err" ||
        fail "expected to be told of other boxes"
    for walker in 0 1; do
        contents_of sim.h5 $walker >sent
        contents_of next.h5 $walker >received
        cmp sent received || fail "expected walker $walker of sim.h5 to come back"
    done
    contents_of sim.h5 0 | cmp -s - sent && fail "expected that walkers differ, or this shows nothing"
    [ "$(wc -l <sent)" != "$(contents_of sim.h5 0 | wc -l)" ] || fail "expected other numbers, too"
    # of XYZ and GSD one walker comes back
    for format in xyz gsd; do
        must export sim.h5 --to last.$format --last --walker 1
        must run next.ini --set run.walkers=1 --set initial.file=last.$format
        contents_of next.h5 0 >received
        cmp sent received || fail "expected walker 1 from $format"
    done
    # a box in which pairs would have two images is refused
    plugmc run next.ini --set potential.cutoff=3.9 --set box.lx=9
    expect_exit 3
    grep -q "^sim.h5: the box of walker [01] is too small, with a volume of [0-9.]*: the range of a potential exceeds half of the box$" "$err" ||
        fail "expected that the box is refused"
    # and in a run whose box stays, the file's must be that of [box]
    sed '/^\[mover volume\]/,+2d; /^pressure/d' next.ini >nvt.ini
    plugmc run nvt.ini
    expect_exit 3
    grep -q "^sim.h5: the file's box is [0-9.]* long in x, the run's 7$" "$err" || fail "expected a sentence"
}

test_tables_of_fortran_and_with_byte_order_marks()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 1
	threads = 1
	device = cpu
	[box]
	dimension = 3
	lx = 6
	[species Ar]
	count = 27
	[initial]
	lattice = sc
	[potential tabulated]
	files = table.dat
	[mover serial]
	step = 1e-9
	[observable energy]
	period = 1
	END
    awk 'BEGIN { for (k = 0; k <= 1700; k++) { r = 0.8 + k / 1000; printf "%.8e %.14e\n", r, 4 * (r ^ -12 - r ^ -6) } }' >good.dat
    sed 's/e/D/g' good.dat >fortran.dat
    (printf '\357\273\277' && cat good.dat) >bom.dat
    for file in good fortran bom; do
        cp $file.dat table.dat
        must run sim.ini
        has_energy -0.1845703125
    done
}
