// What sluice bench tells that depends on the machine or on the row; the rest is in
// tests/commands/bench.test.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.h"

namespace sluice::test {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

Json json(Words arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--repeat", "1", "--threads", "1", "--quiet", "--json"});
  const ProgramRun run = run_sluice(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  return Json::parse(run.out, nullptr, false);
}

Words column(const Json& table, const char* name) {
  Words values;
  for (const Json& row : table.at("rows")) values.push_back(row.at(name));
  return values;
}

TEST(BenchGemm, compares_bf16_with_tiles_where_there_are_any_and_f32_never) {
  const Json half = json({"gemm", "--shape", "8x8x8"});
  EXPECT_EQ(half["dtype"], "bf16");
  const std::string best = half["isa"] == "amx" || half["isa"] == "avx512bf16" ? "bf16_gflops" : "f32_gflops";
  EXPECT_EQ(column(half, "share_of"), Words(3, best));
  const Json whole = json({"gemm", "--shape", "8x8x8", "--dtype", "f32"});
  EXPECT_EQ(whole["dtype"], "f32");
  EXPECT_EQ(column(whole, "share_of"), Words(3, "f32_gflops"));
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

}  // namespace
}  // namespace sluice::test
