# Orientations of bodies in trajectories, exports and initial states. orientations.py reads GSD by another library.

# squares: two shapes, two walkers; the second mover turns them unless it is `still`.
squares()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	equilibrate = 0
	seed = 3
	walkers = 2
	threads = 1
	device = cpu
	[box]
	dimension = 2
	shape = rectangle
	lx = 8
	ly = 9
	[species square]
	count = 20
	[species bar]
	count = 8
	[initial]
	state = random
	[potential hard_polygon]
	sides = 4
	radius = 0.1 0
	bar = -0.8 -0.2 0.8 -0.2 0.8 0.2 -0.8 0.2
	[mover serial]
	step = 0.4
	[mover rotate]
	step = 1
	[observable trajectory]
	period = 10
	[observable body_order]
	period = 10
	fold = 4
	END
}

bodies() { /usr/bin/python3 "$here/orientations.py" "$@" >"$out" 2>"$err" || { [ $? = 77 ] && skip "$(cat "$out")"; fail "orientations.py $*"; }; }

# Positions and orientations of a state, without names of files.
state_of() { must export "$1" --to "$1.xyz" --last --walker "$2"; tail -n +3 "$1.xyz"; }

# begins_with FILE: one walker that makes no move begins where walker 0 of sim.h5 ended.
begins_with()
{
    sed -e 's/walkers = 2/walkers = 1/' -e 's/sweeps = 400*/sweeps = 1/' -e '/rotate/,/period/d' \
        -e "s/state = random/state = file\nfile = $1/" sim.ini | sed -e '/^step/s/0.4/1e-12/' >again.ini
    rm -f again.h5 again.h5.xyz
    plugmc run again.ini
    expect_exit 0
    state_of sim.h5 0 | awk '{ print $1, $7, $8, $9, $10, $11 }' >wanted
    state_of again.h5 0 | awk '{ print $1, $7, $8, $9, $10, $11 }' >found
    rm sim.h5.xyz
    cmp -s wanted found || fail "[initial] file = $1: other orientations than the file's"
}

# not_begun FILE.ini SENTENCE: what is wrong with its initial state.
not_begun()
{
    plugmc run "$1" --set run.output=none.h5
    expect_exit 3
    expect_message "$2"
    [ ! -e none.h5 ] || fail "there is an output"
}

test_trajectories_have_orientations_and_shapes()
{
    squares
    must run sim.ini
    bodies trajectory sim.h5 sim_0.gsd 0
    bodies trajectory sim.h5 sim_1.gsd 1
    must export sim.h5 --to one.gsd
    bodies trajectory sim.h5 one.gsd 0
    must export sim.h5 --to last.gsd --last
    bodies shapes last.gsd
}

test_orientations_come_back_from_every_file_exactly()
{
    squares
    must run sim.ini
    must export sim.h5 --to last.xyz --last
    must export sim.h5 --to last.gsd --last
    must export sim.h5 --to frames.gsd
    for file in last.xyz last.gsd frames.gsd sim.h5 sim_0.gsd; do begins_with $file; done
}

in_space()
{
    sed -i -e 's/dimension = 2/dimension = 3/' -e 's/^ly = 9/&\nlz = 7/' -e 's/hard_polygon/kern_frenkel/' \
        -e 's/^sides = 4/half_angle = 1\nepsilon = 1/' -e '/^radius/d' -e '/^bar =/d' -e '/^fold/d' \
        -e 's/sweeps = 40/sweeps = 400/' -e 's/period = 10/period = 100/' sim.ini
}

# Quaternions whose length has changed.
test_orientations_in_space_come_back_exactly()
{
    squares
    in_space
    must run sim.ini
    bodies quaternions sim_0.gsd
    bodies spheres sim_0.gsd
    must export sim.h5 --to last.xyz --last
    must export sim.h5 --to last.gsd --last
    must export sim.h5 --to frames.gsd
    for file in last.xyz last.gsd frames.gsd sim.h5 sim_0.gsd; do begins_with $file; done
}

# in_h5md SWEEPS: the same run writes the same frames in both formats, also if it is interrupted after SWEEPS; an export of
# those in H5MD, in GSD again, is the trajectory in GSD, and both files bring orientations back.
in_h5md()
{
    must run sim.ini
    for walker in 0 1; do mv sim_$walker.gsd whole_$walker.gsd; done
    printf 'format = h5md\n' >format
    sed -i '/^\[observable trajectory/r format' sim.ini
    must run sim.ini
    for walker in 0 1; do bodies h5md sim.h5md whole_$walker.gsd $walker; done
    for walker in 0 1; do
        must export sim.h5 --to again.gsd --walker $walker
        bodies same whole_$walker.gsd again.gsd
        rm again.gsd
    done
    cp sim.h5md whole.h5md
    must run sim.ini --set run.sweeps="$1"
    must run --resume sim.h5 --set run.sweeps="$2"
    h5diff whole.h5md sim.h5md /particles || fail "the resumed run writes other frames"
}

