#include "sluice/bench/table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/base/expect_error.h"

namespace sluice::bench {
namespace {

using Json = nlohmann::ordered_json;

// Powers of two, so that every printed figure is exact.
Row row_with_openblas() {
  return {.name = "forward",
          .shape = "1x2x3",
          .compute = Precision::Bf16,
          .measured = {.bound = {"f32_gflops", "GFLOP/s", Peak::F32Flops},
                       .amount = 2e9,
                       .seconds = 0.5,
                       .peak = 16e9},
          .openblas = 8e9};
}

Row row_bound_by_memory() {
  return {.name = "rms_norm",
          .shape = "4x4",
          .measured = {.bound = memory_bound(), .amount = 1e9, .seconds = 0.125, .peak = 10e9}};
}

Table table() {
  return {.what = "gemm",
          .precision = Precision::Bf16,
          .isa = Isa::Scalar,
          .threads = 2,
          .repetitions = 3,
          .counted = "Everything.",
          .rows = {row_with_openblas(), row_bound_by_memory()}};
}

TEST(BenchTable, tells_every_row_with_rate_peak_and_share) {
  EXPECT_EQ(to_json(table()), Json::parse(R"({
    "what": "gemm", "dtype": "bf16", "isa": "scalar", "threads": 2, "repetitions": 3, "counted": "Everything.",
    "rows": [
      {"name": "forward", "shape": "1x2x3", "compute": "bf16", "ms": 500.0, "rate": 4.0, "unit": "GFLOP/s",
       "share": 0.25, "share_of": "f32_gflops", "peak": 16.0, "openblas_f32_gflops": 8.0, "ratio": 0.5},
      {"name": "rms_norm", "shape": "4x4", "compute": "f32", "ms": 125.0, "rate": 8.0, "unit": "GB/s",
       "share": 0.8, "share_of": "read_gb_per_s", "peak": 10.0, "openblas_f32_gflops": null, "ratio": null}]})"));
}

TEST(BenchTable, prints_the_share_beside_the_rate_and_peak_that_it_is_made_of) {
  const std::string text = to_text(table());
  EXPECT_NE(text.find("500.000         4       16 GFLOP/s   0.250         8   0.50\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("125.000         8       10 GB/s      0.800\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Everything.\nMedians of 3 on 2 threads, scalar."), std::string::npos) << text;
}

TEST(CaseShapes, are_three_sizes_joined_by_x) {
  EXPECT_EQ(parse_case_shape("4096x512x1").value().text(), "4096x512x1");
  for (const char* text :
       {"", "1x2", "1x2x3x4", "0x1x1", "-1x1x1", "1x2x3 ", "axbxc", "1048577x1x1", "1048576x1048576x1048576"})
    EXPECT_FALSE(parse_case_shape(text)) << text;
}

// On shapes so small that the rates mean nothing.
class MeasuredTable : public testing::Test {
 protected:
  TableRequest request(const CaseShape& shape) { return {.shapes = {shape}, .repetitions = 1}; }

  Engine engine_{EngineOptions{.threads = 1}};
};

TEST_F(MeasuredTable, has_a_share_that_is_rate_over_peak_in_every_row) {
  for (const Table& table :
       {measure_gemm(engine_, request({33, 20, 17})), measure_attention(engine_, request({2, 70, 6})),
        measure_ops(engine_, request({32, 6, 11}))}) {
    ASSERT_FALSE(table.rows.empty());
    for (const Json& row : to_json(table).at("rows")) {
      const double share = row["rate"].get<double>() / row["peak"].get<double>();
      EXPECT_NEAR(row["share"].get<double>(), share, 0.002 * share) << row;
    }
  }
}

TEST_F(MeasuredTable, counts_two_operations_per_multiply_add) {
  for (const Row& row : measure_gemm(engine_, request({33, 20, 17})).rows)
    EXPECT_EQ(row.measured.amount, 2.0 * 33 * 20 * 17) << row.name;
}

TEST_F(MeasuredTable, needs_an_even_hidden_size_for_ops) {
  EXPECT_ERROR(measure_ops(engine_, request({4, 3, 5})), ErrorKind::Usage,
               "bench ops: shape 4x3x5: channels are rotated in pairs: expected an even hidden size, got 3");
}

TEST_F(MeasuredTable, stops_when_told_to) {
  EXPECT_ERROR(measure_gemm(engine_, request({4, 4, 4}), {.cancelled = [] { return true; }}),
               ErrorKind::Interrupted, "interrupted");
}

}  // namespace
}  // namespace sluice::bench
