// Blocks are composed: of any mixer and feed-forward part, run in any ranges, shared by several threads.
#include "sluice/nn/block.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "sluice/model/architecture.h"
#include "sluice/model/decoder.h"
#include "sluice/nn/tap_points.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/recompute.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

std::vector<float> values(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

std::vector<int32_t> some_ids(int64_t tokens) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < tokens; ++i) ids.push_back(static_cast<int32_t>(i * 7 % 50));
  return ids;
}

// A feed-forward part as a stranger would add it: passes its input on, times a weight, and has a loss.
class Scaled : public FeedForward {
 public:
  void list_parameters(ParameterList& list, const std::string& layer) override {
    list.add(layer + "mlp.scale", scale_, {1, 1});
  }
  LayerCounts counts() const override { return {.parameters = {.feed_forward = 1}, .flops = {}}; }
  LayerOutput apply(const Context& context, const Var& x, const LayerCall&) const override {
    const Var column(context.zeros({1, 1}, DType::F32));
    column.value().data<float>()[0] = 3.0F;
    // The loss is 3 · scale.
    return {.y = x, .auxiliary_loss = linear(context, column, {weight_of(context, scale_)})};
  }
  bool takes_residual() const override { return false; }

 private:
  Parameter scale_;
};

struct LossAndGradient {
  float loss;
  float gradient;
};

LossAndGradient of_scaled_block(Activations activations) {
  Engine engine;
  const ModelConfig config = small_model(GateLayout::Separate, {{.init_std = 0.5}});
  Block block(block_shape(config), std::make_unique<Attention>(attention_shape(config, 0)),
              std::make_unique<Scaled>());
  ParameterList list;
  block.list_parameters(list, "model.layers.0.");
  const std::vector<NamedParameter> parameters = list.take();
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i].parameter->value =
        initial_values(engine.pool(), engine.threads(), parameters[i], Random(1).child(i));
  const Parameter& scale = *parameters.back().parameter;
  scale.value.data<float>()[0] = 0.25F;

  Tape tape;
  const Context context{.engine = engine, .tape = &tape, .activations = activations};
  const Decoder positions(config);
  const Pass pass = positions.begin(context, Sequences::equal(1, 3));
  const Var x(context.zeros({3, config.hidden}, DType::F32));
  const auto body = [&](const Context& inner, const std::vector<Var>& inputs) {
    const LayerOutput output = block.apply(inner, inputs[0], {.layer = 0, .pass = pass});
    return std::vector<Var>{output.y, output.auxiliary_loss};
  };
  const Var loss = run_block(context, {x}, body)[1];
  tape.backward(context, loss, Tensor::from<float>(engine.pool(), {1, 1}, std::vector<float>{1.0F}));
  return {*loss.value().data<float>(), *scale.grad.data<float>()};
}

TEST(Block, hands_on_the_auxiliary_loss_of_a_part_with_its_gradient) {
  for (const Activations activations : {Activations::Keep, Activations::Recompute}) {
    const auto [loss, gradient] = of_scaled_block(activations);
    EXPECT_FLOAT_EQ(loss, 0.75F);
    EXPECT_FLOAT_EQ(gradient, 3.0F);
  }
}

class ComposedDecoder : public testing::Test {
 protected:
  ComposedDecoder() { decoder_.initialise(engine_, Random(3)); }

  Engine engine_;
  Decoder decoder_{small_model(GateLayout::Separate, {{.init_std = 0.5}})};
};

TEST_F(ComposedDecoder, gives_the_same_bits_layer_by_layer) {
  const Context context{engine_};
  const std::vector<int32_t> ids = some_ids(11);
  const Sequences sequences = Sequences::of_lengths({4, 7});
  const std::vector<float> whole = values(decoder_.forward(context, ids, sequences).y.value());
  const Pass pass = decoder_.begin(context, sequences);
  Var x = decoder_.embed(context, ids);
  for (int64_t layer = 0; layer < decoder_.layers(); ++layer)
    x = decoder_.run(context, x, pass, {layer, layer + 1}).y;
  EXPECT_EQ(values(decoder_.finish(context, x).value()), whole);
}

