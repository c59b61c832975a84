# Sums of determinants from outside: exact and known energies, chains, QMCPACK's lists and what is wrong with them. Fixed
# seeds, so each of these passes always or never.

# atom WALKERS SWEEPS: box and electrons of an atom, one of each spin
atom()
{
    cat >sim.ini <<-END
	[run]
	sweeps = $2
	equilibrate = ${equilibrate-100}
	seed = 5
	walkers = $1
	threads = 1
	device = cpu
	output = sim.h5
	END
    two_electrons | sed 's/^radius = 20/radius = 40/; s/^state = random/state = near_ions/' >>sim.ini
}

# section NAME LINE...
section()
{
    local name=$1
    shift
    printf '%s\n' "[$name]" "$@" >>sim.ini
}

# Orbitals 2s, 2px, 2py and 2pz of a nucleus of charge 2 have one energy, so that without repulsion any sum of their
# products is an eigenfunction: -Z^2/4 and no variance.
shell()
{
    atom 8 "$1"
    section "potential slater_orbitals" "nuclei = 0 0 0 2" "zeta = 1 1 1" "n = 1 2 2" "l = 0 0 1" \
        "coefficients = 1 -1.7320508075688772 0 0 0  0 0 1 0 0  0 0 0 1 0  0 0 0 0 1" "virtual = 3"
    section "potential multideterminant" "excitations = 1>2/1>2 1>3/1>3 1>4/1>4 1>2/- -/1>4 1>3/1>2" \
        "coefficients = -0.4 0.3 0.7 0.2 -0.5 0.35"
    section "observable local_energy" "period = 2" "electron_electron = no"
}

is_exact()
{
    must run sim.ini --quiet
    awk '$1 == "local_energy.energy" { found = 1; if (($2 + 1) ^ 2 > 1e-18) exit 1 }
         $1 == "local_energy.variance" { if ($2 ^ 2 > 1e-22) exit 1 }
         $1 == "local_energy.drift" { if ($2 ^ 2 > 1e-18) exit 1 }
         END { exit !found }' "$out" || fail "$1: not -1, or it varies"
}

test_a_sum_of_degenerate_determinants_is_an_eigenfunction()
{
    local mover
    for mover in quasi_simultaneous particle_by_particle configuration; do
        shell 200
        section "mover $mover" "step = 1"
        is_exact $mover
    done
    shell 100
    section "mover diffusion" "tau = 0.05" "variational = 50" "warm_up = 20"
    is_exact diffusion
}

# Helium as 1s 1s + c (2px 2px + 2py 2py + 2pz 2pz), Slater functions of exponents 27/16 and 2.5. Integrals over both
# electrons by quadrature: -2.84766 without the sum, -2.86936 with c = -0.0373, the lowest, -2.82699 with c = -0.09.
helium()
{
    equilibrate=${equilibrate-200} atom 32 "$1"
    section "potential slater_orbitals" "nuclei = 0 0 0 2" "zeta = 1.6875 2.5" "n = 1 2" "l = 0 1" \
        "coefficients = 1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1" "virtual = 3"
    section "potential multideterminant" "excitations = 1>2/1>2 1>3/1>3 1>4/1>4" \
        "coefficients = ${coefficients--0.0373 -0.0373 -0.0373}"
    section "mover quasi_simultaneous" "step = 0.5"
    section "observable local_energy" "period = 5"
}

# value NAME: "NAME -2.9037(4) ...": value, error
value()
{
    awk -v what="$1" '$1 == what { split($2, p, /[()]/); n = length(p[1]) - index(p[1], ".")
        if (!index(p[1], ".")) n = 0
        print p[1], p[2] / 10 ^ n }' "$out"
}

# z_score NAME EXACT: fails beyond three and a half errors
z_score()
{
    local mean error
    read -r mean error < <(value "$1")
    awk -v m="$mean" -v e="$error" -v x="$2" 'BEGIN { z = (m - x) / e; printf "%s z = %.2f\n", m, z
        exit !(z < 3.5 && z > -3.5) }' || fail "$1 is $mean +- $error, not $2"
}

