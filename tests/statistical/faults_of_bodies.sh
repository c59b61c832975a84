#!/bin/bash
# faults_of_bodies.sh CASE: faults that are easily made with bodies are planted, one at a time, and a test that is named here has
# to find each of them. Two steps of Euler's angles without their sine are in unit.orientation itself.
#
#   PLUGMC        the program
#   SOURCE, CC    the source tree, and a compiler
#   HARD_BODIES   test_hard_bodies
set -u
umask 022
export LC_ALL=C OMP_WAIT_POLICY=passive
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() { echo "FAILED: $*"; exit 1; }

# planted FOLDER FILE SCRIPT: a copy of FOLDER/FILE that sed has changed
planted()
{
    sed "$3" "$SOURCE/$1/$2" >"$2" || fail "sed does not understand '$3'"
    cmp -s "$2" "$SOURCE/$1/$2" && fail "the fault '$3' is not planted: $2 has another text"
    echo "planted: $3"
}

# A potential, as plugmc build makes it: in double and in float.
potential() { "$PLUGMC" build "$1.c" --draft --compiler "$CC" -I"$SOURCE/plugins/potentials" >built 2>&1 || { cat built; fail "$1 does not compile"; }; }

# mover NAME FILE [FLAG...]
mover()
{
    "$CC" -std=gnu17 -O2 -shared -fPIC -fopenmp -Wno-psabi -DPLUGMC_ONE_TARGET -I "$work" -I "$SOURCE/core/include" \
        -I "$SOURCE/plugins/movers" "${@:3}" "-DPLUGMC_SOURCE=\"$work/$2\"" -o "$1.so" "$2" -lm || fail "$1 does not compile"
}

# found_by CASE WORDS: statistical.bodies_CASE fails with the plugin that is planted, and says so.
found_by()
{
    PLUGMC_PLUGIN_PATH=$work bash "$SOURCE/tests/statistical/bodies.sh" "$1" >found 2>&1 && { cat found; fail "bodies_$1 has not found it"; }
    grep -E "$2" found || { cat found; fail "bodies_$1 has failed for another reason"; }
}
far='FAILED: too far from the exact value'

# Another program without it: turns in one sense are as many again.
case_turns_of_one_sense()
{
    mkdir plugmc
    cp "$SOURCE"/core/include/plugmc/*.h plugmc
    planted core/include/plugmc orientation.h 's/const int backward = .*/const int backward = 0;/'
    mv orientation.h plugmc
    "$CC" -std=gnu17 -O1 -D_GNU_SOURCE -I "$work" -I "$SOURCE/tests" -o turns "$SOURCE/tests/unit/test_orientation.c" -lcmocka -lm ||
        fail "test_orientation does not compile"
    ./turns >found 2>&1 && fail "unit.orientation has not found it"
    grep -F '[  FAILED  ] test_senses_are_equally_probable' found || { cat found; fail "unit.orientation has failed for another reason"; }
}

# Edges of the second polygon are not looked at. No run begins with it: two bodies are tried before.
case_one_sided_test()
{
    planted plugins/potentials hard_polygon.c 's/^    if (back > round + margin) return 0;/    if (gap <= margin) return 1;/'
    potential hard_polygon
    found_by squares 'do not overlap, and overlap after both have turned'
}

# The first sphere of either body.
case_forgotten_part()
{
    planted plugins/potentials union_of_spheres.c '/body_overlap/,/^}/s/for (int32_t \([ij]\) = 0;/for (int32_t \1 = 1;/'
    potential union_of_spheres
    found_by dumbbells "bodies overlap in the configuration"
}

# A part is one body too many in the weight of the volume, as if the parts went with the box.
case_parts_go_with_the_box()
{
    planted plugins/movers volume.c 's/(double)(v->scaled\[w\] + 1)/(double)(2 * v->scaled[w] + 1)/'
    mover volume volume.c
    found_by ells_at_constant_pressure "$far"
}

# In float what overlaps would be apart.
case_no_margin()
{
    "$HARD_BODIES" closer dumbbell 40000 || fail "without a fault it must pass"
    planted plugins/potentials union_of_spheres.c 's/margin = (PLUGMC_SURELY - 1) \* .*/margin = 0 * body_reach(p, a);/'
    potential union_of_spheres
    PLANTED=$work "$HARD_BODIES" closer dumbbell 40000 && fail "unit.hard_bodies has not found it"
    return 0
}

# Clusters whose bodies turn about another axis than their centres do.
case_wrong_axis()
{
    planted plugins/movers half_turns.h 's/to\[d\] = d == how->axis ||/to[d] = d == (how->axis + 1) % 3 ||/'
    cp "$SOURCE/plugins/movers/cluster.c" .
    mover cluster_bodies cluster.c -DCLUSTER_BODIES=1
    found_by clusters_of_cubes "bodies overlap in the configuration"
}

# Clusters that see no images of others.
case_no_images()
{
    planted plugins/movers cluster.c 's/&f->box, 1, from, &turned/\&f->box, 0, from, \&turned/; s/&f->box, 1, &there, /\&f->box, 0, \&there, /'
    mover cluster_bodies cluster.c -DCLUSTER_BODIES=1
    found_by clusters_of_cubes "bodies overlap in the configuration"
}

"case_$1"
