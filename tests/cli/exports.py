"""What plugmc export has written, read by other libraries and compared with the run's own file by h5py.

    exports.py gsd RUN.h5 FILE.gsd WALKER [SWEEP...]     of these frames, or of all
    exports.py text RUN.h5 FILE.xyz|FILE.csv WALKER [SWEEP...]
    exports.py foreign FILE.gsd           makes a file as another program would, of what exports.sh calls `leaning`
    exports.py came RUN.h5 AGAIN.h5       a run has begun with that file
    exports.py moved FROM.gsd TO.gsd      with a particle moved, but not where plugmc has logged it
    exports.py mdanalysis RUN.h5 WALKER   the run's own file, as docs/usage.md says
    exports.py ovito RUN.h5 FILE.gsd|FILE.xyz WALKER
"""
import csv
import re
import sys

import h5py
import numpy as np


def mode(letter):
    """Of files: version 2 of gsd, which says what it is at another place, wants a b behind it."""
    import gsd

    return letter + ("b" if getattr(gsd, "__version__", "").startswith("2") else "")


class Run:
    """Frames of one walker of the output file; particles are those that are there."""

    def __init__(self, path, walker, sweeps):
        self.walker, self.file = int(walker), h5py.File(path)
        self.trajectory = h5py.File(re.sub(r"\.h5$", ".h5md", path))
        self.group = self.trajectory["particles/trajectory" + (f"_{walker}" if self.walker else "")]
        self.names = list(self.group["species"].attrs["names"].astype(str))
        all_sweeps = self.group["position/step"][:]
        wanted = [int(s) for s in sweeps] or list(all_sweeps)
        self.frames = [self.frame(list(all_sweeps).index(s)) for s in wanted]

    def frame(self, k):
        places, edges = self.group["position/value"][k], self.group["box/edges/value"][k]
        if self.varies():
            numbers, kinds = self.group["id/value"][k], self.group["species/value"][k]
            n = int(self.group["count/value"][k])
            equal(np.flatnonzero(numbers >= 0), np.arange(n), "those that are there come first")
            equal(kinds[n:], np.full(len(kinds) - n, -1), "species of those that are not there")
            numbers, kinds, places = numbers[:n], kinds[:n], places[:n]
            charge, diameter = (self.group["species"].attrs[name][kinds] for name in ("charges", "diameters"))
        else:
            numbers, kinds = self.group["id"][:], self.group["species"][:]
            charge, diameter = self.group["charge"][:], self.group["diameter"][:]
        equal(np.isfinite(places).all(), True, "places")
        return dict(sweep=int(self.group["position/step"][k]), places=places, numbers=numbers, species=kinds,
                    charge=charge, diameter=diameter, vectors=np.diag(edges) if edges.ndim == 1 else edges)

    def of_all(self, name):
        """Of all that may be there, by particle or by species."""
        return self.group["species"].attrs[name + "s"] if self.varies() else self.group[name][:]

    def varies(self):
        return isinstance(self.group["id"], h5py.Group)

    def periodic(self):
        return b"periodic" in self.group["box"].attrs["boundary"][0]

    def dimension(self):
        return 2 if "two_dimensional" in self.trajectory["particles/trajectory"].attrs else 3

    def scalars(self, sweep):
        """What was measured after this sweep; NaN: not measured then."""
        found = {}
        for label, observable in self.file["plugmc/observables"].items():
            for name, q in observable.items():
                if "series" in q:
                    at = np.flatnonzero(q["sweep"][:] == sweep)
                    found[f"{label}/{name}"] = q["series"][at[0], self.walker] if len(at) else np.nan
        return found


def equal(one, other, what):
    if not np.array_equal(np.asarray(one), np.asarray(other), equal_nan=np.asarray(one).dtype.kind == "f"):
        sys.exit(f"{what} differ: {one} and {other}")


def close(one, other, what, tolerance=2e-6):
    if np.shape(one) != np.shape(other) or not np.allclose(one, other, rtol=0, atol=tolerance):
        sys.exit(f"{what} differ: {one} and {other}")


