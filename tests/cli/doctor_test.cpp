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

// "isa.chosen" and so on, in order.
std::vector<std::string> keys(const Json& json, const std::string& prefix = "") {
  std::vector<std::string> all;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_object()) all.push_back(prefix + key);
    for (const std::string& inner :
         value.is_object() ? keys(value, prefix + key + ".") : std::vector<std::string>()) {
      all.push_back(inner);
    }
  }
  return all;
}

std::vector<std::string> available_sets() {
  return doctor({})["isa"]["available"];
}

bool is_available(const std::string& set) {
  const std::vector<std::string> sets = available_sets();
  return std::ranges::find(sets, set) != sets.end();
}

TEST(Doctor, prints_one_json_object_with_known_keys) {
  EXPECT_EQ(keys(doctor({})),
            (std::vector<std::string>{"version", "build.type", "build.compiler", "cpu.name", "cpu.features",
                                      "isa.chosen", "isa.reason", "isa.available", "amx.usable", "amx.status",
                                      "blas.library", "blas.core", "threads.used", "threads.cores",
                                      "memory.total_bytes", "memory.available_bytes"}));
}

TEST(Doctor, says_nothing_on_stderr_when_all_is_quick) {
  EXPECT_EQ(run_sluice({"doctor", "--json"}).err, "");
  EXPECT_EQ(run_sluice({"doctor"}).err, "");
}

TEST(Doctor, names_the_chosen_set_and_why) {
  const Json isa = doctor({})["isa"];
  const std::vector<std::string> available = isa["available"];
  EXPECT_EQ(isa["chosen"], available.back()) << "the fastest comes last";
  EXPECT_EQ(available.front(), "scalar");
  EXPECT_NE(isa["reason"], "");
}

TEST(Doctor, reports_believable_figures) {
  const Json report = doctor({});
  EXPECT_EQ(report["version"], SLUICE_VERSION);
  EXPECT_NE(report["cpu"]["name"], "");
  EXPECT_NE(report["amx"]["status"], "");
  EXPECT_GE(report["threads"]["cores"], 1);
  EXPECT_EQ(report["threads"]["used"], report["threads"]["cores"]);
  EXPECT_GT(report["memory"]["available_bytes"], 0);
  EXPECT_GE(report["memory"]["total_bytes"], report["memory"]["available_bytes"]);
}

TEST(Doctor, tells_a_person_the_same_as_a_program) {
  const Json report = doctor({});
  const std::string text = run_sluice({"doctor"}).out;
  for (const Json& value : {report["version"], report["cpu"]["name"], report["isa"]["chosen"],
                            report["isa"]["reason"], report["amx"]["status"], report["blas"]["core"]}) {
    EXPECT_NE(text.find(value.get<std::string>()), std::string::npos) << value << " is not in\n" << text;
  }
}

TEST(Doctor, uses_as_many_threads_as_it_is_told) {
  EXPECT_EQ(doctor({"--threads", "1"})["threads"]["used"], 1);
  EXPECT_EQ(doctor({"--threads=3"})["threads"]["used"], 3);
}

TEST(Doctor, obeys_the_environment_variable) {
  for (const std::string& set : available_sets()) {
    const Json isa = doctor({}, {.environment = {{"SLUICE_ISA", set}}})["isa"];
    EXPECT_EQ(isa["chosen"], set);
    EXPECT_EQ(isa["reason"], "asked for by SLUICE_ISA");
  }
}

TEST(Doctor, an_empty_environment_variable_asks_for_nothing) {
  EXPECT_EQ(doctor({}, {.environment = {{"SLUICE_ISA", ""}}})["isa"], doctor({})["isa"]);
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

TEST(Doctor, refuses_an_environment_variable_that_names_no_set) {
  EXPECT_REFUSAL(run_sluice({"doctor"}, {.environment = {{"SLUICE_ISA", "avx3"}}}), 2,
                 "SLUICE_ISA: unknown instruction set: expected one of scalar, avx2, avx512, avx512bf16, "
                 "amx, got \"avx3\" "
                 "(did you mean \"avx2\"?)");
}

TEST(Doctor, works_without_stdin) {
  EXPECT_EQ(run_sluice({"doctor"}, {.input = Input::Closed}).exit_code, 0);
}

void expect_positive(const Json& rate) {
  EXPECT_EQ(keys(rate), (std::vector<std::string>{"one_core", "all_threads"}));
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
  if (measured["isa"] == "amx") {
    expect_positive(measured["amx_bf16_gflops"]);
  } else {
    EXPECT_TRUE(measured["amx_bf16_gflops"].is_null());
  }
}

TEST(Doctor, says_nothing_on_stderr_when_quiet) {
  const ProgramRun run = run_sluice({"doctor", "--measure", "--quiet"});
  ASSERT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("GFLOP/s on one core"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace sluice::test
