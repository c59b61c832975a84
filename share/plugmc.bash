# Completion for bash: commands, options, files, names of plugins and keys of --set, all as the program itself lists them.

_plugmc_commands() { "$1" --help 2>/dev/null | sed -n 's/^  \([a-z]\+\) .*/\1/p'; }

_plugmc_options() { "$1" "$2" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]+' | sort -u; }

_plugmc_plugins() { "$1" list 2>/dev/null | sed -n 's/^  \([A-Za-z0-9_]\+\) .*/\1/p'; }

_plugmc_keys() { "$1" info "$2" 2>/dev/null | sed -n '/^\[/,$ s/^\([a-z_0-9]\+\) =.*/\1/p'; }

# Sections of the INI file among the words, "SECTION NAME" as in the file, and those that are always there.
_plugmc_sections() {
    local word
    printf '%s\n' run box initial units ladder
    for word in "${COMP_WORDS[@]}"; do
        [[ $word == *.ini && -r $word ]] && sed -n 's/^\[\([^]]*\)\].*/\1/p' "$word"
    done
}

# Names of sections up to the dot, then the keys: of the section itself, and of its plugin, which is its label.
_plugmc_set() {
    local program=$1 current=$2 section key
    if [[ $current != *.* ]]; then
        while read -r section; do
            section=${section%% *}. # the label may be left out
            [[ $section == "$current"* ]] && COMPREPLY+=("$section")
        done < <(_plugmc_sections | sort -u)
        compopt -o nospace
        return
    fi
    section=${current%%.*}
    local names=("$section") label
    while read -r label; do names+=("$label"); done < <(
        _plugmc_sections | sed -n "s/^$section \\([A-Za-z0-9_]*\\)\$/\\1/p")
    while read -r key; do
        [[ $section.$key == "$current"* ]] && COMPREPLY+=("$section.$key=")
    done < <(for label in "${names[@]}"; do _plugmc_keys "$program" "$label"; done | sort -u)
    compopt -o nospace
}

_plugmc() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]:-} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words=$(_plugmc_commands "$program")
    elif [ "$before" = --set ]; then
        _plugmc_set "$program" "$current"
        return
    elif [[ $current == -* ]]; then
        words=$(_plugmc_options "$program" "$command")
    else
        case $command in
            info) words="$(_plugmc_plugins "$program") run box species initial units ladder" ;;
            validate) if [ "$COMP_CWORD" = 2 ]; then words=$(_plugmc_plugins "$program"); fi
                      [ "$before" = --device ] && words="cpu gpu auto"
                      compopt -o filenames
                      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"
                                               compgen -f -X '!*.@(ini|so|json)' -- "$current"; compgen -d -- "$current")
                      return ;;
            list) words="potentials movers observables" ;;
            new) [ "$COMP_CWORD" != 2 ] || words="potential field total mover observable" ;;
            build) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -X '!*.@(c|a|so)' -- "$current"; compgen -d -- "$current"); return ;;
            run | check | scan | bench) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -X '!*.@(ini|h5)' -- "$current"; compgen -d -- "$current"); return ;;
            *) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -X '!*.@(h5|csv)' -- "$current"; compgen -d -- "$current"); return ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

shopt -s extglob
complete -F _plugmc plugmc