def hoomd_vectors(box):
    x, y, z, xy, xz, yz = np.asarray(box, dtype=float)
    return np.array([[x, 0, 0], [xy * y, y, 0], [xz * z, yz * z, z]])


def distances(places, vectors):
    """Of all pairs, in the nearest image by fractional coordinates."""
    f = np.linalg.solve(vectors.T, (places[:, None] - places[None]).reshape(-1, 3).T).T
    return np.linalg.norm((f - np.rint(f)) @ vectors, axis=1)


def check_gsd_box(run, frame, found):
    """Particles are in a box around the origin, and as far from each other as in the run."""
    box, places, d = found.configuration.box, found.particles.position, run.dimension()
    if not run.periodic():
        equal(places, frame["places"].astype(np.float32), "places in a sphere")
        if (np.abs(places) > 0.5 * box[:3]).any():
            sys.exit("a particle is outside of the box around the sphere")
        return
    own, vectors = frame["vectors"], hoomd_vectors(box)
    close(np.linalg.norm(vectors[:d], axis=1), np.linalg.norm(own[:d], axis=1), "lengths")
    close((vectors @ vectors.T)[:d, :d], (own @ own.T)[:d, :d], "angles", 1e-4)
    if d == 2:
        equal(box[2], 0, "Lz in two dimensions")
        vectors[2, 2] = own[2, 2] = 1
    if not len(places):
        return
    f = np.linalg.solve(vectors.T, places.T.astype(float)).T
    if (f < -0.5 - 1e-6).any() or (f >= 0.5 + 1e-6).any():
        sys.exit("a particle is outside of the box")
    g = np.linalg.solve(own.T, frame["places"].T).T[:, :d]
    away = f[:, :d] - (g - 0.5)
    close(away - np.rint(away), 0 * away, "fractional coordinates")
    close(distances(places.astype(float), vectors), distances(frame["places"], own), "distances", 1e-5)


def check_gsd(path, out, walker, *sweeps):
    import gsd.fl
    import gsd.hoomd

    run = Run(path, walker, sweeps)
    raw = gsd.fl.open(out, mode("r"))
    versions = raw.schema, tuple(raw.schema_version), tuple(raw.gsd_version)
    if versions != ("hoomd", (1, 4), (2, 0)):
        sys.exit(f"another version: {versions}")
    single = not raw.chunk_exists(0, "log/particles/plugmc/position")
    counts = set()
    with gsd.hoomd.open(out, mode("r")) as trajectory:
        equal(len(trajectory), len(run.frames), "numbers of frames")
        for frame, found in zip(run.frames, trajectory):
            found.validate()
            p = found.particles
            equal(found.configuration.step, frame["sweep"], "sweeps")
            equal(found.configuration.dimensions, run.dimension(), "dimensions")
            equal(p.N, len(frame["places"]), "numbers of particles")
            equal(p.types, run.names, "names of species")
            equal(p.typeid, frame["species"], "species")
            equal(p.charge, frame["charge"].astype(np.float32), "charges")
            equal(p.diameter, frame["diameter"].astype(np.float32), "diameters")
            check_gsd_box(run, frame, found)
            log = dict(found.log)
            equal("particles/plugmc/position" not in log, single, "whether positions are in double, too,")
            if not single:
                equal(log.pop("particles/plugmc/position"), frame["places"], "places in double")
                if run.periodic():
                    equal(log.pop("plugmc/box"), frame["vectors"], "boxes in double")
            measured = run.scalars(frame["sweep"])
            equal(sorted(log), sorted(measured), "what is logged")
            for name, value in measured.items():
                equal(float(log[name][0]), float(value), name)
            counts.add(p.N)
    print(f"{len(run.frames)} frames, {sorted(counts)} particles")


def read_xyz(path):
    lines = open(path).read().splitlines()
    while lines:
        n = int(lines[0])
        keys = {k: q or v for k, q, v in re.findall(r'([\w./-]+)=(?:"([^"]*)"|(\S+))', lines[1])}
        columns = [line.split() for line in lines[2:2 + n]]
        names = [p.split(":") for p in re.findall(r"[^:]+:[SRI]:\d", keys["Properties"])]
        yield keys, [name for name, _, _ in names], columns
        lines = lines[2 + n:]


