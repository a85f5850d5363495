#include "sluice/base/error.h"
#include "sluice/dist/mpi/mpi_ranks.h"

namespace sluice {

std::string mpi_library() {
  return {};
}

std::unique_ptr<Ranks> start_mpi(const Launch& launch, Log&) {
  throw usage_error({.where = launch.by,
                     .what = "this sluice is built without MPI and runs alone",
                     .hint = "docs/cluster.md says how to build it with MPI"});
}

}  // namespace sluice
