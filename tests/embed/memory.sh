#!/bin/bash
# memory.sh HOST FAIL_MALLOC: one allocation fails after the other, a sample of all of them.
set -u
host=$1 fail_malloc=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
LD_PRELOAD=$fail_malloc COUNT_ALLOCATIONS=$work/all "$host" >said 2>&1
[ $? = 42 ] && grep -q '^code 0$' said || { echo "it does not run:"; cat said; exit 1; }
all=$(cat all)
LD_PRELOAD=$fail_malloc COUNT_ALLOCATIONS=$work/loaded "$host" nothing # what libraries take before main, and print about
short=0
for ((n = $(cat loaded); n <= all; n += 1 + all / ${samples-150})); do
    rm -f run.h5*
    LD_PRELOAD=$fail_malloc FAIL_ALLOCATION=$n timeout 60 "$host" >said 2>&1
    status=$?
    # a few allocations of OpenMP's library itself, which ends any program there
    grep -q '^libgomp: Out of memory' said && continue
    [ $status = 42 ] || { echo "allocation $n of $all: exit code $status"; cat said; exit 1; }
    [ "$(wc -l <said)" = 1 ] || { echo "allocation $n of $all: something was printed"; cat said; exit 1; }
    grep -q '^code 8$' said && ((short++))
    [ -z "$(find . -name '*.lock' -o -name '*.tmp-*')" ] || { echo "allocation $n of $all: files are left"; ls; exit 1; }
done
echo "$short ended with code 8"
[ $short -gt 20 ]
