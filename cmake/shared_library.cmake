# sluice::sluice, the shared library: the objects of the static one, linked once more.
#
# What it exports is what its headers declare, and those are all in namespace sluice or begin with sluice_. A list of
# names for the linker (exported_symbols.map) says so in one place. Marking every class and function in the headers would
# say the same hundreds of times, and whoever forgot one would hear of it from a user.
get_target_property(sources sluice SOURCES)
list(FILTER sources INCLUDE REGEX TARGET_OBJECTS)  # of the instruction sets
add_library(sluice_shared SHARED $<TARGET_OBJECTS:sluice> ${sources})
add_library(sluice::sluice ALIAS sluice_shared)

set(symbols ${CMAKE_CURRENT_LIST_DIR}/exported_symbols.map)
target_include_directories(sluice_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(sluice_shared INTERFACE cxx_std_20)
get_target_property(libraries sluice LINK_LIBRARIES)
target_link_libraries(sluice_shared PRIVATE ${libraries} INTERFACE fmt::fmt nlohmann_json::nlohmann_json)
target_link_options(sluice_shared PRIVATE
  -Wl,--version-script=${symbols}
  # Calls inside the library stay inside: nobody is to replace a part of it.
  -Wl,-Bsymbolic-functions)
# A sanitizer or a fuzzer is linked by the program alone.
if(NOT SLUICE_SANITIZE AND NOT SLUICE_FUZZ)
  target_link_options(sluice_shared PRIVATE -Wl,--no-undefined)
endif()
# Before 1.0 every minor version may change the interface, so it is part of the name that programs ask for.
set_target_properties(sluice_shared PROPERTIES
  OUTPUT_NAME sluice
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${symbols}
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
