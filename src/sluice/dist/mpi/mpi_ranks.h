// Ranks by MPI. Only the program is linked with it: the library, static or shared, never needs MPI. A build
// without MPI has missing_mpi.cpp in its place.
#pragma once

#include <memory>
#include <string>

#include "sluice/base/log.h"
#include "sluice/dist/launch.h"
#include "sluice/dist/ranks.h"

namespace sluice {

// "Open MPI v4.1.4"; empty if this build has none.
std::string mpi_library();

// Joins the processes that the launcher has started. A usage error if this build has no MPI, or if MPI sees
// another number of them than the launcher has started. The log is for the line that is told when a rank is
// lost.
std::unique_ptr<Ranks> start_mpi(const Launch& launch, Log& log);

}  // namespace sluice
