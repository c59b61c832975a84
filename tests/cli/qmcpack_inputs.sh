# Inputs of QMCPACK with orbitals of Gaussian functions in XML: what is read, and what is wrong with damaged ones.
# tests/cross_checks/gaussian_orbitals.sh compares values of orbitals.

export PLUGMC_PLUGIN_PATH=$PLUGINS

# Lithium hydride with two electrons, of numbers of our own: an input that includes the wave function
molecule()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 20
	equilibrate = 20
	seed = 3
	walkers = 4
	threads = 1
	device = cpu
	[box]
	dimension = 3
	shape = sphere
	radius = 20
	$(spins 1)
	[initial]
	state = near_ions
	[potential gaussian_orbitals]
	file = input.xml
	[mover particle_by_particle]
	[observable local_energy]
	END
    cat >input.xml <<-END
	<?xml version="1.0"?>
	<simulation>
	<particleset name="e"><group name="u" size="1"/><group name="d" size="1"/></particleset>
	<particleset name="ion0" size="2">
	<group name="Li"><parameter name="charge">3</parameter><parameter name="atomicnumber">3</parameter></group>
	<group name="H"><parameter name="charge">1</parameter></group>
	<attrib name="position" datatype="posArray">0 0 0  0 0 3.015</attrib>
	<attrib name="ionid" datatype="stringArray">Li H</attrib>
	</particleset>
	<include href="wave.xml"/>
	</simulation>
	END
    cat >wave.xml <<-END
	<wavefunction name="psi0" target="e">
	<sposet_collection type="MolecularOrbital" source="ion0">
	<basisset>
	<atomicBasisSet elementType="Li" angular="cartesian" normalized="no">
	<basisGroup l="0" type="Gaussian"><radfunc exponent="0.6" contraction="-0.1"/><radfunc exponent="0.06" contraction="1"/></basisGroup>
	<basisGroup l="1" type="Gaussian"><radfunc exponent="0.2"/></basisGroup>
	</atomicBasisSet>
	<atomicBasisSet elementType="H" angular="cartesian" normalized="no">
	<basisGroup l="0" type="Gaussian"><radfunc exponent="0.9"/></basisGroup>
	</atomicBasisSet>
	</basisset>
	<sposet name="both"><occupation mode="ground"/><coefficient size="2">
	0.5 0 0 0.1 0.6
	0.7 0 0 -0.4 -0.8
	</coefficient></sposet>
	</sposet_collection>
	<determinantset><slaterdeterminant><determinant sposet="both"/><determinant sposet="both"/></slaterdeterminant></determinantset>
	</wavefunction>
	END
}

test_inputs_of_qmcpack_have_orbitals()
{
    molecule
    must check sim.ini
    expect_output "QMCPACK's XML, 5 cartesian functions in 3 shells up to l = 1, 4 primitives, real orbitals, the same for both spins"
    expect_output "1 of 2 orbitals occupied"
    expect_output "1 nuclei of Li, charge 3"
    must run sim.ini
    # orbitals beyond, and other charges
    must check sim.ini --set "potential gaussian_orbitals.virtual=1"
    expect_output "1 and 1 more of 2 orbitals occupied"
    plugmc check sim.ini --set "potential gaussian_orbitals.valence=2 1"
    expect_exit 3
    grep -Eq "ion 1 .atomic number 3. has 2 valence electrons" "$err" || fail "expected the sentence: ""ion 1 .atomic number 3. has 2 valence electrons"
    plugmc check sim.ini --set "potential gaussian_orbitals.virtual=2"
    expect_exit 3
    grep -Eq "has 2 orbitals of spin up for 1 electrons and virtual = 2" "$err" || fail "expected the sentence: ""has 2 orbitals of spin up for 1 electrons and virtual = 2"
    plugmc check sim.ini --set "potential gaussian_orbitals.valence=1"
    expect_exit 3
    grep -Eq "valence has 1 numbers, but .*input.xml has 2 elements" "$err" || fail "expected the sentence: ""valence has 1 numbers, but .*input.xml has 2 elements"
    plugmc check sim.ini --set "potential gaussian_orbitals.valence=1 2"
    expect_exit 3
    grep -Eq "valence: 2 is no charge of a nucleus of atomic number 1" "$err" || fail "expected the sentence: ""valence: 2 is no charge of a nucleus of atomic number 1"
}

# Orbital 1 + 0.5 of orbital 2, by a key and by the numbers of the file.
test_orbitals_are_mixed()
{
    molecule
    local more=(--set "potential gaussian_orbitals.cusp=no" --set "observable local_energy.period=2" --set run.sweeps=200)
    must run sim.ini "${more[@]}" --set "potential gaussian_orbitals.virtual=1" \
        --set "potential gaussian_orbitals.mixing=0.5 0.5" --set run.output=mixed.h5
    grep -o 'local_energy.energy .*' "$out" >mixed
    sed -i 's/^0.5 0 0 0.1 0.6$/0.85 0 0 -0.1 0.2/' wave.xml
    must run sim.ini "${more[@]}" --set run.output=written.h5
    grep -o 'local_energy.energy .*' "$out" | cmp - mixed || fail "these are other orbitals"
    molecule
    must run sim.ini "${more[@]}" --set run.output=first.h5
    ! grep -o 'local_energy.energy .*' "$out" | cmp -s - mixed || fail "nothing is mixed"
    plugmc check sim.ini --set "potential gaussian_orbitals.mixing=0.5 0.5"
    expect_exit 3
    grep -q "mixing: there are no orbitals to mix in; their number is .virtual." "$err" || fail "no such sentence"
    plugmc check sim.ini --set "potential gaussian_orbitals.mixing=0.5" --set "potential gaussian_orbitals.virtual=1"
    expect_exit 3
    grep -q "mixing has 1 numbers: give 2, 1 for each occupied orbital" "$err" || fail "no such sentence"
}

