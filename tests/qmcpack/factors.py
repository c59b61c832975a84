"""From what stands beside the orbitals in an input of QMCPACK, lists of determinants and Jastrow factors, to sections."""
import math

from inifile import Unsupported, words
from listing import numbers


def expansion(wave, ini, folder):
    lists = list(wave.iter("detlist"))
    if len(lists) > 1:
        raise Unsupported("several lists of determinants")
    if not lists:
        return
    coefficients = optimised(lists[0], folder) if lists[0].get("opt_coeffs") else ""
    ini.add("potential multideterminant", "file = " + (lists[0].get("href") or lists[0].get("_file")),
            "cutoff = " + lists[0].get("cutoff") if float(lists[0].get("cutoff", 0)) else "",
            "state = " + lists[0].get("ext_level") if int(lists[0].get("ext_level", 0)) else "", coefficients)


def optimised(element, folder):
    """The key for coefficients of all terms but the first, which an optimisation has left in a file of their own."""
    import h5py
    with h5py.File(f"{folder}/{element.get('href')}", "r") as f:
        before = f["MultiDet/Coeff"][()]
    with h5py.File(f"{folder}/{element.get('opt_coeffs')}", "r") as f:
        others = f["MultiDet/Coeff"][()]
    kept = [c for c in before if abs(c) >= float(element.get("cutoff", 0))]
    if abs(kept[0]) < max(abs(c) for c in kept) or len(others) != len(kept) - 1:
        raise Unsupported("coefficients of other terms than those of the list")
    return "coefficients = " + words(c / kept[0] for c in others)


def inline_splines(ini, terms):
    lines = []
    for j in terms:
        for c in j.iter("correlation"):
            values = " ".join(c.find("coefficients").text.split())
            one = (j.get("type") or "").lower() == "one-body"
            name = "chi" if one else "like" if c.get("speciesA") == c.get("speciesB") else "unlike"
            lines.append("%s = %s" % (name, values))
            if one:
                lines.append("elements = " + c.get("elementType"))
            if one and float(c.get("cusp", 0)):
                lines.append("chi_cusp = %g" % float(c.get("cusp")))
            if c.get("rcut"):
                lines.append("%s_cutoff = %g" % ("chi" if one else "u", float(c.get("rcut"))))
    ini.add("potential jastrow", *lines)


def pade(ini, jastrow):
    """u = A r / (1 + B r), in open space."""
    found, lines = {}, []
    for c in jastrow.iter("correlation"):
        like = c.get("speciesA") == c.get("speciesB")
        values = {v.get("name"): float(v.text) for v in c.iter("var")}
        found[like] = values.get("A", -0.25 if like else -0.5), values["B"]
    if (jastrow.get("type") or "").lower() != "two-body" or False not in found:
        raise Unsupported("a Pade function of this kind")
    if "shape = sphere" not in next(lines for title, lines in ini.sections if title == "box"):
        raise Unsupported("a Pade function in a periodic cell")
    for like, (a, b) in sorted(found.items(), reverse=True):
        lines.append("%s = %g" % ("like" if like else "unlike", b))
        if a != (-0.25 if like else -0.5):
            lines.append("%s_cusp = %g" % ("like" if like else "unlike", a))
    ini.add("potential pade_jastrow", *lines)


