# Sourced by the scripts here: sets `here`, this folder, and `plugmc`, the program, and enters a folder
# of its own, which is gone afterwards.
#
# The program is $PLUGMC; without it that of the build or the installation that this folder is in, of
# build/ beside this folder, or of the path.
here=$(cd "$(dirname "$0")" && pwd)
above=$(dirname "$here") # in a build this folder is a link: ".." would lead to the sources
if [ -n "${PLUGMC:-}" ]; then
    plugmc=$(command -v "$PLUGMC") || {
        echo "$(basename "$0"): PLUGMC=$PLUGMC is no program" >&2
        exit 2
    }
else
    plugmc=
    for place in "$above/plugmc" "$above/build/plugmc" "${above%/share/plugmc}/bin/plugmc"; do
        if [ -z "$plugmc" ] && [ -f "$place" ] && [ -x "$place" ]; then plugmc=$place; fi
    done
    [ -n "$plugmc" ] || plugmc=$(command -v plugmc) || {
        echo "$(basename "$0"): there is no plugmc: say where it is with PLUGMC=" >&2
        exit 2
    }
fi
plugmc=$(cd "$(dirname "$plugmc")" && pwd)/$(basename "$plugmc")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
