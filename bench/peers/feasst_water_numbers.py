"""ln p(N) of SPC/E water at 525 K by FEASST, a program of others: see bench/water_numbers_feasst.sh.

    feasst_water_numbers.py energy STATE.xyz...      text for feasst: the energy of each state, in one run
    feasst_water_numbers.py numbers LOWEST HIGHEST SEED STATE.xyz NAME
                                                     text for feasst: transition matrices between two numbers of molecules
    feasst_water_numbers.py state FROM.xyz TO.xyz    a state of plugmc (`plugmc export`, the site O and two H a molecule) as FEASST reads it
    feasst_water_numbers.py compare TABLE NAME.csv...
                                                     the rise of ln p in each window beside that of TABLE, which is `water_numbers.py join`'s

The settings are those of bench/ensembles/water_numbers_gpu.ini: a cube of 20 Angstrom, pairs of sites cut at 10 Angstrom with the correction for the
tail, alpha = 0.28, waves with n^2 <= 38, ln z = -8.14. FEASST takes n^2 below the number that it is given, which is 39 here. In the environment,
CONSTANTS= names the physical constants (CODATA2018), STEPS= is the number of trial positions (1), which are selected by the pairs of oxygen within
4 Angstrom, EQUILIBRATE= and WRITE= are trials before the exchanges (100000) and between tables (200000).
"""
import csv
import glob
import math
import os
import sys

import numpy

EDGE = 20.0
AT_REST = numpy.array([[0, 0, 0], [1, 0, 0], [-0.33331324756824, 0.942816142731718, 0]])
GAS_CONSTANT = 8.31446261815324e-3  # kJ/mol/K
PARTICLE = """# SPC/E. Units: Angstrom, kJ/mol, e

Site Properties

O cutoff=10 cutoff_outer=1 charge=-0.8476 sigma=3.16555789 epsilon={epsilon!r}
H cutoff=10 cutoff_outer=1 charge=0.4238 sigma=0 epsilon=0

Sites

O1 O {0}
H1 H {1}
H2 H {2}

Bond Properties

OH RigidBond length=1.0 delta=0.0001

Bonds

O1H1 OH O1 H1
O1H2 OH O1 H2

Angle Properties

HOH RigidAngle degrees=109.47 delta=0.01

Angles

H1O1H2 HOH H1 O1 H2
"""
SYSTEM = """RandomMT19937 seed={seed}
Configuration cubic_side_length={edge} particle_type=spce:spce.txt group=oxygen oxygen_site_type=O {more} physical_constants={constants}
Potential VisitModel=Ewald alpha={alpha} kmax_squared=39
Potential Model=ModelTwoBodyFactory models=LennardJones,ChargeScreened {table} VisitModel=VisitModelCutoffOuter
Potential Model=ChargeScreenedIntra VisitModel=VisitModelBond
Potential Model=ChargeSelf
Potential VisitModel=LongRangeCorrections
RefPotential Model=LennardJones group=oxygen cutoff=4 VisitModel=VisitModelCell min_length=4 cell_group=oxygen ref=near
ThermoParams beta={beta!r} chemical_potential={mu!r}
Metropolis
"""
NUMBERS = """TrialTranslate weight=0.5 tunable_param=0.4
TrialRotate weight=0.5 particle_type=spce tunable_param=20
CheckEnergy trials_per_update=100000 decimal_places=4
Tune
Run num_trials={equilibrate}
Remove name=Tune
FlatHistogram Macrostate=MacrostateNumParticles width=1 max={highest} min={lowest} Bias=TransitionMatrix min_sweeps=100000
TrialAddRemove weight=2 particle_type=spce {positions}
CriteriaWriter trials_per_write={write} output_file={name}.csv
CriteriaUpdater trials_per_update=10000
Run until=complete
"""


def molecules(path):
    """Oxygen and both hydrogens [molecules][3][3], of places that a file has to a few digits, each molecule as it is at rest."""
    with open(path, encoding="ascii") as lines:
        rows = [next(lines).split() for _ in range(int(next(lines)) + 1)][1:]
    of = {name: numpy.array([row[1:4] for row in rows if row[0] == name], float) for name in "OH"}
    apart = numpy.stack([of["H"][0::2], of["H"][1::2]], 1) - of["O"][:, None]
    apart -= EDGE * numpy.round(apart / EDGE)
    if abs(numpy.linalg.norm(apart, axis=2) - 1).max() > 0.02:
        sys.exit(f"{path}: hydrogens are not next to their oxygens")
    first = apart[:, 0] / numpy.linalg.norm(apart[:, 0], axis=1)[:, None]
    second = apart[:, 1] - (apart[:, 1] * first).sum(axis=1)[:, None] * first
    second /= numpy.linalg.norm(second, axis=1)[:, None]
    at = (of["O"] + EDGE / 2) % EDGE - EDGE / 2
    return at[:, None] + AT_REST[None, :, :1] * first[:, None] + AT_REST[None, :, 1:2] * second[:, None]


