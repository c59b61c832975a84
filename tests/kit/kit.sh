#!/bin/bash
# kit.sh STEP BUILD SOURCE: `plugmc new` and `plugmc build`, by an author who has an installation (that of
# outoftree.install) and an empty folder.
#   potential ... observable   a new plugin of each kind is built and passes its own test; so it does by CMake
#   build_tree                 the same with nothing installed
#   same_file                  build, CMake and pkg-config make the same file
#   faults                     the tests of new plugins fail if their C file is wrong
#   names                      refused: names that are no identifiers, are taken, or have a folder
#   errors                     what the C compiler, the loader and NVRTC say of a wrong file
#   flags                      the headers refuse C++ and -ffast-math, and functions of potentials in a mover
#   libraries                  libraries in C, C++ and Fortran
set -eu -o pipefail
unset CMAKE_C_COMPILER_LAUNCHER PLUGMC_PLUGIN_PATH CC # whoever builds plugmc through a cache: an author has none
export LC_ALL=C OMP_WAIT_POLICY=passive               # other tests run beside this one
step=$1 build=$2 source=$3
prefix=$build/tests/outoftree/prefix
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$prefix/bin:$PATH
cd "$work"
umask 002 # a common one; the loader refuses what the group may write to

fail() { echo "FAILED: $*"; exit 1; }

# refused CODE SENTENCE COMMAND...: its exit code, and a part of its standard error
refused() {
    local expected=$1 sentence=$2 code=0
    shift 2
    "$@" >out 2>err || code=$?
    cat out err
    [ $code = "$expected" ] || fail "$*: exit code $code, expected $expected"
    grep -Fq -- "$sentence" err || fail "$*: expected '$sentence'"
}

# ---- Each kind ---------------------------------------------------------------------------------------

# new_plugin KIND NAME: written, built and tested
new_plugin() {
    local validate
    plugmc new "$1" "$2" >steps
    grep -Fx "    sh test.sh" steps || fail "the next steps are not told"
    validate=$(sed -n 's/^    \(plugmc validate .*\)/\1/p' steps)
    cd "$2"
    ! grep -r PLUGIN_ . || fail "a word of the templates is left"
    plugmc build "$2.c" --draft >log 2>&1 || { cat log; fail "it is not built"; }
    cat log
    ! grep "refuses its default parameters" log || fail "it is tried in a box that it is not for"
    grep -Fq "    $validate" README.md || fail "README.md says something else than '$validate'"
    [ "$1" = mover ] || PLUGMC_NVRTC=/none $validate --device cpu >log 2>&1 || { cat log; fail "$validate"; } # movers: tests/validate
    plugmc info "./$2.so" | grep -q "^$2 (" || fail "plugmc info does not know it"
    sh test.sh
    cd ..
}

# The same by CMake, which finds plugmc since it is on the path.
by_cmake() {
    cd "$1"
    cmake -S . -B build -DCMAKE_C_FLAGS=-DPLUGMC_ONE_TARGET >log || { cat log; fail "cmake"; }
    cmake --build build >log || { cat log; fail "cmake --build"; }
    ctest --test-dir build --output-on-failure
    cd ..
}

kind() {
    new_plugin "$1" "my_$1"
    by_cmake "my_$1"
}

step_potential() { kind potential; }
step_field() { kind field; }
step_total() { kind total; }
step_body() { kind body; }
step_mover() { kind mover; }
step_observable() { kind observable; }

step_build_tree() {
    PATH=$build:$PATH
    [ "$(command -v plugmc)" = "$build/plugmc" ] || fail "another plugmc"
    kind field
}

