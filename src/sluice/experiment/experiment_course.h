// The course of a run: every checkpoint that it kept, measured as its last one is.
#pragma once

#include <filesystem>
#include <vector>

#include "sluice/analysis/look.h"
#include "sluice/base/job_control.h"
#include "sluice/ops/engine.h"

namespace sluice {

// How many of its held-out sequences a run is measured on.
inline constexpr int64_t kMeasuredSequences = 200;

// Of weights in a run's directory, on the text that the run kept out.
Look held_out_look(Engine& engine, const std::filesystem::path& weights, const JobControl& control = {});

// The largest value of each sequence is averaged, so that it does not grow with their number.
double mean_largest_activation(const Look& look);

struct CoursePoint {
  int64_t step = 0, tokens = 0;  // tokens seen by then
  double loss = 0;               // of the held-out sequences, nats per token
  double sink = 0, max_activation = 0;
  double gate_mean = 0;    // of the gate at g1; NaN: none
  double first_value = 0;  // analysis/value_norms.h
};

// By step.
std::vector<CoursePoint> measure_course(Engine& engine, const std::filesystem::path& run,
                                        const JobControl& control = {});

}  // namespace sluice
