#!/bin/bash
# Diamond without its Jastrow factor: every part of the energy that $PLUGMC finds against the exact
# expectation values of the determinant, for the grid of B-splines that is sampled. |z| <= 3 of
# energy, kinetic, local, nonlocal and electron-electron energies: false alarms 1.4 % at most (the
# first is the sum of the others), and a fixed seed. The grid is that of the default multiplicity of
# bspline_orbitals. Half a minute on one core.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../data/qmc
for module in numpy h5py; do
    python3 -c "import $module" 2>/dev/null || { echo "skipped: python3 has no $module"; exit 77; }
done
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

cp "$data/diamondC.pwscf.h5" "$data/C.BFD.xml" "$here/../../examples/diamond.ini" "$folder" || exit 1
cd "$folder" || exit 1
"$PLUGMC" run diamond.ini --set "potential jastrow.role=measured" \
    --set run.output="$folder/out.h5" --set run.device=cpu --set run.threads=1 --set run.walkers=64 \
    --set run.sweeps=8000 --set run.seed=19 || exit 1
python3 "$here/determinant.py" diamondC.pwscf.h5 C.BFD.xml --grid 45 --run out.h5 \
    --limit 3 --largest-error 0.03
