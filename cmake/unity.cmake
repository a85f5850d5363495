# A folder as one translation unit: most of the time of a file goes to the templates of JSON, strings and vectors, the
# same ones in every file, so that the whole takes half as long. Names in the unnamed namespaces of a folder must differ
# for it. Who changes files and wants to wait for those alone turns it off: cmake --preset dev -DSLUICE_UNITY=OFF, or TESTS to
# keep it for the tests, whose files are small.
set(SLUICE_UNITY ON CACHE STRING "Compile a folder at once: faster as a whole, slower after a change (ON, OFF, TESTS)")

function(sluice_compile_folders_whole target)
  if(NOT SLUICE_UNITY OR (SLUICE_UNITY STREQUAL "TESTS" AND NOT target MATCHES "test"))
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  # pattern.cpp has a macro and handles of a C library for itself; amx/ is for one instruction set; in the tests of ops/
  # and kernels/ each file has its own sizes, named like those of the others.
  list(FILTER sources EXCLUDE REGEX "/kernels/amx/|/text/pattern\\.cpp$|/tests/(ops|kernels)/")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
