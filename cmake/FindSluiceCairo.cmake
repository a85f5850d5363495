# Finds Cairo, which comes without a CMake configuration.
find_library(SLUICE_CAIRO_LIBRARY NAMES cairo)
find_path(SLUICE_CAIRO_INCLUDE_DIR NAMES cairo.h PATH_SUFFIXES cairo)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SluiceCairo REQUIRED_VARS SLUICE_CAIRO_LIBRARY SLUICE_CAIRO_INCLUDE_DIR)

if(SluiceCairo_FOUND AND NOT TARGET SluiceCairo::cairo)
  add_library(SluiceCairo::cairo UNKNOWN IMPORTED)
  set_target_properties(SluiceCairo::cairo PROPERTIES
    IMPORTED_LOCATION ${SLUICE_CAIRO_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SLUICE_CAIRO_INCLUDE_DIR})
endif()
mark_as_advanced(SLUICE_CAIRO_LIBRARY SLUICE_CAIRO_INCLUDE_DIR)
