// Every gate axis and model family against tools/reference, an implementation that shares no code with this
// one: logits, hidden states, gates, loss, and the gradient of every parameter.
#include <gtest/gtest.h>

#include <algorithm>

#include "sluice/model/checkpoint.h"
#include "sluice/nn/expert_loads.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/probe/trace.h"
#include "tests/model/golden.h"
#include "tests/ops/every_set.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

const fs::path kVariants = fs::path(SLUICE_SOURCE_DIR) / "tests/golden/variants";

// As many as tools/reference/variants.py lists: goldens that got lost must not pass for goldens that agree.
constexpr size_t kVariantCount = 70;

std::vector<std::string> variant_names() {
  std::vector<std::string> names;
  std::error_code missing;  // then there are none, which a test below reports
  for (const fs::directory_entry& entry : fs::directory_iterator(kVariants, missing)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

// make_goldens.py prints how far the reference itself is off in f32. Worst of all variants: logits 5e-6,
// hidden 5e-6, gates 2e-6, loss 7e-7, gradients 1.3e-5 of the largest. Sums in another order deserve a few
// times that; every mistake that was tried in the reference (some sixty) moved logits by 2e-2 or more.
constexpr Tolerance kValues{2e-4};
constexpr Tolerance kGates{1e-5};
constexpr Tolerance kLoss{1e-5};
constexpr Tolerance kGradients{1e-4, Scale::OfLargest};

// The coefficients of make_goldens.py.
constexpr RouterTraining kRouters{.balance = 0.5, .z = 0.125};

struct Losses {
  Var tokens;     // mean over those that have a next one
  Var auxiliary;  // of routers; a default Var is none
};

// With a tape: the path that training takes.
Losses losses_of(const Context& context, Decoder& decoder, const std::vector<int32_t>& ids) {
  const auto tokens = static_cast<int64_t>(ids.size());
  std::vector<int32_t> next(ids.begin() + 1, ids.end());
  next.push_back(kIgnoredTarget);
  MemoryPool& pool = context.engine.pool();
  Pass pass = decoder.begin(context, Sequences::equal(1, tokens));
  pass.routers = &kRouters;
  const LayerOutput output = decoder.run(context, decoder.embed(context, ids), pass, {0, decoder.layers()});
  return {.tokens = linear_cross_entropy(context, decoder.finish(context, output.y),
                                         use(context, decoder.output_weight()),
                                         Tensor::from<int32_t>(pool, {tokens}, next)),
          .auxiliary = output.auxiliary_loss};
}

class VariantGolden : public testing::TestWithParam<std::string> {
 protected:
  // Calls body(engine, decoder) on every instruction set of this machine.
  template <class Body>
  void on_every_set(const Body& body) {
    with_every_set([&](Engine& engine) {
      const auto decoder = load_model(engine, kVariants / GetParam(), DType::F32);
      body(engine, *decoder);
    });
  }

  const SafetensorsFile expected_{kVariants / GetParam() / "expected.safetensors"};
  const std::vector<int32_t> ids_ = stored<int32_t>(expected_, "input_ids");
};

TEST_P(VariantGolden, trace_agrees) {
  on_every_set([&](Engine& engine, Decoder& decoder) {
    const Trace got = trace({engine}, decoder, ids_);
    EXPECT_TRUE(agrees(expected_, "hidden", got.hidden, kValues));
    EXPECT_TRUE(agrees(expected_, "logits", got.logits, kValues));
    ASSERT_EQ(got.gates.defined(), expected_.contains("gates"));
    if (got.gates.defined()) {
      EXPECT_TRUE(agrees(expected_, "gates", got.gates, kGates));
    }
  });
}

TEST_P(VariantGolden, loss_and_all_gradients_agree) {
  on_every_set([&](Engine& engine, Decoder& decoder) {
    Tape tape;
    const Context context{engine, &tape};
    const Losses losses = losses_of(context, decoder, ids_);
    const Tensor one = Tensor::from<float>(engine.pool(), {}, std::vector<float>{1.0F});
    const bool has_auxiliary = losses.auxiliary.value().defined();
    ASSERT_EQ(has_auxiliary, expected_.contains("auxiliary"));
    if (has_auxiliary) {
      EXPECT_TRUE(agrees(expected_, "auxiliary", losses.auxiliary.value(), kLoss));
    }
    tape.backward(context, {{losses.tokens, one}, {losses.auxiliary, has_auxiliary ? one : Tensor()}});
    EXPECT_TRUE(agrees(expected_, "loss", losses.tokens.value(), kLoss));
    for (const NamedParameter& named : decoder.parameters()) {
      const Parameter& parameter = *named.parameter;
      EXPECT_TRUE(agrees(expected_, "grad." + parameter.name, parameter.grad, kGradients));
    }
    const auto gradients = std::ranges::count_if(
        expected_.names(), [](const std::string& name) { return name.starts_with("grad."); });
    EXPECT_EQ(decoder.parameters().size(), static_cast<size_t>(gradients));
  });
}

INSTANTIATE_TEST_SUITE_P(Reference, VariantGolden, testing::ValuesIn(variant_names()),
                         [](const auto& test) { return test.param; });

TEST(VariantGoldens, are_all_there) {
  EXPECT_EQ(variant_names().size(), kVariantCount) << "in " << kVariants;
}

}  // namespace
}  // namespace sluice::test
