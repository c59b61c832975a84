#!/bin/bash
# complete.sh PLUGMC: every pair of a mover or observable that runs on the GPU and a potential that
# is fused into kernels has a case in this folder, or a line in without_case.txt that says why not.
# So whoever adds a plugin also has its kernels compiled by the tests.
plugmc=$1
folder=$(dirname "$0")

# names SECTION TRAIT: plugins of a kind whose description has the trait; aliases once
names() {
    for name in $("$plugmc" list "$1" | awk '/^  / && !/  the same as / {print $1}'); do
        "$plugmc" info "$name" | grep -q "^  $2" && echo "$name"
    done
}
potentials=$(names potentials 'is compiled into the GPU kernels')
users="$(names movers 'runs on the GPU') $(names observables 'measures on: CPU and GPU')"
[ -n "$potentials" ] || { echo "plugmc list shows no potential that is fused into kernels"; exit 1; }
[ "$users" != " " ] || { echo "plugmc list shows no plugin that runs on the GPU"; exit 1; }

missing=0
for user in $users; do
    for potential in $potentials; do
        grep -qE "^($user|\*) +($potential|\*) +[^ ]" "$folder/without_case.txt" && continue
        cases=$(grep -lE "^(\[(mover|observable) $user\]|plugin = $user$)" "$folder"/*.ini)
        [ -n "$cases" ] && grep -qE "^(\[potential $potential\]|plugin = $potential$)" $cases &&
            continue
        echo "no case in tests/kernels has $user with potential $potential"
        missing=1
    done
done
exit $missing
