# Finds utf8proc, which comes without a CMake configuration on Debian.
find_library(SLUICE_UTF8PROC_LIBRARY NAMES utf8proc)
find_path(SLUICE_UTF8PROC_INCLUDE_DIR NAMES utf8proc.h)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SluiceUtf8proc
  REQUIRED_VARS SLUICE_UTF8PROC_LIBRARY SLUICE_UTF8PROC_INCLUDE_DIR)

if(SluiceUtf8proc_FOUND AND NOT TARGET SluiceUtf8proc::utf8proc)
  add_library(SluiceUtf8proc::utf8proc UNKNOWN IMPORTED)
  set_target_properties(SluiceUtf8proc::utf8proc PROPERTIES
    IMPORTED_LOCATION ${SLUICE_UTF8PROC_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SLUICE_UTF8PROC_INCLUDE_DIR})
endif()
mark_as_advanced(SLUICE_UTF8PROC_LIBRARY SLUICE_UTF8PROC_INCLUDE_DIR)
