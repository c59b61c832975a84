# cmake -DSOURCE=folder -DHEADER=file -P Commit.cmake: writes the commit of the source tree as a C
# header, if it is another one than last time, so that nothing is compiled again needlessly.
# Repositories above the tree (an unpacked archive may lie in one) are not asked.
get_filename_component(above ${SOURCE} DIRECTORY)
set(ENV{GIT_CEILING_DIRECTORIES} ${above})
execute_process(COMMAND git --no-optional-locks -C ${SOURCE} describe --always --dirty
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
set(text "#define PLUGMC_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${HEADER} "${text}")
endif()
