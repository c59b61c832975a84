"""From an input of QMCPACK and one of its <qmc> sections to an INI file of plugmc, or the reason why there is none.

The distribution that is sampled and the operators that are measured are those of the input. Its numbers of blocks and steps
are not, nor are time steps of variational runs, drift, or how electrons are moved there: averages do not depend on them.
"""
import math
import os

from estimators import space_of
from factors import expansion, jastrows, override
from inifile import Ini, Unsupported, words
from listing import numbers, parameter, read_input

# Coefficients of these stand in the INI file itself, so that it needs no file beside the orbitals.
INLINE = ("heg/heg_14_gamma", "heg/heg_14_gamma/batch", "solids/diamondC_1x1x1_pp", "molecules/Li2_STO_ae", "molecules/He_param")


# ---- System -----------------------------------------------------------------------------------------------------------


def electrons(root):
    """Numbers of electrons of spin up and down."""
    for p in root.iter("particleset"):
        groups = {g.get("name"): int(g.get("size", 0)) for g in p.iter("group")}
        if set(groups) <= {"u", "d"} and groups:
            return groups.get("u", 0), groups.get("d", 0)
        if p.get("name") == "e":
            raise Unsupported("particles beside electrons: %s" % ", ".join(sorted(set(groups) - {"u", "d"})))
    raise Unsupported("no electrons")


def farthest(root):
    """Distance of the farthest ion from the origin."""
    found = [0.0]
    for a in root.iter("attrib"):
        if a.get("name") == "position":
            r = numbers(a.text)
            found += [math.hypot(*r[k:k + 3]) for k in range(0, len(r), 3)]
    return max(found)


def box(root, ini):
    cell = next(root.iter("simulationcell"), None)
    if cell is None or "n" in (parameter(cell, "bconds") or "n").split():
        if cell is not None and "p" in (parameter(cell, "bconds") or "").split():
            raise Unsupported("a cell that is periodic in two directions")
        ini.add("box", "dimension = 3", "shape = sphere", "radius = %g" % max(25, math.ceil(farthest(root) + 15)))
        return False
    rs = parameter(cell, "rs")
    if rs:
        p = next(p for p in cell.iter("parameter") if p.get("name") == "rs")
        count = float(p.get("condition") or parameter(cell, "nparticles"))
        edge = float(rs) * (4 * math.pi * count / 3) ** (1 / 3)
        ini.add("box", "dimension = 3", "lx = %.12g" % edge)
        return True
    lattice = next((p for p in cell.iter("parameter") if p.get("name") == "lattice"), None)
    if lattice is None or lattice.get("units", "bohr") != "bohr":
        raise Unsupported("a cell in units other than bohr")
    a = numbers(lattice.text)
    ini.add("box", "dimension = 3", "shape = oblique", *("%s = %s" % (n, words(a[3 * i:3 * i + 3])) for i, n in
                                                         enumerate("abc")))
    return True


# ---- Orbitals ---------------------------------------------------------------------------------------------------------


def sets_of_orbitals(wave):
    """{name: element} of all <sposet>s, and the element that has the file or the basis."""
    builders = [e for tag in ("sposet_collection", "sposet_builder", "determinantset") for e in wave.iter(tag)
                if e.get("type") or e.get("href")]
    if len(builders) == 2 and builders[0].get("href") == builders[1].get("href") and builders[0].tag == builders[1].tag:
        builders.pop()  # the same orbitals, with others for an estimator
    if len(builders) == 2 and builders[1].tag == "determinantset" and not builders[1].get("href"):
        builders.pop()
    if len(builders) != 1:
        raise Unsupported("%d sets of orbitals" % len(builders))
    return builders[0], {s.get("name"): s for s in wave.iter("sposet")}


