#!/bin/bash
# What README.md tells people to type, one command after the other: readme.sh SOURCE. The program is that which is built
# already (PLUGMC) in place of the one that scripts/run.sh would build, and runs are a tenth as long; fresh_debian.sh
# leaves nothing out.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$1/README.md" "$1/sim.ini" "$1/examples" "$folder"
ln -s "$(dirname "$PLUGMC")" "$folder/build"
mkdir "$folder/scripts"
printf '#!/bin/bash\nexec build/plugmc run "$@"\n' >"$folder/scripts/run.sh"
chmod +x "$folder/scripts/run.sh"
sed -i -e 's/^\(sweeps = .*\)0$/\1/' -e 's/^\(equilibrate = .*\)0$/\1/' -e 's/^trials = 4$/trials = 1/' "$folder/sim.ini" \
    "$folder"/examples/{hard-disks-scan,ladder,electron-gas,helium}.ini
sed 's/--from 20000/--from 2000/' "$folder/README.md" >"$folder/page.md"
"$here/follow.sh" "$folder/page.md" "$folder"
