#!/bin/bash
# bash fault.sh NAME: the mover with this fault, a line of faults.txt, does not pass plugmc validate, and the sentence says
# what to do. NAME = none: own_decision.c without a fault passes; right_MOVE: so does that move of right_moves.c;
# right_PARTNER: so does partner.c whose radius reaches nobody; right_MOVER: so does MOVER.c. A mover may have keys in MOVER.ini.
# CMake sets
#
#   PLUGMC        the program
#   SOURCE, CC    the source tree, and a compiler
set -u
umask 022
export LC_ALL=C OMP_WAIT_POLICY=passive
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
flags=(-std=gnu17 -O1 -Wno-psabi -DPLUGMC_ONE_TARGET -shared -fPIC -I "$SOURCE/core/include" -I "$SOURCE/plugins/movers")

fail()
{
    cat found 2>/dev/null
    echo "FAILED: $*"
    exit 1
}

# build MOVER CHANGE: MOVER.so
build()
{
    if [ -e "$here/$1.c" ]; then
        "$CC" "${flags[@]}" -include string.h "-DFAULT=$2" "-DRADIUS=\"${radius:-30}\"" "-DPLUGMC_SOURCE=\"$here/$1.c\"" -o "$1.so" "$here/$1.c" -lm
    else
        sed "$2" "$SOURCE/plugins/movers/$1.c" >"$1.c"
        cmp -s "$1.c" "$SOURCE/plugins/movers/$1.c" && fail "the fault '$2' is not planted: $1 has another text"
        "$CC" "${flags[@]}" "-DPLUGMC_SOURCE=\"$work/$1.c\"" -o "$1.so" "$1.c" -lm
    fi || fail "$1 with '$2' does not compile"
}

# Steps without a longest one.
if [ "$1" = right_DRIFT ]; then
    build drift NONE
    "$PLUGMC" validate ./drift.so --quick --device cpu >found 2>&1 || fail "a right mover has not passed"
    grep -q '^passed  *tuned step' found || fail "a tuned step is not compared"
    cat found
    exit 0
fi
# A radius that reaches nobody in our systems; one that reaches everybody is that of the fault partner_factor.
if [ "$1" = right_PARTNER ]; then
    radius=0.01 build partner NONE
    "$PLUGMC" validate ./partner.so --quick --device cpu >found 2>&1 || fail "a right mover has not passed"
    grep -q '^not covered  radius = 0.01' found || fail "nothing says that the radius is another one"
    grep -q '^passed  *law: field, 2 dimensions' found || fail "the law in a field is not compared"
    cat found
    exit 0
fi
# Movers that change numbers, and one that exchanges neighbours, which reaches them alone. Nobody is inserted where there is no neighbour, which is said.
case $1 in right_near_insert | right_own_pair | right_neighbour_swap)
    build "${1#right_}" NONE
    "$PLUGMC" validate "./${1#right_}.so" --quick --device cpu >found 2>&1 || fail "a right mover has not passed"
    if [ "$1" = right_neighbour_swap ]; then
        grep -q '^passed  *law: exchanged positions' found || fail "arrangements are not compared"
        exit 0
    fi
    grep -q '^passed  *law: numbers and forces, 3 dimensions' found || fail "numbers with forces are not compared"
    [ "$1" = right_own_pair ] || grep -A1 '^not covered  all numbers' found | grep -q 'no fewer than 1 of the first' ||
        fail "nothing says that some numbers are not reached"
    [ "$1" = right_own_pair ] || grep -q '^passed  *law: beside insert' found || fail "all numbers are not compared"
    cat found
    exit 0
    ;;
esac
# Moves that are right, though they sample some systems slowly or not at all: which is said.
case $1 in right_*)
    move=${1#right_}
    "$CC" "${flags[@]}" "-DMOVE=$move" "-DPLUGMC_SOURCE=\"$here/right_moves.c\"" -o right_moves.so "$here/right_moves.c" -lm ||
        fail "right_moves does not compile"
    "$PLUGMC" validate ./right_moves.so --quick --device cpu >found 2>&1 || fail "a right mover has not passed"
    [ "$move" != TOGETHER ] || grep -A1 '^not covered  counts of one particle' found | grep -q 'a particle that is alone' ||
        fail "nothing says that the mover needs two particles"
    [ "$move" = NEAR ] || grep -A1 '^not covered  law:' found | grep -q 'the mover hardly changes' ||
        fail "nothing says that a law is not sampled"
    cat found
    exit 0
    ;;
esac
if [ "$1" = none ]; then
    build own_decision NONE
    "$PLUGMC" validate ./own_decision.so --quick --device cpu >found 2>&1 || fail "a right mover has not passed"
    cat found
    exit 0
fi
line=$(grep "^$1 |" "$here/faults.txt") || fail "there is no fault $1"
# fields are apart by ' | ', which is in no script
IFS=$'\t' read -r name mover change check words <<<"${line// | /$'\t'}"
build "$mover" "$change"
keys=()
[ ! -e "$here/$mover.ini" ] || keys=("$here/$mover.ini")
"$PLUGMC" validate "./$mover.so" "${keys[@]}" --quick --device cpu >found 2>&1
code=$?
[ $code = 4 ] || fail "exit code $code, expected 4: a check fails"
awk -v check="^failed +$check" -v words="$words" '
    /^(passed|failed|not covered) / { here = $0 ~ check; next }
    here && $0 !~ /^    compared:/ && $0 ~ words { found = 1 }
    END { exit !found }' found || fail "the check '$check' has not failed with '$words'"
grep -A 2 '^failed' found
