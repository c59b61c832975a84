# Building plugins, inside this tree and outside of it (find_package(plugmc)).
#
#   plugmc_add_potential(NAME SOURCE file.c [ALIAS other-name...] [KERNEL file.cu]
#                        [MORE file.c...] [LIBRARIES ...] [TEXTS MACRO=file...])
#       With a pair or a field: compiles the file for double and for float and carries its text for
#       the GPU. The others (total, orbitals alone) are made by plugmc_add_plugin.
#   plugmc_add_plugin(NAME SOURCE file.c [ALIAS other-name...] [KERNEL file.cu] [MORE file.c...]
#                     [LIBRARIES ...] [TEXTS MACRO=file...])
#       A mover, an observable, or a potential without pair and field. MORE: further C files.
#       The .cu text is available as PLUGMC_KERNEL_FILE, further texts by their macros.
#   plugmc_install_plugins(NAME...)
#       Installs plugins, with their aliases, where plugmc looks for them.
#
# PLUGMC_INCLUDE_DIR, PLUGMC_UNIT_DIR and PLUGMC_PLUGIN_DIR are set by the tree or the installed
# package.

# Sums may not be contracted or reordered (a chain is the same on every machine), but need not set
# errno or trap, without which GCC does not vectorise loops over sqrtf and comparisons.
set(PLUGMC_COMPILE_OPTIONS -O3 -fvisibility=hidden -ffp-contract=off -fno-math-errno
                           -fno-trapping-math)
set(PLUGMC_WARNING_OPTIONS -Wall -Wextra)
# The same for a compiler without CMake: for pkg-config and `plugmc build`.
set(PLUGMC_BARE_OPTIONS -std=gnu17 -fPIC)

function(plugmc_plugin_target name)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ".so" C_STANDARD 17 C_EXTENSIONS ON
                                           POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE ${PLUGMC_INCLUDE_DIR})
  target_compile_options(${name} PRIVATE ${PLUGMC_COMPILE_OPTIONS} ${PLUGMC_WARNING_OPTIONS})
  target_link_libraries(${name} PRIVATE m)
  # A file that others may write to is refused when it is loaded.
  add_custom_command(TARGET ${name} POST_BUILD COMMAND chmod go-w $<TARGET_FILE:${name}> VERBATIM)
endfunction()

# The text of a .cu file, which one of the C files embeds.
function(plugmc_plugin_kernel name kernel)
  if(kernel)
    get_filename_component(kernel ${kernel} ABSOLUTE)
    target_compile_definitions(${name} PRIVATE PLUGMC_KERNEL_FILE="${kernel}")
    set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS ${kernel})
  endif()
endfunction()

# Further texts, MACRO=file each, which the C files that follow embed.
function(plugmc_plugin_texts name texts)
  foreach(text IN LISTS texts)
    string(REPLACE "=" ";" text "${text}")
    list(GET text 0 macro)
    list(GET text 1 file)
    get_filename_component(file ${file} ABSOLUTE)
    target_compile_definitions(${name} PRIVATE ${macro}="${file}")
    set_property(SOURCE ${ARGN} APPEND PROPERTY OBJECT_DEPENDS ${file})
  endforeach()
endfunction()

# Other names under which the program finds the plugin.
function(plugmc_plugin_aliases name)
  set_target_properties(${name} PROPERTIES PLUGMC_ALIASES "${ARGN}")
  foreach(alias IN LISTS ARGN)
    add_custom_command(TARGET ${name} POST_BUILD
                       COMMAND ${CMAKE_COMMAND} -E create_symlink ${name}.so
                               $<TARGET_FILE_DIR:${name}>/${alias}.so VERBATIM)
  endforeach()
endfunction()

function(plugmc_add_potential name)
  cmake_parse_arguments(arg "" "SOURCE;KERNEL" "ALIAS;MORE;LIBRARIES;TEXTS" ${ARGN})
  get_filename_component(source ${arg_SOURCE} ABSOLUTE)
  set(units ${PLUGMC_UNIT_DIR}/plugmc_double.c ${PLUGMC_UNIT_DIR}/plugmc_float.c)
  add_library(${name} MODULE ${units} ${arg_MORE})
  plugmc_plugin_target(${name})
  target_compile_definitions(${name} PRIVATE PLUGMC_SOURCE="${source}")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  plugmc_plugin_kernel(${name} "${arg_KERNEL}" ${source} ${units} ${arg_MORE})
  plugmc_plugin_texts(${name} "${arg_TEXTS}" ${source} ${units} ${arg_MORE})
  plugmc_plugin_aliases(${name} ${arg_ALIAS})
endfunction()

function(plugmc_add_plugin name)
  cmake_parse_arguments(arg "" "SOURCE;KERNEL" "ALIAS;MORE;LIBRARIES;TEXTS" ${ARGN})
  add_library(${name} MODULE ${arg_SOURCE} ${arg_MORE})
  plugmc_plugin_target(${name})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  plugmc_plugin_kernel(${name} "${arg_KERNEL}" ${arg_SOURCE} ${arg_MORE})
  plugmc_plugin_texts(${name} "${arg_TEXTS}" ${arg_SOURCE} ${arg_MORE})
  plugmc_plugin_aliases(${name} ${arg_ALIAS})
endfunction()

function(plugmc_install_plugins)
  foreach(name IN LISTS ARGN)
    install(TARGETS ${name} LIBRARY DESTINATION ${PLUGMC_PLUGIN_DIR}
            PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                        WORLD_EXECUTE)
    get_target_property(aliases ${name} PLUGMC_ALIASES)
    if(aliases)
      foreach(alias IN LISTS aliases)
        install(FILES $<TARGET_FILE_DIR:${name}>/${alias}.so DESTINATION ${PLUGMC_PLUGIN_DIR})
      endforeach()
    endif()
  endforeach()
endfunction()
