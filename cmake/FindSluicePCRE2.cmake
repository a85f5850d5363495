# Finds PCRE2 for 8-bit code units. Debian's package has no CMake configuration of its own.
find_library(SLUICE_PCRE2_LIBRARY NAMES pcre2-8)
find_path(SLUICE_PCRE2_INCLUDE_DIR NAMES pcre2.h)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SluicePCRE2 REQUIRED_VARS SLUICE_PCRE2_LIBRARY SLUICE_PCRE2_INCLUDE_DIR)

if(SluicePCRE2_FOUND AND NOT TARGET SluicePCRE2::pcre2)
  add_library(SluicePCRE2::pcre2 UNKNOWN IMPORTED)
  set_target_properties(SluicePCRE2::pcre2 PROPERTIES
    IMPORTED_LOCATION ${SLUICE_PCRE2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SLUICE_PCRE2_INCLUDE_DIR})
endif()
mark_as_advanced(SLUICE_PCRE2_LIBRARY SLUICE_PCRE2_INCLUDE_DIR)
