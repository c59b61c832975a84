#!/bin/sh
# format.sh SOURCE: C and CUDA C are laid out as .clang-format says. Other versions of clang-format
# lay out some lines in another way; where only such a one is installed, the test is skipped (77).
# To mend: clang-format -i FILE...
cd "$1" || exit 1
tool=
for name in clang-format-14 clang-format; do
    "$name" --version 2>/dev/null | grep -q 'version 14\.' && tool=$name && break
done
[ -n "$tool" ] || { echo "clang-format 14 is not installed"; exit 77; }
files=$(find core lib plugins programs share tests bench docs -name '*.c' -o -name '*.h' -o -name '*.cu')
[ -n "$files" ] || { echo "there are no sources below $1"; exit 1; }
# shellcheck disable=SC2086 # names without blanks
"$tool" --dry-run -Werror $files
