# sluice_<variant>: the library once more, instrumented. Built only when a target asks for it.
#   address_sanitized   addresses and undefined behaviour. The unit tests as they are, uninstrumented, are linked with
#                       it, so that they need not be compiled a second time; the preset asan instruments them as well.
#   thread_sanitized    data races. What uses it must be compiled with sluice_thread_sanitized_flags too: where one side
#                       of a lock or an atomic is not seen, the other looks like a race.
set(SLUICE_SANITIZED_VARIANTS address_sanitized thread_sanitized)

# A sanitizer that prints and goes on is a check that cannot fail. Optimising instrumented code takes three times as
# long as running the tests unoptimised.
add_library(sluice_address_sanitized_flags INTERFACE)
target_compile_options(sluice_address_sanitized_flags INTERFACE
  -O0 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_link_options(sluice_address_sanitized_flags INTERFACE -fsanitize=address,undefined)

# Slower than the other by so much that a little optimisation pays.
add_library(sluice_thread_sanitized_flags INTERFACE)
target_compile_options(sluice_thread_sanitized_flags INTERFACE -O1 -fsanitize=thread -fno-omit-frame-pointer)
target_link_options(sluice_thread_sanitized_flags INTERFACE -fsanitize=thread)

function(sluice_add_sanitized_libraries)
  get_target_property(sources sluice SOURCES)
  list(FILTER sources EXCLUDE REGEX TARGET_OBJECTS)
  get_target_property(headers sluice PRECOMPILE_HEADERS)
  get_target_property(libraries sluice LINK_LIBRARIES)
  foreach(variant ${SLUICE_SANITIZED_VARIANTS})
    get_property(objects GLOBAL PROPERTY SLUICE_${variant}_OBJECTS)
    add_library(sluice_${variant} STATIC EXCLUDE_FROM_ALL ${sources} ${objects})
    target_include_directories(sluice_${variant} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_compile_features(sluice_${variant} PUBLIC cxx_std_20)
    target_precompile_headers(sluice_${variant} PRIVATE ${headers})
    sluice_compile_folders_whole(sluice_${variant})
    target_link_libraries(sluice_${variant} PUBLIC ${libraries} sluice_${variant}_flags)
  endforeach()
endfunction()