test_energies_of_helium_are_those_of_integrals()
{
    helium 20000
    must run sim.ini --quiet
    z_score local_energy.energy -2.86936
    coefficients="-0.09 -0.09 -0.09" helium 20000
    must run sim.ini --quiet
    z_score local_energy.energy -2.82699
}

# From zeros the coefficients of the lowest energy are found, up to the noise of these samples; the energy is what
# integrals give there, and lower than that of one determinant by more than its error.
test_coefficients_are_optimised_from_zeros()
{
    coefficients=0 helium 200
    must optimise sim.ini --samples 16000 --loops 5 --variance-weight 0
    awk '/^coefficients = / { for (k = 3; k <= 5; k++) { if (($k + 0.0373) ^ 2 > 0.012 ^ 2) exit 1; n++ } }
         END { exit n != 3 }' "$out" || fail "other coefficients"
    must run sim.optimised.ini --quiet --set run.sweeps=40000
    local mean error
    read -r mean error < <(value local_energy.energy)
    awk -v m="$mean" -v e="$error" 'BEGIN { printf "%s +- %s\n", m, e; exit !(m + 3.5 * e > -2.86936 && m - 3.5 * e < -2.867 &&
        m + 3 * e < -2.84766) }' || fail "$mean +- $error"
}

# ---- Chains ---------------------------------------------------------------------------------------

# Beryllium with 2s^2 and 2p^2 and a Jastrow factor, whose coefficients are anything; lines of the mover follow its name
beryllium()
{
    local name=$1
    shift
    atom 6 60
    sed -i 's/^count = 1/count = 2/' sim.ini
    section "potential slater_orbitals" "nuclei = 0 0 0 4" "zeta = 3.47116 6.36861 0.77820 0.94067 1.48725 2.71830 1" \
        "n = 1 1 2 2 2 2 2" "l = 0 0 0 0 0 0 1" \
        "coefficients = 0.91796 0.08724 0.00108 -0.00199 0.00176 0.00628 0 0 0 -0.17092 -0.01455 0.21186 0.62499 0.26662 -0.09919 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 1" \
        "virtual = 3"
    section "potential multideterminant" "excitations = 2>3/2>3 2>4/2>4 2>5/2>5" "coefficients = -0.19 -0.19 -0.19"
    section "potential polynomial_jastrow" "u_like = 0.2 0.1" "u_unlike = 0.3 0.1" "u_cutoff = 6"
    section "observable local_energy" "period = 5"
    section "mover $name" "$@"
}

test_a_resumed_sum_of_determinants_is_the_one_that_was_not_stopped()
{
    local mover
    for mover in "quasi_simultaneous|step = 0.4" "diffusion|tau = 0.02|variational = 40|warm_up = 20"; do
        IFS='|' read -r -a words <<<"$mover"
        beryllium "${words[@]}" "refresh = 16"
        must run sim.ini --set run.output=whole.h5
        must run sim.ini --set run.sweeps=25
        must run --resume sim.h5 --set run.sweeps=60
        same_chain whole.h5 sim.h5
        rm sim.h5
        must run sim.ini --set run.threads=3
        same_chain whole.h5 sim.h5
        rm sim.h5 whole.h5
    done
}

# Coefficients matter, and blocks of electrons do not.
test_sums_of_determinants_do_not_depend_on_blocks()
{
    beryllium quasi_simultaneous "step = 0.4" "block = 1"
    must run sim.ini --set run.output=one.h5
    must run sim.ini --set "mover quasi_simultaneous.block=2"
    h5diff --delta=1e-8 one.h5 sim.h5 /plugmc/checkpoint/positions || fail "blocks change decisions"
    must run sim.ini --set "potential multideterminant.coefficients=0.19 0.19 0.19"
    ! h5diff -q --delta=1e-2 one.h5 sim.h5 /plugmc/checkpoint/positions || fail "coefficients change nothing"
}

