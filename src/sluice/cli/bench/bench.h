// The parts of `sluice bench`, one file each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/stopwatch.h"
#include "sluice/cli/command.h"

namespace sluice::cli {

struct BenchRequest {
  std::string what, model;
  std::vector<std::string> data, shapes, changes;
  std::optional<int64_t> tokens, repeat;

  int repetitions() const { return static_cast<int>(repeat.value_or(5)); }
};

void bench_attention(const BenchRequest& request, const Session& session);
void bench_decode(const BenchRequest& request, const Session& session);
void bench_gemm(const BenchRequest& request, const Session& session);
void bench_ops(const BenchRequest& request, const Session& session);
void bench_prefill(const BenchRequest& request, const Session& session);
void bench_tokenizer(const BenchRequest& request, const Session& session);
void bench_train(const BenchRequest& request, const Session& session);

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace sluice::cli
