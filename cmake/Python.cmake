# The Python module of python/plugmc, where the Python of the prefix looks for it: Debian's packages have one folder for all
# versions of Python 3. It is installed as it is, and needs no Python when plugmc is built.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
  set(python_dir lib/python3/dist-packages)
else()
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND)
    set(python_dir lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages)
  endif()
endif()
set(PLUGMC_PYTHON_DIR "${python_dir}" CACHE STRING "folder of the Python module below the prefix; empty: it is not installed")
if(PLUGMC_PYTHON_DIR)
  install(DIRECTORY python/plugmc DESTINATION ${PLUGMC_PYTHON_DIR} COMPONENT python FILES_MATCHING PATTERN "*.py"
          PATTERN __pycache__ EXCLUDE)
endif()
