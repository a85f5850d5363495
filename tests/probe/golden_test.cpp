// Traces of the three tiny checkpoints against what the official model code computed for them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sluice/base/json.h"
#include "sluice/eval/perplexity.h"
#include "sluice/model/checkpoint.h"
#include "sluice/model/safetensors.h"
#include "sluice/probe/trace.h"

namespace sluice {
namespace {

const std::filesystem::path kGolden = std::string(SLUICE_SOURCE_DIR) + "/tests/golden/official";

std::vector<int32_t> ids_of(const SafetensorsFile& file) {
  std::vector<int32_t> ids;
  const auto bytes = file.bytes("input_ids");
  for (size_t at = 0; at < bytes.size(); at += sizeof(int64_t)) {
    int64_t id = 0;
    std::memcpy(&id, bytes.data() + at, sizeof id);
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

std::vector<float> floats_of(const SafetensorsFile& file, const std::string& name) {
  const auto bytes = file.bytes(name);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

double largest_difference(const Tensor& got, const std::vector<float>& expected) {
  const auto values = got.values<float>();
  if (values.size() != expected.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(double{values[i]} - expected[i]));
  }
  return largest;
}

double relative_l2(const Tensor& got, const std::vector<float>& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(double{got.values<float>()[i]} - expected[i], 2);
    norm += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(difference / norm);
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path directory() const { return kGolden / GetParam(); }
  SafetensorsFile expected() const { return SafetensorsFile(directory() / "expected.safetensors"); }
};

TEST_P(Golden, trace_in_f32_agrees_with_the_official_code_on_every_instruction_set) {
  const SafetensorsFile file = expected();
  for (const Isa isa : available_isas(detect_cpu())) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    const auto decoder = load_model(engine, directory(), DType::F32);
    const Trace got = trace({engine}, *decoder, ids_of(file));
    EXPECT_LE(largest_difference(got.logits, floats_of(file, "logits")), 2e-4) << name_of(isa);
    EXPECT_LE(largest_difference(got.hidden, floats_of(file, "hidden")), 2e-4) << name_of(isa);
    EXPECT_LE(largest_difference(got.attn, floats_of(file, "attn")), 1e-5) << name_of(isa);
    ASSERT_EQ(got.gates.defined(), file.contains("gates"));
    if (got.gates.defined()) {
      EXPECT_LE(largest_difference(got.gates, floats_of(file, "gates")), 1e-5) << name_of(isa);
    }
  }
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
