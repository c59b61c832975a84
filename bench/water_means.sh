#!/bin/bash
# Mean energy of SPC/E water at constant volume in plugmc and in RASPA3 (raspalib on PyPI), with the same cutoff, tail, alpha and waves:
# bench/ensembles/water_means.ini and peers/raspa3_water_means.py, one core each, side by side. Needs no GPU.
#
#     water_means.sh
#
# Both begin with one configuration, of which each says the energy. SECONDS_EACH= of both (default 3600), LEFT_OUT= sweeps and cycles at the
# beginning that are not used (default 1000), FILES= a folder for both series. PLUGMC= says where the program is, PYTHON= which one has raspalib.
set -eu
[ -z "${FILES:-}" ] || mkdir -p "$FILES"
files=${FILES:+$(readlink -f "$FILES")}
. "$(dirname "$0")/common.sh"
python=${PYTHON:-python3}
export OMP_NUM_THREADS=1 LC_ALL=C
input=$here/ensembles/water_means.ini
from_frame=(--set initial.state=file --set initial.file="$PWD/start.xyz")

"$plugmc" run "$input" --quiet --set run.sweeps=1 --set run.output="$PWD/melt.h5" >melt.said
"$plugmc" export melt.h5 --to melt.xyz --last >/dev/null
awk -v L=20.8 -f "$here/whole_water.awk" melt.xyz >start.xyz
"$plugmc" run "$input" "${from_frame[@]}" --quiet --set run.equilibrate=0 --set run.sweeps=1 --set "observable energy.period=1" --set "mover rigid.trials=1" \
    --set "mover rigid.step=1e-12" --set "mover rigid.turn=1e-6" --set "mover rigid.target_acceptance=0" --set run.output="$PWD/one.h5" >/dev/null
"$plugmc" analyse one.h5 --csv >one.csv
timeout "${SECONDS_EACH:-3600}" "$python" "$here/peers/raspa3_water_means.py" start.xyz 20.8 10 100000000 5 >raspa.txt &
"$plugmc" run "$input" "${from_frame[@]}" --quiet --set run.equilibrate=500 --set run.sweeps=100000000 --set run.time_limit="${SECONDS_EACH:-3600}" --set run.output="$PWD/means.h5" >means.said || [ $? = 11 ]
wait || true
for part in energy energy_lennard_jones energy_tail_correction energy_coulomb_ewald; do
    "$plugmc" analyse means.h5 --print "energy.$part" >"plugmc_$part.txt"
done
if [ -n "$files" ]; then cp start.xyz one.csv raspa.txt plugmc_*.txt means.said "$files"; fi
"$python" "$here/water_means.py" "${LEFT_OUT:-1000}" one.csv raspa.txt plugmc_energy.txt plugmc_energy_lennard_jones.txt plugmc_energy_coulomb_ewald.txt
