"""Sums for twists.sh.

    twists.py join SUMMARY.csv TWISTS.csv WEIGHT...     means and errors of twists, from those of the points
    twists.py qmca NAME.s000.scalar.dat NUMBERS.csv BLOCKS SAMPLES
                      the file as qmca takes it apart, against the table of plugmc analyse --csv; SAMPLES a block
"""
import csv
import math
import os
import sys


def close(what, a, b, tolerance):
    if not abs(a - b) <= tolerance * max(1, abs(b)):
        sys.exit(f"{what}: {a!r}, but {b!r} is expected")


def join(summary, twists, *weights):
    points, means = list(csv.DictReader(open(summary))), list(csv.DictReader(open(twists)))
    weights = [float(w) for w in weights]
    sum_of_weights, n = sum(weights), len(weights)
    assert len(points) == n * len(means)
    columns = [c for c in points[0] if c + " error" in points[0]]
    assert "local_energy.energy" in columns and "local_energy.variance" in columns
    for row, mean in enumerate(means):
        twist = points[row * n:(row + 1) * n]
        for c in columns:
            value = sum(w * float(p[c]) for w, p in zip(weights, twist) if w) / sum_of_weights
            error = math.sqrt(sum((w * float(p[c + " error"])) ** 2 for w, p in zip(weights, twist) if w))
            close(c, float(mean[c]), value, 1e-12)
            close(c + " error", float(mean[c + " error"]), error / sum_of_weights, 1e-12)
            star = any(p[c + " star"] for w, p in zip(weights, twist) if w)
            assert bool(mean[c + " star"]) == star, c
        assert int(mean["joined"]) == sum(w > 0 for w in weights) and int(mean["twists"]) == n
        assert float(mean["particles"]) == 14


def qmca(path, numbers, blocks, samples):
    tokens = os.path.basename(path).split(".")
    assert any(len(t) == 4 and t[0] == "s" and t[1:].isdigit() for t in tokens), "no series in the name"
    lines = open(path).read().splitlines()
    names = lines[0].split()[2:]
    assert lines[0].split()[:2] == ["#", "index"]
    rows = [[float(x) for x in line.split()] for line in lines if not line.startswith("#")]
    assert all(len(row) == len(names) + 1 for row in rows), "lines of other lengths"
    assert [row[0] for row in rows] == list(range(int(blocks)))
    data = {name: [row[1 + i] for row in rows] for i, name in enumerate(names)}
    assert names == ["LocalEnergy", "LocalEnergy_sq", "LocalPotential", "Kinetic", "ElecElec", "BlockWeight",
                     "BlockCPU", "AcceptRatio"], names
    mean = {name: sum(values) / len(values) for name, values in data.items()}
    found = {row["quantity"]: row for row in csv.DictReader(open(numbers))}
    for name, quantity in (("LocalEnergy", "energy"), ("LocalEnergy_sq", "energy_squared"), ("Kinetic", "kinetic"),
                           ("ElecElec", "electron_electron"), ("LocalPotential", "electron_electron")):
        close(name, mean[name], float(found["local_energy." + quantity]["value"]), 1e-9)
    for energy, kinetic, potential, repulsion in zip(*(data[n] for n in ("LocalEnergy", "Kinetic", "LocalPotential",
                                                                         "ElecElec"))):
        close("energy", energy, kinetic + potential, 1e-12)
        close("potential", potential, repulsion, 1e-9)
    assert set(data["BlockWeight"]) == {float(samples)}
    assert all(0 < a < 1 for a in data["AcceptRatio"]) and all(t > 0 for t in data["BlockCPU"])
    # qmca's variance is a mean over blocks, so without that of the blocks themselves
    variance = sum(s - e * e for e, s in zip(data["LocalEnergy"], data["LocalEnergy_sq"])) / len(rows)
    whole = float(found["local_energy.variance"]["value"])
    between = sum((e - mean["LocalEnergy"]) ** 2 for e in data["LocalEnergy"]) / len(rows)
    close("variance", variance + between, whole, 1e-8)
    print(f"{path}: E {mean['LocalEnergy']:.6f}, variance {variance:.6f}, ratio {abs(variance / mean['LocalEnergy']):.4f}")


if __name__ == "__main__":
    {"join": join, "qmca": qmca}[sys.argv[1]](*sys.argv[2:])
