// The version of these headers, for C and C++. CMake reads it here, so that it is written in one place;
// build_info() and sluice_version() tell the version of the library that was linked.
#pragma once

#define SLUICE_VERSION_MAJOR 0
#define SLUICE_VERSION_MINOR 1
#define SLUICE_VERSION_PATCH 0

// 102 for 0.1.2: to compare, #if SLUICE_VERSION_NUMBER >= 102
#define SLUICE_VERSION_NUMBER \
  (SLUICE_VERSION_MAJOR * 10000 + SLUICE_VERSION_MINOR * 100 + SLUICE_VERSION_PATCH)