step_same_file() {
    plugmc new field weight >/dev/null
    cd weight
    plugmc build weight.c
    cmake -S . -B build >log && cmake --build build >>log || { cat log; fail "cmake"; }
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name plugmc.pc)")
    export PKG_CONFIG_PATH
    units=$(pkg-config --variable=units plugmc)
    # shellcheck disable=SC2046 # flags
    cc -shared $(pkg-config --cflags plugmc) -DPLUGMC_SOURCE="\"$PWD/weight.c\"" "$units/plugmc_double.c" \
        "$units/plugmc_float.c" -o by_hand.so -lm
    cmp weight.so build/weight.so || fail "CMake makes another file"
    cmp weight.so by_hand.so || fail "the flags of pkg-config make another file"
    [ "$(stat -c %a weight.so)" = 755 ] || fail "modes $(stat -c %a weight.so)"
    # an author's path with blanks, from another folder
    mkdir "a folder"
    cp weight.c "a folder"
    cd /
    plugmc build "$work/weight/a folder/weight.c" --draft
    plugmc info "$work/weight/a folder/weight.so" >/dev/null || fail "it is not beside its source"
}

# fault KIND FROM TO: a new plugin with this in its C file does not pass its test
fault() {
    rm -rf wrong
    plugmc new "$1" wrong >/dev/null
    cd wrong
    sed -i "s|$2|$3|" wrong.c
    plugmc build wrong.c --draft >log 2>&1 || { cat log; fail "the plugin with the fault is not built"; }
    ! sh test.sh >log 2>&1 || { cat log; fail "the test of a new $1 does not see '$3'"; }
    grep -E 'z = |\[potential wrong\]|acceptance' log || { cat log; fail "the test fails otherwise"; }
    cd ..
}

step_faults() {
    fault potential 'p->height \* x' '(real)1.05 * p->height * x'
    fault field '0.5 \* a.diameter' '0.4 * a.diameter'
    fault total 'virial\[3 \* w + d\] -= ' 'virial[3 * w + d] -= 1.05 * '
    fault total 'forces\[3 \* j + d\] += ' 'forces[3 * j + d] += 0.8 * '
    fault body 'h + h \* c + w \* d' 'h + 0.8 * (h * c + w * d)'
    fault mover '^    return 1;' '    trial->log_factor = 0.05; return 1;'
    fault observable 'far / d->width' 'far / d->width + 0.05'
}

# ---- Refusals ----------------------------------------------------------------------------------------

