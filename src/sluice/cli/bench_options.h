// What `sluice bench` is asked: its parts, its options and which part takes which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/bench/table.h"
#include "sluice/cli/model_input.h"

namespace sluice::cli {

struct BenchOptions {
  std::string what, model;
  std::vector<std::string> data, shapes, changes;
  std::optional<std::int64_t> tokens, repeat, chunks, naive_runs;
  bool layers_only = false;
  double latency = 0, bandwidth = 0;  // microseconds, GB/s; 0: not given
  NonFiniteOption weights;

  int repetitions() const { return static_cast<int>(repeat.value_or(5)); }

  // Usage error for a --shape that is none.
  std::vector<bench::CaseShape> case_shapes() const;
};

void declare(Options& options, BenchOptions& target);

// Usage error for what the part does not take, and for what it lacks.
void check(const BenchOptions& options, const CommonOptions& common);

}  // namespace sluice::cli