def plane_waves(ini, jastrow, root):
    """Keys of a factor in reciprocal space. Its vectors are those of one half up to a cutoff, those of one length have one
    coefficient; in the one-body part those are left out for which the structure factor of the ions is 0."""
    lattice = next(p for p in root.iter("parameter") if p.get("name") == "lattice")
    a = [numbers(lattice.text)[3 * i:3 * i + 3] for i in range(3)]
    cross = lambda u, v: [u[i - 2] * v[i - 1] - u[i - 1] * v[i - 2] for i in range(3)]
    dot = lambda u, v: sum(x * y for x, y in zip(u, v))
    volume = dot(a[0], cross(a[1], a[2]))
    b = [[2 * math.pi * x / volume for x in cross(a[i - 2], a[i - 1])] for i in range(3)]
    ions = next(p for p in root.iter("particleset") if p.get("name") == jastrow.get("source"))
    if len(list(ions.iter("group"))) != 1:
        raise Unsupported("a Jastrow factor in reciprocal space with several kinds of ions")
    places = numbers(next(x for x in ions.iter("attrib") if x.get("name") == "position").text)
    places = [places[k:k + 3] for k in range(0, len(places), 3)]
    keys = []
    for c in jastrow.iter("correlation"):
        one, values = c.get("type") == "One-Body", numbers(c.find("coefficients").text)
        far, waves = 6, []
        for n in ((i, j, k) for i in range(far + 1) for j in range(-far, far + 1) for k in range(-far, far + 1)):
            g = [sum(n[i] * b[i][d] for i in range(3)) for d in range(3)]
            phases = [dot(g, r) for r in places]
            seen = sum(map(math.cos, phases)) ** 2 + sum(map(math.sin, phases)) ** 2
            if n > (0, 0, 0) and dot(g, g) <= float(c.get("kc")) ** 2 and (seen > 1e-12 or not one):
                waves.append((dot(g, g), n))
        waves.sort()
        star, vectors, coefficients = -1, [], []
        for k, (square, n) in enumerate(waves):
            star += k == 0 or square - waves[k - 1][0] > 1e-8
            own = [x / volume for x in values[2 * star:2 * star + 2]] if one else [2 * values[star] / volume]
            vectors.append("%d %d %d" % n)
            coefficients.append(words(own))
        if star + 1 != len(values) // (2 if one else 1):
            raise Unsupported("a Jastrow factor in reciprocal space with other stars")
        name = "chi" if one else "u"
        keys += ["%s_vectors = %s" % (name, "  ".join(vectors)), "%s = %s" % (name, "  ".join(coefficients))]
    ini.add("potential plane_wave_jastrow", *keys)


def override(wave, folder):
    """Parameters that a file gives in place of those of the input; of QMCPACK's tests it is made from a text beside it."""
    for element in wave.iter("override_variational_parameters"):
        values = dict(line.split()[:2] for line in open(f"{folder}/{element.get('href')[:-3]}.txt") if "_" in line)
        for c in wave.iter("coefficients"):
            own = [values[f"{c.get('id')}_{k}"] for k in range(len(numbers(c.text))) if f"{c.get('id')}_{k}" in values]
            if len(own) == len(numbers(c.text)):
                c.text = " ".join(own)


def same_for_both_spins(jastrow):
    """Makes a one-body factor that may depend on the spin, and does not, one that does not; whether there is one."""
    parts = list(jastrow.iter("correlation"))
    if jastrow.get("spin") != "yes":
        return False
    if len({" ".join(c.find("coefficients").text.split()) for c in parts}) != 1 or len({c.get("speciesA") for c in parts}) != 1:
        raise Unsupported("a one-body Jastrow factor that depends on the spin")
    for c in parts[1:]:
        jastrow.remove(c)
    parts[0].set("elementType", parts[0].get("speciesA"))
    return True


def jastrows(wave, ini, inline, root):
    if next(wave.iter("backflow"), None) is not None:
        raise Unsupported("backflow")
    terms = {"spline": [], "pade": [], "eei": []}
    for j in wave.iter("jastrow"):
        kind, function = (j.get("type") or "").lower(), (j.get("function") or "").lower()
        if kind == "eei":
            terms["eei"].append(j)
        elif kind in ("one-body", "two-body") and function in ("bspline", "pade"):
            inline = same_for_both_spins(j) or inline
            terms["spline" if function == "bspline" else "pade"].append(j)
        elif kind == "kspace":
            plane_waves(ini, j, root)
        else:
            raise Unsupported("a Jastrow factor of type %s, function %s" % (kind, function))
    if terms["spline"] and inline:
        inline_splines(ini, terms["spline"])
    elif terms["spline"]:
        ini.add("potential jastrow", "file = " + terms["spline"][0].get("_file"))
    for j in terms["pade"]:
        pade(ini, j)
    if terms["eei"]:
        ini.add("potential polynomial_jastrow", "file = " + terms["eei"][0].get("_file"))
