#!/bin/bash
# table.sh PLUGMC FOLDER [NAME...]: which step finds the mistakes of open/ and held/, as rows of a Markdown table. The steps
# are `plugmc build`, `plugmc validate --quick`, `plugmc check` and `plugmc run`, each tried whatever the others have found.
# FOLDER gets the plugins and what each step has printed, NAME.STEP; a step whose output is there is not repeated. NAME:
# these mistakes alone. JOBS: how many are tried at a time (2).
#
# A step finds a mistake if its exit code is not 0; `validate` has to end with 4, a failed check, as 3 is input that it
# cannot use. Whether its sentence is about the mistake is for people to say.
set -u
umask 022
export LC_ALL=C OMP_WAIT_POLICY=passive PLUGMC_NVRTC=/none # GPU source is no part of this
plugmc=$(realpath "$1") work=$2
here=$(cd "$(dirname "$0")" && pwd)
shift 2
mkdir -p "$work"
work=$(cd "$work" && pwd)

# step NAME STEP SECONDS COMMAND...: its exit code is in NAME.STEP.code, 124 if it had not ended in time
step()
{
    local begin=$EPOCHREALTIME code end
    [ -e "$work/$1.$2.code" ] && return
    (cd "$work/$1" && exec timeout -k 2 "$3" "${@:4}") >"$work/$1.$2" 2>&1 </dev/null
    code=$?
    [ $code = 137 ] && code=124
    end=$EPOCHREALTIME
    echo "$code $(((${end/./} - ${begin/./}) / 100000))" >"$work/$1.$2.code"
}

# The sentence of the first failed check, or the last line of another step.
sentence()
{
    case $1 in
    *.validate) awk '!on && /^failed/ { name = $0; sub(/^failed +/, "", name); sub(/  .*/, "", name); on = 1; next }
                     on && !/^ / { exit }
                     on && /^    compared:/ { next }
                     on && /^    / { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
                     END { if (name != "") print name ": " text }' "$1" | grep . || grep -m 1 . "$1" ;;
    *) grep . "$1" | tail -n 1 ;; # an error is the last line
    esac | cut -c 1-300 | sed "s#$work/##g; s/|/\\\\|/g"
}

try()
{
    local name=$1 folder=$2 kind by= seconds= words= s code tenths
    mkdir -p "$work/$name"
    find "$here/$folder" -name "$name.*" ! -name '*.c' ! -name '*.so' -exec cp {} "$work/$name/" ';'
    step "$name" build 120 "$plugmc" build "$here/$folder/$name.c" -o "$name.so" --draft
    step "$name" validate 60 "$plugmc" validate "./$name.so" "$name.ini" --quick --device cpu
    step "$name" check 20 "$plugmc" check "$name.ini"
    step "$name" run 20 "$plugmc" run "$name.ini"
    for s in build validate check run; do
        read -r code tenths <"$work/$name.$s.code"
        [ "$code" = 0 ] && continue
        [ "$s$code" = validate3 ] && { by="${by:+$by, }(validate: file not usable)"; continue; }
        by="${by:+$by, }$s"
        [ "$code" = 124 ] && by="$by (no end)"
        [ -n "$words" ] || words=$(sentence "$work/$name.$s") seconds=$((tenths / 10)).$((tenths % 10))
    done
    if [ -z "$by" ]; then
        read -r code tenths <"$work/$name.validate.code"
        seconds=$((tenths / 10)).$((tenths % 10))
    fi
    kind=$(sed -n "s#^| \`$folder/$name.c\` | \([^|]*\) |.*#\1#p" "$here/README.md")
    case $kind in mover*) kind="mover that asks" ;; esac
    echo "| $folder/$name | $kind | ${by:-nothing} | $words | $seconds |" >"$work/$name.row"
}

echo "| file | kind | found by | first sentence | seconds |"
echo "|---|---|---|---|---|"
for source in "$here"/open/*.c "$here"/held/*.c; do
    name=$(basename "$source" .c)
    [ $# = 0 ] || [[ " $* " == *" $name "* ]] || continue
    names+=("$name")
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-2}" ]; do wait -n; done
    try "$name" "$(basename "$(dirname "$source")")" &
done
wait
for name in "${names[@]}"; do cat "$work/$name.row"; done
