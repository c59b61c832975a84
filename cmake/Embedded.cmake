# libplugmc: lib/embed and what it stands on, in one library, shared and static, of the objects that the programs are
# made of. Of its names only those of plugmc/engine.h are seen from outside.
set(objects "")
foreach(library base input statistics formats archive gpu parallel core initial quantum records session embed)
  list(APPEND objects $<TARGET_OBJECTS:plugmc_${library}>)
endforeach()

set(names ${PROJECT_SOURCE_DIR}/lib/embed/names.map)
add_library(plugmc_shared SHARED ${objects})
target_include_directories(plugmc_shared INTERFACE ${PROJECT_SOURCE_DIR}/lib/embed/include)
target_link_libraries(plugmc_shared PRIVATE ${HDF5_C_LIBRARIES} PkgConfig::INIH OpenMP::OpenMP_C m dl)
target_link_options(plugmc_shared PRIVATE -Wl,--version-script=${names} -Wl,-Bsymbolic)
if(NOT PLUGMC_SANITIZE) # whose names are the program's
  target_link_options(plugmc_shared PRIVATE -Wl,--no-undefined)
endif()
set_target_properties(plugmc_shared PROPERTIES OUTPUT_NAME plugmc LINKER_LANGUAGE C LINK_DEPENDS ${names}
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_dependencies(plugmc_shared plugmc) # which tries files for it

# One object, whose hidden names become its own: a host may have a function `save`, too.
set(whole ${CMAKE_CURRENT_BINARY_DIR}/plugmc_whole.o)
add_custom_command(OUTPUT ${whole}
  COMMAND ${CMAKE_LINKER} -r -o ${whole} ${objects}
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
  DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM)
add_library(plugmc_static STATIC ${whole})
target_include_directories(plugmc_static INTERFACE ${PROJECT_SOURCE_DIR}/lib/embed/include)
target_link_libraries(plugmc_static INTERFACE ${HDF5_C_LIBRARIES} PkgConfig::INIH OpenMP::OpenMP_C m dl)
set_target_properties(plugmc_static PROPERTIES OUTPUT_NAME plugmc LINKER_LANGUAGE C
                      ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_dependencies(plugmc_static plugmc)

add_custom_target(plugmc_libraries DEPENDS plugmc_shared plugmc_static)
install(TARGETS plugmc_shared plugmc_static OPTIONAL) # which nobody needs to have built for plugmc itself
install(FILES lib/embed/include/plugmc/engine.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/plugmc)
