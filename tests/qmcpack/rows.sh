#!/bin/bash
# rows.sh: bench/qmcpack_rows.py tells of every row of its list, also of one that asks for all of the time, one that is cut off
# before its equilibration ends, and one that does not run.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/Be_STO.be_sto_vmc_legacy.vmc" "$work/heg_14_gamma.heg-short-NI.vmc" "$work/C2_pp.vmc_short_pp_msdj-XML.vmc"
printf '%s\n' 'Be_STO.be_sto_vmc_legacy.vmc 1000 16 observable_local_energy.period=10' \
    'Be_STO.be_sto_vmc_legacy.vmc@long 5 16 run.equilibrate=100000000' 'C2_pp.vmc_short_pp_msdj-XML.vmc 5 16' \
    'heg_14_gamma.heg-short-NI.vmc 5 16' >"$work/list"
PYTHONDONTWRITEBYTECODE=1 python3 "$here/../../bench/qmcpack_rows.py" --data "$work" --seconds 50 --lanes 1 --compilers 1 \
    --threads 1 --device cpu <"$work/list" >"$work/out" 2>"$work/said" || { cat "$work/said"; exit 1; }
cat "$work/out"
[ "$(grep -c ' sweeps, [0-9]* samples' "$work/out")" = 4 ] || { echo "not every row is told of"; exit 1; }
for row in Be_STO.be_sto_vmc_legacy.vmc heg_14_gamma.heg-short-NI.vmc; do
    grep -A9 "^$row: exit code 11" "$work/out" | grep -q "^    energy  *[-0-9]" || { echo "$row has no energy"; exit 1; }
done
grep -q "^Be_STO.be_sto_vmc_legacy.vmc@long: exit code 11, .* 0 samples" "$work/out" || { echo "no row without samples"; exit 1; }
grep -q "^C2_pp.* run 2: exit code 3, " "$work/out" || { echo "no reason of the row that does not run"; exit 1; }
