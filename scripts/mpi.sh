#!/bin/bash
# scripts/mpi.sh [FOLDER]: builds what lets `mpirun` and `srun` start plugmc on many processes, with the MPI of this
# machine (mpicc; MPICC=...: another), into FOLDER or build/mpi. On a cluster: load the module of MPI, then this.
set -eu -o pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1-$root/build/mpi}
compiler=${MPICC-mpicc}
command -v "$compiler" >/dev/null || {
    echo "there is no $compiler: load the module of an MPI, or say MPICC=... (Debian, Ubuntu: apt-get install openmpi-bin libopenmpi-dev)" >&2
    exit 1
}
umask g-w,o-w
mkdir -p "$folder"
# What it is, in the words of its own header.
kind=$(printf '#include <mpi.h>\n#ifdef OPEN_MPI\nis_open_mpi\n#elif defined MPICH_VERSION || defined I_MPI_VERSION || defined CRAY_MPICH_VERSION\nis_mpich\n#endif\n' |
    "$compiler" -E -x c - | grep -o '^is_[a-z_]*' || true)
case $kind in
    is_open_mpi) object=plugmc_open_mpi.so ;;
    is_mpich) object=plugmc_mpich.so ;;
    *) echo "$compiler is neither of Open MPI nor of the MPICH family" >&2; exit 1 ;;
esac
# MPI_STATUSES_IGNORE of the MPICH family is an address that is no array, of which gcc warns
"$compiler" -std=gnu17 -O2 -shared -fPIC -fvisibility=hidden -Wall -Wno-stringop-overflow "$root/lib/parallel/mpi/mpi_calls.c" -o "$folder/$object"
echo "$folder/$object; elsewhere than beside plugmc: PLUGMC_MPI_PATH=$folder"
