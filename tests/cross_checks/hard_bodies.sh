#!/bin/bash
# hard_bodies.sh TEST_HARD_BODIES: ten thousand pairs of each shape, near contact, against hard_bodies.py. A minute on one core.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
python3 -c "import numpy" 2>/dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
failed=0
for shape in $("$1" shapes); do
    "$1" "$shape" 10000 | python3 "$here/hard_bodies.py" "$shape" || failed=1
done
exit $failed
