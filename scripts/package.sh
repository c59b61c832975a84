#!/bin/bash
# A package for the Debian or Ubuntu that this runs on: prints the name of plugmc_VERSION_ARCHITECTURE.deb, to be installed
# by apt install ./NAME. scripts/package.sh [FOLDER]: put there; else into build/package.
set -eu -o pipefail
. "$(dirname "$0")/common.sh"
begin
install_packages "${build_packages[@]}" dpkg-dev file
folder=$(readlink -f "${1:-$build/package}")
mkdir -p "$folder" "$build/package"
logged package-configure cmake -S "$root" -B "$build/package/tree" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF
logged package-build cmake --build "$build/package/tree" --parallel "$(nproc)"
rm -f "$build/package/tree"/*.deb
(cd "$build/package/tree" && logged package cpack -G DEB)
mv "$build/package/tree"/*.deb "$folder"
find "$folder" -maxdepth 1 -name "plugmc_*.deb" -newer "$build/package/tree/CPackConfig.cmake" -print
