#!/bin/bash
# The documentation as a site, with search: build/site/tutorial.html. scripts/docs.sh [FOLDER]: elsewhere.
set -eu -o pipefail
cd "$(dirname "$0")/.."
. scripts/common.sh
mkdir -p build/log
command -v mkdocs >/dev/null || install_packages mkdocs
mkdocs build --quiet --strict --site-dir "${1:-build/site}"