step_names() {
    for name in 1st a-b a.b "a b" ../a "" über; do
        refused 2 "must have letters, digits and underscores alone" plugmc new potential "$name"
    done
    refused 2 "is longer than 40 characters" plugmc new potential "$(printf 'a%.0s' {1..41})"
    for name in test m while; do
        refused 2 "means something to C, CMake or the linker already" plugmc new mover $name
    done
    refused 2 "there is a plugin 'hard_sphere' already" plugmc new potential hard_sphere
    refused 2 "did you mean 'observable'?" plugmc new observabel mine
    refused 2 "there are potential, field, total, body, mover and observable" plugmc new x mine
    refused 2 "expected KIND NAME" plugmc new potential
    mkdir mine
    refused 2 "'mine' is there already" plugmc new potential mine
    rmdir mine
    ln -s nowhere mine
    refused 2 "'mine' is there already" plugmc new potential mine
    rm mine
    [ "$(ls)" = "err
out" ] || fail "something was written: $(ls)"
    PATH=/usr/bin:/bin
    cp -r "$prefix" moved
    rm -r moved/share/plugmc/new
    refused 4 "the templates of plugins are missing" moved/bin/plugmc new potential mine
    [ ! -e mine ] || fail "a folder is left"
}

# replaced FROM TO: the new field with another text, as wrong.c
replaced() {
    sed "s|$1|$2|" soft/soft.c >wrong.c
    ! cmp -s soft/soft.c wrong.c || fail "nothing is replaced"
}

line_of() { grep -Fn -m 1 -- "$1" wrong.c | cut -d: -f1; }

step_errors() {
    plugmc new field soft >/dev/null
    # the C compiler: once, although it compiles twice
    replaced 'weight \* r.y' 'weight * r.q'
    refused 4 "wrong.c:$(line_of r.q):" plugmc build wrong.c
    [ "$(grep -c 'error: ' err)" = 1 ] || fail "an error is told several times"
    [ ! -e wrong.so ] || fail "a file is left"
    refused 4 "cannot be started: No such file or directory" plugmc build soft/soft.c --compiler no-compiler
    refused 2 "nothing.c cannot be read" plugmc build nothing.c
    refused 2 "more than one C file" plugmc build a.c b.c
    refused 2 "unknown option '--fast'" plugmc build a.c --fast
    # the linker
    replaced 'return p->weight' 'double nowhere(void); if (PLUGMC_HOST) nowhere(); return p->weight'
    refused 4 "undefined reference to \`nowhere'" plugmc build wrong.c --draft
    grep -q "nothing defines 'nowhere': is it spelt so? A library that has it stands behind the file: plugmc build wrong.c LIBRARY.a" err ||
        fail "nothing is advised"
    # the loader: what run refuses
    replaced '.name = "soft", ' ''
    refused 4 "has no name in its descriptor" plugmc build wrong.c --draft
    refused 4 "has no name in its descriptor" plugmc info ./wrong.so
    echo 'int x;' >wrong.c
    refused 4 "it has no function plugmc_plugin_entry" plugmc build wrong.c
    printf '#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n' >wrong.c
    refused 4 "wrong.so" plugmc build wrong.c
    mkdir open
    chmod 777 open
    refused 4 "can be changed by others" plugmc build soft/soft.c --draft -o open/soft.so
    # what cannot be compiled for a GPU here is told, and is no failure
    PLUGMC_NVRTC=/nowhere.so plugmc build soft/soft.c --draft 2>err || fail "exit code $? without NVRTC"
    cat err
    grep -q 'its GPU source is not compiled here: ' err || fail "it is not told that NVRTC is missing"
    # NVRTC: `new` is a word of C++
    replaced 'gradient\[1\] = p->weight' 'const real new = p->weight; gradient[1] = new'
    code=0
    plugmc build wrong.c --draft >out 2>err || code=$?
    cat out err
    if grep -q 'its GPU source is not compiled here' err; then
        [ $code = 0 ] || fail "exit code $code without NVRTC"
        echo "SKIPPED: there is no NVRTC"
        exit 77
    fi
    [ $code = 7 ] || fail "exit code $code, expected 7"
    grep -Fq "$work/wrong.c($(line_of 'new ='))" err || fail "the message of NVRTC lacks the author's line"
}

step_flags() {
    plugmc new field soft >/dev/null
    plugmc new observable seen >/dev/null
    for file in soft/soft.c seen/seen.c; do
        refused 4 "compile without -ffast-math" plugmc build $file --draft --compiler "cc -ffast-math"
        refused 4 'a plugin is C17: name its file .c' plugmc build $file --draft --compiler "cc -x c++"
    done
    plugmc new mover jumps >/dev/null
    sed -i 's|^#include <plugmc/proposal.h>|&\n#include <plugmc/functions.h>|' jumps/jumps.c
    refused 4 'functions.h is for potentials: in propose of a mover write exp, log and sqrt' plugmc build jumps/jumps.c --draft
}

# ---- Libraries ---------------------------------------------------------------------------------------

# An observable whose bins are as many as the library LANGUAGE says, twice as many as the key.
calls_library() {
    sed -e 's|^typedef struct distances|int doubled_in_'"$1"'(int);\n&|' \
        -e 's|^    distances \*d = instance;|&\n    d->bins = doubled_in_'"$1"'((int)d->bins);|' seen/seen.c >"by_$1.c"
    grep -q "doubled_in_$1((int)" "by_$1.c" || fail "nothing is called"
}

# measured NAME: a run with 2 * 3 bins
measured() {
    sed -e 's/^bins = .*/bins = 3/' -e "s|^plugin = .*|plugin = ./$1.so|" -e 's/^sweeps = .*/sweeps = 100/' \
        seen/seen.ini >"$1.ini"
    plugmc run "$1.ini" --quiet | tee log
    grep -q '^seen.density: 6 values' log || fail "the library was not called"
}

step_libraries() {
    plugmc new observable seen >/dev/null
    echo 'int doubled_in_c(int n) { return 2 * n; }' >c.c
    cc -fPIC -c c.c && ar rcs libc_part.a c.o
    calls_library c
    plugmc build by_c.c -L. -lc_part
    measured by_c
    plugmc build by_c.c libc_part.a
    measured by_c
    mkdir shared # found again when it is loaded, from anywhere
    cc -shared -o shared/libshared_part.so c.o
    plugmc build by_c.c -Lshared -lshared_part
    measured by_c
    ! readelf -d by_c.so | grep -E 'stdc\+\+|gfortran|gomp' || fail "a runtime library that nobody needs"
    refused 4 "cannot find -lno_part" plugmc build by_c.c -lno_part
    refused 4 "nothing defines 'doubled_in_c': is it spelt so?" plugmc build by_c.c --draft
    echo 'static int table[9] = {0, 2, 4, 6}; int doubled_in_c(int n) { return table[n]++; }' >fixed.c
    cc -fno-pic -c fixed.c -o fixed.o && ar rcs libfixed.a fixed.o
    refused 4 "compile the library with -fPIC" plugmc build by_c.c --draft libfixed.a
    calls_library cxx
    cat >cxx.cpp <<-'END'
	#include <stdexcept>
	#include <string>
	#include <vector>
	extern "C" int doubled_in_cxx(int n) {
	    try { throw std::runtime_error(std::string(100, 'x')); }
	    catch (const std::exception &) { return 2 * (int)std::vector<int>(n).size(); }
	}
	END
    command -v c++ gfortran >/dev/null && c++ --version >/dev/null && gfortran --version >/dev/null ||
        { echo "SKIPPED: no compilers of C++ and Fortran (Debian: g++, gfortran)"; exit 77; }
    c++ -fPIC -c cxx.cpp && ar rcs libcxx_part.a cxx.o
    sed 's/extern "C" //' cxx.cpp >plain.cpp
    c++ -fPIC -c plain.cpp && ar rcs libplain.a plain.o
    refused 4 "libplain.a has 'doubled_in_cxx' as a function of C++: declare it extern \"C\" there" plugmc build by_cxx.c --draft libplain.a
    refused 4 "./libplain.a has 'doubled_in_cxx' as a function of C++" plugmc build by_cxx.c --draft -L. -lplain
    plugmc build by_cxx.c libcxx_part.a
    measured by_cxx
    calls_library fortran
    cat >fortran.f90 <<-'END'
	function doubled(n) bind(c, name='doubled_in_fortran')
	  use iso_c_binding
	  integer(c_int), value :: n
	  integer(c_int) :: doubled
	  character(len=20) :: text
	  write (text, *) 2 * n
	  read (text, *) doubled
	end function
	END
    sed -e "s/ bind(c.*//" -e 's/function doubled/function doubled_in_fortran/; s/:: doubled/:: doubled_in_fortran/; s/read (text, \*) doubled/read (text, *) doubled_in_fortran/' \
        fortran.f90 >plain.f90
    gfortran -fPIC -c plain.f90 && ar rcs libplain.a plain.o
    refused 4 "libplain.a has 'doubled_in_fortran' under the name of Fortran: write bind(c, name='doubled_in_fortran')" \
        plugmc build by_fortran.c --draft libplain.a
    gfortran -fPIC -c fortran.f90 && ar rcs libfortran_part.a fortran.o
    plugmc build by_fortran.c libfortran_part.a
    measured by_fortran
}

"step_$step"
