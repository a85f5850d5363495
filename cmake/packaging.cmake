# What `cmake --install` lays down, and the package that find_package(sluice) finds.
include(CMakePackageConfigHelpers)
set(SLUICE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)

# Two export sets: who links the shared library need not have what the static one is linked with.
install(TARGETS sluice_shared EXPORT sluiceTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sluice EXPORT sluiceStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_target_properties(sluice_shared PROPERTIES EXPORT_NAME sluice)
set_target_properties(sluice PROPERTIES EXPORT_NAME static)
install(TARGETS sluice_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# Not for other projects: the commands, MPI, which only the program is linked with, and headers that only compile
# with one instruction set's flags.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h"
  REGEX "/src/sluice/cli$" EXCLUDE
  REGEX "/src/sluice/dist/mpi$" EXCLUDE
  REGEX "/src/sluice/kernels/(simd|amx|avx512bf16)$" EXCLUDE)

install(FILES ${PROJECT_BINARY_DIR}/share/man/man1/sluice.1
  DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/share/bash-completion/completions/sluice
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

get_property(SLUICE_UNPACKERS GLOBAL PROPERTY SLUICE_UNPACKERS)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sluiceConfig.cmake.in
  ${PROJECT_BINARY_DIR}/sluiceConfig.cmake INSTALL_DESTINATION ${SLUICE_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/sluiceConfig.cmake
  ${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindSluiceOpenBLAS.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindSluicePCRE2.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindSluiceUtf8proc.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindSluiceCairo.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindSluiceUnpackers.cmake
  DESTINATION ${SLUICE_PACKAGE_DIR})
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${SLUICE_PACKAGE_DIR})
install(EXPORT sluiceStaticTargets NAMESPACE sluice:: DESTINATION ${SLUICE_PACKAGE_DIR})

# The prefix of an installation may be chosen when it is installed, so the file finds it from its own place.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
set(pc_unpackers ${SLUICE_UNPACKERS})
list(TRANSFORM pc_unpackers REPLACE "^bzip2$" bz2)
list(TRANSFORM pc_unpackers PREPEND " -l")
list(JOIN pc_unpackers "" pc_unpackers)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sluice.pc.in ${PROJECT_BINARY_DIR}/sluice.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sluice.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# `cpack` in the build directory makes a package for Debian and its relatives.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_CONTACT "The Sluice authors <sluice@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# From the libraries that the program and the shared library are linked with.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Programs that use the library include these; whoever only runs sluice does not need them.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, libfmt-dev, nlohmann-json3-dev")
include(CPack)
