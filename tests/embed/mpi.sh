#!/bin/bash
# mpi.sh HOST: under mpirun with its communicator; all of its groups find the chain of one process.
set -u
host=$1
command -v mpirun >/dev/null || { echo "skipped: there is no mpirun"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
export OMPI_MCA_hwloc_base_binding_policy=none OMP_WAIT_POLICY=passive
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for n in 1 2 4; do
    timeout --kill-after=5 120 mpirun --quiet -n "$n" "$host" all >said 2>&1 || { echo "$n processes:"; cat said; exit 1; }
    cat said >>all
    # all of them twice, then each of the groups there are
    [ "$(wc -l <said)" = $((n == 1 ? 3 : 4)) ] || { echo "$n processes said:"; cat said; exit 1; }
    rm -f mpi.h5*
done
[ "$(sort -u all | wc -l)" = 1 ] || { echo "chains differ:"; cat all; exit 1; }
cat said
