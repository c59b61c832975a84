#!/bin/sh
# plugmc bench water_hmc, with the water that water_hmc.ini starts from: melted by hmc in a folder of its own, which is gone
# afterwards.
#
#     water_hmc.sh [--set SECTION.KEY=VALUE]...
#
# PLUGMC= says where the program is, if common.sh does not find it; MOLECULES= how many (default 4096); DEVICE= cpu or gpu.
set -eu
. "$(dirname "$0")/common.sh"
molecules=${MOLECULES:-4096}
edge=$(awk -v n="$molecules" 'BEGIN { printf "%.3f", (n / 0.033434) ^ (1 / 3) }')
sed -e "s/^count = .*/count = $molecules/; s/^lx = .*/lx = $edge/; s/^file = .*/file = water.h5/" "$here/water_hmc.ini" >water_hmc.ini
# 8,000 steps, most of them of 2 fs: tuning makes them short at first, while the lattice melts
sed -e '/^\[bench\]/,/^$/d' -e '/^file = /d' -e 's/^state = .*/state = lattice/' -e 's/^steps = .*/steps = 20/' \
    -e 's/^target_acceptance = .*/target_acceptance = 0.8/' \
    -e "s/^sweeps = .*/sweeps = 1\nequilibrate = ${TRAJECTORIES:-400}\ndevice = ${DEVICE:-gpu}\noutput = water.h5/" water_hmc.ini >melt.ini
printf '[observable trajectory]\nperiod = 1\n' >>melt.ini
"$plugmc" run melt.ini --quiet
"$plugmc" bench ./water_hmc.ini --set "run.device=${DEVICE:-gpu}" "$@"
