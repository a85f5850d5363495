// A model directory with random weights: what training starts from, and what speed is measured on.
#pragma once

#include <filesystem>

#include "sluice/base/job_control.h"
#include "sluice/base/threads.h"
#include "sluice/io/stored_type.h"
#include "sluice/model/config.h"
#include "sluice/model/written_model.h"

namespace sluice {

struct RandomModel {
  ModelConfig config;
  uint64_t seed = 0;
  StoredType dtype = StoredType::F32;  // of matrices; norms and biases stay F32
};

// Writes `out`, which must not exist yet. One tensor is in memory at a time.
WrittenModel write_random_model(const RandomModel& model, const Threads& threads,
                                const std::filesystem::path& out, const JobControl& control = {});

}  // namespace sluice
