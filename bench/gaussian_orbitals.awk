# Writes an input of QMCPACK with a cluster of carbon atoms, as diamond has them, and a basis of contracted Gaussian functions
# of the size of a triple-zeta one: 28 functions an atom (4 s, 3 p, 3 d), as many orbitals as an atom has pairs of valence
# electrons, whose coefficients are pseudorandom. So values take as long as those of a molecule; energies mean nothing.
#
#     awk -v cells=3 -f gaussian_orbitals.awk > lcao-108.xml
#
# cells^3 cells of two atoms: 216 electrons and 1,512 functions for 3, 64 and 448 for 2. Lengths are in bohr.
function random() # in (-1, 1); the same numbers everywhere
{
    state = (state * 16807) % 2147483647
    return 2 * state / 2147483647 - 1
}

function shell(l, count, first, ratio,    k)
{
    printf "<basisGroup rid=\"f%d\" n=\"%d\" l=\"%d\" type=\"Gaussian\">\n", shells++, l + 1, l
    for (k = 0; k < count; k++)
        printf "<radfunc exponent=\"%.10g\" contraction=\"%.10g\"/>\n", first * ratio^k, (k % 2 ? 0.3 : 0.5) / (1 + k / 4)
    print "</basisGroup>"
}

BEGIN {
    if (!cells) cells = 3
    state = 20261130
    a = 6.7463 / 2
    atoms = 2 * cells^3; orbitals = 2 * atoms; functions = 28 * atoms
    print "<?xml version=\"1.0\"?>\n<simulation>"
    printf "<particleset name=\"e\"><group name=\"u\" size=\"%d\"/><group name=\"d\" size=\"%d\"/></particleset>\n", orbitals, orbitals
    printf "<particleset name=\"ion0\" size=\"%d\">\n<group name=\"C\"><parameter name=\"charge\">4</parameter>", atoms
    print "<parameter name=\"valence\">4</parameter><parameter name=\"atomicnumber\">6</parameter></group>"
    print "<attrib name=\"position\" datatype=\"posArray\">"
    for (i = 0; i < cells^3; i++)
        for (b = 0; b < 2; b++) {
            x = int(i / cells^2) - (cells - 1) / 2; y = int(i / cells) % cells - (cells - 1) / 2; z = i % cells - (cells - 1) / 2
            printf "%.10g %.10g %.10g\n", a * (y + z + b / 2), a * (x + z + b / 2), a * (x + y + b / 2)
        }
    print "</attrib>\n<attrib name=\"ionid\" datatype=\"stringArray\">"
    for (i = 0; i < atoms; i++) print "C"
    print "</attrib>\n</particleset>\n<wavefunction name=\"psi0\" target=\"e\">"
    print "<sposet_collection type=\"MolecularOrbital\" name=\"LCAOBSet\" source=\"ion0\" transform=\"yes\">\n<basisset name=\"LCAOBSet\">"
    print "<atomicBasisSet name=\"Gaussian\" angular=\"spherical\" expandYlm=\"natural\" type=\"Gaussian\" elementType=\"C\" normalized=\"no\">"
    shell(0, 9, 0.05, 2.2); shell(0, 1, 0.13, 1); shell(0, 1, 0.33, 1); shell(0, 1, 0.8, 1)
    shell(1, 9, 0.03, 2.2); shell(1, 1, 0.12, 1); shell(1, 1, 0.4, 1)
    shell(2, 1, 0.2, 1); shell(2, 1, 0.55, 1); shell(2, 1, 1.4, 1)
    print "</atomicBasisSet>\n</basisset>"
    for (s = 0; s < 2; s++) {
        printf "<sposet basisset=\"LCAOBSet\" name=\"spo-%s\" size=\"%d\">\n<coefficient size=\"%d\">\n", s ? "dn" : "up", orbitals, functions
        state = 20261130 # the same orbitals for both spins
        for (o = 0; o < orbitals; o++) {
            line = ""
            for (f = 0; f < functions; f++) line = line sprintf("%.6f ", random() / sqrt(functions))
            print line
        }
        print "</coefficient>\n</sposet>"
    }
    print "</sposet_collection>\n<determinantset><slaterdeterminant><determinant sposet=\"spo-up\"/><determinant sposet=\"spo-dn\"/>"
    print "</slaterdeterminant></determinantset>\n</wavefunction>\n</simulation>"
}
