"""What runs find of QMCPACK's estimators that are functions of space, and the files of its tests that say what is expected.

Each function returns {name: (mean, error)} twice: what a run in the folder `work` has found, and QMCPACK's values. `rows` are
those of coverage.csv that the run expresses; their references are estimator@file.
"""
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run_of(path):
    sys.path.insert(0, f"{HERE}/../../python")
    import plugmc
    return plugmc.Run(path)


def measured(path):
    """{quantity: (mean, error)} of an output file, with the potential energy, whose error is worked out from its series."""
    import numpy as np
    run = run_of(path)
    found = {}
    for name in run.table.index:
        if name.startswith("local_energy."):
            found[name.split(".")[1]] = (float(run.table.value[name]), float(run.table.error[name]))
    # e = k + v: the series of e - k is correlated about as that of k, from whose error the number of samples follows
    e, k = (run.series["local_energy." + n].to_numpy(float).mean(axis=1) for n in ("energy", "kinetic"))
    spread_k = np.std(k)
    scale = found["kinetic"][1] / spread_k if spread_k > 1e-12 else 0
    found["potential"] = (found["energy"][0] - found["kinetic"][0], float(np.std(e - k) * scale))
    return found


def references_in(work, rows):
    """(quantity, file without its ends, input, table) of each file that tests compare with."""
    import numpy as np
    for row in {r["references"]: r for r in rows}.values():
        quantity, file = row["references"].split("@")
        yield quantity, os.path.basename(file).split(".")[0], row["input"], np.loadtxt(f"{work}/{file}", ndmin=2)


# ---- Densities of electrons -------------------------------------------------------------------------------------------


def grid_of(path, quantity):
    """Corner and vectors of the cell that an input's density is of, and numbers of bins along them."""
    import numpy as np
    from listing import numbers, parameter, read_input
    root = read_input(path)
    lattice = next((p for p in root.iter("parameter") if p.get("name") == "lattice"), None)
    cell = numbers(lattice.text) if lattice is not None else None
    e = next(e for e in root.iter("estimator") if (e.get("type") or "").lower() == quantity)
    if quantity == "density":
        return np.zeros(3), np.array(cell).reshape(3, 3), [round(1 / d) for d in numbers(e.get("delta"))]
    if parameter(e, "cell"):
        cell = numbers(parameter(e, "cell"))
    cell = np.array(cell).reshape(3, 3)
    center = parameter(e, "center")
    corner = np.array(numbers(center)) - cell.sum(axis=0) / 2 if center else np.zeros(3)
    return corner, cell, [round(n) for n in numbers(parameter(e, "grid"))]


def parts_of(r, corner, cell, bins, parts):
    """In which part of a grid's bins, in their order, electrons at r [...][3] are."""
    import numpy as np
    place = (r - corner) @ np.linalg.inv(cell)
    index = np.minimum(np.floor(np.array(bins) * (place - np.floor(place))).astype(int), np.array(bins) - 1)
    return ((index[..., 0] * bins[1] + index[..., 1]) * bins[2] + index[..., 2]) * parts // np.prod(bins)


def averages(counts, weights, blocks=16):
    """Means and errors of counts [walkers][spins][parts][frames]: from the spread of the walkers, or with weights
    [walkers][frames] from blocks of frames, of which a run has 16 that are longer than correlations."""
    import numpy as np
    if weights is None:
        each = counts.mean(axis=-1)
        return each.mean(axis=0), each.std(axis=0, ddof=1) / math.sqrt(len(each))
    above = (counts * weights[:, None, None, :]).sum(axis=0)
    below = weights.sum(axis=0)
    parts = np.array_split(np.arange(len(below)), blocks)
    each = np.array([above[..., p].sum(axis=-1) / below[p].sum() for p in parts])
    return above.sum(axis=-1) / below.sum(), each.std(axis=0, ddof=1) / math.sqrt(blocks)


def pure(mixed, variational):
    """Twice the mixed estimates of diffusion less the variational ones, as `plugmc extrapolate --vmc` has it."""
    return {name: (2 * value - variational[name][0], math.hypot(2 * error, variational[name][1]))
            for name, (value, error) in mixed.items() if name in variational}


