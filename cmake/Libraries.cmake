# Libraries of the core, each with walls:
#
#   plugmc_library(NAME USES LIBRARY... [LIBRARIES ...] [DEFINITIONS ...])
#       lib/NAME/*.c, whose public headers are lib/NAME/include/NAME/*.h. It sees the plugin interface, its
#       own headers, and the public ones of the libraries that it uses, and no others: a wrong include does
#       not compile. tests/tree/walls.py holds the README of each library against these lines.
#
# LIBRARIES are of others: HDF5, inih.
add_library(plugmc_interface INTERFACE)
target_include_directories(plugmc_interface INTERFACE ${PLUGMC_INCLUDE_DIR})

function(plugmc_library name)
  cmake_parse_arguments(arg "" "" "USES;LIBRARIES;DEFINITIONS" ${ARGN})
  set(folder ${PROJECT_SOURCE_DIR}/lib/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
  add_library(plugmc_${name} STATIC ${sources})
  set_target_properties(plugmc_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON) # libplugmc.so has it, too
  target_include_directories(plugmc_${name} PUBLIC ${folder}/include PRIVATE ${folder})
  target_compile_definitions(plugmc_${name} PRIVATE _GNU_SOURCE PLUGMC_VERSION="${PROJECT_VERSION}"
                             ${arg_DEFINITIONS})
  target_compile_options(plugmc_${name} PRIVATE -Wall -Wextra ${PLUGMC_COMPILE_OPTIONS})
  list(TRANSFORM arg_USES PREPEND plugmc_)
  target_link_libraries(plugmc_${name} PUBLIC plugmc_interface ${arg_USES} ${arg_LIBRARIES}
                        OpenMP::OpenMP_C m dl)
endfunction()