# refused FILE COMMAND SENTENCE: FILE is changed by sed
refused()
{
    molecule
    sed -i "$2" "$1"
    plugmc check sim.ini
    expect_exit 3
    grep -Eq "\[potential gaussian_orbitals\].*$3" "$err" || fail "$1, $2: expected the sentence: $3"
}

test_damaged_inputs_of_qmcpack_are_refused()
{
    refused wave.xml 's/elementType="H"/elementType="He"/' "line 8: <atomicBasisSet> is for 'He', and no ions are"
    refused wave.xml 's/elementType="H"/elementType="Li"/' "line 8: <atomicBasisSet> is the second one for 'Li'"
    refused wave.xml '8,10d' "line 3: <basisset> has no basis of 'H'"
    refused wave.xml 's/angular="cartesian"/angular="round"/' "angular = round with expandYlm = gaussian is not known"
    refused wave.xml 's/l="1"/l="6"/' "line 6: <basisGroup> has l = 6, and up to 5 is read"
    refused wave.xml 's/type="Gaussian"/type="Slater"/' "line 5: <basisGroup> is of type 'Slater'; only Gaussian functions are read"
    refused wave.xml 's/exponent="0.2"/exponent="-0.2"/' "line 6: <radfunc> has the exponent -0.2"
    refused wave.xml 's/exponent="0.2"/exponent="0,2"/' "line 6: <radfunc> has exponent = '0,2', where a number should be"
    refused wave.xml 's/<radfunc exponent="0.2"\/>//' "line 6: <basisGroup> has no <radfunc>"
    refused wave.xml 's/0 0 0.1 0.6/0 0.1 0.6/' "line 12: <coefficient> has 9 numbers, which is no number of orbitals of 5 functions"
    refused wave.xml 's/0 0 0.1 0.6/0 x 0.1 0.6/' "line 12: <coefficient> has 'x' among its numbers"
    refused wave.xml 's/0.7 0 0 -0.4 -0.8/0 0 0 0 0/' "orbital 2 of spin up is 0 everywhere"
    refused wave.xml 's/mode="ground"/mode="excited"/' "line 12: <occupation> has the mode 'excited'; occupied_up and occupied_down"
    refused wave.xml 's/determinant sposet="both"/determinant sposet="others"/' "<determinant> has no <coefficient>, nor does an <sposet>"
    refused wave.xml 's/<slaterdeterminant>.*<\/slaterdeterminant>//' "it has no <determinant>"
    refused wave.xml 's/<basisset>/& <basisset\/>/' "<basisset> is the second one"
    refused wave.xml 's/source="ion0"/source="i"/' 'has no <particleset name="i">'
    refused wave.xml '/basisset/d; /atomicBasisSet/d; s/source="ion0"/& href="o.h5"/' "line 2: <sposet_collection> has its orbitals in the file 'o.h5'"
    refused wave.xml '$d' "is not XML as it should be"
    refused input.xml 's/href="wave.xml"/href="input.xml"/' "it includes more than 15 files"
    refused input.xml 's/href="wave.xml"//' "line 10: <include> does not say by href what it includes"
    refused input.xml 's/href="wave.xml"/href="waves.xml"/' "waves.xml"
    refused input.xml '/include/d' "this XML has no <basisset>"
    refused input.xml 's/0 0 3.015/0 3.015/' "line 7: <attrib> has 5 numbers, but there are 2 positions"
    refused input.xml 's/0 0 3.015/0 0 0.01/' "nuclei 1 and 2 are only 0.01 bohr apart"
    refused input.xml 's/datatype="posArray"/& condition="1"/' "line 7: <attrib> has positions in units of a cell"
    refused input.xml 's/>Li H</>Li D</' "line 8: <attrib> names a group 'D' that there is not"
    refused input.xml 's/>Li H</>Li H H</' "line 8: <attrib> has more names than there are ions"
    refused input.xml 's/>Li H</>Li</' "line 8: <attrib> has 1 names for 2 ions"
    refused input.xml 's/size="2"/size="2.5"/' "line 4: <particleset> has size = 2.5"
    refused input.xml 's/atomicnumber">3</atomicnumber">300</' "line 5: <group> of ions 'Li' has no atomic number"
    refused input.xml 's/name="charge">1/name="charge">one/' "<parameter> of name charge is 'one', where a number should be"
    refused input.xml 's/name="charge">1/name="charge">9/' "nucleus 2 of atomic number 1 has charge 9"
    refused input.xml 's/<include/<parameter name="bconds">p p p<\/parameter>&/' "asks for a periodic cell"
    refused input.xml '1,$c not XML' "this is no HDF5 file, as QMCPACK's converters and TREXIO write them, and no XML"
}
