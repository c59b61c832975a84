"""readers.py NAME.gsd SECONDS: opens the trajectory of a run that goes on again and again, with each library that is there.

    python3 -m venv readers && readers/bin/pip install gsd MDAnalysis freud-analysis ovito
    plugmc run sim.ini & readers/bin/python bench/readers.py sim.gsd 4
"""
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")
name, seconds = sys.argv[1], float(sys.argv[2])
readers = {}
try:
    import importlib.metadata

    import gsd
    import gsd.hoomd

    version = getattr(gsd, "__version__", None) or importlib.metadata.version("gsd")
    def read_gsd():
        with gsd.hoomd.open(name, "rb" if version.startswith("2") else "r") as t:
            n = len(t)
            f = t[n - 1]
            r = f.log["particles/plugmc/position"]
            assert r.shape == f.particles.position.shape and np.isfinite(r).all()
            steps = [t[k].configuration.step for k in range(max(0, n - 5), n)]
            assert steps == sorted(steps)
            return n
    readers["gsd " + version] = read_gsd
except ImportError as e:
    print(e)
try:
    import MDAnalysis as mda
    def read_mda():
        u = mda.Universe(name)
        n = len(u.trajectory)
        u.trajectory[n - 1]
        assert np.isfinite(u.atoms.positions).all()
        return n
    readers["MDAnalysis " + mda.__version__] = read_mda
except ImportError as e:
    print(e)
try:
    import freud
    def read_freud():
        with gsd.hoomd.open(name, "r") as t:
            f = t[len(t) - 1]
            freud.density.RDF(20, 1.5).compute((f.configuration.box, f.particles.position))
            return len(t)
    readers["freud " + freud.__version__] = read_freud
except ImportError as e:
    print(e)
try:
    import ovito
    from ovito.io import import_file
    def read_ovito():
        p = import_file(name)
        n = p.source.num_frames
        assert p.compute(n - 1).particles.count > 0
        return n
    readers["OVITO " + ovito.version_string] = read_ovito
except ImportError as e:
    print(e)
for what, read in readers.items():
    begin, seen, bad = time.time(), [], []
    while time.time() - begin < seconds:
        try:
            seen.append(read())
        except Exception as e:  # whatever a reader says of a file that is no whole one
            bad.append(repr(e)[:150])
    print(f"{what}: opened {len(seen)} times, {seen[0] if seen else '-'} to {seen[-1] if seen else '-'} frames, {len(bad)} failures {bad[:2]}", flush=True)
