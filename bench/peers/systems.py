"""The systems that programs are timed on, and which programs.

A system is a dict that goes to the programs as JSON: kind, box, positions [N][3] (in the box, from 0), species [N], and
parameters. Lengths are in sigma, energies in k_B T = epsilon, masses 1. Pair energies are cut, and shifted or not; there are
no tail corrections. Water (kind "water", whose count is that of molecules, and of which positions are those of all oxygens,
then of the hydrogens, two a molecule) is in Angstrom, kJ/mol and g/mol, so in a unit of time of 0.1 ps.
"""
CUTOFF = 2.5
STEP = 0.16  # of bench/lennard_jones.ini, radius of the ball

# What a plugmc row runs: sections [mover ...] beyond what the ensemble adds.
SERIAL = "[mover serial]\nstep = {step}\n"
BRUSH = "[mover brush]\nstep = {step}\n"
HMC = "[mover hmc]\ntime_step = {time_step}\nsteps = {steps}\ntarget_acceptance = 0\n"
# SPC/E. Oxygen, hydrogen; Lennard-Jones of oxygens; sites of a molecule at rest.
WATER = dict(charges=(-0.8476, 0.4238), masses=(15.9994, 1.008), epsilon=0.650170, sigma=3.16555789,
             sites=((0, 0, 0), (1, 0, 0), (-0.33331324756824, 0.942816142731718, 0)), temperature=298.0)


def checkerboard(trials):
    return "[mover checkerboard]\nstep = {step}\ntrials = %d\n" % trials


OWN = "plugmc "
RASPA, FAUNUS, LAMMPS, FEASST = ("raspa3", "faunus", "lammps_gcmc", "feasst")
PROGRAMS = {"raspa3": "RASPA3", "faunus": "Faunus 3", "lammps_gcmc": "LAMMPS fix gcmc", "lammps_hmc": "LAMMPS fix hmc",
            "feasst": "FEASST", "openmm_md": "OpenMM, MD steps",
            "openmm_water": "OpenMM, MD steps of rigid water", "hoomd_disks": "HOOMD-blue"}

