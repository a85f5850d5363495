# Finds OpenBLAS itself, not whichever BLAS the system's alternatives point at: its thread control is needed.
find_library(SLUICE_OPENBLAS_LIBRARY NAMES openblas)
find_path(SLUICE_OPENBLAS_INCLUDE_DIR NAMES openblas_config.h
  PATH_SUFFIXES openblas ${CMAKE_LIBRARY_ARCHITECTURE} ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread
                ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SluiceOpenBLAS
  REQUIRED_VARS SLUICE_OPENBLAS_LIBRARY SLUICE_OPENBLAS_INCLUDE_DIR)

if(SluiceOpenBLAS_FOUND AND NOT TARGET SluiceOpenBLAS::openblas)
  add_library(SluiceOpenBLAS::openblas UNKNOWN IMPORTED)
  set_target_properties(SluiceOpenBLAS::openblas PROPERTIES
    IMPORTED_LOCATION ${SLUICE_OPENBLAS_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SLUICE_OPENBLAS_INCLUDE_DIR})
endif()
mark_as_advanced(SLUICE_OPENBLAS_LIBRARY SLUICE_OPENBLAS_INCLUDE_DIR)
