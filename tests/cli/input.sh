# Files and command lines that cannot be used: the sentence, the exit code, and nothing touched. What an INI file says
# wrongly is in tests/refusals.

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

# Names that are near, but of another kind, are no help: seriel is no observable.
test_suggestions_are_of_the_kind()
{
    disks
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
