#!/bin/bash
# Sweeps a second of one run by several processes, each on its own GPU, and the efficiency against one process.
#
#     plugmc bench scale [--processes "1 2 4"] [--seconds S] [--repeat R] [--small] [CASE...]
#
# Cases:
#   disks     walkers over processes: 32 of 16,384 hard disks for each
#   vmc       walkers over processes: 64 of 1,536 electrons for each (orbitals as in vmc.ini)
#   weak      one system over processes: 9,241,600 hard disks for each, in a box that grows along y
#   strong    one system over processes: 9,241,600 hard disks in all
#   liquid    one system over processes: 262,144 Lennard-Jones particles for each, 16 trial moves a cell, in a box
#             that grows along z
#   hexagons  one system over processes: 1,048,576 hard hexagons for each, as in hexagons.ini, in a box that grows along y
#   strong_hexagons
#             one system over processes: 1,048,576 hard hexagons in all
#   strong_octahedra
#             one system over processes: 1,000,000 octahedra of octahedra.ini in all
#   strong_ions, strong_few_ions
#             one system over GPUs: 1,048,576 and 262,144 ions of brush.ini in all, mover brush (GPUs alone)
#   weak_measured, strong_measured, liquid_measured
#             the same with measurements every 100 sweeps: hard_pressure and hexatic_order of disks, rdf and energy of
#             the liquid
#
# Sweeps a second are those between the progress lines of one run, from S/4 seconds after its beginning to 5/4 S (10 s:
# a line comes each second, or after a stretch of sweeps that takes longer). So neither beginning nor end counts, which
# take seconds in large systems. Medians of R pairs of runs (3), one process and many in turn.
# Efficiency: sweeps a second against those of one process, and for `strong...` against as many times these as
# there are processes. Without --processes: 1, 2, 4, ... as far as there are GPUs. --small is for trying it on the CPU.
# $MPIRUN (mpirun) starts the processes, with what else it needs to be told.
set -eu
processes= seconds=10 repeat=3 small=
while [ $# -gt 0 ]; do
    case $1 in
    --processes) processes=$2 && shift ;;
    --seconds) seconds=$2 && shift ;;
    --repeat) repeat=$2 && shift ;;
    --small) small=yes ;;
    disks | vmc | weak | strong | liquid | hexagons | strong_hexagons | strong_octahedra | strong_ions | strong_few_ions | \
        weak_measured | strong_measured | liquid_measured) cases="${cases:-} $1" ;;
    *) echo "scale.sh: there is no '$1': see its head" >&2 && exit 2 ;;
    esac
    shift
done
cases=${cases:-disks vmc weak weak_measured strong strong_measured liquid liquid_measured hexagons strong_hexagons strong_octahedra $([ -n "$small" ] || echo strong_ions strong_few_ions)}
. "$(dirname "$0")/common.sh"
[ -n "$processes" ] || {
    gpus=$(nvidia-smi -L 2>/dev/null | grep -c ^GPU) || gpus=0
    for ((k = 1, processes=1; 2 * k <= gpus; k *= 2)); do processes="$processes $((2 * k))"; done
}

# of A B: a number for this size of the benchmark.
of() { if [ -n "$small" ]; then echo "$2"; else echo "$1"; fi; }

head_of() # WALKERS
{
    printf '[run]\nsweeps = 1000000000\nseed = 1\nwalkers = %s\noutput = sim.h5\ncheckpoint = 0\ndevice = %s\n' "$1" "$(of gpu cpu)"
}

disks_in() # COUNT BOX
{
    printf '[box]\ndimension = 2\n%b[species disk]\ncount = %s\n[initial]\nstate = lattice\n[potential hard_disk]\n' "$2" "$1"
    printf '[mover checkerboard]\ntrials = 4\nstep = 0.16\nidentities = no\n'
}

