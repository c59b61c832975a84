# PLUGMC_RELEASE, "0.1.0", is that of the last tag, v0.1.0; PLUGMC_REVISION tells commits behind it, "+12.g1a2b3c4", for packages. A
# tree without git, as an unpacked archive, has what is written here; keep it, and that of python/plugmc/common.py, the one
# of the last tag.
set(PLUGMC_RELEASE 0.1.0)
set(PLUGMC_REVISION "")
get_filename_component(above ${CMAKE_CURRENT_SOURCE_DIR} DIRECTORY)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${above} git --no-optional-locks
          describe --tags --long --match "v[0-9]*.[0-9]*.[0-9]*"
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(described MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+)-([0-9]+)-(g[0-9a-f]+)$")
  set(PLUGMC_RELEASE ${CMAKE_MATCH_1})
  if(CMAKE_MATCH_2 GREATER 0)
    set(PLUGMC_REVISION "+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  endif()
endif()
