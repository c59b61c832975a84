#!/bin/bash
# Where the critical point of the restricted primitive model is: ln p(N) of pairs by transition matrices in cubes of
# several sizes, at several temperatures (bench/ensembles/primitive_critical.ini, primitive_critical_gpu.ini), and what
# critical_point.awk makes of it.
#
#     primitive_critical.sh
#
# All runs go side by side, each on one core of the CPU; with DEVICE=gpu one after the other on a GPU, each of many
# walkers. SIZES= edges (default "8 10 12"), TEMPERATURES= reduced ones (default "0.048 0.0495 0.051"), RUNS= of each
# (default 2), SECONDS_EACH= (default 240; on a GPU also a list, one for each size), FIRST= number of the first run,
# which is its seed, WALKERS= of a run on a GPU. Lines "L T RUN N ln_p" are added to the file LN_P= as they come, so that
# several calls can be taken together by critical_point.awk, and files of runs to the folder FILES=. PLUGMC= says where the
# program is.
set -eu
kept=${LN_P:+$(readlink -f "$LN_P")}
files=${FILES:+$(readlink -f "$FILES")}
. "$(dirname "$0")/common.sh"
read -r -a seconds <<<"${SECONDS_EACH:-240}"
read -r -a sizes <<<"${SIZES:-8 10 12}"
first=${FIRST:-1}
last=$((first + ${RUNS:-2} - 1))

# Pairs that a cube has room for: p(N) is small behind them, more so in larger ones.
most() { echo $(($1 * $1 * $1 / 8 + 16)); }

one() # EDGE TEMPERATURE RUN SECONDS FILE KEY...
{
    local name=$1_$2_$3 most count
    most=$(most "$1")
    count=$((most / 4))
    "$plugmc" run "$5" --set run.output="$PWD/$name.h5" --set "box.lx=$1" \
        --set "run.time_limit=$4" --set "run.seed=$3" --set "species cation.max_count=$most" \
        --set "species anion.max_count=$most" --set "species cation.count=$count" --set "species anion.count=$count" \
        "${@:6}" >"$name.said" 2>"$name.errors" || [ $? = 11 ] || { tail -n 1 "$name.errors"; return; }
    "$plugmc" analyse "$name.h5" --print transition_matrix.ln_p | awk -v l="$1" -v t="$2" -v r="$3" '!/^#/ { print l, t, r, $1, $2 }' >"$name.ln_p"
    [ -z "$kept" ] || cat "$name.ln_p" >>"$kept"
    if [ -n "$files" ]; then mv "$name.h5" "$files"; fi
}

# Where two ions of charge 1 have the energy kT at this temperature.
bjerrum() { awk -v t="$1" 'BEGIN { printf "%.10g", 1 / t }'; }

on_cpu()
{
    local edge temperature run
    for edge in "${sizes[@]}"; do
        for temperature in $temperatures; do
            for run in $(seq "$first" "$last"); do
                one "$edge" "$temperature" "$run" "${seconds[0]}" "$here/ensembles/primitive_critical.ini" \
                    --set "potential coulomb_ewald.bjerrum_length=$(bjerrum "$temperature")" &
            done
        done
    done
    wait
}

# Windows of some 15 numbers each, which follow one another; a power of two, so that walkers can be shared among them.
on_gpu()
{
    local k edge temperature run windows
    for run in $(seq "$first" "$last"); do
        for k in "${!sizes[@]}"; do
            edge=${sizes[k]} windows=1
            while ((windows < 16 && windows * 2 * 15 <= $(most "$edge"))); do windows=$((windows * 2)); done
            for temperature in $temperatures; do
                one "$edge" "$temperature" "$run" "${seconds[k]:-${seconds[0]}}" "$here/ensembles/primitive_critical_gpu.ini" \
                    --set "potential coulomb_cube.bjerrum_length=$(bjerrum "$temperature")" \
                    --set "mover transition_matrix.windows=$windows" ${WALKERS:+--set "run.walkers=$WALKERS"}
            done
        done
    done
}

temperatures=${TEMPERATURES:-0.048 0.0495 0.051}
"$plugmc" bench hard_disk --set bench.values=1024 --set bench.sweeps=1 --set bench.repeat=1 | grep '^#' | head -n 3
"on_${DEVICE:-cpu}"
for edge in "${sizes[@]}"; do
    cat "$edge"_*.said | awk -v l="$edge" '/insert_group.insertion/ { trials += 2 * $4; accepted += 2 * $2 * $4 }
        / trial moves of / && sub(/.*; /, "") { seconds += $1 }
        END { printf "# L = %s: %.3g pairs tried in %.0f s, %.3g accepted\n", l, trials, seconds, accepted }'
done
cat ./*.ln_p >all
awk -v tell=1 -f "$here/critical_point.awk" all
