# What `cmake --install` puts beside the program and the plugins (which their own folders install):
# everything that a plugin is built from, by CMake or by hand, benchmarks and documentation.
include(CMakePackageConfigHelpers)

install(DIRECTORY core/include/plugmc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(FILES core/units/plugmc_double.c core/units/plugmc_float.c
        DESTINATION ${PLUGMC_DATA_DIR}/units)
install(DIRECTORY share/plugmc/new DESTINATION ${PLUGMC_DATA_DIR})
# Sources of plugmc's own plugins, to read: pages for authors name them.
install(DIRECTORY plugins DESTINATION ${PLUGMC_DATA_DIR}
        FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.cu")
install(FILES tests/validate/movers/partner.c tests/validate/movers/near_insert.c tests/validate/movers/neighbour_swap.c
        DESTINATION ${PLUGMC_DATA_DIR}/examples)
install(DIRECTORY bench/ DESTINATION ${PLUGMC_DATA_DIR}/bench
        FILES_MATCHING PATTERN "*.ini" PATTERN results EXCLUDE)
install(PROGRAMS bench/hmc.sh bench/water_hmc.sh bench/vmc.sh bench/diffusion.sh bench/lcao.sh bench/one_core.sh bench/peers.sh
        DESTINATION ${PLUGMC_DATA_DIR}/bench)
install(DIRECTORY bench/peers DESTINATION ${PLUGMC_DATA_DIR}/bench FILES_MATCHING PATTERN "*.py")
install(FILES bench/common.sh bench/free_electrons.awk bench/gamma_electrons.awk bench/gaussian_orbitals.awk
        DESTINATION ${PLUGMC_DATA_DIR}/bench)
install(FILES docs/man/plugmc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES share/plugmc.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME plugmc)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "*.ipynb" PATTERN man EXCLUDE)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.ini" PATTERN "*.md" PATTERN "*.xyz" PATTERN "*.c" PATTERN "*.f90"
        PATTERN "*.cpp" PATTERN "*.h" PATTERN "CMakeLists.txt")
install(FILES sim.ini DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A folder of plugins that is already there, too, is for its owner alone to write.
install(DIRECTORY DESTINATION ${PLUGMC_PLUGIN_DIR} DIRECTORY_PERMISSIONS ${PLUGMC_FOLDER_MODE})

# find_package(plugmc)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plugmc)
set(to_install ${CMAKE_CURRENT_BINARY_DIR}/installed) # not where find_package looks in a build tree
configure_package_config_file(cmake/plugmcConfig.cmake.in ${to_install}/plugmcConfig.cmake
  INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR PLUGMC_DATA_DIR PLUGMC_PLUGIN_DIR)
write_basic_package_version_file(${to_install}/plugmcConfigVersion.cmake COMPATIBILITY SameMinorVersion)

# The build tree has the places of an installation, as far as plugins are built from them: authors need not install.
function(plugmc_build_tree_package)
  set(CMAKE_INSTALL_INCLUDEDIR include)
  set(CMAKE_INSTALL_BINDIR .)
  set(PLUGMC_DATA_DIR share/plugmc)
  set(PLUGMC_PLUGIN_DIR plugins)
  set(place ${CMAKE_BINARY_DIR}/lib/cmake/plugmc)
  configure_package_config_file(cmake/plugmcConfig.cmake.in ${place}/plugmcConfig.cmake
    INSTALL_PREFIX ${CMAKE_BINARY_DIR} INSTALL_DESTINATION lib/cmake/plugmc
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR PLUGMC_DATA_DIR PLUGMC_PLUGIN_DIR)
  write_basic_package_version_file(${place}/plugmcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  foreach(link IN ITEMS lib/cmake/plugmc/PlugmcPlugins.cmake=cmake/PlugmcPlugins.cmake
          include/plugmc=core/include/plugmc share/plugmc/units=core/units share/plugmc/new=share/plugmc/new)
    string(REPLACE "=" ";" link ${link})
    list(GET link 0 from)
    list(GET link 1 to)
    get_filename_component(folder ${CMAKE_BINARY_DIR}/${from} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${to} ${CMAKE_BINARY_DIR}/${from} SYMBOLIC)
  endforeach()
endfunction()
plugmc_build_tree_package()
install(FILES cmake/PlugmcPlugins.cmake ${to_install}/plugmcConfig.cmake ${to_install}/plugmcConfigVersion.cmake
        DESTINATION ${package_dir})

# pkg-config; the prefix is found from the place of the file, so an installation can be moved
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
list(JOIN PLUGMC_BARE_OPTIONS " " bare_options)
list(JOIN PLUGMC_COMPILE_OPTIONS " " compile_options)
set(static_libraries "")
foreach(library IN LISTS HDF5_C_LIBRARIES) # paths, as HDF5 has several names
  string(APPEND static_libraries " ${library}")
endforeach()
string(APPEND static_libraries " -linih -fopenmp -lm -ldl -lpthread")
configure_file(cmake/plugmc.pc.in plugmc.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/plugmc.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# In the build tree the benchmarks are beside the program.
file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/bench ${CMAKE_BINARY_DIR}/bench SYMBOLIC)
