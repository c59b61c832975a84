"""From measurements to tables: medians, agreement of energies, ratios. Pure functions of the lines that peers.py records.

A line is a dict. "measurement": table, size, subject, round, moves, seconds, energy, truncation, acceptance, version.
"reference": table, size, subjects in the order of
their rows, and the energies of plugmc for the start, by truncation. "failure": table, size, subject, why.
"missing": subject, why.
"""
from statistics import median

# Relative differences of energies of the same configuration, in units of max(1, |energy|). In ions and water all codes have errors
# of their Ewald sums; OpenMM works in single precision; Faunus takes energies from tables.
TOLERANCES = {"ions": 3e-5, "hmc": 1e-5, "md": 1e-5, "water": 3e-5, "water_md": 3e-5}
TOLERANCE = 1e-5


def lines_of(lines, kind, **wanted):
    return [l for l in lines if l["line"] == kind and all(l.get(k) == v for k, v in wanted.items())]


def rates(measurements):
    """Trial moves, or steps, a second of each round; None if one took no time that could be measured."""
    if any(m["seconds"] <= 0 for m in measurements):
        return None
    return [m["moves"] / m["seconds"] for m in measurements]


def difference(measurement, references):
    """Relative difference of its energy from plugmc's of the same configuration; None if there is none to compare with."""
    for r in references:
        expected = r["energies"].get(measurement["truncation"])
        if expected is not None and measurement["energy"] is not None:
            return abs(measurement["energy"] - expected) / max(1, abs(expected))
    return None


def agrees(measurement, references):
    """A difference that is not known, or not a number, is no agreement."""
    d = difference(measurement, references)
    return d is not None and d <= TOLERANCES.get(measurement["table"], TOLERANCE)


def row(lines, table, size, subject):
    """What the table has of a subject at a size: rate, spread, acceptance, fault (a sentence, or None)."""
    mine = lines_of(lines, "measurement", table=table, size=size, subject=subject)
    failures = lines_of(lines, "failure", table=table, size=size, subject=subject)
    fault = failures[0]["why"] if failures else None
    if not mine:
        return {"rate": None, "spread": None, "acceptance": None, "fault": fault}
    references = lines_of(lines, "reference", table=table, size=size)
    wrong = [m for m in mine if not agrees(m, references)]
    if wrong:
        d = difference(wrong[0], references)
        fault = "energies differ by " + ("an unknown amount" if d is None else f"{d:.1e}")
    found = rates(mine)
    if found is None:
        return {"rate": None, "spread": None, "acceptance": None, "fault": fault or "too short to be timed: more --seconds"}
    return {"rate": median(found), "spread": (max(found) - min(found)) / median(found),
            "acceptance": median(m["acceptance"] for m in mine), "fault": fault}


def faults(lines):
    """Sentences on all rows that failed or whose energy is another: with one the exit code is 1."""
    found = []
    keys = {(l["table"], l["size"], l["subject"]) for l in lines if l["line"] in ("measurement", "failure")}
    for table, size, subject in sorted(keys):
        fault = row(lines, table, size, subject)["fault"]
        allowed = [l for l in lines_of(lines, "failure", table=table, size=size, subject=subject) if l.get("allowed")]
        if fault and not allowed:
            found.append(f"{table}, N = {size}, {subject}: {fault}")
    return found


def number(x):
    """Three figures, as 2.34e5."""
    if x is None:
        return "-"
    mantissa, exponent = f"{x:.2e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def table_of(lines, table, title, unit, is_own):
    """Markdown: a line a subject, a column a size; in it the rate, and how it is to the best of the other side."""
    own_lines = [l for l in lines if l["line"] in ("measurement", "failure") and l["table"] == table]
    sizes = sorted({l["size"] for l in own_lines})
    order = [s for r in lines_of(lines, "reference", table=table) for s in r["subjects"]]
    subjects = sorted(dict.fromkeys(l["subject"] for l in own_lines), key=(order + [l["subject"] for l in own_lines]).index)
    rows = {(s, n): row(lines, table, n, s) for s in subjects for n in sizes}
    text = [f"## {title}", "", f"{unit}; in brackets the acceptance.", "",
            "| | " + " | ".join(f"N = {n:,}" for n in sizes) + " |", "|---" * (1 + len(sizes)) + "|"]
    for s in subjects:
        cells = []
        for n in sizes:
            r = rows[s, n]
            cell = "-" if r["rate"] is None else f"{number(r['rate'])} ({r['acceptance']:.2f})"
            cells.append(cell + (f"; {r['fault']}" if r["fault"] else ""))
        text.append(f"| {s} | " + " | ".join(cells) + " |")
    best = {}
    for side in (True, False):
        for n in sizes:
            mine = [rows[s, n] for s in subjects if is_own(s) == side]
            best[side, n] = max((r["rate"] for r in mine if r["rate"] and not r["fault"]), default=None)
    ratios = [f"{best[True, n] / best[False, n]:.2f}" if best[True, n] and best[False, n] else "-" for n in sizes]
    text.append("| fastest of plugmc / fastest peer | " + " | ".join(ratios) + " |")
    widest = max((rows[k]["spread"] for k in rows if rows[k]["spread"] is not None), default=0)
    return "\n".join(text + ["", f"Largest spread of a row over the rounds: {100 * widest:.0f} %.", ""])
