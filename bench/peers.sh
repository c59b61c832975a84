#!/bin/bash
# Trial moves a second beside RASPA3, Faunus, LAMMPS, FEASST, OpenMM and HOOMD-blue, energies compared.
#
#     bench/peers.sh [--quick] [--tables TABLE...] [--sizes N...] [--gpu] [--record FILE] ...
#
# Peers of PyPI are installed in a virtual environment ($XDG_CACHE_HOME/plugmc/peers, or --venv); --help has all options.
# Paths of --record, --from and --venv are relative to the folder that it is called in.
set -eu
from=$PWD
arguments=()
path=no
for argument; do
    if [ $path = yes ] && [ "${argument#/}" = "$argument" ]; then argument=$from/$argument; fi
    case $argument in --record | --from | --venv) path=yes ;; *) path=no ;; esac
    arguments+=("$argument")
done
command -v python3 >/dev/null || { echo "peers.sh: there is no python3" >&2 && exit 2; }
. "$(dirname "$0")/common.sh"
python3 -B "$here/peers/peers.py" --plugmc "$plugmc" "${arguments[@]}"