# ---- QMCPACK's lists ------------------------------------------------------------------------------

# The terms of beryllium() in HDF5 and XML, with the largest one last; norm 2.
lists()
{
    /usr/bin/python3 -c 'import h5py, numpy' 2>/dev/null || skip "python3 has no h5py"
    /usr/bin/python3 - <<-'END' || fail "no lists"
	import h5py, numpy
	terms = [(0b00101, 0b00101, -0.38), (0b01001, 0b01001, -0.38), (0b10001, 0b10001, -0.38), (0b00011, 0b00011, 2.0),
	         (0b01010, 0b00011, 1e-12)]
	def write(name, first="CI_0", second="CI_1", **change):
	    with h5py.File(name, "w") as f:
	        g = f.create_group("MultiDet")
	        sets = {"NbDet": len(terms), "nstate": 5, "Nbits": 1,
	                first: numpy.array([[t[0]] for t in terms], dtype=numpy.int64),
	                second: numpy.array([[t[1]] for t in terms], dtype=numpy.int64),
	                "Coeff": numpy.array([t[2] for t in terms]),
	                "Coeff_1": numpy.array([t[2] * (1 if k < 3 else -1) for k, t in enumerate(terms)])}
	        sets.update(change)
	        for key, value in sets.items():
	            if value is not None: g[key] = value
	write("be.h5")
	write("old.h5", first="CI_Alpha", second="CI_Beta")
	write("no_sets.h5", CI_1=None)
	write("few.h5", CI_1=numpy.array([[3], [3]], dtype=numpy.int64))
	write("bits.h5", CI_0=numpy.array([[3], [3], [3], [64], [3]], dtype=numpy.int64))
	write("many.h5", CI_0=numpy.array([[3], [7], [5], [3], [9]], dtype=numpy.int64))
	write("twice.h5", CI_0=numpy.array([[3], [3], [5], [3], [9]], dtype=numpy.int64),
	      CI_1=numpy.array([[3], [5], [5], [3], [9]], dtype=numpy.int64))
	write("complex.h5", Coeff_imag=numpy.array([0, 0, 0.1, 0, 0]))
	write("nan.h5", Coeff=numpy.array([numpy.nan, 1, 1, 1, 1]))
	write("texts.h5", Coeff="abc")
	write("none.h5", NbDet=0)
	write("words.h5", Nbits=100)
	write("reals.h5", NbDet=5.0)
	write("phase.h5", Coeff=numpy.array([0.6 * t[2] for t in terms]), Coeff_imag=numpy.array([0.8 * t[2] for t in terms]))
	write("half.h5", NbDet=4.5)
	write("unsigned.h5", nstate=64, CI_0=numpy.array([[3], [1 << 63 | 1], [5], [3], [9]], dtype=numpy.uint64))
	def string(bits): return "".join(str(bits >> i & 1) for i in range(5))
	with open("be.xml", "w") as f:
	    f.write('<?xml version="1.0"?>\n<wavefunction>\n<determinantset>\n<multideterminant optimize="yes">\n')
	    f.write('<detlist size="5" type="DETS" nca="0" ncb="0" nea="2" neb="2" nstates="5" cutoff="1e-8">\n')
	    for k, t in enumerate(terms):
	        f.write('<ci id="CIcoeff_%d" coeff="%r" alpha="%s" beta="%s"/>\n' % (k, t[2], string(t[0]), string(t[1])))
	    f.write('</detlist>\n</multideterminant>\n</determinantset>\n</wavefunction>\n')
	with open("functions.xml", "w") as f:
	    f.write('<detlist size="3" type="CSF" nca="0" ncb="0" nea="2" neb="2" nstates="5" cutoff="1e-8">\n')
	    for coefficient, members in ((-0.19, terms[:3]), (4.0, terms[3:4]), (1e-12, terms[4:])):
	        f.write('<csf coeff="%r" occ="22000">\n' % coefficient)
	        for t in members:
	            f.write('<det coeff="%r" alpha="%s" beta="%s"/>\n' % (t[2] / coefficient, string(t[0]), string(t[1])))
	        f.write('</csf>\n')
	    f.write('</detlist>\n')
	END
    head -c 3000 be.h5 >cut.h5
}

