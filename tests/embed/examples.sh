#!/bin/bash
# examples.sh SOURCE FOLDER LIBRARIES: examples/embed, built as their users would with the library in FOLDER, shared
# and static, and run.
set -eu
source=$1 folder=$2 libraries=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
shared=("-L$folder" -lplugmc "-Wl,-rpath,$folder")
${CC-cc} -Wall -Werror -I"$source/lib/embed/include" "$source/examples/embed/sweeps.c" "${shared[@]}" -o shared
./shared >of_shared
grep -q '^sweep 500: -ln p = -' of_shared
grep -q '^energy.energy = -' of_shared
[ "$(wc -l <of_shared)" = 8 ]
cat of_shared

# The program that it needs is not beside a static host: it goes beside it, with its plugins.
# shellcheck disable=SC2086
${CC-cc} -I"$source/lib/embed/include" "$source/examples/embed/sweeps.c" "$folder/libplugmc.a" $libraries -o static
nm static | grep -q ' T relax$' && { echo "names of the library are seen"; exit 1; }
ln -s "$folder/plugmc" "$folder/plugins" .
./static >of_static
diff of_shared of_static

command -v "${FC-gfortran}" >/dev/null || { echo "skipped: there is no gfortran"; exit 0; }
${FC-gfortran} -Wall -Werror "$source/examples/embed/sweeps.f90" "${shared[@]}" -o fortran
./fortran >of_fortran
cat of_fortran
energies=$(sed -n 's/^-ln p = *//p' of_fortran | tr -s ' ' '\n' | paste -sd,)
grep -qF "sweep 500: -ln p = ${energies/,/, }" of_shared
