"""Prints tables in Markdown of what compare.py found: report.py RESULTS.csv...; later lines of an INI file replace earlier ones."""
import collections
import csv
import math
import sys

from compare import compare, coverage, limit_of, references, references_of


def results(paths):
    """{INI file: (seconds, [(quantity, mine, error, theirs, error, z)], reason)}"""
    found = {}
    for path in paths:
        group, last = [], None
        for line in csv.reader(open(path)):
            if line[:2] != last or line[2] in {g[0] for g in group}:
                group, last = [], line[:2]
                found[line[0]] = (float(line[1]), group, "")
            if line[2] == "failed":
                found[line[0]] = (float(line[1]), [], line[3])
            else:
                group.append((line[2], *map(float, line[3:])))
    return found


def anew(rows, found):
    """The same with the references that coverage.csv has now; densities keep those of their run."""
    out = {}
    for name, (seconds, lines, why) in found.items():
        own = references([row for row in rows if row["ini"] == name])
        mine = {line[0].rstrip("'"): line[1:3] for line in lines}
        out[name] = (seconds, list(compare(mine, own)) if own and lines else lines, why)
    return out


def chance(counts, limit=3):
    """How many of the numbers are expected beyond the limit if all are right and independent."""
    return sum(counts) * math.erfc(limit / 2**0.5)


def verdicts(rows, found):
    """{test: 'agrees', 'disagrees', 'not run', 'expressed without data' or the reason why it is not expressed}"""
    out = {}
    for row in rows:
        if not row["ini"]:
            verdict = row["reason"]
        elif row["reason"]:
            verdict = "expressed, but " + row["reason"]
        elif row["ini"] not in found or not found[row["ini"]][1]:
            verdict = "expressed, not run"
        else:
            lines = found[row["ini"]][1]
            own = {(name, "%.8g" % value) for name, value, _ in references_of(row)}
            if own:
                lines = [line for line in lines if (line[0].rstrip("'"), "%.8g" % line[3]) in own]
            worst = max(abs(line[5]) for line in lines)
            verdict = "agrees" if worst <= limit_of(len(lines), 3) else "disagrees"
        order = ["agrees", "disagrees"]
        if row["test"] in out and out[row["test"]] != verdict and verdict in order and out[row["test"]] in order:
            verdict = "disagrees"
        elif row["test"] in out and out[row["test"]] not in order:
            verdict = out[row["test"]]
        out[row["test"]] = verdict
    return out


def main():
    rows = coverage()
    found = anew(rows, results(sys.argv[1:]))
    verdict = verdicts(rows, found)
    count = collections.Counter(verdict.values())
    print("| tests | |\n|---|---|")
    for name, n in count.most_common():
        print(f"| {n} | {name} |")
    used = [lines for name, (_, lines, _) in found.items()
            if lines and any(row["ini"] == name for row in rows) and not name.endswith(".refused.ini")]
    beyond = sum(abs(line[5]) > 3 for lines in used for line in lines)
    print("\n%d numbers of %d INI files, %d with |z| > 3, where %.1f are expected by chance" %
          (sum(map(len, used)), len(used), beyond, chance(map(len, used))))
    tests = collections.defaultdict(set)
    for row in rows:
        tests[row["ini"]].add(row["test"])
    print("\n| INI file | tests | s | energy | QMCPACK | numbers | largest z |\n|---|---|---|---|---|---|---|")
    for name in sorted(n for n in tests if n in found):
        seconds, lines, why = found[name]
        if not lines:
            print(f"| {name} | {len(tests[name])} | {seconds:.0f} | {why[:80]} | | | |")
            continue
        energy = next((line for line in lines if line[0] == "energy"), lines[0])
        worst = max(lines, key=lambda line: abs(line[5]))
        print("| %s | %d | %.0f | %s%.6g(%.2g) | %.6g(%.2g) | %d | %.1f %s |" %
              (name[:-4], len(tests[name]), seconds, "" if energy[0] == "energy" else energy[0] + " ", *energy[1:5],
               len(lines), worst[5], worst[0]))


if __name__ == "__main__":
    main()