# A box of edge^(D-1) x K edge, with `count` particles of this volume each for K processes.
box_of() # K COUNT D VOLUME
{
    awk -v k="$1" -v n="$2" -v d="$3" -v v="$4" 'BEGIN {
        edge = (n * v) ^ (1 / d)
        printf "shape = rectangle\\nlx = %.6f\\nly = %.6f\\n", edge, d == 2 ? k * edge : edge
        if (d == 3) printf "lz = %.6f\\n", k * edge
    }'
}

disk_area=$(awk 'BEGIN { print atan2(0, -1) / 4 / 0.698 }')
files_of_disks() { (head_of $((32 * $1)) && disks_in "$(of 16384 256)" 'packing_fraction = 0.698\n') >"$2"; }
files_of_strong() { (head_of 1 && disks_in "$(of 9241600 40000)" "$(box_of 1 "$(of 9241600 40000)" 2 "$disk_area")") >"$2"; }
files_of_weak()
{
    local n
    n=$(of 9241600 40000)
    (head_of 1 && disks_in $(($1 * n)) "$(box_of "$1" "$n" 2 "$disk_area")") >"$2"
}
files_of_liquid()
{
    local n
    n=$(of 262144 12000)
    {
        head_of 1
        printf '[box]\ndimension = 3\n%b[species atom]\ncount = %s\n[initial]\nstate = lattice\n' \
            "$(box_of "$1" "$n" 3 1.25)" $(($1 * n))
        printf '[potential lennard_jones]\nepsilon = 1\ncutoff = 2.5\ntruncation = shift\n'
        printf '[mover checkerboard]\ntrials = 16\nstep = 0.16\n'
    } >"$2"
}
# hexagons K COUNT: K times as many as of one process, in rows of equal length.
hexagons()
{
    head_of 1
    printf '[box]\ndimension = 2\nshape = rectangle\n'
    awk -v k="$1" -v n="$2" 'BEGIN {
        x = sqrt(n / 0.65 * 2 / sqrt(3))
        printf "lx = %.6f\nly = %.6f\n", x, k * x * sqrt(3) / 2
    }'
    printf '[species body]\ncount = %s\n[initial]\nstate = lattice\n' $(($1 * $2))
    printf '[potential hard_polygon]\nsides = 6\nedge = 0.6204032394013997\n'
    printf '[mover checkerboard_bodies]\ntrials = 16\nstep = 0.1\nturn = 0.1\n'
}
files_of_hexagons() { hexagons "$1" "$(of 1048576 4096)" >"$2"; }
files_of_strong_hexagons() { hexagons 1 "$(of 1048576 4096)" >"$2"; }
files_of_strong_octahedra()
{
    {
        head_of 1
        printf '[box]\ndimension = 3\ndensity = 1.002\n[species body]\ncount = %s\n' "$(of 1000000 4096)"
        printf '[initial]\nstate = lattice\n[potential hard_polyhedron]\nshape = octahedron\nedge = 0.7071067811865476\n'
        printf '[mover checkerboard_bodies]\ntrials = 4\nstep = 0.1\nturn = 0.1\n'
    } >"$2"
}
# ions COUNT RADIUS: charges 3 and -1 as in brush.ini.
ions()
{
    head_of 1
    printf '[box]\nshape = sphere\ndimension = 3\nradius = %s\n' "$2"
    printf '[species cation]\ncount = %s\ndiameter = 7.5\ncharge = 3\n' $(($1 / 4))
    printf '[species anion]\ncount = %s\ndiameter = 7.5\ncharge = -1\n[initial]\nstate = random\n' $(($1 / 4 * 3))
    printf '[potential hard_sphere]\n[potential coulomb]\nbjerrum_length = 7.117\n'
    printf '[mover brush]\nstep = %s\n' "$(awk -v r="$2" 'BEGIN { print r / 3 }')"
}
files_of_strong_ions() { ions "$(of 1048576 512)" "$(of 3795.31 300)" >"$2"; }
files_of_strong_few_ions() { ions "$(of 262144 512)" "$(of 2390.9 300)" >"$2"; }
measured() { printf '[observable %s]\nperiod = 100\n' "$@"; }
files_of_weak_measured() { files_of_weak "$@" && measured hard_pressure hexatic_order >>"$2"; }
files_of_strong_measured() { files_of_strong "$@" && measured hard_pressure hexatic_order >>"$2"; }
files_of_liquid_measured()
{
    files_of_liquid "$@" && measured energy rdf >>"$2" && echo 'r_max = 2.5' >>"$2"
}
files_of_vmc()
{
    local cells bands n
    cells=$(of 4 2) bands=$(of 12 7) n=$(of 768 56)
    [ -e orbitals.data ] || awk -v cells="$cells" -v bands="$bands" -f "$here/free_electrons.awk" >orbitals.data
    {
        head_of $(($(of 64 2) * $1))
        printf '[box]\ndimension = 3\nlx = %s\n' "$(of 32 16)"
        printf '[species up]\ncount = %s\ndiameter = 0\ncharge = -1\n' "$n"
        printf '[species down]\ncount = %s\ndiameter = 0\ncharge = -1\n' "$n"
        printf '[initial]\nstate = random\n[potential bspline_orbitals]\nfile = orbitals.data\nmultiplicity = 8\n'
        printf '[potential jastrow]\nlike = 0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012\n'
        printf 'unlike = 0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017\n'
        printf '[mover quasi_simultaneous]\nstep = 0.6\ntarget_acceptance = 0\n'
    } >"$2"
}

