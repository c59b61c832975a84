#!/bin/bash
# Does what a page of docs/ says: follow.sh PAGE.md [FOLDER], in an empty folder or in that one.
#
#   <!-- file: NAME -->    the code block behind it is that file
#   ```sh                  a block that is run as it stands
#   <!-- check: COMMAND -->  has to succeed; readers do not see it
#
# PLUGMC is the program, which is called plugmc here, unless the page makes one; PLUGMC_PREFIX (where it is installed, for
# plugins of one's own) may be set. SOURCE is the source tree, for checks.
set -u
export LC_ALL=C OMP_WAIT_POLICY=passive # other tests run beside this one
page=$(readlink -f "$1")
export SOURCE=${page%/docs/*}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/run"
[ -z "${PLUGMC:-}" ] || ln -s "$PLUGMC" "$work/bin/plugmc"
export PATH=$work/bin:$PATH
[ -z "${PLUGMC_PREFIX:-}" ] || export CMAKE_PREFIX_PATH=$PLUGMC_PREFIX
cd "${2:-$work/run}" || exit 1

awk '
    /^<!-- file: .* -->$/ { file = $3; next }
    /^<!-- check: .* -->$/ {
        command = substr($0, 13, length($0) - 16)
        printf "%s\n", command
        checks++
        next
    }
    /^```/ && !block {
        block = $0
        if (file) printf "cat >%s <<\"END_OF_FILE\"\n", file
        next
    }
    /^```$/ {
        if (file) print "END_OF_FILE"
        block = file = ""
        next
    }
    block && (file || block == "```sh") { print }
    END { if (!checks) { print "a page without a check" > "/dev/stderr"; exit 1 } }
' "$page" >"$work/steps.sh" || exit 1
grep -q '^plugmc ' "$work/steps.sh" || { echo "nothing is run in $page"; exit 1; }
bash -exo pipefail "$work/steps.sh" </dev/null
