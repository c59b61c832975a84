#!/bin/bash
# tree.sh PLUGMC SYSTEMS [OPTION...]: plugmc validate finds no fault in the potentials and observables of the tree. SYSTEMS
# has NAME.ini for those whose keys have no defaults, or that need a system of their own; NAME-MORE.ini is one more.
plugmc=$1
systems=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # NAME or NAME-MORE
    local ini=$systems/$1.ini begin=$SECONDS code
    [ -e "$ini" ] || ini=
    PLUGMC_NVRTC=${PLUGMC_NVRTC-/none} "$plugmc" validate "${1%%-*}" $ini "${@:2}" >"$work/$1.out" 2>&1
    code=$?
    echo "$1: code $code, $((SECONDS - begin)) s, $(tail -1 "$work/$1.out")"
    [ $code = 0 ] || { grep -A3 '^failed' "$work/$1.out" || cat "$work/$1.out"; touch "$work/failed"; }
    # what is covered must not silently become nothing
    grep -q '^passed  *\(displacements\|orbitals\|results\|opens\)' "$work/$1.out" || touch "$work/failed"
}

names=$("$plugmc" list potentials | awk '/^  / && !/  the same as / {print $1}'
        "$plugmc" list observables | awk '/^  / && !/  the same as / {print $1}')
# it belongs to orbitals, whose determinants are no energy that plugmc validate could ask for; unit.vmc has it
names=$(grep -vx multideterminant <<<"$names")
[ "$(wc -w <<<"$names")" -gt 30 ] || { echo "plugmc list shows too few plugins: $names"; exit 1; }
for ini in "$systems"/*-*.ini; do names+=" $(basename "$ini" .ini)"; done
for name in $names; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    check "$name" "$@" &
done
wait
[ ! -e "$work/failed" ]