# from FILE [LINE...]: beryllium() with the terms of a file
from()
{
    local file=$1 line
    beryllium quasi_simultaneous "step = 0.4"
    sed -i "s/^excitations = .*/file = $file/; /^coefficients = -0.19/d" sim.ini
    shift
    for line; do sed -i "s/^file = $file/&\n$line/" sim.ini; done
}

test_lists_of_qmcpack_are_read()
{
    lists
    beryllium quasi_simultaneous "step = 0.4"
    must run sim.ini --set run.output=words.h5
    local file
    for file in be.h5 old.h5 reals.h5 phase.h5 be.xml functions.xml; do
        rm -f sim.h5
        from $file "cutoff = 1e-6"
        must run sim.ini
        h5diff --delta=1e-12 words.h5 sim.h5 /plugmc/checkpoint/positions || fail "$file: another wave function"
    done
    # of the excited state the pairs have the same sign as the first term, which is that of all orbitals changed
    rm sim.h5
    from be.h5 "cutoff = 1e-6" "state = 1"
    must run sim.ini
    ! h5diff -q --delta=1e-2 words.h5 sim.h5 /plugmc/checkpoint/positions || fail "state = 1 is state = 0"
    # coefficients of the section are those after the first
    rm sim.h5
    from be.h5 "cutoff = 1e-6" "state = 1" "coefficients = -0.19 -0.19 -0.19"
    must run sim.ini
    h5diff --delta=1e-12 words.h5 sim.h5 /plugmc/checkpoint/positions || fail "coefficients are not those of the section"
    from be.h5
    must check sim.ini
    expect_output "5 terms of 5 determinants of 5 orbitals for spin up and 4 of 5 for spin down"
}

# bad FILE WORDS...: refused with this sentence behind the name of the file
bad()
{
    local file=$1
    shift
    from "$file"
    plugmc check sim.ini
    expect_exit 3
    grep -Fq "[potential multideterminant] $*" "$err" || fail "$file: expected the sentence: $*"
}

