# Finds what unpacks texts beside gzip, each if it is there: SluiceUnpackers::bzip2, ::lzma (xz) and ::zstd. Their own
# CMake configurations differ from system to system, or are missing. It is "found" if all that REQUIRED components name
# are; a build asks for none.
set(SluiceUnpackers_bzip2 bz2 bzlib.h)
set(SluiceUnpackers_lzma lzma lzma.h)
set(SluiceUnpackers_zstd zstd zstd.h)

foreach(name bzip2 lzma zstd)
  list(GET SluiceUnpackers_${name} 0 library)
  list(GET SluiceUnpackers_${name} 1 header)
  find_library(SLUICE_${name}_LIBRARY NAMES ${library})
  find_path(SLUICE_${name}_INCLUDE_DIR NAMES ${header})
  mark_as_advanced(SLUICE_${name}_LIBRARY SLUICE_${name}_INCLUDE_DIR)
  if(SLUICE_${name}_LIBRARY AND SLUICE_${name}_INCLUDE_DIR)
    set(SluiceUnpackers_${name}_FOUND TRUE)
    if(NOT TARGET SluiceUnpackers::${name})
      add_library(SluiceUnpackers::${name} UNKNOWN IMPORTED)
      set_target_properties(SluiceUnpackers::${name} PROPERTIES
        IMPORTED_LOCATION ${SLUICE_${name}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${SLUICE_${name}_INCLUDE_DIR})
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
set(SluiceUnpackers_optional TRUE)
find_package_handle_standard_args(SluiceUnpackers REQUIRED_VARS SluiceUnpackers_optional HANDLE_COMPONENTS)
