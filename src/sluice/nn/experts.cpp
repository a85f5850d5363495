#include "sluice/nn/experts.h"

#include <fmt/format.h>

#include "sluice/nn/expert_loads.h"
#include "sluice/nn/spread_experts.h"
#include "sluice/nn/tap_points.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/gate.h"
#include "sluice/ops/router_loss.h"
#include "sluice/ops/softmax.h"

namespace sluice {
namespace {

// Weights of the chosen experts at their places, zeros at the others: [N, E].
Tensor spread(const Context& context, const ExpertChoice& choice, int64_t experts) {
  const Tensor all = context.zeros({choice.experts.rows(), experts}, DType::F32);
  const int64_t k = choice.experts.cols();
  for (int64_t i = 0; i < choice.experts.count(); ++i)
    all.data<float>()[i / k * experts + choice.experts.data<int32_t>()[i]] =
        choice.weights.value().data<float>()[i];
  return all;
}

// Outputs [R, D] pass the tap as [N, E, D], zeros where an expert was not chosen: there nothing that a probe
// returns is used.
Var tapped_outputs(const Context& context, int64_t layer, const Var& outputs, const ExpertRows& rows) {
  const Tap at{layer, points::kExpertOut};
  if (!is_probed(context, at)) return outputs;
  const Var all = spread_by_expert(context, outputs, rows);
  const Var seen = tap(context, at, all);
  // Who only looks leaves the outputs and their gradient alone; who receives gradients stands in their way.
  const bool receives = context.tape != nullptr && context.probe->wants_gradient(at.name());
  if (!receives && seen.value().shares_elements(all.value())) return outputs;
  return collect_by_expert(context, seen, rows);
}

}  // namespace

Experts::Experts(const ExpertsShape& shape, GateSet gates)
    : shape_(shape), experts_(static_cast<size_t>(shape.experts)), gates_(std::move(gates)) {}

void Experts::Perceptron::list_parameters(ParameterList& list, const std::string& prefix,
                                          const MlpShape& shape) {
  list.add_linear(prefix + "gate_proj", gate, {shape.width, shape.hidden});
  list.add_linear(prefix + "up_proj", up, {shape.width, shape.hidden});
  list.add_linear(prefix + "down_proj", down, {shape.hidden, shape.width},
                  {.use = MatrixUse::FeedForwardOutput});
}

void Experts::list_parameters(ParameterList& list, const std::string& layer) {
  const std::string prefix = layer + "mlp.";
  const MlpShape expert{.hidden = shape_.hidden, .width = shape_.width};
  list.add_linear(prefix + "gate", router_, {shape_.experts, shape_.hidden}, {.use = MatrixUse::Router});
  for (size_t e = 0; e < experts_.size(); ++e)
    experts_[e].list_parameters(list, fmt::format("{}experts.{}.", prefix, e), expert);
  if (shape_.has_shared()) {
    shared_.list_parameters(list, prefix + "shared_expert.", shape_.shared());
    if (shape_.shared_gate)
      list.add_linear(prefix + "shared_expert_gate", shared_gate_, {1, shape_.hidden},
                      {.use = MatrixUse::Router});
  }
  gates_.list_parameters(list, prefix);
}

LayerCounts Experts::counts() const {
  LayerCounts counts = shape_.counts();
  counts += gates_.counts();
  return counts;
}

ExpertWeights Experts::weights(const Context& context, Range experts) const {
  ExpertWeights weights;
  for (int64_t e = experts.begin; e < experts.end; ++e) {
    const Perceptron& expert = experts_[static_cast<size_t>(e)];
    weights.gate.push_back(weight_of(context, expert.gate.weight));
    weights.up.push_back(weight_of(context, expert.up.weight));
    weights.down.push_back(weight_of(context, expert.down.weight));
  }
  return weights;
}

Var Experts::routed(const Context& context, const Var& x, const Routed& to, const ExpertChoice& choice,
                    const LayerCall& call) const {
  SpreadExperts* spread = call.pass.routers == nullptr ? nullptr : call.pass.routers->spread;
  const auto weights_of = [this](const Context& of, Range experts) { return weights(of, experts); };
  const Var outputs = spread == nullptr
                          ? expert_mlps(context, x, to.rows, weights(context, {0, shape_.experts}))
                          : spread->mlps(context, x, to.rows, weights_of);
  return combine_experts(context, tapped_outputs(context, call.layer, outputs, to.rows), choice.weights,
                         to.rows);
}

Var Experts::shared(const Context& context, const Var& x, int64_t layer) const {
  const Var y =
      mlp(context, x,
          {shared_.gate.weights(context), shared_.up.weights(context), shared_.down.weights(context)});
  if (!shape_.shared_gate) return y;
  const GateForm form{.activation = Activation::Sigmoid, .granularity = Granularity::Headwise};
  const Var values =
      gate_values(context, shared_gate_.apply(context.with_precision(Precision::F32), x), 1, form);
  const GateForm as_given{.activation = Activation::Identity, .granularity = Granularity::Headwise};
  return gate(context, y, tap(context, {layer, points::kSharedGate}, values), 1, as_given);
}

// Balance as Megatron has it, layer by layer: E · Σ f_i P_i, where f_i is the share of all choices that fell
// on expert i and P_i its mean probability.
Var Experts::loss(const Context& context, const Routed& routed, const LayerCall& call) const {
  const RouterTraining* training = call.pass.routers;
  if (training == nullptr) return {};
  const RowGroups& groups = routed.rows.groups;
  if (training->counted != nullptr)
    for (int64_t e = 0; e < groups.count(); ++e)
      training->counted->of(call.layer)[static_cast<size_t>(e)] += groups.rows(e).size();
  std::vector<Var> losses;
  if (training->balance > 0) {
    std::vector<double> shares;
    double choices = 0;
    for (int64_t e = 0; e < groups.count(); ++e) {
      const int64_t count = training->loads == nullptr
                                ? groups.rows(e).size()
                                : training->loads->of(call.layer)[static_cast<size_t>(e)];
      shares.push_back(static_cast<double>(count));
      choices += shares.back();
    }
    const double factor =
        choices == 0 ? 0 : training->balance * static_cast<double>(shape_.experts) / choices;
    for (double& share : shares) share *= factor;
    losses.push_back(weighted_mean(context, routed.probabilities, shares));
  }
  if (training->z > 0)
    losses.push_back(scale(context, mean_square_log_sum(context, routed.scores), training->z));
  return losses.empty()       ? Var()
         : losses.size() == 1 ? losses.front()
                              : add(context, losses.front(), losses.back());
}

LayerOutput Experts::apply(const Context& context, const Var& x, const LayerCall& call) const {
  // In f32 whatever the precision: rounding would send tokens that are in doubt elsewhere.
  const Var scores = router_.apply(context.with_precision(Precision::F32), x);
  const Var probabilities = tap(context, {call.layer, points::kRouter}, softmax(context, scores));
  const ExpertChoice choice =
      choose_experts(context, probabilities, shape_.experts_per_token, shape_.weights);
  if (const Tap at{call.layer, points::kExperts}; is_probed(context, at))
    show(context, at, spread(context, choice, shape_.experts));
  const ExpertRows rows = sorted_by_expert(context, choice.experts, shape_.experts);
  const Routed to{scores, probabilities, rows};
  Var y = routed(context, x, to, choice, call);
  if (shape_.has_shared()) y = add(context, y, shared(context, x, call.layer));
  for (const Gate& gate : gates_.all()) y = gate.apply(context, call.layer, gate.scores_of(context, x), y);
  return {.y = y, .auxiliary_loss = loss(context, to, call)};
}

}  // namespace sluice
