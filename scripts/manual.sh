#!/bin/bash
# scripts/manual.sh [--check] [BUILD]: writes docs/ini-reference.md with `plugmc manual`, from the
# plugins that the build folder (build, unless given) would install. --check: only compares, and
# shows the differences.
set -euo pipefail
check=false
[ "${1-}" != --help ] || { sed -n '2,4s/^# \?//p' "$0"; exit; }
[ "${1-}" != --check ] || { check=true; shift; }
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1-$root/build}
reference=$root/docs/ini-reference.md
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log"; exit 1; }
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name plugmc.pc)")
plugins=$(pkg-config --variable=plugindir plugmc)
PLUGMC_PLUGIN_PATH=$plugins "$prefix/bin/plugmc" manual >"$prefix/ini-reference.md"
if $check; then
    diff -u "$reference" "$prefix/ini-reference.md" || {
        echo "docs/ini-reference.md is not what plugmc manual prints: run scripts/manual.sh"
        exit 1
    }
else
    cp "$prefix/ini-reference.md" "$reference"
fi
