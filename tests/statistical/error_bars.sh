#!/bin/bash
# error_bars.sh PLUGMC SWEEPS SEEDS [DENSITY]: runs of 64 disks at 0.69 with many seeds; chi^2 per degree
# of freedom of what the table prints, of all errors and of those without a star (docs/statistics.md). By
# hand: 400 seeds of 20,000 sweeps are 20 minutes of one core. The references are the means over the seeds.
set -e
case $# in 3 | 4) ;; *) sed -n 2,4p "$0"; exit 2 ;; esac
plugmc=$(realpath "$1")
folder=$(mktemp -d)
export plugmc folder
trap 'rm -rf "$folder"' EXIT
cat >"$folder/disks.ini" <<INI
[run]
sweeps = $2
equilibrate = 3000
threads = 1
[box]
dimension = 2
packing_fraction = ${4-0.69}
[species disk]
count = 64
[initial]
state = random
[potential hard_disk]
[mover checkerboard]
step = 0.16
[observable hard_pressure]
period = 10
[observable hexatic_order]
period = 10
[observable structure_factor]
period = 10
k_max = 6
INI
one()
{
    "$plugmc" run "$folder/disks.ini" --set run.seed="$1" --set run.device=cpu \
        --set run.output="$folder/$1.h5" >"$folder/$1.table" 2>"$folder/$1.said" ||
        cat "$folder/$1.said" >&2
    rm -f "$folder/$1".h5*
}
export -f one
seq "$3" | xargs -P "$(nproc)" -I{} bash -c 'one {}'
cat "$folder"/*.table | awk '
$2 ~ /^-?[0-9.]+\([0-9]+\)\*?$/ {
    split($2, parts, /[()]/)
    digits = index(parts[1], ".") ? length(parts[1]) - index(parts[1], ".") : 0
    i = ++count[$1]
    value[$1, i] = parts[1]
    bar[$1, i] = parts[2] / 10 ^ digits
    star[$1, i] = $2 ~ /\*$/
    sum[$1] += parts[1]
}
END {
    for (name in count) {
        n = count[name]
        mean = name ~ /psi6_(real|imaginary)/ ? 0 : sum[name] / n
        all = sound = z = 0
        for (i = 1; i <= n; i++) {
            q = ((value[name, i] - mean) / bar[name, i]) ^ 2 * n / (n - 1)
            all += q / n
            if (!star[name, i]) { sound++; z += q }
        }
        printf "%-32s chi^2/dof of %d: %.2f; without a star %d: %s\n", name, n, all, sound,
            sound ? sprintf("%.2f", z / sound) : "-"
    }
}' | sort
