// A model's speed: reading a prompt (prefill) and generating (decode). No tokenizer is needed.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/bench/token_rate.h"
#include "sluice/model/checkpoint.h"

namespace sluice::bench {

struct ModelRequest {
  std::filesystem::path model;
  DType dtype = DType::F32;  // of its matrices: F32, BF16 or I8
  int64_t tokens = 0;        // 0: the usual number
  int repetitions = 5;
  NonFinite nonfinite = NonFinite::Refused;  // weights
};

struct ModelSpeed {
  std::string what;
  std::filesystem::path model;
  DType dtype = DType::F32;
  Isa isa = Isa::Scalar;
  int64_t weight_bytes = 0;
  TokenRate rate = {};
};

int64_t weight_bytes(const Decoder& decoder);

// Tokens of a prompt, 512 by default, beside the machine's arithmetic.
ModelSpeed measure_prefill(Engine& engine, const ModelRequest& request, const JobControl& control = {});

// New tokens, 32 by default, beside the memory bandwidth. The first comes out of the prompt's pass and is not
// counted, so there must be two.
ModelSpeed measure_decode(Engine& engine, const ModelRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const ModelSpeed& speed);
std::string to_text(const ModelSpeed& speed);

}  // namespace sluice::bench
