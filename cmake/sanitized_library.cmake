# sluice_sanitized: the library once more, with the address and undefined-behaviour sanitizers. The unit tests are
# linked with it, too, so that they need not be compiled a second time; the preset asan instruments them as well.
function(sluice_add_sanitized_library)
  get_target_property(sources sluice SOURCES)
  list(FILTER sources EXCLUDE REGEX TARGET_OBJECTS)
  get_property(objects GLOBAL PROPERTY SLUICE_SANITIZED_OBJECTS)
  add_library(sluice_sanitized STATIC EXCLUDE_FROM_ALL ${sources} ${objects})
  target_include_directories(sluice_sanitized PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(sluice_sanitized PUBLIC cxx_std_20)
  get_target_property(headers sluice PRECOMPILE_HEADERS)
  target_precompile_headers(sluice_sanitized PRIVATE ${headers})
  get_target_property(libraries sluice LINK_LIBRARIES)
  target_link_libraries(sluice_sanitized PUBLIC ${libraries} sluice_sanitizers)
endfunction()

# A sanitizer that prints and goes on is a check that cannot fail. Optimising instrumented code takes three times as
# long as running the tests unoptimised.
add_library(sluice_sanitizers INTERFACE)
target_compile_options(sluice_sanitizers INTERFACE
  -O0 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_link_options(sluice_sanitizers INTERFACE -fsanitize=address,undefined)