TEST_F(ComposedDecoder, goes_on_in_its_parts_as_it_does_in_one) {
  const Context context{engine_};
  const std::vector<int32_t> ids = some_ids(9);
  const std::span<const int32_t> first = std::span(ids).first(5), rest = std::span(ids).subspan(5);
  DecoderState whole = decoder_.make_state(context, 9), parts = decoder_.make_state(context, 9);
  for (const auto& some : {first, rest}) {
    const std::vector<float> expected = values(decoder_.forward(context, some, &whole).y.value());
    const Pass pass = decoder_.begin(context, Sequences::equal(1, std::ssize(some)), &parts);
    const Var x = decoder_.run(context, decoder_.embed(context, some), pass, {0, decoder_.layers()}).y;
    EXPECT_EQ(values(decoder_.finish(context, x).value()), expected);
    decoder_.end(pass);
    EXPECT_EQ(parts.tokens, whole.tokens);
  }
  EXPECT_THROW(decoder_.begin(context, Sequences::equal(1, 1), &parts), AssertionError) << "it is full";
  Tape tape;
  DecoderState fresh = decoder_.make_state(context, 9);
  EXPECT_THROW(decoder_.begin(context.with_tape(&tape), Sequences::equal(1, 1), &fresh), AssertionError);
}

// Looks at everything there is, and remembers the names.
class Everything : public Probe {
 public:
  bool wants(const TapName&) const override { return true; }
  Tensor visit(const Context&, const TapName& name, const Tensor& value) override {
    seen.insert(std::string(name.point));
    return value;
  }

  std::set<std::string> seen;
};

TEST(TapPoints, list_every_point_that_a_decoder_has) {
  Engine engine;
  std::vector<GateSpec> gates;
  for (const GatePositionRow& row : kGatePositionRows) gates.push_back({.position = row});
  Decoder decoder(small_model(GateLayout::Separate, gates));
  decoder.initialise(engine, Random(3));
  Everything probe;
  const Context context{.engine = engine, .probe = &probe};
  decoder.logits(context, decoder.forward(context, some_ids(5)).y);
  std::set<std::string> declared;
  for (const TapPoint& point : points::kAll)
    if (!is_of_experts(point)) declared.insert(std::string(point.name));  // the model is dense
  EXPECT_EQ(probe.seen, declared);
}

TEST_F(ComposedDecoder, has_parameters_and_counts_that_agree) {
  int64_t elements = 0;
  for (const NamedParameter& named : decoder_.parameters()) elements += named.shape.count();
  LayerCounts layers;
  for (int64_t layer = 0; layer < decoder_.layers(); ++layer) layers += count_layer(decoder_.config(), layer);
  const ModelConfig& config = decoder_.config();
  const int64_t tables = config.vocabulary * config.hidden * (config.tied ? 1 : 2);
  EXPECT_EQ(elements, layers.parameters.total() + tables + config.hidden);
}

TEST_F(ComposedDecoder, is_shared_by_passes_on_several_threads) {
  const Context once{.engine = engine_, .precision = Precision::Bf16};
  const Context keeping = once.with_packing(Packing::Keep);
  const Sequences sequences = Sequences::equal(1, 37);
  const std::vector<float> expected = values(decoder_.forward(once, some_ids(37), sequences).y.value());
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& result : results) {
    threads.emplace_back(
        [&] { result = values(decoder_.forward(keeping, some_ids(37), sequences).y.value()); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(result, expected);
}

// From attention's output before its gate, as often as one likes.
TEST(Block, can_be_entered_before_the_gate_of_attention_and_give_the_same_bits) {
  Engine engine;
  const Context context{engine};
  ModelConfig config =
      small_model(GateLayout::Separate, {{.init_std = 0.5}, {.position = GatePosition::G5, .init_std = 0.5}});
  for (const bool head_norm : {false, true}) {
    config.head_norm = head_norm;
    Decoder decoder(config);
    decoder.initialise(engine, Random(2));
    const Pass pass = decoder.begin(context, Sequences::equal(1, 9));
    const LayerCall call{.layer = 1, .pass = pass};
    const Var x = decoder.embed(context, some_ids(9));
    const std::vector<float> whole = values(decoder.block(1).apply(context, x, call).y.value());
    const auto mixed = decoder.block(1).mix(context, x, call);
    ASSERT_NE(mixed, nullptr);
    const auto finished = [&](const Var& stream, const MixedTokens& tokens, const LayerCall& from) {
      const Block& block = decoder.block(1);
      return values(block.finish(context, block.middle(context, stream, tokens, from), from).y.value());
    };
    EXPECT_EQ(finished(x, *mixed, call), whole);
    EXPECT_EQ(finished(x, *mixed, call), whole) << "once more";
    const Pass three = decoder.begin(context, Sequences::equal(3, 9));
    const std::vector<float> repeated = finished(Var(repeat_rows(context, x.value(), 3)),
                                                 *mixed->repeated(context, 3), {.layer = 1, .pass = three});
    ASSERT_EQ(repeated.size(), 3 * whole.size());
    for (size_t i = 0; i < repeated.size(); ++i) ASSERT_NEAR(repeated[i], whole[i % whole.size()], 1e-5) << i;
  }
}

}  // namespace
}  // namespace sluice