def promotions(sets, wave, path):
    """Keys for <occupation mode="excited">: pairs -i j of orbitals counted by energy, those of all k points together."""
    keys = []
    used = [d.get("sposet") or d.get("id") for d in wave.iter("determinant")]
    for spin, name in zip(("up", "down"), used):
        occupation = sets[name].find("occupation") if name in sets else None
        if occupation is None or occupation.get("mode", "ground") == "ground":
            continue
        if occupation.get("mode") != "excited" or occupation.get("format", "energy") != "energy":
            raise Unsupported("occupation by bands")
        pair = [int(w) for w in occupation.text.split()]
        if len(pair) != 2 or pair[0] > 0:
            raise Unsupported("several promotions")
        order = bands_by_energy(path)
        keys.append("promote_%s = %d:%d>%d:%d" % ((spin,) + order[-pair[0] - 1] + order[pair[1] - 1]))
    return keys


def bands_by_energy(path):
    """(k point, band), from 1, of spin up by rising eigenvalue; of files whose k points are all their own opposites."""
    import h5py
    found = []
    with h5py.File(path, "r") as f:
        for k in range(int(f["electrons/number_of_kpoints"][()].flat[0])):
            reduced = f[f"electrons/kpoint_{k}/reduced_k"][()]
            if any(abs(2 * x - round(2 * x)) > 1e-6 for x in reduced):
                raise Unsupported("a promotion among k points with opposites")
            values = f[f"electrons/kpoint_{k}/spin_0/eigenvalues"][()]
            found += [(round(float(v), 6), k + 1, n + 1) for n, v in enumerate(values)]
    return [(k, n) for _, k, n in sorted(found)]


def splines(builder, sets, wave, root, ini, folder):
    tile = (builder.get("tilematrix") or "1 0 0 0 1 0 0 0 1").split()
    lines = ["file = " + os.path.normpath(builder.get("href"))]
    lines.append("tile = " + " ".join(tile))
    if builder.get("type") == "pw":
        lines.append("multiplicity = 4")
    beyond = most_orbital(wave, folder) - min(electrons(root))
    if beyond > 0:
        lines.append("virtual = %d" % beyond)
    ini.add("potential bspline_orbitals", *lines, *promotions(sets, wave, f"{folder}/{builder.get('href')}"))


def gaussians(builder, sets, wave, root, ini, folder, source):
    for s in sets.values():
        occupation = s.find("occupation")
        if occupation is not None and occupation.get("mode", "ground") != "ground":
            raise Unsupported("other orbitals than the first ones of a basis of Gaussian functions")
    file = builder.get("href")
    if not file and next(wave.iter("basisset"), None) is None:
        raise Unsupported("orbitals without a file or a basis")
    file = os.path.basename(file) if file else source
    lines = ["file = " + file, "cusp = " + ("yes" if builder.get("cuspCorrection", "no") == "yes" else "no")]
    lines.append(cusp_files(sets, wave, folder))
    beyond = most_orbital(wave, folder) - min(electrons(root))
    mixed = mixed_orbitals(sets, wave)
    if mixed:
        beyond = mixed - max(electrons(root))
        lines.append("mixing = " + " ".join("0" * beyond * sum(electrons(root))))
    if beyond > 0:
        lines.append("virtual = %d" % beyond)
    if file.endswith(".h5") and os.path.exists(f"{folder}/{file}"):
        lines += valence(root, f"{folder}/{file}")
        if any("shape = oblique" in section[1] for section in ini.sections):
            lines.append("tolerance = 1e-8")
    ini.add("potential gaussian_orbitals", *lines)


def mixed_orbitals(sets, wave):
    """The number of orbitals, if those that are occupied are to be optimised; 0: they are not."""
    used = [sets.get(d.get("sposet") or d.get("id")) for d in wave.iter("determinant")]
    several = next(wave.iter("multideterminant"), None) is not None
    if several and any(s.get("optimize") == "yes" for s in sets.values()):
        raise Unsupported("optimisation of the orbitals of several determinants")
    if several or not used or any(s is None or s.get("optimize") != "yes" for s in used):
        return 0
    return int(used[0].get("size"))