test_damaged_lists_are_refused()
{
    lists
    bad no_sets.h5 "no_sets.h5: /MultiDet/CI_1: there is no such data set"
    bad few.h5 "few.h5: /MultiDet/CI_1: it has 2 numbers instead of 5"
    bad bits.h5 "bits.h5: /MultiDet/CI_0: term 4 does not occupy 2 of 5 orbitals"
    bad many.h5 "many.h5: /MultiDet/CI_0: term 2 does not occupy 2 of 5 orbitals"
    bad twice.h5 "twice.h5: terms"
    bad complex.h5 "complex.h5 has complex coefficients, but the orbitals of potential 'slater_orbitals' are real"
    sed 's/coeff="-0.38"/& coeff_imag="0.1"/' be.xml >complex.xml
    bad complex.xml "complex.xml has complex coefficients, but the orbitals of potential 'slater_orbitals' are real"
    bad nan.h5 "nan.h5: /MultiDet/Coeff: a coefficient is no number"
    bad texts.h5 "texts.h5: /MultiDet/Coeff: it does not hold reals"
    bad none.h5 "none.h5: /MultiDet/NbDet: it is 0, where 1 to 1000000 should be"
    bad words.h5 "words.h5: /MultiDet/Nbits: it is 100, where 1 to 64 should be"
    bad cut.h5 "cut.h5: it cannot be opened as an HDF5 file"
    bad half.h5 "half.h5: /MultiDet/NbDet: it is 4.5, which is not whole"
    bad unsigned.h5 "a term occupies orbital 64 of species 'up'"
    sed 's/type="DETS"/type="CSF"/' be.xml >csf.xml
    bad csf.xml "file 'csf.xml', line 5: <detlist> has no terms"
    sed 's/type="CSF"/type="PAIRS"/' functions.xml >pairs.xml
    bad pairs.xml "file 'pairs.xml', line 1: <detlist> is of type 'PAIRS', but determinants (DETS) and configuration"
    sed 's/type="CSF"/type="DETS"/' functions.xml >dets.xml
    bad dets.xml "file 'dets.xml', line 2: <csf> stands in a list that is not of type CSF"
    sed 's/size="3"/size="5"/' functions.xml >counted.xml
    bad counted.xml "file 'counted.xml', line 1: <detlist> has size = 5, but there are 3 functions"
    sed '2s/coeff="-0.19"/coeff=""/' functions.xml >nothing.xml
    bad nothing.xml "file 'nothing.xml', line 2: <csf> has coeff = '', where a number should be"
    sed 's/type="DETS"/& href="be.h5"/' be.xml >href.xml
    bad href.xml "file 'href.xml', line 5: <detlist> has its terms in the file 'be.h5': name that file instead"
    sed 's/alpha="10100"/alpha="1010"/' be.xml >short.xml
    bad short.xml "file 'short.xml', line 6: <ci> has a string alpha of 4 orbitals, but nstates is 5"
    sed 's/alpha="10100"/alpha="11100"/' be.xml >more.xml
    bad more.xml "file 'more.xml', line 6: <ci> occupies 3 orbitals by alpha, but the run has 2 electrons of that spin"
    sed 's/alpha="10100"/alpha="1x100"/' be.xml >letter.xml
    bad letter.xml "file 'letter.xml', line 6: <ci> has 'x' in its string alpha, where 0 or 1 should be"
    sed 's/size="5"/size="6"/' be.xml >size.xml
    bad size.xml "file 'size.xml', line 5: <detlist> has size = 6, but there are 5 terms"
    sed 's/coeff="-0.38"/coeff="many"/' be.xml >number.xml
    bad number.xml "file 'number.xml', line 6: <ci> has coeff = 'many', where a number should be"
    grep -v detlist be.xml | grep -v '<ci' >none.xml
    bad none.xml "file 'none.xml', line 2: <wavefunction> has no <detlist> with terms of an expansion"
}

# ---- Pseudopotentials ------------------------------------------------------------------------------

# Diamond in complex orbitals, with T-moves: after each of them tables are those of where the electrons are.
test_t_moves_keep_sums_of_determinants()
{
    cat >sim.ini <<-END
	[run]
	sweeps = 40
	equilibrate = 60
	walkers = 8
	seed = 3
	threads = 2
	device = cpu
	output = sim.h5
	$(diamond_cell)
	virtual = 4
	[potential multideterminant]
	excitations = 4>5/4>5 3>6/3>6 4>7/- 2>5,4>6/3>8
	coefficients = -0.3 0.2 0.1 -0.15
	[observable local_energy]
	period = 1
	pseudopotentials = $here/../data/qmc/C.BFD.xml
	[mover diffusion]
	tau = 0.02
	variational = 40
	warm_up = 20
	nonlocal = t_moves
	refresh = 1000
	END
    must run sim.ini --quiet
    awk '$1 == "local_energy.drift" { found = 1; if ($2 ^ 2 > 1e-18) exit 1 } END { exit !found }' "$out" ||
        fail "ln |Psi|^2 is not that of the positions"
    grep -Eq 'acceptance 0\.0*[1-9][0-9]* of [0-9.e+]* trial moves of diffusion.t_move' "$out" ||
        fail "nothing has moved by T-moves"
}
