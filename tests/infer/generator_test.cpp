#include "sluice/infer/generator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/model/small_model.h"

namespace sluice {
namespace {

ModelConfig long_model() {
  ModelConfig config = small_model();
  config.positions = 1024;
  config.tied = true;
  return config;
}

// A gate at every position, one per row of this list.
ModelConfig with_gate(GatePosition position, Granularity granularity) {
  ModelConfig config = long_model();
  config.gate_layout = GateLayout::Separate;
  config.gates = {{.position = position, .form = {.granularity = granularity}, .init_std = 0.5}};
  return config;
}

std::vector<int32_t> prompt_of(int64_t length) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < length; ++i) ids.push_back(static_cast<int32_t>((i * 7 + i / 5) % 50));
  return ids;
}

// The whole text through the model for every token: what the cache must equal.
std::vector<int32_t> without_cache(const Context& context, Decoder& decoder, std::vector<int32_t> ids,
                                   int count) {
  const size_t start = ids.size();
  for (int i = 0; i < count; ++i) {
    const auto tokens = static_cast<int64_t>(ids.size());
    const Var hidden = decoder.forward(context, ids, Sequences::equal(1, tokens)).y;
    const Var all = decoder.logits(context, hidden);
    const auto logits = all.value().values<float>().last(50);
    ids.push_back(static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin()));
  }
  return {ids.begin() + static_cast<std::ptrdiff_t>(start), ids.end()};
}

void expect_the_same_with_and_without_a_cache(GatePosition position, std::initializer_list<int64_t> lengths) {
  Engine engine;
  const Context context{engine};
  for (const auto granularity : {Granularity::Elementwise, Granularity::Headwise}) {
    if (position == GatePosition::G5 && granularity == Granularity::Headwise) continue;
    Decoder decoder(with_gate(position, granularity));
    decoder.initialise(engine, Random(4));
    for (const int64_t length : lengths) {
      const std::vector<int32_t> prompt = prompt_of(length);
      const auto made = Generator(context, decoder).generate(prompt, {.max_tokens = 5});
      EXPECT_EQ(made.ids, without_cache(context, decoder, prompt, 5)) << "prompt of " << length;
    }
  }
}

class CachedGeneration : public testing::TestWithParam<GatePosition> {};

TEST_P(CachedGeneration, gives_the_same_tokens_as_without_a_cache) {
  expect_the_same_with_and_without_a_cache(GetParam(), {1, 2, 17, 64, 65});
}

TEST_P(CachedGeneration, gives_the_same_tokens_after_long_prompts) {
  expect_the_same_with_and_without_a_cache(GetParam(), {200, 600});
}

INSTANTIATE_TEST_SUITE_P(EveryGate, CachedGeneration,
                         testing::Values(GatePosition::G1, GatePosition::G2, GatePosition::G3,
                                         GatePosition::G4, GatePosition::G5));

TEST(Generation, stops_at_the_stop_token_and_when_told_to) {
  Engine engine;
  const Context context{engine};
  Decoder decoder(long_model());
  decoder.initialise(engine, Random(4));
  const auto all = Generator(context, decoder).generate(prompt_of(3), {.max_tokens = 6});
  ASSERT_EQ(all.ids.size(), 6U);
  const auto stopped =
      Generator(context, decoder).generate(prompt_of(3), {.max_tokens = 6, .stop = {all.ids[0]}});
  EXPECT_TRUE(stopped.ids.empty());
  EXPECT_EQ(stopped.stopped_by, all.ids[0]);
  EXPECT_FALSE(all.stopped_by);
  int seen = 0;
  const auto told = Generator(context, decoder).generate(prompt_of(3), {.max_tokens = 6}, [&](int32_t) {
    return ++seen < 2;
  });
  EXPECT_EQ(told.ids.size(), 2U);
}

}  // namespace
}  // namespace sluice
