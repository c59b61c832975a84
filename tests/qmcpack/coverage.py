"""The table of QMCPACK's tests: which INI file of this folder expresses each, or why none does.

    coverage.py CLONE             writes coverage.csv and the INI files that are not there
    coverage.py CLONE --force     writes all INI files anew

CLONE is a clone of https://github.com/QMCPACK/qmcpack. Sweeps come from lengths.csv.
"""
import csv
import os
import sys

from listing import HERE, tests_of
from refused import CASES, spoil
from translate import Unsupported, file_name, translate

COMPARED = {"totenergy": "energy", "LocalEnergy": "energy", "kinetic": "kinetic", "Kinetic": "kinetic", "variance": "variance",
            "potential": "potential", "LocalPotential": "potential", "eeenergy": "electron_electron", "ionion": "ion_ion",
            "localecp": "local", "nonlocalecp": "nonlocal",
            # of paths: at their ends, and in the middle
            "kinetic_mixed": "kinetic", "eeenergy_mixed": "electron_electron", "kinetic_pure": "kinetic_pure",
            "potential_pure": "potential_pure", "eeenergy_pure": "electron_electron_pure"}


# Systems of correlated sampling, with the end of the names of their scalars.
SYSTEMS = ("_A", "_B")


def density_of(test):
    """What check_stats.py is given of a test that looks at functions of space or density matrices: {option: value}."""
    if "check_stats" not in test.script or test.name.startswith("deterministic"):
        return None
    words = test.script.split()
    options = dict(zip(words[1::2], words[2::2]))
    options["-q"] = options.get("-q", "").strip("'").split(",")[0]
    if options["-q"] in ("1rdm", "obdm"):  # of orbitals as they are, not of their real parts alone
        options["-r"] = options.get("-r", "").replace("_real.", "_comp.")
    return options if options["-q"] in ("density", "spindensity", "energydensity", "1rdm", "obdm") else None


def only_ions(test):
    """The energy of the ions does not depend on random numbers."""
    return test.checks and all(set(c.scalars) == {"ionion"} for c in test.checks)


def reason_without_translation(test):
    if test.name in CASES:
        return ""
    if not test.succeeds:
        return "an input that has to be refused"
    if test.kind == "SIMPLE":
        if "grad_lap" in test.script or "deriv" in test.script:
            return "QMCPACK's check of its own derivatives"
        if density_of(test):
            return ""
        if "check_stats" in test.script and test.name.startswith("deterministic"):
            return "a few steps of QMCPACK's own random numbers"
        if "check_stats" in test.script:
            quantity = test.script.split("-q ")[1].split()[0].strip("'")
            return "an estimator that is not here: " + quantity
        return "QMCPACK's own files: " + test.script.split()[0]
    if test.name.startswith("deterministic") and not only_ions(test):
        return "a few steps of QMCPACK's own random numbers"
    return ""


def numbers_of(test, check, system=None):
    """Scalars that are compared, by the names that they have here; of one of several systems."""
    end = SYSTEMS[system] if system is not None else ""
    found = {COMPARED[k[:-2] if end else k]: v for k, v in check.scalars.items()
             if k.endswith(end) and (k[:-2] if end else k) in COMPARED}
    return found or (derivatives_of(check) if system is None else {})


def derivatives_of(check):
    """Derivatives of the energy by parameters: of the spline or fraction between electrons, and by angles of orbitals."""
    found = {k: v for k, v in check.scalars.items() if k[:4] == "jud_"}
    turns = {k: v for k, v in check.scalars.items() if "orb_rot" in k}
    for name, value in turns.items():
        found["rotation" + ("_up" if "up" in name else "_down") * (len(turns) > 1)] = value
    return found


def systems_of(check):
    return (0, 1) if "totenergy_A" in check.scalars else (None,)


def spoilt_of(clone, test, tests):
    """The INI file of an input that has to be refused: that of a test of the same system, with the mistake."""
    folder, source = CASES[test.name][:2]
    right = next(t for t in tests.values() if t.folder == folder and t.input == source and t.checks)
    return spoil(test.name, translate(clone, right, right.checks[0].series)[0])


def rows_of(clone, tests):
    """A row a test and series: name, series, INI file, reason, references."""
    known, files = {}, {}
    # the names of INI files come from the first test: not from those of a hybrid method of optimisation
    for name in sorted(tests, key=lambda n: (tests[n].folder, not n.startswith("short"),
                                             "-hybrid.xml" in tests[n].input, n)):
        test = tests[name]
        if name in CASES:
            ini, file = spoilt_of(clone, test, tests), file_name(test, "refused", files)
            files[file] = ini
            yield [name, test.folder, test.input, 0, file + ".ini", "", "refused=1(0)"]
            continue
        why = reason_without_translation(test)
        density = density_of(test)
        checks = [(c, s) for c in test.checks for s in systems_of(c) if numbers_of(test, c, s)]
        checks = checks or ([(density, None)] if density else [])
        if why or not checks:
            why = why or ("auxiliary-field Monte Carlo" if "afqmc" in test.folder else "no energy is looked at")
            yield [name, test.folder, test.input, "", "", why, ""]
            continue
        for check, system in checks:
            series = int(density["-s"]) if density else check.series
            row = [name, test.folder, test.input, series]
            try:
                ini, identity, method = translate(clone, test, series, density, system)
                if identity not in known:
                    known[identity] = file_name(test, method, files)
                    files[known[identity]] = ini
                file = known[identity]
                data = next((line.split(" = ")[1] for title, lines in ini.sections for line in lines
                             if title.endswith("_orbitals") and line.startswith("file")), "")
                why = ""
                if data and not os.path.exists(f"{clone}/tests/{test.folder}/{data}"):
                    why = "the data are not in QMCPACK's repository: " + data
                if density:
                    references = "%s@%s" % (density["-q"], density["-r"])
                else:
                    references = " ".join("%s=%.12g(%g)" % (k, *v) for k, v in numbers_of(test, check, system).items())
                yield row + [file + ".ini", why, references]
            except Unsupported as e:
                yield row + ["", str(e), ""]
    yield files


def lengths():
    path = f"{HERE}/lengths.csv"
    return {r["ini"]: r for r in csv.DictReader(open(path))} if os.path.exists(path) else {}


def main():
    clone, force = sys.argv[1], "--force" in sys.argv
    rows = list(rows_of(clone, tests_of(clone)))
    files = rows.pop()
    with open(f"{HERE}/coverage.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["test", "folder", "input", "series", "ini", "reason", "references"])
        out.writerows(rows)
    wanted = lengths()
    for name, ini in files.items():
        path = f"{HERE}/inis/{name}.ini"
        if os.path.exists(path) and not force:
            continue
        run = ini.sections[0][1]
        for key in ("sweeps", "equilibrate"):
            if name in wanted:
                run[:] = [f"{key} = {wanted[name][key]}" if line.startswith(key) else line for line in run]
        with open(path, "w") as f:
            f.write(ini.text())
    tests = {r[0] for r in rows}
    expressed = {r[0] for r in rows if r[4] and not r[5]} - {r[0] for r in rows if r[5]}
    print(f"{len(tests)} tests, {len(expressed)} expressed by {len(files)} INI files")


if __name__ == "__main__":
    main()
