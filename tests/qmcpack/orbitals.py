"""Orbitals of Quantum ESPRESSO as an ES-HDF file, for tests of QMCPACK whose file of orbitals is not at hand.

    orbitals.py FOLDER.save OUT.h5

FOLDER.save is what pw.x writes, without spin or with two. Pseudopotentials are norm-conserving; species that differ in their
numbers alone, as Ni and Ni1, become one. The folders of QMCPACK's tests have the inputs (`dft-inputs`): docs/qmcpack-tests.md says which of its tests are run with such orbitals. u(r) =
sum_G c_G exp(i G r), psi(r) = exp(i k r) u(r); bohr, hartree.
"""
import sys
import xml.etree.ElementTree as ET

import h5py
import numpy as np

SYMBOLS = ("H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn").split()


def records(path):
    """The records of a file that Fortran has written unformatted."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "little")
        yield data[at + 4:at + 4 + size]
        at += size + 8


def plane_waves(path):
    """k [3] in units of 1/bohr, G [waves][3] as whole numbers, coefficients [bands][waves] of a k point."""
    found = records(path)
    first = next(found)
    k, gamma_only = np.frombuffer(first[4:28], "<f8"), int.from_bytes(first[32:36], "little")
    if gamma_only:
        sys.exit(path + ": half of the plane waves; use K_POINTS automatic or crystal")
    waves = int(np.frombuffer(next(found), "<i4")[1])
    reciprocal = np.frombuffer(next(found), "<f8").reshape(3, 3)
    index = np.frombuffer(next(found), "<i4").reshape(waves, 3)
    bands = [np.frombuffer(r, "<c16") for r in found]
    return k, reciprocal, index, np.array(bands)


def main():
    folder, out = sys.argv[1:]
    root = ET.parse(folder + "/data-file-schema.xml").getroot().find("output")
    cell = root.find("atomic_structure/cell")
    lattice = np.array([[float(w) for w in cell.find("a%d" % d).text.split()] for d in (1, 2, 3)])
    atoms = list(root.find("atomic_structure/atomic_positions"))
    element = lambda name: name.rstrip("0123456789")
    species = {element(s.get("name")): s for s in root.find("atomic_species")}
    names = list(species)
    bands = root.find("band_structure")
    electrons = int(round(float(bands.find("nelec").text)))
    states = list(bands.iter("ks_energies"))
    spins = ["up", "dw"] if bands.findtext("lsda") == "true" else [""]
    charges = {name: valence_of(open(f"{folder}/{s.findtext('pseudo_file').strip()}").read()) for name, s in species.items()}
    with h5py.File(out, "w") as f:
        text = lambda path, value: f.create_dataset(path, data=np.array([value.encode()], dtype="S%d" % (len(value) + 1)))
        whole = lambda path, value: f.create_dataset(path, data=np.array(value, "<i4"))
        real = lambda path, value: f.create_dataset(path, data=np.array(value, "<f8"))
        text("format", "ES-HDF")
        whole("version", [2, 1, 0])
        real("supercell/primitive_vectors", lattice)
        whole("atoms/number_of_atoms", [len(atoms)])
        whole("atoms/number_of_species", [len(names)])
        whole("atoms/species_ids", [names.index(element(a.get("name"))) for a in atoms])
        real("atoms/positions", [[float(w) for w in a.text.split()] for a in atoms])
        for s, name in enumerate(names):
            text(f"atoms/species_{s}/name", name)
            whole(f"atoms/species_{s}/atomic_number", [SYMBOLS.index(name) + 1])
            whole(f"atoms/species_{s}/valence_charge", [charges[name]])
        whole("electrons/number_of_electrons", [electrons - electrons // 2, electrons // 2])
        whole("electrons/number_of_spins", [len(spins)])
        whole("electrons/number_of_kpoints", [len(states)])
        for i, state in enumerate(states):
            energies = np.array([float(w) for w in state.find("eigenvalues").text.split()]).reshape(len(spins), -1)
            for spin, end in enumerate(spins):
                k, reciprocal, index, coefficients = plane_waves(f"{folder}/wfc{end}{i + 1}.dat")
                if spin == 0:
                    real(f"electrons/kpoint_{i}/reduced_k", k @ np.linalg.inv(reciprocal))
                    whole(f"electrons/kpoint_{i}/number_of_gvectors", [len(index)])
                    whole(f"electrons/kpoint_{i}/gvectors", index)
                group = f"electrons/kpoint_{i}/spin_{spin}"
                whole(group + "/number_of_states", [len(coefficients)])
                real(group + "/eigenvalues", energies[spin])
                for n, c in enumerate(coefficients):
                    real(f"{group}/state_{n}/psi_g", np.stack([c.real, c.imag], axis=1))


def valence_of(text):
    """Valence charge of a pseudopotential: z_valence of UPF, the second entry of the second line of the older format."""
    if "z_valence" in text.lower():
        after = text[text.lower().index("z_valence"):]
        return int(round(float(after.split('"')[1])))
    if "Z valence" in text:
        return int(round(float(text[:text.index("Z valence")].split()[-1])))
    return int(round(float(text.splitlines()[1].split(",")[1])))


if __name__ == "__main__":
    main()
