#!/bin/bash
# faults.sh PLUGMC FOLDER TABLE KIND: each fault of a kind in TABLE is found by plugmc validate, with the sentence that the
# table has for it and exit code 4; or with a warning, where the sentence begins with 'warning: '. FOLDER has the plugins.
plugmc=$1 folder=$2 table=$3 kind=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PLUGMC_NVRTC=/none # GPU source is another test

input() { # SECTION PLUGIN FAULT
    local each=36 more=
    [ "$kind" != few ] || each=2
    [ "$kind" != histogram ] || more=$'\nmax_count = 60\nactivity = 0.05'
    cat <<END
[run]
sweeps = 200
walkers = 2
seed = 1
[box]
shape = rectangle
dimension = 3
lx = 7.2
ly = 7.6
lz = 8
[species a]
count = $each$more
charge = 1
[species b]
count = $each$more
charge = -1
diameter = 0.8
[$1 x]
plugin = $2
END
    [ -z "$3" ] || echo "fault = $3"
    [ "$kind" != histogram ] || printf '[mover insert_a]\nplugin = insert\nspecies = a\n[mover insert_b]\nplugin = insert\nspecies = b\n'
    [ "$1" = potential ] || printf '[potential lennard_jones]\nepsilon = 0.5\nsigma = 0.8\ncutoff = 2.2\n[mover serial]\nstep = 0.3\n'
}

check() { # FAULT SENTENCE; a fault may have several rows, which are tried side by side
    local plugin fault=$1 own=$work/$1.$count section=potential keys=
    case $kind in
        few) plugin=$folder/wrong_total.so ;;
        author_*) plugin=$folder/author_$1.so fault= ;;
        *) plugin=$folder/wrong_$kind.so ;;
    esac
    [[ $kind == *observable || $kind == histogram ]] && section=observable
    case $kind$1 in
        *short_list) ;;
        author_potential*) keys=$'height = 3\ncutoff = 2' ;;
    esac
    input $section "$plugin" "$fault" >"$own.ini"
    [ -z "$keys" ] || echo "$keys" >>"$own.ini"
    "$plugmc" validate "$plugin" "$own.ini" --quick --device cpu >"$own.out" 2>&1
    local code=$?
    if [ "$2" = none ]; then
        [ $code = 0 ] && ! { [ "$kind" = histogram ] && grep -q '^warning' "$own.out"; } && return
    elif [[ $2 == 'warning: '* ]]; then
        [ $code = 0 ] && grep -A3 '^warning' "$own.out" | grep -qE -- "${2#warning: }" && return
    elif [ $code = 4 ] && grep -A3 '^failed' "$own.out" | grep -qE -- "$2"; then
        return
    fi
    { echo "$kind $1: code $code, and no failed check says '$2':"; cat "$own.out"; } >"$own.failed"
}

count=0
while IFS='|' read -r row sentence; do
    read -r of fault <<<"$row"
    [ "$of" = "$kind" ] || continue
    count=$((count + 1))
    while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n; done
    check "$fault" "${sentence# }" &
done <"$table"
wait
cat "$work"/*.failed 2>/dev/null && exit 1
echo "$count faults of kind $kind"
[ "$count" -gt 0 ]
