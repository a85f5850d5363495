// A made-up sixth position: what it takes is a row, and a layer that applies it.
#include "sluice/nn/gate_position.h"

#include <gtest/gtest.h>

#include <set>

#include "sluice/nn/mlp.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/recorder.h"

namespace sluice {
namespace {

constexpr GatePositionRow kMadeUp{.name = "g6",
                                  .part = BlockPart::FeedForward,
                                  .tensor = GatedTensor::Hidden,
                                  .normed_and_rotated = false,
                                  .module = "gate_g6_proj",
                                  .tap = {"mlp.gate", TapAxes::Gate}};

constexpr BlockSizes kSizes{.hidden = 6, .heads = 3, .kv_heads = 1, .head_dim = 2};
constexpr MlpShape kShape{.hidden = 6, .width = 10};

class RecordsTheMadeUp : public Probe {
 public:
  bool wants(const TapName& name) const override { return name.point == kMadeUp.tap.name; }
  Tensor visit(const Context&, const TapName& name, const Tensor& value) override {
    seen = name.text();
    shape = value.shape();
    return value;
  }

  std::string seen;
  Shape shape;
};

// The MLP's parameters without values get random ones.
std::vector<NamedParameter> filled(Engine& engine, Mlp& mlp) {
  ParameterList list;
  mlp.list_parameters(list, "model.layers.0.");
  std::vector<NamedParameter> parameters = list.take();
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].std = 0.5;
    parameters[i].parameter->value =
        initial_values(engine.pool(), engine.threads(), parameters[i], Random(1).child(i));
  }
  return parameters;
}

TEST(GatePosition, is_added_by_a_row_alone) {
  Engine engine;
  const Context context{engine};
  const GateSpec spec{.position = kMadeUp, .bias = true, .bias_init = 0.5};
  Mlp plain(kShape), gated(kShape, GateSet({spec}, kSizes));

  const std::vector<NamedParameter> parameters = filled(engine, gated);
  filled(engine, plain);
  ASSERT_EQ(parameters.size(), 5U);
  EXPECT_EQ(parameters[3].parameter->name, "model.layers.0.mlp.gate_g6_proj.weight");
  EXPECT_EQ(parameters[3].shape, (Shape{6, 6}));
  EXPECT_EQ(gated.counts().parameters.gates, 6 * 6 + 6);
  EXPECT_EQ(gated.counts().parameters.total(), plain.counts().parameters.total() + 6 * 6 + 6);

  const Var x(Tensor::from<float>(engine.pool(), {1, 6}, std::vector<float>{1, -2, 3, -1, 2, 0.5}));
  const Pass pass{.sequences = Sequences::equal(1, 1), .rotary = {}};
  RecordsTheMadeUp probe;
  const auto y = plain.apply(context, x, {.layer = 0, .pass = pass}).y.value();
  const auto modulated = gated.apply(context.with_probe(&probe), x, {.layer = 0, .pass = pass}).y.value();
  EXPECT_EQ(probe.seen, "layers.0.mlp.gate");
  EXPECT_EQ(probe.shape, (Shape{1, 1, 6}));
  for (int i = 0; i < 6; ++i) {
    const float before = y.data<float>()[i], after = modulated.data<float>()[i];
    EXPECT_GT(after / before, 0.0F);
    EXPECT_LT(after / before, 1.0F) << "a sigmoid of it";
  }
}

TEST(GatePosition, has_a_name_a_module_and_a_tap_of_its_own) {
  std::set<std::string_view> names, modules, taps;
  for (const GatePositionRow& row : kGatePositionRows) {
    names.insert(row.name);
    modules.insert(row.module);
    taps.insert(row.tap.name);
    EXPECT_EQ(row.tap.axes, TapAxes::Gate);
  }
  EXPECT_EQ(names.size(), kGatePositionRows.size());
  EXPECT_EQ(modules.size(), kGatePositionRows.size());
  EXPECT_EQ(taps.size(), kGatePositionRows.size());
}

TEST(TapPoints, have_names_of_their_own) {
  std::set<std::string_view> names;
  for (const TapPoint& point : points::kAll) names.insert(point.name);
  EXPECT_EQ(names.size(), points::kAll.size());
}

}  // namespace
}  // namespace sluice
