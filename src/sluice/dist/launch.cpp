#include "sluice/dist/launch.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace sluice {
namespace {

struct Launcher {
  const char* name;
  const char* size;
  const char* rank;
  const char* local_size;
};

// In this order: inside a job of Slurm mpirun has the last word.
constexpr Launcher kLaunchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"mpirun", "PMI_SIZE", "PMI_RANK", "MPI_LOCALNRANKS"},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_TASKS_PER_NODE"}};

// Leading digits, as in Slurm's "4(x2)"; none if there are none.
std::optional<int> number_in(const std::optional<std::string>& text) {
  if (!text) return {};
  int value = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (problem != std::errc() || value < 0) return {};
  return value;
}

// Empty if the launcher gives its jobs no names.
std::string job_of(const Environment& environment) {
  std::string job;
  bool is_named = false;
  for (const char* name : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    const std::optional<std::string> value = environment(name);
    is_named = is_named || value;
    job += value.value_or("") + ".";
  }
  return is_named ? job : "";
}

}  // namespace

Launch launch_of(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int> size = number_in(environment(launcher.size));
    const std::optional<int> rank = number_in(environment(launcher.rank));
    if (!size || !rank || *size < 2 || *rank >= *size) continue;
    const int local = number_in(environment(launcher.local_size)).value_or(1);
    return {.rank = *rank,
            .size = *size,
            .local_size = std::clamp(local, 1, *size),
            .by = launcher.name,
            .job = job_of(environment)};
  }
  return {};
}

Launch launch_of_process() {
  return launch_of([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  });
}

int threads_per_process(const Launch& launch, int usable, int cores) {
  return std::max(1, std::min(usable, cores / launch.local_size));
}

}  // namespace sluice
