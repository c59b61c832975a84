"""Small systems of the tests, each a run of a fraction of a second, and the program's own view of their results.

PLUGMC is the program; PYTHONPATH and PLUGMC_LIBRARY are those of the module under test.
"""
import csv
import io
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import gsd.hoomd, h5py, numpy, pandas  # noqa: E401, F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

PLUGMC = os.environ["PLUGMC"]

HEAD = """[run]
sweeps = 400
equilibrate = 100
seed = 7
device = cpu
threads = 1
"""
LIQUID = HEAD + """[box]
dimension = 3
density = 0.5
[species a]
count = 30
[species b]
count = 34
[potential lennard_jones]
epsilon = 1
cutoff = 1.9
[mover serial]
step = 0.2
[observable energy]
period = 5
[observable rdf]
period = 10
bins = 12
[observable trajectory]
period = 50
"""
# Four walkers on two rungs.
LADDER = LIQUID.replace("[box]", """walkers = 4
[ladder]
vary = run.temperature
values = 1 1.2
[mover exchange]
every = 10
[box]""")
# Bodies, of which some come and go.
BODIES = HEAD + """walkers = 2
[box]
dimension = 2
lx = 9
[species square]
count = 16
max_count = 24
activity = 1
[initial]
state = random
[potential hard_polygon]
sides = 4
[mover serial]
step = 0.2
[mover rotate]
[mover insert]
species = square
[observable trajectory]
period = 100
"""
# Particles of two species come and go in a box that changes.
RESERVOIR = HEAD + """walkers = 2
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
step = 0.05
[observable numbers]
period = 5
distribution = yes
[observable box_size]
period = 5
[observable trajectory]
period = 20
"""
DISKS = HEAD + """[box]
dimension = 2
packing_fraction = 0.4
[species disk]
count = 64
[potential hard_disk]
[mover checkerboard]
step = 0.2
[observable hard_pressure]
period = 5
[observable trajectory]
period = 100
"""
SPHERE = LIQUID.replace("density = 0.5", "shape = sphere\nradius = 6").replace("[potential", "[initial]\nstate = random\n[potential")
SPHERE = SPHERE.replace("[observable rdf]\nperiod = 10\nbins = 12\n", "")
OBLIQUE = LIQUID.replace("density = 0.5", "shape = oblique\na = 6 1 0.5\nb = -1 7 1\nc = 1 2 8").replace("bins = 12", "bins = 12\nr_max = 2")


class InFolder(unittest.TestCase):
    """Each class of tests works in an empty folder of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.before = os.getcwd()
        os.chdir(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        os.chdir(cls.before)
        cls.folder.cleanup()


def plugmc(*arguments):
    """What the program prints. It has to succeed."""
    done = subprocess.run([PLUGMC, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"plugmc {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def refused(*arguments):
    """Exit code and sentences of a call that fails."""
    done = subprocess.run([PLUGMC, *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr.strip()


def make(name, ini):
    """A run NAME.ini with its output NAME.h5."""
    with open(name + ".ini", "w") as file:
        file.write(ini)
    return plugmc("run", name + ".ini", "--quiet")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))
