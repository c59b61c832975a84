# Input that cannot be used: the sentence, the exit code, and nothing touched.

test_missing_file()
{
    disks
    refused 3 "none.ini: cannot open this file: No such file or directory" run none.ini
    refused 3 "none.ini: cannot open this file: No such file or directory" check none.ini
}

test_folder_for_a_file()
{
    disks
    mkdir folder.ini
    refused 3 "folder.ini: this is a folder, not an INI file" run folder.ini
}

test_binary_junk()
{
    disks
    head -c 4096 "$PLUGMC" >junk.ini
    refused 3 "junk.ini: this is not a text file: it has NUL bytes" run junk.ini
    printf 'sweeps = \377\n' >latin.ini
    refused 3 "latin.ini:1: character 0xff is not UTF-8 text" check latin.ini
}

test_hdf5_for_an_ini()
{
    disks
    must run sim.ini
    refused 3 "sim.h5: this is an HDF5 file, not an INI file; to continue the run that wrote it: plugmc run --resume sim.h5" run sim.h5
}

test_empty_file()
{
    disks
    : >sim.ini
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini: there is no section [run]"
    expect_message "sim.ini: there is no section [mover NAME]"
    expect_untouched
}

test_unknown_key()
{
    disks
    change 's/^step =/stpe =/'
    refused 3 "sim.ini:20: [mover checkerboard] unknown key 'stpe'; did you mean 'step'?" \
        run sim.ini
}

test_unknown_key_of_another_plugin()
{
    disks
    refused 3 "sim.ini:20: [mover checkerboard] unknown key 'step' of plugin 'hmc'; did you mean \
'steps'?" run sim.ini --set mover.plugin=hmc
    change 's/^\[mover checkerboard\]/[mover quick]\nplugin = checkerboard/; s/^step =/stpe =/'
    refused 3 "sim.ini:21: [mover quick] unknown key 'stpe' of plugin 'checkerboard'; did you mean \
'step'?" run sim.ini
}

test_unknown_key_of_the_core()
{
    disks
    change 's/^sweeps = 20/&\nwalker = 2/'
    refused 3 "sim.ini:3: [run] unknown key 'walker'; did you mean 'walkers'?" run sim.ini
}

test_unknown_section()
{
    disks
    change 's/^\[initial\]/[intial]/'
    refused 3 "sim.ini:14: unknown section [intial]; did you mean [initial]?" run sim.ini
}

test_section_without_a_name()
{
    disks
    change 's/^\[potential hard_disk\]/[potential]/'
    refused 3 "sim.ini:17: [potential] needs a name: write [potential NAME]" run sim.ini
}

test_doubled_key()
{
    disks
    change 's/^seed = 3/&\nseed = 4/'
    refused 3 "sim.ini:4: [run] key 'seed' given twice, first in line 3" run sim.ini
}

test_doubled_section()
{
    disks
    printf '\n[potential hard_disk]\n' >>sim.ini
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:25: [potential hard_disk] given twice, first in line 17"
    expect_untouched
}

test_missing_key()
{
    disks
    change '/^sweeps/d'
    refused 3 "sim.ini:1: [run] key 'sweeps' is missing: length of the run after equilibration; the mover defines the trial moves in a sweep" run sim.ini
}

test_value_out_of_range()
{
    disks
    change 's/^sweeps = 20/sweeps = 0/'
    refused 3 "sim.ini:2: [run] sweeps = 0: must be at least 1 and at most 1e14 (sweeps)" run sim.ini
}

test_not_a_number()
{
    disks
    change 's/^sweeps = 20/sweeps = many/'
    refused 3 "sim.ini:2: [run] sweeps = many: is not a whole number" run sim.ini
    disks
    change 's/^step = 0.2/step = 0,2/'
    refused 3 "sim.ini:20: [mover checkerboard] step = 0,2: is not a number" run sim.ini
}

test_not_one_of_the_words()
{
    disks
    change 's/^state = random/state = latice/'
    refused 3 "sim.ini:15: [initial] state = latice: must be one of lattice, random, file, near_ions; did you \
mean 'lattice'?" run sim.ini
}

test_wrong_number_in_a_long_list()
{
    disks
    printf '[potential jastrow]\nlike = %s 0,5\n' "$(seq -s ' ' 1 100)" >>sim.ini
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:25: [potential jastrow] like = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 \
17 18 19 20 21 22 23 24 25 26 27 28 29 30...: number 101 is not a number"
    expect_untouched
}

