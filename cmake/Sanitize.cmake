# -DPLUGMC_SANITIZE=address | undefined | address,undefined | thread: the program, its plugins and
# its tests with the sanitizers of the compiler. What they find ends the program. thread is for
# clang: GCC's OpenMP library does not tell the sanitizer where threads wait for each other, so
# every barrier of it would look like a race; clang's does (libarcher).
# -DPLUGMC_FUZZ=ON besides (clang): only the program and the fuzzing programs are made, for libFuzzer.
option(PLUGMC_FUZZ "build the fuzzing programs of tests/fuzz for libFuzzer" OFF)
set(PLUGMC_SANITIZE "" CACHE STRING "address, undefined, address,undefined or thread")
if(NOT PLUGMC_SANITIZE)
  return()
endif()
if(NOT PLUGMC_SANITIZE MATCHES "^(address|undefined|address,undefined|thread)$")
  message(FATAL_ERROR "PLUGMC_SANITIZE is '${PLUGMC_SANITIZE}': it may be address, undefined, "
                      "address,undefined or thread")
endif()
if(PLUGMC_SANITIZE STREQUAL "thread" AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "PLUGMC_SANITIZE=thread needs clang (-DCMAKE_C_COMPILER=clang): GCC's "
                      "OpenMP library makes the sanitizer report races where there are none")
endif()

list(TRANSFORM PLUGMC_COMPILE_OPTIONS REPLACE "^-O3$" "-O1") # or compiling takes an hour
set(CMAKE_C_FLAGS_RELEASE "-O1 -g")
set(sanitize -fsanitize=${PLUGMC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
if(PLUGMC_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
add_compile_options(${sanitize})
add_link_options(${sanitize})
# The choice among several versions of a function is made while the program is loaded, before a
# sanitizer is ready for calls.
add_compile_definitions(PLUGMC_ONE_TARGET PLUGMC_SANITIZED)
