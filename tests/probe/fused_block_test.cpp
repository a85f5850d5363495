// What blocks do in one pass when nobody looks gives the values that a probe sees step by step.
#include <gtest/gtest.h>

#include "sluice/model/decoder.h"
#include "sluice/probe/recorder.h"
#include "tests/model/small_model.h"
#include "tests/ops/every_set.h"

namespace sluice {
namespace {

std::vector<float> hidden(const Context& context, Decoder& decoder, int64_t tokens) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < tokens; ++i) ids.push_back(static_cast<int32_t>(i * 7 % 50));
  const Tensor values = decoder.forward(context, ids, Sequences::equal(1, tokens)).y.value();
  return {values.values<float>().begin(), values.values<float>().end()};
}

TEST(FusedBlock, gives_the_same_bits_in_bf16_whether_the_branches_are_watched_or_not) {
  test::with_every_set([](Engine& engine) {
    for (const GatePosition position : {GatePosition::G1, GatePosition::G2, GatePosition::G5}) {
      Decoder decoder(small_model(GateLayout::Separate, {{.position = position, .init_std = 0.5}}));
      decoder.initialise(engine, Random(3));
      const Context plain{engine, nullptr, nullptr, Precision::Bf16};
      const std::vector<float> unwatched = hidden(plain, decoder, 37);
      for (const char* point : {"attn.out", "mlp.out", "resid_mid", "attn.gated"}) {
        Recorder recorder({TapPattern(point)});
        EXPECT_EQ(hidden(plain.with_probe(&recorder), decoder, 37), unwatched) << point;
        EXPECT_EQ(recorder.values().size(), 2U) << point << " in both layers";
      }
    }
  });
}

TEST(FusedBlock, gives_the_same_bits_with_weights_that_stay_packed) {
  test::with_every_set([](Engine& engine) {
    Decoder decoder(small_model(GateLayout::Separate, {{.init_std = 0.5}}));
    decoder.initialise(engine, Random(3));
    const Context plain{engine, nullptr, nullptr, Precision::Bf16};
    const Context keeping = plain.with_packing(Packing::Keep);
    const std::vector<float> expected = hidden(plain, decoder, 37);
    EXPECT_EQ(hidden(keeping, decoder, 37), expected);
    EXPECT_EQ(hidden(keeping, decoder, 37), expected) << "again";
  });
}

}  // namespace
}  // namespace sluice