# Two lists of 300 numbers, in the file and as --set, read again from the output of a run.
test_long_lists()
{
    local list
    list=$(awk 'BEGIN { for (k = 300; k > 0; k--) printf " %.9f", k / 1000 }')
    sed "s/^like = .*/like =$list/; s/^sweeps = .*/sweeps = 4/; s/^count = .*/count = 20/" \
        "$here/../kernels/brush.jastrow.ini" >sim.ini
    must run sim.ini --set "potential jastrow.unlike=$list"
    mv sim.h5 whole.h5
    must run sim.ini --set "potential jastrow.unlike=$list" --set run.sweeps=2
    must run --resume sim.h5 --set run.sweeps=4
    same_chain sim.h5 whole.h5
}

# Two of three disks half a diameter apart.
test_overlapping_start()
{
    disks
    cat >start.xyz <<-END
	3
	Lattice="5 0 0 0 5 0 0 0 1" Properties=species:S:1:pos:R:3 pbc="T T F"
	disk 1.0 1.0 0
	disk 3.5 3.5 0
	disk 1.0 1.5 0
	END
    change 's/^packing_fraction = .*/lx = 5/; s/^count = .*/count = 3/'
    change 's/^state = .*/state = file\nfile = start.xyz/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:15: [initial] particles 0 (disk) and 2 (disk) of walker 0 overlap: \
they are 0.5 apart, their contact distance is 1"
    expect_untouched
}

test_file_of_another_box()
{
    disks
    printf '1\nLattice="6 0 0 0 6 0 0 0 1" Properties=species:S:1:pos:R:3\ndisk 1 1 0\n' >start.xyz
    change 's/^packing_fraction = .*/lx = 5/; s/^count = .*/count = 1/'
    change 's/^state = .*/state = file\nfile = start.xyz/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "start.xyz:2: the file's box is 6 long in x, the run's 5"
    expect_untouched
}

test_denser_than_close_packing()
{
    disks
    change 's/^packing_fraction = .*/packing_fraction = 0.95/'
    refused 3 "sim.ini:9: [box] packing fraction 0.95 exceeds the maximum pi/(2 sqrt 3) = 0.9069; give particles without a hard core diameter = 0" run sim.ini
}

# The message says the smallest N, and that one runs.
test_box_too_small_for_the_checkerboard()
{
    disks
    change 's/^count = .*/count = 2/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:19: [mover checkerboard] the box edge 1.77245 is below twice the range 1 of the potential, so there is no checkerboard of cells; at this density the smallest possible system has N = 3 particles (mover 'serial' takes any)"
    expect_untouched
    must run sim.ini --set "species disk.count=3"
}

test_step_beyond_half_a_cell()
{
    disks
    change 's/^step = .*/step = 0.9/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:19: [mover checkerboard] step = 0.9 must be below half a cell, which \
is 0.626657 here"
    expect_untouched
}

# Errors of the core, of a plugin's name and of plugins' keys: a line each, in one go.
test_all_errors_at_once()
{
    disks
    change 's/^sweeps = 20/sweeps = many/; s/^seed/sed/; s/= 0.5$/= x/; s/^step/stp/'
    change 's/^\[potential hard_disk/[potential hard_dsk/'
    plugmc run sim.ini
    expect_exit 3
    expect_message "sim.ini:2: [run] sweeps = many: is not a whole number"
    expect_message "sim.ini:3: [run] unknown key 'sed'; did you mean 'seed'?"
    expect_message "sim.ini:9: [box] packing_fraction = x: is not a number"
    grep -q "^sim.ini:17: there is no plugin 'hard_dsk'; did you mean 'hard_disk'? (searched " "$err" ||
        fail "the plugin is not reported"
    expect_message "sim.ini:20: [mover checkerboard] unknown key 'stp'; did you mean 'step'?"
    expect_lines 5
    expect_untouched
    plugmc check sim.ini
    expect_exit 3
    expect_lines 5
    expect_untouched
}

# ---- Command lines ----

test_set()
{
    disks
    must run sim.ini --set run.output=other.h5 --set "species disk.count=100" --set mover.step=0.1
    h5dump -d /parameters/effective_ini other.h5 >"$out"
    expect_output "count = 100  ; --set"
    expect_output "step = 0.1  ; --set"
    expect_output "seed = 3  ; sim.ini:3"
    expect_output "shape = square  ; default"
}