def check_xyz(run, path):
    frames = list(read_xyz(path))
    equal(len(frames), len(run.frames), "numbers of frames")
    for frame, (keys, names, rows) in zip(run.frames, frames):
        equal([int(keys["sweep"]), int(keys["walker"])], [frame["sweep"], run.walker], "sweeps and walkers")
        if run.periodic():
            equal(np.array(keys["Lattice"].split(), dtype=float).reshape(3, 3), frame["vectors"], "boxes")
        else:
            equal("Lattice" in keys, False, "whether there is a lattice")
        equal(keys["pbc"], "F F F" if not run.periodic() else "T T F" if run.dimension() == 2 else "T T T", "pbc")
        equal(names[:3], ["species", "pos", "id"], "properties")
        equal([r[0] for r in rows], [run.names[s] for s in frame["species"]], "species")
        equal(np.array([r[1:4] for r in rows], dtype=float).reshape(-1, 3), frame["places"], "places")
        equal([int(r[4]) for r in rows], frame["numbers"], "numbers")
        for name, values, all_values in (("charge", frame["charge"], run.of_all("charge")),
                                         ("radius", frame["diameter"] / 2, run.of_all("diameter"))):
            equal(name in names, bool(all_values.any()), f"whether there is a {name}")
            if name in names:
                column = 5 + names[3:].index(name)
                equal([float(r[column]) for r in rows], values, name)
        for name, value in run.scalars(frame["sweep"]).items():
            key = re.sub(r"[^A-Za-z0-9.]", "_", name.replace("/", "."))
            equal(float(keys.get(key, "nan")), float(value), key)


def check_csv(run, path):
    rows = list(csv.DictReader(open(path)))
    for k, frame in enumerate(run.frames):
        own = [r for r in rows if int(r["frame"]) == k]
        if not own and not len(frame["places"]):
            continue
        equal({int(r["sweep"]) for r in own}, {frame["sweep"]}, "sweeps")
        equal({int(r["walker"]) for r in own}, {run.walker}, "walkers")
        equal([int(r["particle"]) for r in own], frame["numbers"], "numbers")
        equal([r["species"] for r in own], [run.names[s] for s in frame["species"]], "species")
        equal([[float(r[d]) for d in "xyz"] for r in own], frame["places"], "places")
        if not run.periodic():
            continue
        rectangular = "lx" in own[0]
        names = ["lx", "ly", "lz"] if rectangular else [v + d for v in "abc" for d in "xyz"]
        box = np.diag(frame["vectors"]) if rectangular else frame["vectors"].ravel()
        for r in own:
            equal([float(r[n]) for n in names], box, "boxes")
    equal(len(rows), sum(len(f["places"]) for f in run.frames), "numbers of lines")


def check_text(path, out, walker, *sweeps):
    run = Run(path, walker, sweeps)
    (check_xyz if out.endswith("xyz") else check_csv)(run, out)
    print(f"{len(run.frames)} frames")


# ---- Files of others -----------------------------------------------------------------------------------------


def leaning_places():
    """Of the box of exports.sh: a lattice that is no multiple of it."""
    a, b, c = np.array([6, 1, 0.5]), np.array([-1, 7, 1]), np.array([1, 2, 8])
    f = np.array([[i / 4, j / 5, k / 2] for i in range(4) for j in range(5) for k in range(2)]) + 0.03
    return f, np.array([a, b, c])


def write_foreign(out):
    import gsd.hoomd

    f, vectors = leaning_places()
    r = np.linalg.qr(vectors.T)[1].T  # lower triangular, but for signs
    r = r * np.sign(np.diag(r))
    box = [r[0, 0], r[1, 1], r[2, 2], r[1, 0] / r[1, 1], r[2, 0] / r[2, 2], r[2, 1] / r[2, 2]]
    with gsd.hoomd.open(out, mode("w")) as trajectory:
        for n in (3, 40):  # the last frame counts
            frame = (gsd.hoomd.Frame if hasattr(gsd.hoomd, "Frame") else gsd.hoomd.Snapshot)()
            frame.configuration.box = box
            frame.particles.N = n
            frame.particles.types = ["none", "anion", "cation"]
            frame.particles.typeid = [2 if i % 2 else 1 for i in range(n)]
            frame.particles.charge = [1.5 if i % 2 else -1.5 for i in range(n)]
            frame.particles.position = ((f - 0.5) @ r)[:n]
            trajectory.append(frame)


