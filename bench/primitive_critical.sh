#!/bin/bash
# Where the critical point of the restricted primitive model is: ln p(N) of pairs by transition matrices in cubes of
# several sizes, at several temperatures (bench/ensembles/primitive_critical.ini), and what
# critical_point.awk makes of it.
#
#     primitive_critical.sh
#
# All runs go side by side, each on one core of the CPU: SIZES= edges (default "8 10 12"), TEMPERATURES= reduced ones
# (default "0.048 0.0495 0.051"), RUNS= of each (default 2), SECONDS_EACH= (default 240), FIRST= number of the
# first run, which is its seed. Lines "L T RUN N ln_p" are kept in the file LN_P= (added), so that several calls can be
# taken together by critical_point.awk. PLUGMC= says where the program is.
set -eu
kept=${LN_P:+$(readlink -f "$LN_P")}
. "$(dirname "$0")/common.sh"

one() # EDGE TEMPERATURE RUN
{
    local name=$1_$2_$3 most=$((($1 * $1 * $1 + 7) / 8)) count
    count=$((most / 4))
    "$plugmc" run "$here/ensembles/primitive_critical.ini" --set run.output="$PWD/$name.h5" --set "box.lx=$1" \
        --set "run.time_limit=${SECONDS_EACH:-240}" --set "run.seed=$3" --set "species cation.most=$most" \
        --set "species anion.most=$most" --set "species cation.count=$count" --set "species anion.count=$count" \
        --set "potential coulomb_ewald.bjerrum_length=$(awk -v t="$2" 'BEGIN { printf "%.10g", 1 / t }')" \
        >"$name.said" 2>"$name.errors" || [ $? = 11 ] || { tail -n 1 "$name.errors"; return; }
    "$plugmc" analyse "$name.h5" --print transition_matrix.ln_p | awk -v l="$1" -v t="$2" -v r="$3" '!/^#/ { print l, t, r, $1, $2 }' >"$name.ln_p"
}

"$plugmc" bench hard_disk --set bench.values=1024 --set bench.sweeps=1 --set bench.repeat=1 | grep '^#' | head -n 2
first=${FIRST:-1}
for edge in ${SIZES:-8 10 12}; do
    for temperature in ${TEMPERATURES:-0.048 0.0495 0.051}; do
        for run in $(seq "$first" $((first + ${RUNS:-2} - 1))); do one "$edge" "$temperature" "$run" & done
    done
done
wait
for edge in ${SIZES:-8 10 12}; do
    cat "$edge"_*.said | awk -v l="$edge" '/insert_group.insertion/ { trials += 2 * $4; accepted += 2 * $2 * $4 }
        END { printf "# L = %s: %.3g pairs tried, %.3g accepted\n", l, trials, accepted }'
done
cat ./*.ln_p >all
[ -z "$kept" ] || cat all >>"$kept"
awk -v tell=1 -f "$here/critical_point.awk" all
