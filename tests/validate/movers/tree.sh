#!/bin/bash
# bash tree.sh quick|whole: all movers of the tree pass plugmc validate. CMake sets PLUGMC, the program. Movers that need
# keys get them here.
set -u
umask 022
export LC_ALL=C OMP_WAIT_POLICY=passive
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
[ "$1" = quick ] && options=--quick || options=
failed=0

# validate MOVER [KEY...]
validate()
{
    local file= begin=$SECONDS code
    if [ $# -gt 1 ]; then
        file=$1.ini
        printf '%s\n' '[species ion]' '[species other]' "[mover $1]" "${@:2}" >"$file"
    fi
    "$PLUGMC" validate "$1" $file $options --device cpu >found 2>&1
    code=$?
    [ $code = 0 ] || { cat found; echo "FAILED: $1: exit code $code"; failed=1; }
    echo "$1: $(tail -n 1 found), $((SECONDS - begin)) s"
}

movers=$("$PLUGMC" list movers | awk '/^  / && !/  the same as / { print $1 }')
[ -n "$movers" ] || { echo "FAILED: there are no movers"; exit 1; }
for mover in $movers; do
    case $mover in
    diffusion) validate diffusion 'tau = 0.02' ;;
    wang_landau) validate wang_landau 'variable = ion' 'learning = 300' ;;
    insert_group)
        validate insert_group
        validate insert_group 'group = ion other'
        validate insert_group 'group = ion other other' 'max_distance = 0.8'
        ;;
    umbrella)
        validate umbrella
        validate umbrella 'variable = ion' 'strength = 0.3' 'center = 5'
        ;;
    transfer)
        validate transfer
        validate transfer 'species = ion' 'trial_positions = 3' 'trial_orientations = 2'
        ;;
    insert_molecule)
        validate insert_molecule
        validate insert_molecule 'molecule = ion' 'trial_positions = 3' 'trial_orientations = 2'
        ;;
    event_chain)
        validate event_chain
        validate event_chain 'kind = reflected'
        ;;
    *) validate "$mover" ;;
    esac
done
exit $failed