def cusp_files(sets, wave, folder):
    """The key for the functions at nuclei that QMCPACK has found before, of the orbitals of spin up and of spin down."""
    used = [(d.get("spo_up"), d.get("spo_dn")) for d in wave.iter("multideterminant")] or [
        tuple(d.get("sposet") or d.get("id") for d in wave.iter("determinant"))]
    files = []
    for name in used[0]:
        info = sets[name].get("cuspInfo") if name in sets else None
        path = f"{folder}/{info}" if info else ""
        if info and os.path.exists(path):
            files.append(info)
        elif files:
            files.append(files[-1])  # the name of a file that is not there; both spins have the same orbitals
    if not files:
        return ""
    return "cusp_files = " + (files[0] if len(set(files)) == 1 else " ".join(files))


def most_orbital(wave, folder):
    """The number of orbitals that a list of determinants needs; 0: there is none."""
    lists = list(wave.iter("detlist"))
    if not lists:
        return 0
    href = lists[0].get("href")
    if not href:
        found = [t for c in lists[0] for t in [c] + list(c) if t.get("alpha") or t.get("occ0")]
        return max(len((t.get(k) or "").rstrip("0")) for t in found for k in ("alpha", "beta", "occ0", "occ1"))
    import h5py
    import numpy as np
    most = 0
    with h5py.File(f"{folder}/{href}", "r") as f:
        for name in ("CI_Alpha", "CI_Beta", "CI_0", "CI_1"):
            if name in f["MultiDet"]:
                bits = f["MultiDet"][name][()].astype(np.uint64)
                for word in range(bits.shape[1]):
                    whole = int(np.bitwise_or.reduce(bits[:, word]))
                    most = max(most, 64 * word + whole.bit_length()) if whole else most
    return most


def valence(root, path):
    """The key for charges of nuclei that the file has otherwise than the input, which pseudopotentials replace."""
    import h5py
    wanted = {}
    for p in root.iter("particleset"):
        for g in p.iter("group"):
            charge = parameter(g, "charge")
            if charge and float(charge) > 0:
                wanted[g.get("name")] = float(charge)
    with h5py.File(path, "r") as f:
        order, lines, differ = [], [], False
        for i in f["atoms/species_ids"][()]:
            if int(i) not in order:
                order.append(int(i))
        for i in order:
            group = f[f"atoms/species_{i}"]
            name = group["name"][()].flat[0] if hasattr(group["name"][()], "flat") else group["name"][()]
            name = name.decode() if isinstance(name, bytes) else str(name)
            charge = float(group["charge"][()].flat[0])
            lines.append(wanted.get(name, charge))
            differ = differ or lines[-1] != charge
    return ["valence = " + words(lines)] if differ else []


