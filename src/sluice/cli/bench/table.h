// Benchmarks of many small cases: each becomes a row with its rate, the share of the peak that bounds it, and
// the rate of OpenBLAS on the same products.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/cli/bench/bench.h"
#include "sluice/cli/bench/measure.h"
#include "sluice/kernels/gemm.h"

namespace sluice::cli {

struct BenchCase {
  std::string name, shape;
  Work work;
  // What operands of products really are; by default what was asked for, and f32 if memory is the bound.
  std::optional<Precision> compute = {};
  std::vector<Gemm<float>> openblas = {};  // done one after the other; none: no comparison
};

class BenchTable {
 public:
  // Products are bf16 unless the user asks for f32.
  BenchTable(const BenchRequest& request, const Session& session);

  Context context() { return {.engine = engine_, .precision = precision_}; }
  Bound arithmetic() const { return arithmetic_bound(engine_, precision_); }

  // Runs the case once to bring its memory into being, then measures it.
  void add(const BenchCase& bench_case);

  // `counted` says what the rates count.
  void print(const std::string& counted) const;

 private:
  struct Row {
    std::string name, shape;
    double rate;  // per second
    Bound bound;
    Precision compute;
    Measured measured;
    std::optional<double> openblas;  // operations per second
  };

  Precision compute_of(const BenchCase& bench_case) const;
  std::optional<double> openblas_rate(const std::vector<Gemm<float>>& products) const;
  std::string peaks_text() const;
  std::string text(const std::string& counted) const;
  std::string json(const std::string& counted) const;

  const BenchRequest& request_;
  const Session& session_;
  Engine engine_;
  Precision precision_;
  PeakMeter meter_;
  std::vector<Row> rows_;
};

// Sizes joined by x, as in "4096x512x512".
struct BenchShape {
  int64_t a = 0, b = 0, c = 0;

  std::string text() const;
};

// What --shape gave, or else the defaults. `names` says what the three are, for the error.
std::vector<BenchShape> shapes_of(const BenchRequest& request, const char* names,
                                  const std::vector<BenchShape>& defaults);

// Uniform numbers in [-1, 1).
Tensor random_matrix(const Context& context, int64_t rows, int64_t cols);

}  // namespace sluice::cli