test_orientations_in_h5md()
{
    squares
    in_h5md 20 40
    begins_with sim.h5md
}

test_orientations_in_space_in_h5md()
{
    squares
    in_space
    in_h5md 200 400
    begins_with sim.h5md
}

# Numbers that change: those that are there stand first, and have orientations.
test_orientations_in_h5md_where_numbers_change()
{
    squares
    sed -i -e 's/^count = 8/count = 8\nmax_count = 12\nactivity = 0.3/' \
        -e 's/^\[observable trajectory/[mover insert]\nspecies = bar\ntrials = 6\n&/' sim.ini
    in_h5md 20 40
}

# The order that is measured in the frames is that of the orientations that are written.
test_orientations_of_a_frame_are_those_that_are_measured()
{
    squares
    must run sim.ini
    must export sim.h5 --to frames.xyz
    awk '/^Lattice/ { match($0, /psi_squared=[^ ]*/); wanted = substr($0, RSTART + 12, RLENGTH - 12) + 0 }
        NF == 1 { n = $1; k = c = s = 0 }
        $1 == "square" || $1 == "bar" {
            t = 8 * atan2($9 + 0, $10 + 0); c += cos(t); s += sin(t)
            if (++k == n && (d = (c * c + s * s) / n / n - wanted) * d > 1e-18) bad = 1
            if (k == n) frames++
        }
        END { exit bad || frames != 4 }' frames.xyz || fail "psi_squared of frames.xyz is another one"
}

test_orientations_of_a_resumed_run()
{
    squares
    must run sim.ini
    mv sim_0.gsd whole.gsd
    state_of sim.h5 0 >whole
    rm sim*.h5* sim_1.gsd
    must run sim.ini --set run.sweeps=20
    must run --resume sim.h5 --set run.sweeps=40
    state_of sim.h5 0 >parts
    cmp -s whole parts || fail "the resumed run ends elsewhere"
    bodies same whole.gsd sim_0.gsd
}

test_files_without_orientations_and_wrong_ones()
{
    squares
    cat >two.xyz <<-END
	2
	Lattice="8 0 0 0 9 0 0 0 1" Properties=species:S:1:pos:R:3:orientation:R:4
	a 1 1 0 0 0 2 2
	a 4 4 0 0 0 0 1
	END
    sed -e 's/walkers = 2/walkers = 1/' -e 's/species square/species a/' -e 's/count = 20/count = 2/' \
        -e '/species bar/,/count/d' -e 's/0.1 0$/0.1/' -e '/^bar/d' -e 's/state = random/state = file\nfile = two.xyz/' \
        -e '/^\[mover/,/^step/d' -e 's/^\[observable trajectory/[mover serial]\nstep = 1e-12\n&/' sim.ini >two.ini
    must run two.ini --set run.output=o.h5
    must export o.h5 --to o.xyz --last
    grep -q '0 0 0.70710678118654[67][0-9]* 0.70710678118654[67][0-9]*$' o.xyz || fail "the first is turned by 90 degrees"
    sed -i 's/0 0 2 2$/0 0 0 0/' two.xyz
    not_begun two.ini "two.xyz:3: the orientation of particle 0 is the quaternion 0, which is no rotation"
    sed -i 's/0 0 0 0$/0.5 0 0 1/' two.xyz
    not_begun two.ini "two.xyz:3: the orientation of particle 0 is no rotation about z, but the run is in two dimensions"
    sed -i 's/0.5 0 0 1$/nan 0 0 1/' two.xyz
    not_begun two.ini "two.xyz:3: 'nan' is not a finite number"
    sed -i -e 's/:orientation:R:4//' -e 's/^\(a . . 0\).*/\1/' two.xyz
    must run two.ini --set run.output=p.h5
    expect_message "two.xyz: warning: the file does not give orientations: all bodies begin upright"
}

test_orientations_in_gsd_of_other_programs()
{
    squares
    must run sim.ini
    bodies foreign sim_0.gsd foreign.gsd
    begins_near=$(sed -e 's/walkers = 2/walkers = 1/' -e 's/state = random/state = file\nfile = foreign.gsd/' sim.ini)
    echo "$begins_near" >near.ini
    must run near.ini --set run.output=near.h5
    bodies zero sim_0.gsd foreign.gsd
    not_begun near.ini "foreign.gsd: the orientation of particle 5 is the quaternion 0, which is no rotation"
    bodies nan sim_0.gsd foreign.gsd
    not_begun near.ini "foreign.gsd: the orientation of particle 5 is not finite"
    bodies turned sim_0.gsd foreign.gsd
    not_begun near.ini "foreign.gsd: the orientations of particle 5 in its 'particles/orientation' and in its 'log/particles/plugmc/orientation' differ: take the latter out if particles were turned"
}
