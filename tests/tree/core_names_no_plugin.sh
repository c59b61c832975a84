#!/bin/sh
# core_names_no_plugin.sh SOURCE: the core knows no plugin, so nothing in core/, in the libraries below it or in the program has the name of one,
# not even a comment (Markdown may). Names are those of the files and folders of plugins/*/, less
# those that are words of the core's own trade.
cd "$1" || exit 1
own='energy rigid trajectory serial configuration common volume pressure swap draws insert identity numbers reservoir local_energy matrices virials'
names=$(for path in plugins/*/*; do basename "$path" | sed 's/\..*//'; done | sort -u)
[ -n "$names" ] || { echo "there are no plugins below $1/plugins"; exit 1; }
found=0
for name in $names; do
    case " $own " in *" $name "*) continue ;; esac
    grep -rnwi --exclude='*.md' -e "$name" core lib programs/plugmc && found=1
done
[ $found = 0 ] || echo "core/ names plugins: see above"
exit $found