# rate K INI: sweeps a second of a run by K processes, as its progress lines have them.
rate()
{
    local launcher= status=0
    [ "$1" = 1 ] || launcher="${MPIRUN:-mpirun} -n $1"
    rm -f sim.h5
    $launcher "$plugmc" run "$2" --json --set run.time_limit="$(awk -v s="$seconds" 'BEGIN { print 1.25 * s + 0.5 }')" \
        >said.txt 2>error.txt </dev/null || status=$?
    [ $status = 11 ] || { # ended by its time limit
        cat error.txt >&2
        echo "scale.sh: a run of $1 processes has failed" >&2
        exit 1
    }
    sed -n 's/.*"progress".*"sweep": \([0-9]*\),.*"sweeps_per_second": \([0-9.e+-]*\),.*/\1 \2/p' said.txt |
        awk -v s="$seconds" '$2 > 0 {
                t = $1 / $2
                if (t < s / 4) next
                if (!begun++) { from = t; n = $1 }
                to = t; m = $1
            }
            END {
                if (to - from < s / 2) exit 1
                printf "%.6g\n", (m - n) / (to - from)
            }' || {
        echo "scale.sh: $1 processes: no two progress lines that are $seconds / 2 s apart: give more --seconds" >&2
        exit 1
    }
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

echo "$("$plugmc" --version | head -1), commit $(git -C "$(dirname "$plugmc")" rev-parse --short HEAD 2>/dev/null || echo '?')"
echo "$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c | tr -s ' ' | paste -sd,) \
$(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2-), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-15s %10s %16s %16s %12s\n' case processes "1: sweeps/s" "all: sweeps/s" efficiency
for name in $cases; do
    "files_of_$name" 1 one.ini
    for k in $processes; do
        [ "$k" -gt 1 ] || continue
        "files_of_$name" "$k" many.ini
        : >one.txt
        : >many.txt
        for ((r = 0; r < repeat; r++)); do
            rate 1 one.ini >>one.txt
            rate "$k" many.ini >>many.txt
        done
        one=$(median <one.txt) many=$(median <many.txt)
        printf '%-15s %10s %16s %16s %11s%%\n' "$name" "$k" "$one" "$many" \
            "$(awk -v a="$one" -v b="$many" -v k="$([[ $name = strong* ]] && echo "$k" || echo 1)" \
                'BEGIN { printf "%.1f", 100 * b / a / k }')"
    done
done