TABLES = {
    "lj": dict(title="Lennard-Jones liquid, one core",
               unit="Trial moves a second; density 0.7, kT = epsilon, cutoff 2.5 (N = 32: 0.49 of the edge, 1.75)",
               density=0.7, sizes=(32, 108, 256, 500, 1372, 4000, 32768), quick=(108, 500, 4000),
               own={"serial": SERIAL, "brush": BRUSH, "checkerboard, 4 trials": checkerboard(4),
                    "checkerboard, 64 trials": checkerboard(64)},
               peers=(RASPA, FAUNUS, LAMMPS, FEASST)),
    "gc": dict(title="Grand canonical Lennard-Jones liquid, V = 512, one core",
               unit="Trial moves a second, half of them insertions and removals; activity 0.1, from density 0.7",
               density=0.7, sizes=(358,), quick=(358,), activity=0.1,
               own={"serial + insert": SERIAL + "[mover insert]\nspecies = A0\ntrials = {count}\n"},
               peers=(RASPA, LAMMPS, FEASST)),
    "npt": dict(title="Constant pressure, one core",
                unit="Trial moves a second, of N + 1 one of the volume; pressure 0.55 kT / sigma^3, from density 0.7",
                density=0.7, sizes=(256,), quick=(256,), pressure=0.55, volume_step=0.02,
                own={"serial + volume": SERIAL + "[mover volume]\nstep = {volume_step}\ntarget_acceptance = 0\n",
                     "brush + volume": BRUSH + "[mover volume]\nstep = {volume_step}\ntarget_acceptance = 0\n"},
                peers=(RASPA, FAUNUS, FEASST)),
    "hard": dict(title="Hard spheres, one core", unit="Trial moves a second; density 0.8 (packing fraction 0.42)",
                 density=0.8, sizes=(4096,), quick=(4096,),
                 own={"serial": SERIAL, "checkerboard, 4 trials": checkerboard(4),
                      "checkerboard, 16 trials": checkerboard(16)},
                 peers=(FEASST,)),
    "ions": dict(title="Charged Lennard-Jones ions with Ewald sums, one core",
                 unit="Trial moves a second; density 0.7, Bjerrum length 5, cutoff 4 of both, tolerance 1e-5",
                 density=0.7, sizes=(500,), quick=(500,), cutoff=4.0, bjerrum_length=5.0, tolerance=1e-5,
                 own={"serial": SERIAL}, peers=(RASPA, FAUNUS, FEASST)),
    "hmc": dict(title="Hybrid Monte Carlo of the Lennard-Jones liquid, one core",
                unit="Time steps (evaluations of all forces) a second; trajectories of 20 steps of 0.005, 0.003 for 4,000",
                density=0.7, sizes=(500, 4000), quick=(500,), time_step=0.005, steps=20,
                own={"hmc": HMC}, peers=("lammps_hmc", "openmm_md")),
    "water": dict(title="Hybrid Monte Carlo of rigid water, one core",
                  unit="Time steps (evaluations of all forces) a second; N SPC/E molecules at 298 K, cutoff 10 Angstrom, "
                       "particle-mesh Ewald, trajectories of 20 steps of 2 fs",
                  density=0.033434, sizes=(512,), quick=(512,), cutoff=10.0, tolerance=5e-4, time_step=0.02, steps=20,
                  water=WATER, own={"hmc": HMC}, peers=("openmm_water",)),
    "water_md": dict(title="Hybrid Monte Carlo of rigid water, one GPU", gpu=True,
                     unit="Time steps (evaluations of all forces) a second; N SPC/E molecules at 298 K, cutoff 10 Angstrom, "
                          "particle-mesh Ewald, trajectories of 50 steps of 2 fs; wall time",
                     density=0.033434, sizes=(4096, 32768), quick=(4096,), cutoff=10.0, tolerance=5e-4, time_step=0.02,
                     steps=50, water=WATER, own={"hmc": HMC}, peers=("openmm_water",)),
    "md": dict(title="Hybrid Monte Carlo of the Lennard-Jones liquid, one GPU", gpu=True,
               unit="Time steps (evaluations of all forces) a second; trajectories of 20 steps; wall time",
               density=0.7, sizes=(32000, 256000, 2000000), quick=(32000,), time_step=0.002, steps=20,
               own={"hmc": HMC}, peers=("openmm_md",)),
    "disks": dict(title="Hard disks, one GPU", gpu=True,
                  unit="Trial moves a second; density 0.8887 (packing fraction 0.698)",
                  density=0.8887, dimension=2, sizes=(16384, 577600), quick=(16384,), trials=4,
                  own={"checkerboard, 4 trials": checkerboard(4)}, peers=("hoomd_disks",)),
}


def kind_of(table):
    return {"lj": "nvt", "md": "hmc", "disks": "hard", "water_md": "water"}.get(table, table)


def parameters(table, size):
    """Of a system without its positions."""
    t = TABLES[table]
    dimension = t.get("dimension", 3)
    edge = (size / t["density"]) ** (1 / dimension)
    system = {"kind": kind_of(table), "dimension": dimension, "box": [edge] * dimension, "step": STEP,
              "temperature": 1.0, "seed": 1, "count": size}
    # Minimum images: small boxes have a smaller cutoff.
    system["cutoff"] = 1.0 if system["kind"] == "hard" else min(t.get("cutoff", CUTOFF), 0.49 * edge)
    for key in ("activity", "pressure", "volume_step", "bjerrum_length", "tolerance", "time_step", "steps", "gpu", "trials",
                "water"):
        if key in t:
            system[key] = t[key]
    if system["kind"] == "hmc" and size > 1000 and not t.get("gpu"):
        system["time_step"] = 0.003
    return system
