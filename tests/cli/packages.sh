# The package for Debian, unpacked where nothing else is, and completion on the command line.

build=$(dirname "$PLUGMC")

test_package_works_where_it_is_unpacked()
{
    for tool in cpack dpkg-shlibdeps dpkg-deb file; do
        command -v $tool >/dev/null || skip "$tool is not installed (Debian: cmake, dpkg-dev, file)"
    done
    cpack -G DEB --config "$build/CPackConfig.cmake" -B "$PWD/made" >log 2>&1 || fail "cpack: $(tail -n 20 log)"
    package=$(echo made/plugmc_*_*.deb)
    version=$("$PLUGMC" --version | awk '{ print $2 }')
    [[ $(dpkg-deb -f "$package" Version) == "$version"* ]] || fail "not version $version"
    for library in libhdf5 libinih1 libexpat1 libfftw3 libgomp1; do
        dpkg-deb -f "$package" Depends | grep -q "$library" || fail "it does not depend on $library"
    done
    dpkg-deb -x "$package" root
    rm -rf made
    find root -perm /022 ! -type l | grep . && fail "others may write there"
    disks
    rm sim.h5
    env -u PLUGMC_PLUGIN_PATH root/usr/bin/plugmc run sim.ini >"$out" 2>"$err" || fail "it does not run"
    grep -q '^hard_pressure.pressure ' "$out" || fail "it has no results"
    root/usr/bin/plugmc analyse sim.h5 >"$out" 2>"$err" || fail "it does not find its programs"
    [ "$(root/usr/bin/plugmc list | grep -c '^  ')" = "$("$PLUGMC" list | grep -c '^  ')" ] || fail "plugins are missing"
    for file in include/plugmc/plugin.h share/man/man1/plugmc.1 share/doc/plugmc/examples/sim.ini \
        share/bash-completion/completions/plugmc; do
        [ -e root/usr/$file ] || [ -e root/usr/$file.gz ] || fail "$file is not in it"
    done
    module=$(find root/usr/lib -type d -path '*/python3*/plugmc')
    [ -f "$module/engine.py" ] || fail "the Python module is not in it"
    if /usr/bin/python3 -c 'import h5py, pandas' 2>/dev/null; then
        env -u PLUGMC_LIBRARY PATH=/usr/bin:/bin PYTHONPATH="$(dirname "$module")" /usr/bin/python3 -c \
            'import plugmc, plugmc.program; plugmc.Engine("sim.ini").sweep(1); print(plugmc.program.find_library())' |
            grep -q "^$PWD/root/usr/lib" || fail "the Python module does not find its library"
    fi
}

# complete WORD...: what the last one, which may be empty, becomes; a line each.
complete_words()
{
    (
        . "$here/../../share/plugmc.bash"
        compopt() { :; } # there is no line being typed
        COMP_WORDS=("$PLUGMC" "$@") COMP_CWORD=$#
        _plugmc
        printf '%s\n' "${COMPREPLY[@]}"
    )
}

completes() { complete_words "${@:2}" | grep -Fxq -- "$1" || fail "'${*:2}' does not become $1: $(complete_words "${@:2}")"; }

test_bash_completes_what_the_program_lists()
{
    disks
    export PLUGMC_PLUGIN_PATH=$PLUGINS
    completes analyse an
    completes run r
    completes --resume-if-there run --re
    completes --list scan --
    completes hard_pressure info hard_p
    completes hard_disk validate hard_d
    completes --quick validate hard_disk --
    completes sim.ini validate hard_disk s
    completes gpu validate hard_disk --device g
    completes sim.ini run s
    completes field new fi
    : >plugin.c
    completes plugin.c build pl
    completes --draft build --
    completes run. run sim.ini --set r
    completes run.seed= run sim.ini --set run.se
    completes mover. run sim.ini --set mo
    completes mover.target_acceptance= run sim.ini --set mover.ta
    completes box.packing_fraction= run sim.ini --set box.pa
    [ -z "$(complete_words run nothing-like-it)" ] || fail "something is made of nothing"
}