def densities(work, rows, trajectory="sim.h5md"):
    """The numbers that check_stats.py compares: electrons in each of several parts of the grid, spin by spin, with errors
    from the spread of the walkers (at least those of the counts), as {name: (mean, error)}, and QMCPACK's."""
    import h5py
    import numpy as np
    found, wanted = {}, {}
    with h5py.File(f"{work}/{trajectory}", "r") as f:
        names = list(f["particles"])
        walkers = [f["particles"][name]["position/value"][()] for name in names]
        weights = None
        if "observables" in f:  # of diffusion, in which walkers are not independent
            weights = np.array([f["observables"][name]["weight/value"][()] for name in names])
    for row in {r["references"]: r for r in rows}.values():
        quantity, file = row["references"].split("@")
        reference = np.loadtxt(f"{work}/{file}", ndmin=2)[1:]
        grid = grid_of(f"{work}/{row['input']}", quantity)
        half, parts, sums = walkers[0].shape[1] // 2, len(reference), []
        for r in walkers:
            part = parts_of(r, *grid, parts)
            spins = [part] if quantity == "density" else [part[:, half:], part[:, :half]]
            sums.append([[(s == k).sum(axis=1) for k in range(parts)] for s in spins])
        means, errors = averages(np.array(sums, float), weights)
        for s, label in enumerate(["all"] if quantity == "density" else ["down", "up"]):
            for k in range(parts):
                name = "%s %s %d" % (os.path.basename(file).split(".")[0], label, k)
                # where hardly an electron comes the spread of the walkers says little: counts scatter by their root
                counted = math.sqrt(reference[k, 2 * s] / (len(walkers) * len(walkers[0])))
                found[name] = (means[s, k], max(errors[s, k], counted))
                wanted[name] = (reference[k, 2 * s], reference[k, 2 * s + 1])
    return found, wanted


# ---- Densities of energy ----------------------------------------------------------------------------------------------


def space_of(path):
    """Of the estimator of an input: corner, vectors and numbers of cells of its grid; None: the cells are those of ions."""
    import numpy as np
    from listing import numbers, read_input
    root = read_input(path)
    space = next(root.iter("spacegrid"))
    if space.get("coord") == "voronoi":
        return None
    lattice = next(p for p in root.iter("parameter") if p.get("name") == "lattice")
    cell = np.array(numbers(lattice.text)).reshape(3, 3)
    corner, vectors, counts = np.zeros(3), [], []
    for axis in space.iter("axis"):
        low, step, high = numbers(axis.get("grid").replace("(", " ").replace(")", " "))
        along = float(axis.get("scale")) * cell[int(axis.get("p1")[1]) - 1]
        corner = corner + low * along
        vectors.append((high - low) * along)
        counts.append(round((high - low) / step))
    return corner, np.array(vectors), counts


def ions_of(path):
    """Positions of the ions of an input."""
    import numpy as np
    from listing import numbers, read_input
    found = [x for p in read_input(path).iter("particleset") if p.get("name") != "e"
             for a in p.iter("attrib") if a.get("name") == "position" for x in numbers(a.text)]
    return np.array(found).reshape(-1, 3)


def energy_densities(work, rows):
    """Kinetic and potential energy and number of particles, ions included, in all of the cell and in each of several parts
    of the grid. A part is five slabs of the run's own grid, whose errors are added as if they were independent; the error of
    the whole is that of the energy's series."""
    import numpy as np
    run, whole = run_of(f"{work}/sim.h5"), measured(f"{work}/sim.h5")
    found, wanted = {}, {}
    for _, label, source, table in references_in(work, rows):
        space = space_of(f"{work}/{source}")
        for c, name in enumerate(("kinetic", "potential")):
            found[f"{label} {name}"] = whole[name]
            wanted[f"{label} {name}"] = (table[0, 2 * c], table[0, 2 * c + 1])
        ions = ions_of(f"{work}/{source}")
        parts = len(table) - 1
        at = np.arange(len(ions)) if space is None else parts_of(ions, space[0] - 1e-7, *space[1:], parts)
        for c, name in enumerate(("kinetic", "potential", "electrons")):
            q = run.arrays["energy_density." + name]
            values = q.value.reshape(parts, -1).sum(axis=1)
            errors = np.sqrt((q.error.reshape(parts, -1) ** 2).sum(axis=1))
            if name == "electrons":
                values = values + np.bincount(at, minlength=parts)
            for k in range(parts):
                found[f"{label} {name} {k}"] = (values[k], errors[k])
                wanted[f"{label} {name} {k}"] = (table[k + 1, 2 * c], table[k + 1, 2 * c + 1])
    return found, wanted


# ---- Density matrices -------------------------------------------------------------------------------------------------


def density_matrices(work, rows):
    """Sums of the elements n_ij over i, the orbital under the integral, for each j, and of all. Errors of elements are added as if they
    were independent."""
    import numpy as np
    run = run_of(f"{work}/sim.h5")
    found, wanted = {}, {}
    for _, label, _, table in references_in(work, rows):
        for s, spin in enumerate(("down", "up")):
            q = run.arrays["density_matrix." + spin]
            found[f"{label} {spin}"] = (q.value.sum(), np.sqrt((q.error ** 2).sum()))
            wanted[f"{label} {spin}"] = (table[0, 2 * s], table[0, 2 * s + 1])
            for k in range(len(table) - 1):
                name = f"{label} {spin} {k}"
                found[name] = (q.value[:, k].sum(), np.sqrt((q.error[:, k] ** 2).sum()))
                wanted[name] = (table[k + 1, 2 * s], table[k + 1, 2 * s + 1])
    return found, wanted
