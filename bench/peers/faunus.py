"""Faunus 3 (faunus on PyPI). Reads a system of systems.py as JSON from standard input, prints one line of JSON.

A displacement of Faunus has a random direction and a uniform length; its mean square is that of the step asked for. Pair
energies are tabulated, as it recommends, in 4,000 intervals. The time is the difference of two runs of its program. No `atom` is
named beside `molecule`: 3.0.0-beta.3 then displaces one and the same atom.
"""
import json
import math
import os
import re
import resource
import subprocess
import sys

KELVIN = 300.0
KT = 8.31446261815324e-3 * KELVIN  # kJ/mol
BJERRUM = 557.0022  # of the vacuum at 300 K, in A


def write(system):
    length = system["box"]
    species = system.get("species", [0] * len(system["positions"]))
    bjerrum = system.get("bjerrum_length", 0)
    lines = ["atoms:"]
    lines += [f"  - {{ name: A{k}, sigma: 1.0, epsilon: {KT!r}, mass: 1.0, charge: {q} }}"
              for k, q in enumerate((1, -1) if bjerrum else (0,))]
    lines += ["molecules:"] + [f"  - {{ name: M{k}, atoms: [A{k}], atomic: true }}" for k in range(2 if bjerrum else 1)]
    lines += ["system:", "  cell: !Cuboid [%r, %r, %r]" % tuple(length)]
    permittivity = f"!Fixed {BJERRUM / bjerrum!r}" if bjerrum else "!Vacuum"
    lines += [f"  medium: {{ permittivity: {permittivity}, temperature: {KELVIN} }}", "  energy:", "    - !Nonbonded",
              "      default:", "        - !LennardJones { mixing: LB }",
              f"      spline: {{ cutoff: {system['cutoff']!r}, table_points: 4000 }}"]
    if bjerrum:
        lines.append(f"    - !Ewald {{ cutoff: {system['cutoff']!r}, accuracy: {system['tolerance']!r} }}")
    if system["kind"] == "npt":
        lines.append(f"    - !Pressure {{ kT: {system['pressure']!r} }}")
    lines.append("  blocks:")
    for k in range(2 if bjerrum else 1):
        mine = [r for r, s in zip(system["positions"], species) if s == k]
        with open(f"M{k}.xyz", "w", encoding="ascii") as f:
            f.write(f"{len(mine)}\n\n")
            f.writelines("A%d %.17g %.17g %.17g\n" % (k, *(x - l / 2 for x, l in zip(r, length))) for r in mine)
        lines.append(f"    - {{ molecule: M{k}, N: {len(mine)}, insert: !FromFile M{k}.xyz }}")
    lines += ["propagate:", f"  seed: !Fixed {system['seed']}", "  criterion: Metropolis", "  steps: STEPS",
              "  collections:", "    - !Stochastic", f"      cycles: {len(species)}", "      moves:"]
    dp = math.sqrt(1.8) * system["step"]
    lines += [f"        - !TranslateAtom {{ molecule: M{k}, dp: {dp!r}, weight: 1.0 }}"
              for k in range(2 if bjerrum else 1)]
    if system["kind"] == "npt":
        lines.append(f"        - !VolumeMove {{ dV: {system['volume_step']!r}, weight: {1 / len(species)!r} }}")
    return "\n".join(lines + ["analysis: []", ""])


def run(text, steps):
    """User time and what the program reported."""
    with open("input.yaml", "w", encoding="ascii") as f:
        f.write(text.replace("STEPS", str(steps)))
    program = os.path.join(os.path.dirname(sys.executable), "faunus")
    begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([program, "-o", "output.yaml", "run", "-i", "input.yaml"], capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
    if done.returncode:
        sys.exit("faunus: " + done.stderr.strip().splitlines()[-1])
    with open("output.yaml", encoding="utf-8") as f:
        said = f.read()
    return seconds, said


def total(said, key):
    return sum(int(n) for n in re.findall(key + r": (\d+)", said))


def main():
    system = json.load(sys.stdin)
    text = write(system)
    steps = max(1, round(system["moves"] / len(system["positions"])))
    short, _ = run(text, 1)
    long, said = run(text, 1 + steps)
    tried = total(said, "num_trials")
    energy = float(re.search(r"initial: (\S+)", said)[1]) / KT
    if system["kind"] == "npt":  # its energy has P V - (N + 1) ln V
        volume = math.prod(system["box"])
        energy -= system["pressure"] * volume - (len(system["positions"]) + 1) * math.log(volume)
    print(json.dumps({
        "version": re.search(r"faunus: (\S+)", said)[1], "energy": energy,
        "truncation": "shift", "moves": tried * steps / (1 + steps), "seconds": long - short,
        "acceptance": total(said, "num_accepted") / tried}))


main()
