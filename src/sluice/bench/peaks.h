// The peaks of the machine: what bounds every other rate.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/base/job_control.h"
#include "sluice/kernels/measure.h"
#include "sluice/ops/engine.h"

namespace sluice::bench {

struct Peaks {
  Isa isa = Isa::Scalar;
  int threads = 0;
  MachinePeaks measured = {};
};

// Takes about two seconds.
Peaks measure_peaks(Engine& engine, const JobControl& control = {});

nlohmann::ordered_json to_json(const Peaks& peaks);
std::string to_text(const Peaks& peaks);

}  // namespace sluice::bench