def state(source, to):
    with open(to, "w", encoding="ascii") as file:
        found = molecules(source)
        file.write(f"{3 * len(found)}\n1 {EDGE} {EDGE} {EDGE}\n")
        for places in found:
            for name, place in zip("OHH", places):
                file.write("%s %.12f %.12f %.12f\n" % (name, *place))


def system(seed, more, table):
    beta = 1 / (525 * GAS_CONSTANT)
    with open("spce.txt", "w", encoding="ascii") as file:
        file.write(PARTICLE.format(*(" ".join(map(repr, map(float, place))) for place in AT_REST), epsilon=78.19743111 * GAS_CONSTANT))
    return SYSTEM.format(seed=seed, edge=EDGE, more=more, constants=os.environ.get("CONSTANTS", "CODATA2018"), alpha=0.28, table=table,
                         beta=beta, mu=-8.14 / beta)


def energy(paths):
    """One step of no length each, since FEASST writes energies beside steps."""
    for path in paths:
        name = os.path.basename(path)
        print("MonteCarlo")
        print(system(1, f"xyz_file={path}", "erfc_table_size=0"), end="")
        print("TrialTranslate weight=1 tunable_param=1e-13")
        print(f"Log trials_per_write=1 output_file={name}.energy max_precision=true clear_file=true\nRun num_trials=1")


def numbers(lowest, highest, seed, path, name):
    print("MonteCarlo")
    more = f"xyz_file={path}" if path != "none" else f"add_num_spce_particles={lowest}"
    print(system(seed, more, "erfc_table_size=2e4"), end="")
    positions = int(os.environ.get("STEPS", "1"))
    print(NUMBERS.format(positions=f"num_steps={positions} ref=near" if positions > 1 else "", lowest=lowest, highest=highest,
                         name=name, write=os.environ.get("WRITE", "200000"), equilibrate=os.environ.get("EQUILIBRATE", "100000")), end="")


GROUPS = 8  # of the blocks that FEASST has, for errors


def rise(path):
    """First and last number of molecules of a run, the rise of ln p between them and its error: steps of neighbouring numbers, which
    are of the same course of states, are correlated, so the error is that of the whole rise in groups of blocks."""
    with open(path, encoding="ascii") as lines:
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    found = [math.log(float(here["P_up"]) / float(above["P_down"])) for here, above in zip(rows, rows[1:])]
    blocks = [key for key in rows[0] if key.startswith("ln_prob") and key[7:].isdigit()]
    rises = [float(rows[-1][key]) - float(rows[0][key]) for key in blocks]
    means = [part.mean() for part in numpy.array_split(rises, GROUPS)]
    return int(float(rows[0]["state"])), int(float(rows[-1]["state"])), sum(found), numpy.std(means, ddof=1) / math.sqrt(GROUPS)


def compare(table, paths):
    rows = [line.split() for line in open(table, encoding="ascii") if line[0] not in "#\n"]
    ours, theirs = ({int(row[0]): float(row[column]) for row in rows} for column in (1, 5))
    windows = {}
    for path in sorted(sum(map(glob.glob, paths), [])):
        first, last, rises, error = rise(path)
        windows.setdefault((first, last), []).append((rises, error))
    print("# first last, rise of ln p by FEASST and its error, less that of the table, less that of the reference at its own ln z; of each run")
    for (first, last), of_it in sorted(windows.items()):
        weights = [1 / error ** 2 for _, error in of_it]
        mean = sum(w * r for w, (r, _) in zip(weights, of_it)) / sum(weights)
        print(first, last, f"{mean:.4f} {sum(weights) ** -0.5:.4f} {mean - ours[last] + ours[first]:+.4f} {mean - theirs[last] + theirs[first]:+.4f}",
              "  ".join(f"{r:.4f}({e:.4f})" for r, e in of_it))


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "state":
        state(*arguments)
    elif command == "energy":
        energy(arguments)
    elif command == "numbers":
        numbers(int(arguments[0]), int(arguments[1]), int(arguments[2]), *arguments[3:])
    else:
        compare(arguments[0], arguments[1:])


if __name__ == "__main__":
    main()