def slaters(sets, wave, root, ini, optimised):
    ions = next(p for p in root.iter("particleset") if p.get("name") in ("ion0", "i") or "ion" in (p.get("name") or ""))
    places, charges, names = [], [], []
    order = next((a for a in ions.iter("attrib") if a.get("name") == "ionid"), None)
    groups = {g.get("name"): g for g in ions.iter("group")}
    positions = numbers(next(a for a in ions.iter("attrib") if a.get("name") == "position").text)
    for i in range(len(positions) // 3):
        name = order.text.split()[i] if order is not None else list(groups)[0]
        names.append(name)
        places.append(positions[3 * i:3 * i + 3])
        charges.append(float(parameter(groups[name], "charge")))
    zeta, n, l, on, pick = [], [], [], [], []
    for i, name in enumerate(names):
        basis = next(b for b in wave.iter("atomicBasisSet") if b.get("elementType") == name)
        alone = len(list(basis.iter("basisGroup"))) == 1  # so that its norm does not matter
        if basis.get("normalized", "yes") == "yes" and not alone:
            raise Unsupported("Slater functions without a norm")
        for group in basis.iter("basisGroup"):
            functions = list(group.iter("radfunc"))
            if len(functions) != 1 or group.get("type") != "Slater" or int(group.get("m", 0)) != 0:
                raise Unsupported("contracted Slater functions")
            zeta.append(float(functions[0].get("exponent")))
            n.append(int(functions[0].get("node") or functions[0].get("n") or group.get("n")))
            l.append(int(group.get("l")))
            on.append(i + 1)
            # the function of m = 0: s, z of x y z, 3 z^2 - r^2 of five
            pick.append([[1], [0, 0, 1], [0, 0, 0, 0, 1]][l[-1]])
    values, angle = orbitals_of_slaters(sets, wave)
    angle = None if optimised else angle  # a determinant of rotated orbitals is one of other coefficients
    count = max(electrons(root)) + (angle is not None)
    rows = [values[o * len(zeta):(o + 1) * len(zeta)] for o in range(count)]
    if angle is not None:
        if count != 2 or len(rows[1]) != len(rows[0]):
            raise Unsupported("rotations of more than two orbitals")
        turn = ((math.cos(angle), math.sin(angle)), (-math.sin(angle), math.cos(angle)))
        rows = [[c * a + d * b for a, b in zip(*rows)] for c, d in turn]
    rows = [words(c * x for c, p in zip(row, pick) for x in p) for row in rows]
    ini.add("potential slater_orbitals", "nuclei = " + "  ".join(words(p + [z]) for p, z in zip(places, charges)),
            "zeta = " + words(zeta), "n = " + words(n), "l = " + words(l), "on = " + words(on),
            "coefficients = " + "  ".join(rows), "virtual = 1" if angle is not None else "",
            "optimise = coefficients" if optimised and next(wave.iter("rotated_sposet"), None) is not None else "")
    if angle is not None:
        # at this angle the derivative by it is that by the coefficient of the other orbital, for each spin
        ini.add("potential multideterminant", "excitations = 1>2/- -/1>2", "coefficients = 0")


def orbitals_of_slaters(sets, wave):
    """Coefficients of the orbitals, the same for both spins, and the angle of their rotation; None: there is none."""
    texts, angles = [], []
    rotated = {r.get("name"): r for r in wave.iter("rotated_sposet")}
    for d in wave.iter("determinant"):
        name = d.get("sposet") or d.get("id")
        inside = rotated[name].find("sposet") if name in rotated else sets.get(name, d)
        texts.append(inside.find("coefficient").text)
        angles.append(float((rotated[name].findtext("opt_vars") or "0")) if name in rotated else None)
    if len(set(" ".join(t.split()) for t in texts)) != 1 or len(set(angles)) != 1:
        raise Unsupported("Slater functions with orbitals of their own for each spin")
    return numbers(texts[0]), angles[0]


def orbitals(root, wave, ini, folder, source, optimised):
    builder, sets = sets_of_orbitals(wave)
    kind = (builder.get("type") or "").lower()
    if kind in ("free", "heg"):
        ini.add("potential plane_waves")
    elif kind in ("bspline", "einspline", "pw"):
        splines(builder, sets, wave, root, ini, folder)
    elif kind in ("mo", "molecularorbital"):
        slater = any(g.get("type") == "Slater" for g in wave.iter("basisGroup"))
        if slater:
            slaters(sets, wave, root, ini, optimised)
        else:
            gaussians(builder, sets, wave, root, ini, folder, source)
    elif kind.startswith("spinor"):
        raise Unsupported("spinors, spin-orbit coupling")
    else:
        raise Unsupported("orbitals of type " + kind)


# ---- Hamiltonian, method ----------------------------------------------------------------------------------------------


def has_l2(path):
    return os.path.exists(path) and "<L2" in open(path).read()


def measured(root, ini, folder):
    lines, pairs = ["period = 4"], {"ee": False, "ei": False, "ii": False}
    files, alone = [], False
    for h in root.iter("hamiltonian"):
        for e in list(h):
            kind, name = (e.get("type") or "").lower(), (e.get("name") or "").lower()
            if e.tag == "extpot":
                raise Unsupported("an external potential")
            if kind == "pseudo":
                pairs["ei"] = True
                for p in e.iter("pseudo"):
                    if has_l2(f"{folder}/{p.get('href')}"):
                        raise Unsupported("a pseudopotential with an L2 potential")
                    if (p.get("href") or "") not in files:
                        files.append(p.get("href"))
                    alone = alone or "yes" in (p.get("DLA"), e.get("DLA"))
            elif kind == "coulomb":
                both = (e.get("source"), e.get("target"))
                if both == ("e", "e"):
                    pairs["ee"] = True
                elif "e" in both:
                    pairs["ei"] = True
                elif "ion" in (both[0] or "") and both[0] == both[1] or both == ("i", "i"):
                    pairs["ii"] = True
                else:
                    pairs["ee"] = True
    if files:
        lines.append("pseudopotentials = " + " ".join(files))
    if alone:
        lines.append("localisation = determinants")
    for key, name in (("ee", "electron_electron"), ("ei", "electron_ion"), ("ii", "ion_ion")):
        if not pairs[key] and (key == "ee" or next(root.iter("basisset"), None) is None):
            lines.append(name + " = no")
    ini.add("observable local_energy", *lines)


def energy_density(path, ini, method):
    """Cells of which QMCPACK's parts of its grid are sums: its tests divide 20 x 20 x 20 cells into 8 parts in their order."""
    space, period = space_of(path), "period = %d" % (20 if method == "dmc" else 4)
    if space is None:
        ini.add("observable energy_density", period, "cells = voronoi")
        return
    corner, _, counts = space
    if counts != [20, 20, 20]:
        raise Unsupported("a grid of %s cells" % counts)
    # a little below the corner, so that ions between two cells are in the upper one
    ini.add("observable energy_density", period, "grid = 20 2 1", "corner = " + words(x - 1e-7 for x in corner))


def density_matrix(root, wave, ini):
    """In the basis of the orbitals of several sets, which are those of lowest energy one after another."""
    basis = next(parameter(e, "basis") for e in root.iter("estimator") if parameter(e, "basis")).split()
    named = {s.get("name"): s for s in wave.iter("sposet")}
    beyond = [named[n] for n in basis if named[n].get("index_min")]
    most = max(int(s.get("index_max")) for s in beyond)
    lines = next(lines for title, lines in ini.sections if title == "potential bspline_orbitals")
    lines.append("virtual = %d" % (most - max(electrons(root))))
    ini.add("observable density_matrix", "period = 10", "grid = 6")


def check_optimised(root, section):
    """Optimisations to the lowest energy of all that can vary, by whatever linear method."""
    slater = any(e.get("type") == "Slater" for e in root.iter("basisGroup"))
    if any((e.tag == "rotated_sposet" and not slater) or (e.tag == "determinant" and e.get("optimize") == "yes")
           for e in root.iter()):
        raise Unsupported("optimisation of orbitals")
    mixed = any(e.tag == "sposet" and e.get("optimize") == "yes" for e in root.iter())
    if parameter(section, "output_vp_override") or (parameter(section, "options_lmyengine") or "no") == "yes":
        raise Unsupported("optimisation: QMCPACK's options")
    kind = (parameter(section, "minmethod") or "oneshiftonly").lower()
    if kind == "hybrid":  # steps of descent between those of the linear method, which is what it ends with
        kind = (parameter(list(section.iter("optimizer"))[-1], "minmethod") or "").lower()
    if kind not in ("quartic", "linemin", "rescale", "oneshiftonly", "adaptive"):
        raise Unsupported("optimisation by the method " + kind)
    subset = (parameter(section, "variational_subset") or "").split()
    if not subset:
        fixed = all(c.get("optimize") == "no" for e in root.iter("jastrow") for c in e.iter("coefficients"))
        return "gaussian_orbitals" if mixed and fixed else ""
    # splines and coefficients; parts that later sections add are still as they were
    parts = ["multideterminant"] * ("CI" in subset) + ["jastrow"] * any(n != "CI" for n in subset)
    if any(n in subset for e in root.iter("jastrow") if e.get("type") == "eeI" for c in e.iter("coefficients")
           for n in [c.get("id")]):
        parts.append("polynomial_jastrow")
    return ",".join(sorted(parts, reverse=True))


def energy_limit(section, tau, count):
    """QMCPACK's limit of local energies in weights, in the units of the key: 10 Hartree where ten times the variance is
    less, 2.5 / tau at most, unless the input asks for another one. A walker is copied twice at most (maxCopy), which limits the
    energy, too: at tau = 0.2 two water molecules have an effective tau of 0.7 tau."""
    scheme = parameter(section, "branching_cutoff_scheme") or "classic"
    if scheme == "ZSGMA":
        return 0.2
    if scheme != "classic":
        raise Unsupported("limits of local energies by the scheme " + scheme)
    copies = float(parameter(section, "maxcopy") or 2)
    return min(10, 2.5 / tau, math.log(copies) / (0.7 * tau)) / math.sqrt(count / tau)


def diffusion(section, ini, count):
    tau = float(parameter(section, "timestep", "tau"))
    moves = (parameter(section, "nonlocalmoves") or "no").lower()
    if moves in ("v0", "yes"):
        moves = "v0"
    ini.add("mover diffusion", "tau = %g" % tau, "drift_limit = 1", "energy_limit = %.4g" % energy_limit(section, tau, count),
            "variational_tau = %g" % min(0.3, 4 * tau + 0.05),
            {"v0": "nonlocal = one_t_move", "v1": "nonlocal = t_moves", "v3": "nonlocal = near_t_moves"}.get(moves, ""))


def sections_of(root):
    """<qmc> sections, one a series: those of a loop as often as it says."""
    found = []
    for e in root:
        found += [e] if e.tag == "qmc" else list(e.iter("qmc")) * int(e.get("max")) if e.tag == "loop" else []
    return found


def keep_system(root, section, which):
    """Of several systems that correlated sampling compares only one: its wave function, Hamiltonian and ions."""
    system = list(section.iter("qmcsystem"))[which]
    for tag, name in (("wavefunction", "wavefunction"), ("hamiltonian", "hamiltonian")):
        for parent in list(root.iter()):
            for e in [e for e in list(parent) if e.tag == tag and e.get("name") != system.get(name)]:
                parent.remove(e)


def translate(clone, test, series, density=None, system=None):
    """(INI file, what it is of without lengths of runs, method) of a <qmc> section, from 0 in the order of the input;
    `system`: which of those that correlated sampling compares."""
    folder = f"{clone}/tests/{test.folder}"
    root = read_input(f"{folder}/{test.input}")
    if system is not None:
        keep_system(root, next(root.iter("qmc")), system)
    waves = list(root.iter("wavefunction"))
    sections = sections_of(root)
    if not sections:
        raise Unsupported("auxiliary-field Monte Carlo" if "afqmc" in test.folder.lower() else "no <qmc> section")
    if len(waves) != 1:
        raise Unsupported("correlated sampling of several wave functions" if len(waves) > 1 else "no wave function here")
    base = next((p.get("series") for p in root.iter("project")), None)
    at = min(series - int(base or 0), len(sections) - 1)
    section = sections[at]
    if (section.get("method") or "").lower()[:3] == "vmc":  # of parameters that sections before it may have optimised
        section = next((q for q in sections[at::-1] if (q.get("method") or "").lower() in ("linear", "linear_batch")), section)
    method = (section.get("method") or "").lower()
    before = [q for q in sections[:at] if (q.get("method") or "").lower().startswith("linear")]
    only, after = "", bool(before) and method[:3] == "dmc"
    if after:  # with the wave function that sections before it have optimised
        only = check_optimised(root, before[-1])
        if any(e.tag == "sposet" and e.get("optimize") == "yes" for e in root.iter()):
            only = "gaussian_orbitals"  # the energy is that of their nodes; the Jastrow factor is one that has been optimised
    if system is not None and method == "csvmc":
        method = "vmc"  # energies are those of each system by itself
    optimised = method in ("linear", "linear_batch")
    derivatives = optimised and any(o.get("method") == "gradient_test" for o in section.iter("optimize"))
    if derivatives:
        method = "vmc"
    elif optimised:
        only = check_optimised(root, section)
        method = "vmc"
    if method not in ("vmc", "dmc", "vmc_batch", "dmc_batch", "rmc"):
        raise Unsupported("the method " + method)
    method = "derivatives" if derivatives else "opt" if optimised else "opt_dmc" if after else method[:3]
    ini = Ini()
    ini.add("run", "sweeps = 1000", "equilibrate = 600", "seed = 1",
            "walkers = 64", "threads = 1", "device = cpu")
    box(root, ini)
    up, down = electrons(root)
    for name, count in (("up", up), ("down", down)):
        ini.add("species " + name, "count = %d" % count, "charge = -1")
    wave = waves[0]
    ions = wave.find(".//sposet_collection[@type='free']") is None and wave.find(
        ".//sposet_collection[@type='heg']") is None
    ini.add("initial", "state = near_ions" if ions else "state = random")
    orbitals(root, wave, ini, folder, test.input, optimised and not derivatives)
    expansion(wave, ini, folder)
    override(wave, folder)
    jastrows(wave, ini, test.folder in INLINE or system is not None, root)
    if not method.endswith(("dmc", "rmc")):
        ini.add("mover particle_by_particle", "step = 0.5", "target_acceptance = 0.6")
    else:  # ends of the paths of reptation have the distribution of walkers of diffusion
        diffusion(section, ini, up + down)
    if method == "rmc":
        ini.sections[0][1].insert(0, "; pure estimates: plugmc extrapolate, with a variational run")
    if only:
        ini.sections[0][1].insert(0, "; plugmc optimise --only " + only)
    asked = before[-1] if after else section
    if (optimised or after) and (parameter(asked, "targetexcited") or "no").lower() == "yes":
        ini.sections[0][1].insert(0, "; the state nearest to %s" % parameter(asked, "omega"))
    measured(root, ini, folder)
    if density:
        if method not in ("vmc", "dmc", "rmc"):
            raise Unsupported("densities of the method " + method)
        what = {"energydensity": "energy_density", "1rdm": "density_matrix", "obdm": "density_matrix"}.get(density["-q"], "density")
        if what == "energy_density":
            energy_density(f"{folder}/{test.input}", ini, method)
        elif what == "density_matrix":
            density_matrix(root, wave, ini)
        else:
            ini.add("observable trajectory", "period = 10", "format = h5md")
        method = ("" if method == "vmc" else method + "_") + what
    if any(t.tag == "estimator" and (t.get("type") or "") == "none" for t in root.iter()):
        raise Unsupported("no estimator")
    return ini, method + identity(ini, wave), method


def identity(ini, wave):
    """What two inputs have in common that describe the same run: all but names of files of Jastrow factors, whose content
    is compared instead."""
    parts = []
    for title, lines in ini.sections:
        if title in ("potential jastrow", "potential polynomial_jastrow") and lines and lines[0].startswith("file"):
            lines = []
        if title == "run":
            lines = [line for line in lines if line.startswith(";")]
        if title == "potential gaussian_orbitals" and lines[0].endswith(".xml"):
            lines = lines[1:]
        parts.append((title, tuple(lines)))
    content = []
    for j in wave.iter("jastrow"):
        for c in list(j.iter("coefficients")) + list(j.iter("var")):
            content.append(" ".join("%.10g" % v for v in numbers(c.text)))
        for c in j.iter("correlation"):
            content.append(str(sorted((k, v) for k, v in c.items() if k not in ("_file",))))
    for tag in ("radfunc", "basisGroup"):
        content += [str(sorted(e.items())) for e in wave.iter(tag)]
    for e in wave.iter("coefficient"):
        content.append(" ".join((e.text or "").split()))
    for d in wave.iter("detlist"):
        content.append(str(d.get("size")) + str(d.get("href")) + str(d.get("cutoff")))
    return repr(parts) + repr(content)


def file_name(test, method, taken):
    """A name for the INI file: folder of the test, input without what is common to all."""
    stem = os.path.basename(test.input)
    for end in (".xml", ".in", ".txt"):
        stem = stem[:-len(end)] if stem.endswith(end) else stem
    name = "%s.%s.%s" % (os.path.basename(test.folder), stem, method)
    while name in taken:
        name += "_"
    return name