def check_came(sim, again):
    """Cations come first in the run."""
    del sim
    f, vectors = leaning_places()
    places = h5py.File(again)["plugmc/checkpoint/positions"][0]
    close(places, (f @ vectors)[np.r_[1:40:2, 0:40:2]], "places of what another program has written", 3e-6)


def write_moved(source, out):
    import gsd.hoomd

    f, vectors = leaning_places()
    frame = gsd.hoomd.open(source, mode("r"))[-1]
    frame.log["particles/plugmc/position"] = f @ vectors
    frame.log["particles/plugmc/position"][3] += 0.01
    with gsd.hoomd.open(out, mode("w")) as trajectory:
        trajectory.append(frame)


# ---- Readers from PyPI ---------------------------------------------------------------------------------------


def check_mdanalysis(path, walker):
    import MDAnalysis as mda

    run = Run(path, walker, [])
    path = re.sub(r"\.h5$", ".h5md", path)
    with h5py.File("one.h5", "w") as one:  # links to what belongs to one walker
        one["h5md"] = h5py.ExternalLink(path, "h5md")
        one["particles/trajectory"] = h5py.ExternalLink(path, run.group.name)
    for view in (path, "one.h5") if run.walker == 0 else ("one.h5",):
        universe = mda.Universe.empty(run.group["position/value"].shape[1])
        if not run.varies():
            names = np.array(run.names)[run.group["species"][:]]
            universe.add_TopologyAttr("types", names)
        universe.load_new(view, format="H5MD", convert_units=False)
        if not run.varies():
            equal(universe.select_atoms("type " + run.names[-1]).n_atoms, (names == run.names[-1]).sum(), "species")
        equal(len(universe.trajectory), len(run.frames), "numbers of frames")
        for frame, found in zip(run.frames, universe.trajectory):
            equal(found.positions[:len(frame["places"])], frame["places"].astype(np.float32), "places")
            equal(found.data["step"], frame["sweep"], "sweeps")
            close(found.triclinic_dimensions @ found.triclinic_dimensions.T,
                  frame["vectors"] @ frame["vectors"].T, "boxes", 1e-4)
    print(f"MDAnalysis {mda.__version__}: walker {walker}, {len(run.frames)} frames")


def check_ovito(path, out, walker):
    import ovito
    from ovito.io import import_file

    run = Run(path, walker, [])
    pipeline = import_file(out)
    equal(pipeline.source.num_frames, len(run.frames), "numbers of frames")
    for k, frame in enumerate(run.frames):
        data = pipeline.compute(k)
        found = data.particles
        equal(found.count, len(frame["places"]), "numbers of particles")
        if not found.count:
            continue
        types = {t.id: t.name for t in found.particle_types.types}
        equal([types[t] for t in found.particle_types[:]], [run.names[s] for s in frame["species"]], "species")
        cell, own = np.asarray(data.cell[:3, :3]).T, frame["vectors"]
        close((cell @ cell.T), own @ own.T, "boxes", 1e-4)
        close(distances(found.positions[:], cell), distances(frame["places"], own), "distances", 1e-5)
        if frame["diameter"].any():
            close(found["Radius"][:], frame["diameter"] / 2, "radii")
        equal(data.attributes["Timestep" if out.endswith("gsd") else "sweep"], frame["sweep"], "sweeps")
    print(f"OVITO {ovito.version_string}: {out}, walker {walker}, {len(run.frames)} frames")


if __name__ == "__main__":
    dict(gsd=check_gsd, text=check_text, foreign=write_foreign, came=check_came,
         moved=write_moved, mdanalysis=check_mdanalysis, ovito=check_ovito)[sys.argv[1]](*sys.argv[2:])