test_set_that_is_wrong()
{
    disks
    refused 2 "plugmc: --set needs SECTION.KEY=VALUE; see --help" run sim.ini --set
    refused 2 "--set: 'sweeps=3' must read SECTION.KEY=VALUE, as in run.sweeps=1000" \
        run sim.ini --set sweeps=3
    refused 3 "--set: [run] unknown key 'sweps'; did you mean 'sweeps'?" \
        run sim.ini --set run.sweps=3
    refused 3 "--set: [run] sweeps = x: is not a whole number" run sim.ini --set run.sweeps=x
    refused 3 "--set: [mover checkerboard] step = -1: must be at least 1e-9 and at most 1e9 \
(length)" run sim.ini --set mover.step=-1
    refused 3 "--set: unknown section [movr]; did you mean [mover ...]?" run sim.ini --set movr.step=1
    refused 3 "--set: [observable energy] period = 0: must be at least 1 and at most 1e14 (sweeps)" \
        run sim.ini --set "observable energy.period=0"
    plugmc run sim.ini --set "observable enrgy.period=5"
    expect_exit 4
    grep -q "^--set: there is no plugin 'enrgy'; did you mean 'energy'?" "$err" || fail "no origin"
    refused 3 "--set: [potential yukawa] key 'kappa' is missing: inverse screening length" run sim.ini \
        --set "potential yukawa.bjerrum_length=1"
    printf '\n[species other]\ncount = 1\n' >>sim.ini
    refused 2 "--set: there are 2 [species ...] sections: name one, as in \"species \
other.KEY=VALUE\"" run sim.ini --set species.count=3
}

test_unknown_command()
{
    disks
    refused 2 "plugmc: unknown command 'rnu'; did you mean 'run'?" rnu sim.ini
    refused 2 "plugmc: unknown command 'frobnicate'; see plugmc --help" frobnicate
    refused 2 "plugmc: unknown command 'vresion'; did you mean 'version'?" vresion
}

# What people type first works, or points to the word.
test_first_words()
{
    disks
    must --help
    cp "$out" ../help
    for word in help -h; do
        must $word
        cmp "$out" ../help || fail "another help"
    done
    must --version
    cp "$out" ../version
    for word in version -V -v; do
        must $word
        cmp "$out" ../version || fail "another version"
    done
    for word in run scan report info; do
        must help $word
        cp "$out" ../help
        must $word --help
        cmp "$out" ../help || fail "another help of $word"
    done
    plugmc help nothing
    expect_exit 2
    expect_message "plugmc: there is no command 'nothing'; plugmc help lists them, and plugmc info NAME describes a plugin or a section"
    refused 2 "plugmc: 'sim.ini' is not a command: plugmc run sim.ini runs it, plugmc check sim.ini only checks it" sim.ini
    refused 2 "plugmc: 'sim.h5' is not a command: plugmc analyse sim.h5 prints its results, plugmc run --resume sim.h5 continues the run" sim.h5
    refused 2 "plugmc: the command must come first, before options such as '--resume'; see plugmc help" --resume sim.h5
}

# Names that are near, but of another kind, are no help: checkerbard is no potential.
test_suggestions_are_of_the_kind()
{
    disks
    sed -i 's/^\[potential hard_disk\]/[potential checkerbard]/' sim.ini
    plugmc check sim.ini
    expect_exit 4
    grep -q "^sim.ini:17: there is no plugin 'checkerbard' (searched .*; plugmc list potentials shows what is there)$" "$err" ||
        fail "expected no suggestion, and how to see potentials"
    plugmc info mover seriel
    grep -q "there is no plugin 'seriel'; did you mean 'serial'? (searched .*; plugmc list movers shows" "$err" ||
        fail "expected a mover"
    plugmc info observable seriel
    grep -q "there is no plugin 'seriel' (searched .*; plugmc list observables shows" "$err" ||
        fail "expected no suggestion"
    refused 4 "there is no plugin and no section 'unts'; did you mean 'units'?" info unts
    plugmc info seriel
    grep -q "; did you mean 'serial'? (searched .*; plugmc list shows what is there)" "$err" || fail "expected any kind"
}

test_unknown_option()
{
    disks
    refused 2 "plugmc: unknown option '--fast'; see --help" run sim.ini --fast
    refused 2 "plugmc: more than one file: 'other.ini'; see --help" run sim.ini other.ini
    refused 2 "plugmc: which file?; see --help" run
    refused 2 "plugmc: '12a' is no architecture such as 90; see --help" \
        check sim.ini --architecture 12a
}
