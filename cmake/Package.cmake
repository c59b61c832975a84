# cpack -G DEB: program, plugins, headers, documentation in one package, for the system that it is built on, whose
# HDF5 it needs. scripts/package.sh calls it.
set(CPACK_PACKAGE_NAME plugmc)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION}${PLUGMC_REVISION})
set(CPACK_PACKAGE_CONTACT "plugmc authors <plugmc@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "plugin-based Monte Carlo of many particles, on GPUs and CPUs")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Plugins open nothing of each other, and the driver and compiler of the GPU are opened where they are needed.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nvidia-driver, cmake, gcc, python3-h5py, python3-pandas, python3-gsd")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Samples probability densities of many particles by Markov chains: hard and soft
particles, electrolytes, electrons. A run is an INI file that names plugins:
potentials, moves and observables. A potential of one's own is one C file, which
is compiled for the CPU and fused into kernels for the GPU.")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${PLUGMC_FOLDER_MODE})
include(CPack)
