#include "sluice/bench/moe.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/bench/case_runner.h"
#include "sluice/bench/figures.h"
#include "sluice/nn/experts.h"
#include "sluice/nn/tap_points.h"

namespace sluice::bench {
namespace {

// Counts how many tokens each expert gets.
class LoadProbe : public Probe {
 public:
  bool wants(const TapName& name) const override { return name.point == points::kExperts; }
  Tensor visit(const Context&, const TapName&, const Tensor& weights) override {
    loads.assign(static_cast<size_t>(weights.cols()), 0);
    for (int64_t i = 0; i < weights.count(); ++i)
      if (weights.data<float>()[i] != 0) ++loads[static_cast<size_t>(i % weights.cols())];
    return weights;
  }

  std::vector<int64_t> loads;
};

Experts random_experts(Engine& engine, const MoeRequest& request) {
  Experts experts({.hidden = request.hidden,
                   .experts = request.experts,
                   .experts_per_token = request.per_token,
                   .width = request.width,
                   .weights = ChoiceWeights::Normalised});
  ParameterList list;
  experts.list_parameters(list, "");
  const std::vector<NamedParameter> parameters = list.take();
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i].parameter->value =
        initial_values(engine.pool(), engine.threads(), parameters[i], Random(1).child(i));
  return experts;
}

}  // namespace

MoeSpeed measure_moe(Engine& engine, const MoeRequest& request, const JobControl& control) {
  const Context context{.engine = engine, .precision = request.precision, .packing = Packing::Keep};
  MoeSpeed speed{.request = request, .isa = engine.isa().isa, .threads = engine.threads().count()};
  const Experts experts = random_experts(engine, request);
  // As many operations as the chosen experts' three products: x is the same, the weight as wide as all of
  // them together.
  const int64_t outputs = 3 * request.per_token * request.width;
  const Weight dense(Var(random_matrix(context, outputs, request.hidden)));
  const Var x(random_matrix(context, request.tokens, request.hidden));
  speed.operations = 2.0 * static_cast<double>(request.tokens) * static_cast<double>(request.hidden) *
                     static_cast<double>(outputs);
  const Pass pass{.sequences = Sequences::equal(1, request.tokens), .rotary = {}};
  const auto run_experts = [&](const Context& with) { experts.apply(with, x, {.layer = 0, .pass = pass}); };
  LoadProbe probe;
  run_experts(context.with_probe(&probe));
  const auto [least, most] = std::ranges::minmax(probe.loads);
  speed.smallest_load = static_cast<double>(least);
  speed.largest_load = static_cast<double>(most);
  linear(context, x, {dense});
  std::vector<double> moe, product;
  for (int i = 0; i < request.repetitions; ++i) {
    control.stop_if_cancelled();
    product.push_back(seconds_of([&] { linear(context, x, {dense}); }));
    moe.push_back(seconds_of([&] { run_experts(context); }));
  }
  speed.moe_seconds = median(moe);
  speed.dense_seconds = median(product);
  return speed;
}

nlohmann::ordered_json to_json(const MoeSpeed& speed) {
  const MoeRequest& request = speed.request;
  return {{"what", "moe"},
          {"tokens", request.tokens},
          {"hidden", request.hidden},
          {"expert_width", request.width},
          {"experts", request.experts},
          {"experts_per_token", request.per_token},
          {"dtype", name_of(request.precision)},
          {"isa", sluice::name_of(speed.isa)},
          {"threads", speed.threads},
          {"repetitions", request.repetitions},
          {"operations", speed.operations},
          {"loads", {{"smallest", speed.smallest_load}, {"largest", speed.largest_load}}},
          {"moe",
           {{"seconds", rounded(speed.moe_seconds)},
            {"gflops", rounded(speed.operations / speed.moe_seconds * 1e-9)}}},
          {"dense",
           {{"seconds", rounded(speed.dense_seconds)},
            {"gflops", rounded(speed.operations / speed.dense_seconds * 1e-9)}}},
          {"ratio", rounded(speed.ratio())}};
}

std::string to_text(const MoeSpeed& speed) {
  const MoeRequest& request = speed.request;
  const auto rate = [&](double seconds) {
    return fmt::format("{} GFLOP/s, {} ms", figure(speed.operations / seconds * 1e-9), figure(1e3 * seconds));
  };
  return fmt::format("{} tokens of {} channels, {} of {} experts of width {}, {}, {} on {} threads\n",
                     request.tokens, request.hidden, request.per_token, request.experts, request.width,
                     name_of(request.precision), sluice::name_of(speed.isa), speed.threads) +
         line("experts", rate(speed.moe_seconds)) + line("dense product", rate(speed.dense_seconds)) +
         line("ratio", figure(speed.ratio())) +
         line("expert tokens", fmt::format("{} to {}", speed.smallest_load, speed.largest_load));
}

}  // namespace sluice::bench
