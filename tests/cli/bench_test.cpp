// sluice bench as a black box, on shapes so small that the rates mean nothing: what counts is what is
// printed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::string kModel = std::string(SLUICE_GOLDENS) + "/tiny_gate_elementwise";

std::string printed(Words arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--repeat", "1", "--threads", "1", "--quiet"});
  const ProgramRun run = run_sluice(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

Json json(Words arguments) {
  arguments.emplace_back("--json");
  return Json::parse(printed(arguments), nullptr, false);
}

Words keys(const Json& object) {
  Words names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

Words column(const Json& table, const char* name) {
  Words values;
  for (const Json& row : table.at("rows")) values.push_back(row.at(name));
  return values;
}

TEST(BenchTable, has_a_rate_and_a_share_of_a_peak_in_every_row) {
  for (const Words& arguments : std::vector<Words>{{"gemm", "--shape", "33x20x17"},
                                                   {"attention", "--shape", "2x70x6"},
                                                   {"ops", "--shape", "32x6x11"}}) {
    SCOPED_TRACE(arguments.front());
    const Json table = json(arguments);
    ASSERT_TRUE(table.is_object());
    EXPECT_EQ(keys(table), (Words{"what", "dtype", "isa", "threads", "repetitions", "counted", "rows"}));
    EXPECT_EQ(table["what"], arguments.front());
    EXPECT_EQ(table["threads"], 1);
    EXPECT_EQ(table["repetitions"], 1);
    for (const Json& row : table["rows"]) {
      EXPECT_EQ(keys(row), (Words{"name", "shape", "compute", "ms", "rate", "unit", "share", "share_of",
                                  "peak", "openblas_f32_gflops", "ratio"}));
      for (const char* figure : {"ms", "rate", "share", "peak"}) EXPECT_GT(row[figure], 0.0) << row;
    }
  }
}

TEST(BenchGemm, measures_the_forward_product_and_both_gradients_of_every_shape) {
  const Json table = json({"gemm", "--shape", "33x20x17", "--shape", "8x9x10"});
  EXPECT_EQ(column(table, "name"), (Words{"forward", "input gradient", "weight gradient", "forward",
                                          "input gradient", "weight gradient"}));
  EXPECT_EQ(column(table, "shape"),
            (Words{"33x20x17", "33x20x17", "33x20x17", "8x9x10", "8x9x10", "8x9x10"}));
  for (const Json& row : table["rows"]) {
    EXPECT_GT(row["openblas_f32_gflops"], 0.0) << row;
    EXPECT_GT(row["ratio"], 0.0) << row;
  }
}

TEST(BenchGemm, compares_bf16_with_tiles_where_there_are_any_and_f32_never) {
  const Json half = json({"gemm", "--shape", "8x8x8"});
  EXPECT_EQ(half["dtype"], "bf16");
  const std::string best = half["isa"] == "amx" ? "amx_bf16_gflops" : "f32_gflops";
  EXPECT_EQ(column(half, "share_of"), Words(3, best));
  const Json whole = json({"gemm", "--shape", "8x8x8", "--dtype", "f32"});
  EXPECT_EQ(whole["dtype"], "f32");
  EXPECT_EQ(column(whole, "share_of"), Words(3, "f32_gflops"));
}

TEST(BenchAttention, measures_both_passes_beside_openblas) {
  const Json table = json({"attention", "--shape", "2x70x6"});
  EXPECT_EQ(column(table, "name"), (Words{"forward", "backward"}));
  for (const Json& row : table["rows"]) EXPECT_GT(row["openblas_f32_gflops"], 0.0) << row;
}

// Rounding pays on tiles only; the scalar twin rounds to define it.
TEST(BenchAttention, says_what_it_computed_in) {
  const Json asked = json({"attention", "--shape", "1x9x6", "--dtype", "bf16"});
  EXPECT_EQ(asked["dtype"], "bf16");
  const bool rounds = asked["isa"] == "amx" || asked["isa"] == "scalar";
  EXPECT_EQ(column(asked, "compute"), Words(2, rounds ? "bf16" : "f32"));
  const Json whole = json({"attention", "--shape", "1x9x6", "--dtype", "f32"});
  EXPECT_EQ(column(whole, "compute"), Words(2, "f32"));
}

TEST(BenchOps, compares_with_memory_except_for_the_loss) {
  const Json table = json({"ops", "--shape", "32x6x11"});
  ASSERT_FALSE(table["rows"].empty());
  for (const Json& row : table["rows"]) {
    const bool is_loss = std::string(row["name"]).starts_with("linear_cross_entropy");
    EXPECT_EQ(row["unit"], is_loss ? "GFLOP/s" : "GB/s") << row;
    EXPECT_EQ(row["share_of"] == "read_gb_per_s", !is_loss) << row;
    EXPECT_EQ(row["ratio"].is_null(), !is_loss) << row;
  }
}

TEST(BenchTable, prints_a_line_for_each_row_with_the_peak_below) {
  const std::string text = printed({"gemm", "--shape", "33x20x17"});
  for (const char* part : {"share", "OpenBLAS", "forward", "input gradient", "weight gradient", "33x20x17",
                           "GFLOP/s", "Medians of 1 on 1 thread"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
}

TEST(BenchModel, measures_prefill_against_arithmetic_and_decode_against_memory) {
  const Json prefill = json({"prefill", kModel, "--tokens", "8"});
  EXPECT_EQ(prefill["tokens"], 8);
  EXPECT_EQ(prefill["unit"], "GFLOP/s");
  const Json decode = json({"decode", kModel, "--tokens", "4"});
  EXPECT_EQ(decode["tokens"], 3) << "the first comes out of the prompt";
  EXPECT_EQ(decode["share_of"], "read_gb_per_s");
  for (const Json& report : {prefill, decode}) {
    for (const char* figure :
         {"tokens_per_s", "rate", "share", "peak", "weight_bytes", "peak_resident_bytes"})
      EXPECT_GT(report.at(figure), 0.0) << figure;
  }
}

}  // namespace
}  // namespace sluice::test
