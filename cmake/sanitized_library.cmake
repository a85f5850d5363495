# sluice_sanitized: the library once more, with the address and undefined-behaviour sanitizers. The unit tests are
# linked with it, too, so that they need not be compiled a second time; the preset asan instruments them as well.
function(sluice_add_sanitized_library)
  get_target_property(sources sluice SOURCES)
  list(FILTER sources EXCLUDE REGEX TARGET_OBJECTS)
  get_property(objects GLOBAL PROPERTY SLUICE_SANITIZED_OBJECTS)
  add_library(sluice_sanitized STATIC EXCLUDE_FROM_ALL ${sources} ${objects})
  foreach(property INCLUDE_DIRECTORIES COMPILE_FEATURES LINK_LIBRARIES PRECOMPILE_HEADERS)
    get_target_property(value sluice ${property})
    set_property(TARGET sluice_sanitized PROPERTY ${property} ${value})
  endforeach()
  target_include_directories(sluice_sanitized INTERFACE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(sluice_sanitized PUBLIC fmt::fmt nlohmann_json::nlohmann_json sluice_sanitizers)
endfunction()

# A sanitizer that prints and goes on is a check that cannot fail. Optimising instrumented code takes three times as
# long as running the tests unoptimised.
add_library(sluice_sanitizers INTERFACE)
target_compile_options(sluice_sanitizers INTERFACE
  -O0 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_link_options(sluice_sanitizers INTERFACE -fsanitize=address,undefined)
