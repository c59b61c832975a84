"""QMCPACK's tests of inputs that have to be refused, as INI files with the same mistake.

The first line of such a file is `; refused: SENTENCE`: part of what plugmc has to say, with a code other than 0. The second may
be `; command: WORDS`, which stand for `run FILE`.
"""
import os
import subprocess

from inifile import Ini

DIAMOND, H4 = "solids/diamondC_1x1x1_pp", "molecules/H4_ae"


def without(title):
    def change(ini):
        ini.sections = [s for s in ini.sections if not s[0].startswith(title)]
    return change


def other(title, key, line):
    """Another line, or none, in place of a key's."""
    def change(ini):
        for name, lines in ini.sections:
            if name.startswith(title):
                lines[:] = [line if old.startswith(key + " ") else old for old in lines]
                lines[:] = [x for x in lines if x]
    return change


def text(words):
    def change(ini):
        ini.raw = words
    return change


# Test: folder and input of a test of the same system without the mistake, the mistake, the sentence, the command.
CASES = {
    "deterministic-input_check_no_splineh5-r1-t1": (
        DIAMOND, "qmc_short.in.xml", other("potential bspline", "file", "file = absent.h5"), "absent.h5", ""),
    "deterministic-input_check_bad_splineh5-r1-t1": (
        DIAMOND, "qmc_short.in.xml", other("potential bspline", "file", "file = C.BFD.xml"), "C.BFD.xml", ""),
    "deterministic-input_check_no_pp-r1-t1": (
        DIAMOND, "qmc_short.in.xml", other("observable", "pseudopotentials", ""), "give its pseudopotential", ""),
    "deterministic-input_check_no_pset-r1-t1": (DIAMOND, "qmc_short.in.xml", without("species"), "species", ""),
    "deterministic-input_check_no_wf-r1-t1": (
        DIAMOND, "qmc_short.in.xml", without("potential"), "there is no section [potential NAME]", ""),
    "deterministic-input_check_broken_xml-r1-t1": (
        DIAMOND, "qmc_short.in.xml", text("[run]\nsweeps = 100\n[box\ndimension = 3\n"), "[box", ""),
    "deterministic-input_check_not_xml-r1-t1": (
        DIAMOND, "qmc_short.in.xml", text("This is no INI file.\n"), "This is no INI file", ""),
    "deterministic-input_check_not_present_not_xml_suffix-r1-t1": (
        DIAMOND, "qmc_short.in.xml", text("; of a file that is not there\n"), "absent.notini", "run absent.notini"),
    "deterministic-input_check-invalid_variational_subset-r2-t1": (
        H4, "optm-OneShiftOnly-onlyjas.xml", lambda ini: None, "no sampled potential 'uu' has variational parameters",
        "optimise sim.ini --only uu,ee"),
}


def spoil(test, ini):
    """An INI file with the mistake of a test."""
    _, _, change, sentence, command = CASES[test]
    spoilt = Ini()
    spoilt.sections = [(title, [line for line in lines if not line.startswith(";")]) for title, lines in ini.sections]
    change(spoilt)
    spoilt.head = "; refused: %s\n" % sentence + ("; command: %s\n" % command if command else "")
    return spoilt


def refused(program, work, ini):
    """1 or 0, whether plugmc refuses it with the right sentence, and what it says."""
    lines = ini.splitlines()
    sentence = lines[0].split(": ", 1)[1]
    command = next((line.split(": ", 1)[1].split() for line in lines if line.startswith("; command: ")), ["run", "sim.ini"])
    done = subprocess.run([program, *command], cwd=work, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    good = done.returncode != 0 and sentence in done.stderr
    return float(good), done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "exit %d" % done.returncode
