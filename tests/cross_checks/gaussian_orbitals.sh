#!/bin/bash
# gaussian_orbitals.sh TEST_GAUSSIAN_ORBITALS: every function up to l = 5, in the formats of QMCPACK and TREXIO, in open space
# and with periodic images at a k point, against gaussian_orbitals.py. No random errors: agreement to 1e-12. Four seconds.
set -u
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3 # which has the packages of the system
here=$(cd "$(dirname "$0")" && pwd)
for module in numpy h5py; do
    "$python" -c "import $module" 2>/dev/null || { echo "skipped: $python has no $module"; exit 77; }
done
"$python" "$here/gaussian_orbitals.py" "$1" "$here/../data/lcao"
