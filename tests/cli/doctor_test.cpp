// What sluice doctor tells of instruction sets, which differ from machine to machine; the rest is in
// tests/commands/doctor.test.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/expect_refusal.h"

namespace sluice::test {
namespace {

using Json = nlohmann::ordered_json;

// Parsing fails if anything but one JSON value is on stdout.
Json doctor(std::vector<std::string> arguments, const RunOptions& options = {}) {
  arguments.insert(arguments.begin(), {"doctor", "--json"});
  const ProgramRun run = run_sluice(arguments, options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(run.out.ends_with("}\n"));
  return Json::parse(run.out);
}

std::vector<std::string> available_sets() {
  return doctor({})["isa"]["available"];
}

bool is_available(const std::string& set) {
  const std::vector<std::string> sets = available_sets();
  return std::ranges::find(sets, set) != sets.end();
}

TEST(Doctor, obeys_the_environment_variable) {
  for (const std::string& set : available_sets()) {
    const Json isa = doctor({}, {.environment = {{"SLUICE_ISA", set}}})["isa"];
    EXPECT_EQ(isa["chosen"], set);
    EXPECT_EQ(isa["reason"], "asked for by SLUICE_ISA");
  }
}

TEST(Doctor, the_option_beats_the_environment_variable) {
  for (const std::string& set : available_sets()) {
    for (const char* elsewhere : {"scalar", "amx", "nonsense"}) {
      const Json isa = doctor({"--isa", set}, {.environment = {{"SLUICE_ISA", elsewhere}}})["isa"];
      EXPECT_EQ(isa["chosen"], set);
      EXPECT_EQ(isa["reason"], "asked for by --isa");
    }
  }
}

TEST(Doctor, refuses_a_set_that_this_machine_lacks) {
  bool all = true;
  for (const std::string set : {"avx2", "avx512", "avx512bf16", "amx"}) {
    if (is_available(set)) continue;
    all = false;
    const std::string part = "instruction set " + set + " is not available here: ";
    EXPECT_REFUSAL(run_sluice({"doctor", "--isa", set}), 2, "--isa: " + part);
    EXPECT_REFUSAL(run_sluice({"doctor"}, {.environment = {{"SLUICE_ISA", set}}}), 2, "SLUICE_ISA: " + part);
    EXPECT_REFUSAL(run_sluice({"doctor", "--isa", set}), 2, "(available: scalar");
  }
  if (all) GTEST_SKIP() << "this machine has every set";
}

void expect_positive(const Json& rate) {
  EXPECT_EQ(rate.size(), 2U);
  EXPECT_GT(rate["one_core"], 0.0);
  EXPECT_GT(rate["all_threads"], 0.0);
}

TEST(Doctor, measures_peaks_and_keeps_its_notes_on_stderr) {
  const ProgramRun run = run_sluice({"doctor", "--measure", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(run.err.starts_with("sluice: measuring peaks")) << run.err;
  const Json report = Json::parse(run.out);
  const Json& measured = report.at("measured");
  EXPECT_EQ(measured["isa"], report["isa"]["chosen"]);
  expect_positive(measured["f32_gflops"]);
  expect_positive(measured["read_gb_per_s"]);
  if (measured["isa"] == "amx" || measured["isa"] == "avx512bf16") {
    expect_positive(measured["bf16_gflops"]);
  } else {
    EXPECT_TRUE(measured["bf16_gflops"].is_null());
  }
}

}  // namespace
}  // namespace sluice::test
