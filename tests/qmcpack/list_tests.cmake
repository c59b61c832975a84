# Prints the tests that one CMakeLists.txt of QMCPACK adds, a line each, tabs between the fields:
#
#     cmake -DSOURCE=CLONE -DFILE=CMakeLists.txt -DQMC_COMPLEX=TRUE -DOUT=lines.txt -P list_tests.cmake
#
# kind, name, folder, prefix, input, processes, threads, whether it is to succeed, and for each series that is looked at
# @SERIES|scalar|value error|... . The file is run by CMake itself, with functions of our own in the place of those that
# add tests, so variables, conditions and lists mean what they mean there.
set(qmcpack_SOURCE_DIR ${SOURCE})
set(HAVE_MPI TRUE)
set(BUILD_AFQMC FALSE)
set(SUCCESS_STATUS_MP TRUE)
set(HAS_NUMPY_PYTHON_MODULE TRUE)
set(HAS_H5PY_PYTHON_MODULE TRUE)
set(BUILD_LMYENGINE_INTERFACE TRUE)

# Programs that check results need Python's modules, which may be missing here.
function(check_python_reqs modules test out)
  set(${out} TRUE PARENT_SCOPE)
endfunction()

function(qmc_run_and_check base folder prefix input processes threads succeeds)
  set(line "RUN\t${base}-r${processes}-t${threads}\t${folder}\t${prefix}\t${input}\t${processes}\t${threads}\t${succeeds}")
  set(is_list FALSE)
  foreach(argument ${ARGN})
    if(is_list)
      foreach(word ${${argument}})
        string(APPEND line "|${word}")
      endforeach()
      set(is_list FALSE)
    elseif(argument MATCHES "^[0-9]+$")
      string(APPEND line "\t@${argument}")
      set(is_list TRUE)
    endif()
  endforeach()
  file(APPEND ${OUT} "${line}\n")
endfunction()

function(qmc_run_and_check_custom_scalar)
  cmake_parse_arguments(
    T "SHOULD_FAIL" "BASE_NAME;BASE_DIR;PREFIX;INPUT_FILE;PROCS;THREADS;SERIES;SCALAR_VALUES;EQUILIBRATION" "" ${ARGN})
  foreach(key PROCS THREADS)
    if(NOT T_${key})
      set(T_${key} 1)
    endif()
  endforeach()
  if(NOT T_SERIES)
    set(T_SERIES 0)
  endif()
  set(line "CUSTOM\t${T_BASE_NAME}-r${T_PROCS}-t${T_THREADS}\t${T_BASE_DIR}\t${T_PREFIX}\t${T_INPUT_FILE}")
  string(APPEND line "\t${T_PROCS}\t${T_THREADS}\tTRUE\t@${T_SERIES}")
  set(values ${${T_SCALAR_VALUES}})
  while(values)
    list(POP_FRONT values name value error)
    string(APPEND line "|${name}|${value} ${error}")
  endwhile()
  file(APPEND ${OUT} "${line}\n")
endfunction()

function(simple_run_and_check base folder input processes threads script)
  string(REPLACE ";" " " words "${ARGN}")
  file(APPEND ${OUT}
       "SIMPLE\t${base}-${processes}-${threads}\t${folder}\t\t${input}\t${processes}\t${threads}\tTRUE\t${script} ${words}\n")
endfunction()

# Those that are no runs with results of their own.
foreach(other run_qmc_app run_qmc_app_no_copy cpu_limit_run coverage_run run_restart_and_check
        add_test_check_file_existence add_test set_property get_test_property set_tests_properties copy_directory
        maybe_symlink copy_directory_maybe_using_symlink add_test_labels)
  cmake_language(EVAL CODE "function(${other})\nendfunction()")
endforeach()
set(CMAKE_MODULE_PATH)
include(${FILE})
