// Benchmarks of many small cases. Each is a row: its rate, the peak that bounds it, and the rate of OpenBLAS
// on the same products.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/bench/measure.h"

namespace sluice::bench {

// Three sizes; what they are is for the benchmark to say.
struct CaseShape {
  int64_t a = 0, b = 0, c = 0;

  std::string text() const;  // "4096x512x512"
};

// None unless the text is three sizes from 1 to 2^20 whose product is at most 2^50.
std::optional<CaseShape> parse_case_shape(std::string_view text);

struct TableRequest {
  Precision precision = Precision::Bf16;  // of products
  std::vector<CaseShape> shapes = {};     // none: the usual ones
  int repetitions = 5;
};

struct Row {
  std::string name, shape;
  Precision compute = Precision::F32;  // what the operands of products really are
  Measured measured;
  std::optional<double> openblas = {};  // operations per second

  double openblas_ratio() const { return measured.rate() / *openblas; }
};

struct Table {
  std::string what;
  Precision precision = Precision::Bf16;
  Isa isa = Isa::Scalar;
  int threads = 0;
  int repetitions = 0;
  std::string counted = {};  // what the rates count, for a person
  std::vector<Row> rows = {};
};

// Products of a linear layer: the forward one and both gradients. Shapes are M x N x K.
Table measure_gemm(Engine& engine, const TableRequest& request, const JobControl& control = {});

// Causal attention, forward and backward. Shapes are heads x tokens x head size.
Table measure_attention(Engine& engine, const TableRequest& request, const JobControl& control = {});

// The ops between the products. Shapes are tokens x hidden x vocabulary; the hidden size must be even.
Table measure_ops(Engine& engine, const TableRequest& request, const JobControl& control = {});

nlohmann::ordered_json to_json(const Table& table);
std::string to_text(const Table& table);

}  // namespace sluice::bench
