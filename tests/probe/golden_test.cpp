// Traces of the three tiny checkpoints against what the official model code computed for them.
#include <gtest/gtest.h>

#include "sluice/base/json.h"
#include "sluice/eval/perplexity.h"
#include "sluice/model/checkpoint.h"
#include "tests/ops/every_set.h"
#include "tests/probe/golden.h"

namespace sluice {
namespace {

class Golden : public testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path directory() const { return golden(GetParam()); }
  SafetensorsFile expected() const { return SafetensorsFile(directory() / "expected.safetensors"); }
};

TEST_P(Golden, trace_in_f32_agrees_with_the_official_code_on_every_instruction_set) {
  const SafetensorsFile file = expected();
  test::with_every_set([&](Engine& engine) {
    const auto decoder = load_model(engine, directory(), DType::F32);
    expect_agreement(trace({engine}, *decoder, ids_of(file)), file);
  });
}

TEST_P(Golden, logits_in_bf16_are_within_two_percent) {
  const SafetensorsFile file = expected();
  Engine engine;
  const auto decoder = load_model(engine, directory(), DType::BF16);
  const Trace got = trace({engine}, *decoder, ids_of(file));
  const double error = relative_l2(got.logits, floats_of(file, "logits"));
  EXPECT_LE(error, 0.02);
  EXPECT_GT(error, 1e-5) << "bf16 must round something";
}

TEST_P(Golden, likelihood_agrees_with_the_official_code) {
  Engine engine;
  const auto decoder = load_model(engine, directory(), DType::F32);
  const std::vector<ChunkNll> chunks = {chunk_nll({engine}, *decoder, ids_of(expected()))};
  const Json json = Json::load(directory() / "expected.json");
  EXPECT_NEAR(perplexity(chunks).nll, json.number("nll"), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Official, Golden,
                         testing::Values("tiny_baseline", "tiny_gate_headwise", "tiny_gate_elementwise"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sluice
