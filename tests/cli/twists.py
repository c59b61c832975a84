"""Sums for twists.sh.

    twists.py join SUMMARY.csv TWISTS.csv WEIGHT...     means and errors of twists, from those of the points
    twists.py qmca NAME.s000.scalar.dat NUMBERS.csv BLOCKS SAMPLES
                      the file as qmca takes it apart, against the table of plugmc analyse --csv; SAMPLES a block
    twists.py gas TWISTS.csv EDGE N WEIGHT:X,Y,Z...     the mean energy of determinants, which is an exact sum
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


def determinant(edge, n, theta):
    """Energy of n electrons, half of each spin, in the lowest plane waves of a cube with this twist: kinetic, and in
    all. Exchange sum_kk' -2 pi / (V |k - k'|^2) of each spin, and of each electron with its own images -2.837297 / 2 L."""
    unit = 2 * math.pi / edge
    waves = [(x + theta[0], y + theta[1], z + theta[2]) for x in range(-4, 5) for y in range(-4, 5)
             for z in range(-4, 5)]
    waves = sorted(waves, key=lambda k: sum(c * c for c in k))[:n // 2]
    kinetic = 2 * sum(sum(c * c for c in k) for k in waves) * unit ** 2 / 2
    exchange = 0
    for a in waves:
        for b in waves:
            square = sum((x - y) ** 2 for x, y in zip(a, b)) * unit ** 2
            exchange -= 2 * 2 * math.pi / (edge ** 3 * square) if a != b else 0
    return kinetic, kinetic + exchange - n * 2.837297479 / (2 * edge)


def gas(twists, edge, n, *points):
    edge, n = float(edge), int(n)
    kinetic, total = determinant(3.8851299381, 14, (0, 0, 0)) # known
    close("kinetic energy at Gamma", kinetic, 15.692780, 1e-7)
    close("energy at Gamma", total, 8.491481, 1e-6)
    sums, weights = [0, 0], 0
    for point in points:
        weight, theta = point.split(":")
        energies = determinant(edge, n, [float(t) for t in theta.split(",")])
        weights += float(weight)
        sums = [s + float(weight) * e for s, e in zip(sums, energies)]
    mean = list(csv.DictReader(open(twists)))[0]
    close("kinetic energy", float(mean["local_energy.kinetic"]), sums[0] / weights, 1e-9)
    energy, error = float(mean["local_energy.energy"]), float(mean["local_energy.energy error"])
    z = (energy - sums[1] / weights) / error
    print(f"energy {energy:.4f} +- {error:.4f}, exact {sums[1] / weights:.6f}, z = {z:+.2f}")
    if abs(z) > 4:  # chance: 1 in 16,000; the seed is fixed
        sys.exit("this is another energy")
    plasma = math.sqrt(4 * math.pi * n / edge ** 3)
    close("b", float(mean["structure_factor.finite_size_b"]), 1 / (2 * plasma), 1e-10)
    for part in "kinetic", "potential":
        close(part, float(mean["structure_factor.finite_size_" + part]), plasma / 4, 1e-10)


if __name__ == "__main__":
    {"join": join, "qmca": qmca, "gas": gas}[sys.argv[1]](*sys.argv[2:])
