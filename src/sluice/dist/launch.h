// Who started this process, and how many of it: what mpirun and srun say in the environment. MPI itself is
// asked only if they say that there are several.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace sluice {

struct Launch {
  int rank = 0, size = 1;
  int local_size = 1;    // of them on this host
  std::string by = {};   // "mpirun", "srun"; empty: nobody, there is one process
  std::string job = {};  // the same for all of them and for nobody else, as far as launchers tell
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

// Open MPI's and MPICH's mpirun and Slurm's srun are known. A batch script of Slurm has several tasks to give
// away, but is one process itself.
Launch launch_of(const Environment& environment);

// By the environment of this process.
Launch launch_of_process();

// What a process may use if it shares its host's `cores` with the others: where the launcher has bound it to
// fewer, those that are `usable`.
int threads_per_process(const Launch& launch, int usable, int cores);

}  // namespace sluice
