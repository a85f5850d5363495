// What this machine offers, and what Sluice makes of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/build_info.h"
#include "sluice/base/system.h"
#include "sluice/bench/peaks.h"

namespace sluice::bench {

struct MachineRequest {
  bool measure = false;  // the peaks, too: takes seconds
  std::string mpi = {};  // the library that the program is built with; empty: none
};

struct Machine {
  BuildInfo build;
  CpuFeatures cpu;
  IsaChoice isa;
  std::vector<Isa> isas;  // that can run here, the fastest last
  std::string blas_core;  // the processor that OpenBLAS has chosen its kernels for
  int threads = 0;
  int cores = 0;  // granted to this process
  SystemMemory memory = {};
  std::vector<std::string> compressions = {};  // of texts that this build can unpack
  std::string mpi = {};                        // as the request has it
  std::optional<Peaks> peaks = {};
};

Machine describe_machine(Engine& engine, const MachineRequest& request = {}, const JobControl& control = {});

nlohmann::ordered_json to_json(const Machine& machine);
std::string to_text(const Machine& machine);

}  // namespace sluice::bench
