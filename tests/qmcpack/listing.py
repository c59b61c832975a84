"""QMCPACK's tests as its CMake files add them, and its inputs with what they include."""
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = ("molecules", "solids", "heg", "models")
# Data of several hundred megabytes that is not in the repository: tests are added where it lies in $QMC_DATA.
ELSEWHERE = ("NiO/NiO-fcc-supertwist111-supershift000-S1.h5", "NiO/NiO_afm_fcidump.h5")


class Check:
    """What a test looks at in one series (one <qmc> section): {scalar: (value, error)}."""

    def __init__(self, field):
        words = field.split("|")
        self.series, self.scalars = int(words[0][1:]), {}
        for name, numbers in zip(words[1::2], words[2::2]):
            value, error = numbers.split()[:2]
            self.scalars[name] = (float(value), float(error))


class Test:
    def __init__(self, line, builds):
        kind, name, folder, prefix, source, processes, threads, succeeds, *rest = line.rstrip("\n").split("\t")
        self.kind, self.name, self.input = kind, name, source
        self.folder = folder.split("/tests/", 1)[1] if "/tests/" in folder else folder
        # one folder is written as a file system that ignores capital letters would find it
        self.folder = self.folder.replace("LiH_ae_pyscf_uhf", "LiH_ae_pyscf_UHF")
        self.succeeds, self.builds = succeeds == "TRUE", set(builds)
        self.script = rest[0].strip() if kind == "SIMPLE" else ""
        self.checks = [] if kind == "SIMPLE" else [Check(f) for f in rest if "|" in f]


def tests_of(clone):
    """All tests of a clone of QMCPACK that run its program, by name; those of the builds for real and for complex
    orbitals together."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in ELSEWHERE:
            os.makedirs(os.path.dirname(f"{scratch}/{name}"), exist_ok=True)
            open(f"{scratch}/{name}", "w").close()
        for group in GROUPS:
            top = f"{clone}/tests/{group}"
            for folder in sorted(os.listdir(top)) + ["."]:
                file = f"{top}/{folder}/CMakeLists.txt"
                if not os.path.exists(file) or (folder == "." and group != "models"):
                    continue
                for build in ("FALSE", "TRUE"):
                    out = f"{scratch}/lines"
                    open(out, "w").close()
                    subprocess.run(["cmake", f"-DSOURCE={clone}", f"-DOUT={out}", f"-DFILE={file}", f"-DQMC_DATA={scratch}",
                                    f"-DQMC_COMPLEX={build}", "-P", f"{HERE}/list_tests.cmake"],
                                   check=True, capture_output=True)
                    for line in open(out):
                        test = Test(line, [build])
                        if not line.split("\t")[2].startswith(f"{clone}/tests/"):  # it names none
                            test.folder = f"{group}/{folder}"
                        if test.name in found:
                            found[test.name].builds.add(build)
                            # inputs with a twist are refused by the build for real orbitals
                            if test.succeeds and not found[test.name].succeeds:
                                test.builds = found[test.name].builds
                                found[test.name] = test
                        else:
                            found[test.name] = test
    return found


def read_input(path):
    """The root of an input with all <include> resolved; each element has the attribute `_file` if it has a name of its
    own to be found by."""
    root = ET.parse(path).getroot()
    folder = os.path.dirname(path)

    def resolve(element):
        for i, child in enumerate(list(element)):
            if child.tag == "include":
                inner = read_input(f"{folder}/{child.get('href')}")
                children = list(inner) if inner.tag in ("simulation", "qmcsystem") else [inner]
                at = list(element).index(child)
                element.remove(child)
                for k, c in enumerate(children):
                    element.insert(at + k, c)
            else:
                resolve(child)

    for e in root.iter("jastrow"):
        e.set("_file", os.path.basename(path))
    for tag in ("detlist", "basisset"):
        for e in root.iter(tag):
            e.set("_file", os.path.basename(path))
    resolve(root)
    return root


def parameter(element, *names):
    """The text of <parameter name=...>, whatever the letters' case; None: there is none."""
    for p in element.iter("parameter"):
        if (p.get("name") or "").lower() in names:
            return (p.text or "").strip()
    return None


def numbers(text):
    return [float(w) for w in re.split(r"[\s,]+", (text or "").strip()) if w]
