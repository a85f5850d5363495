// A mixture of experts beside a dense product with as many operations, in turns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/bench/table.h"

namespace sluice::bench {

struct MoeRequest {
  Precision precision = Precision::Bf16;  // of products
  int64_t tokens = 512, hidden = 1024, width = 512;
  int64_t experts = 64, per_token = 8;
  int repetitions = 5;
};

struct MoeSpeed {
  MoeRequest request;
  Isa isa = Isa::Scalar;
  int threads = 0;
  double operations = 0;                       // of the experts' products, as of the dense one
  double moe_seconds = 0;                      // router, sorting, experts and sum; medians
  double dense_seconds = 0;                    // the product alone
  double smallest_load = 0, largest_load = 0;  // tokens of an expert

  double ratio() const { return dense_seconds / moe_seconds; }
};

// Forward passes on random tokens and weights, which stay packed, as in inference. The router is random, so
// loads differ as those of a balanced model do.
MoeSpeed measure_moe(Engine& engine, const MoeRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const MoeSpeed& speed);
std::string to_text(const MoeSpeed& speed);

}  // namespace sluice::bench
